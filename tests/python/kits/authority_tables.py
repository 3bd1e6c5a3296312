"""Acts of private groups from tables of words, and the verdicts of `judge_authority` about them."""

import pyarrow as pa

from dbt_tangles.algorithms.private_group.authority import judge_authority

KINDS = {"init": "root_init", "epoch": "epoch_init"}


def act(
    message_id: str, kind: str, by: str, epoch_id: str | None = None, previous: list | None = None, **values
) -> dict:
    """Build an act of the group `R`, whose author is a person of the same name in capitals, by announcements."""
    row = dict.fromkeys(judge_authority.reads.names)
    row |= {"group_id": "R", "message_id": message_id, "kind": KINDS.get(kind, kind), "is_in_tangle": True}
    row |= {"author": by, "person": by.upper(), "person_source": "announcement", "previous": previous}
    return row | {"epoch_id": message_id if kind in KINDS else epoch_id} | values


def acts(table: str) -> list[dict]:
    """Read acts: `message kind by epoch persons previous` in each line, `-` for none; a comma separates ids.

    The `epoch` of an init holds its previous epochs. An author in capitals is a feed without links.
    """
    rows = []
    for line in filter(str.strip, table.splitlines()):
        message_id, kind, by, epoch, persons, previous = [None if word == "-" else word for word in line.split()]
        row = act(message_id, kind, by, epoch, previous and previous.split(","))
        if by.isupper():
            row |= {"person": None, "person_source": None}
        row |= {"previous_epochs": epoch.split(",")} if kind == "epoch" else {}
        rows.append(row | {"persons": persons and persons.split(",")})
    return rows


def judged(rows: list[dict], batch_rows: int = 3, **options) -> dict[tuple[str, str], dict]:
    """Return the rows of `judge_authority` by group and message."""
    found = {}
    for batch in judge_authority(pa.Table.from_pylist(rows, judge_authority.reads).to_batches(batch_rows), **options):
        batch.validate(full=True)
        assert batch.schema == judge_authority.writes
        for row in batch.to_pylist():
            key = row["group_id"], row["message_id"]
            assert key not in found
            found[key] = row
    return found


def verdicts(table: str, **options) -> dict[str, str]:
    """Return `verdict evidence` of each message of a table, with the ids of the evidence separated by commas."""
    found = judged(acts(table), **options)
    return {
        message: " ".join([str(row["verdict"]), ",".join(row["evidence"] or [])]).strip()
        for (_, message), row in found.items()
    }
