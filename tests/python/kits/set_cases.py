"""Recorded cases of pzp-set as rows of `reduce_sets`."""

from log_files import read_cases

#: The fields of the peer's answers, and the columns of `sets` that equal them.
NAMES = {
    "tips": "tips",
    "maxDepth": "max_depth",
    "values": "items",
    "supersedeRoots": "item_roots",
    "squeezePotential": "squeeze_potential",
    "minRequiredDepth": "min_required_depth",
    "minGhostDepth": "min_ghost_depth",
}


def cases(name: str) -> list[dict]:
    """Read a file of vectors."""
    return read_cases(f"sets/{name}.jsonl.gz")


def rows_of(case: dict) -> list[dict]:
    """Return the messages of a case's set, in order of arrival."""
    rows = []
    for record in case["log"]:
        metadata, data = record["msg"]["metadata"], record["msg"]["data"]
        is_moot = record["id"] == case["mootID"]
        place = metadata["tangles"].get(case["mootID"])
        if not is_moot and place is None:
            continue
        shaped = isinstance(data, dict) and all(isinstance(data.get(k), list) for k in ("add", "del", "supersedes"))
        supersedes = data.get("supersedes") if isinstance(data, dict) else None
        rows.append(
            {
                "set_id": case["mootID"],
                "message_id": record["id"],
                "account": metadata["account"],
                "domain": metadata["domain"],
                "depth": 0 if is_moot else place["depth"],
                "prev": [] if is_moot else place["prev"],
                "is_moot": is_moot,
                "has_data": data is not None,
                "is_set_shape": shaped,
                "add": data["add"] if shaped else [],
                "del": data["del"] if shaped else [],
                # Every iterable counts, independent of the shape of the data.
                "supersedes": list(supersedes) if isinstance(supersedes, list | str) else [],
            }
        )
    return rows
