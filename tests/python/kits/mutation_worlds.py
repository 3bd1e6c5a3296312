"""Small consistent logs of each kind: the lines that are mutated."""

import json
from base64 import b64decode
from typing import Any

import orjson

import fixture_seeds
from log_files import read_cases, read_lines

World = list[bytes]


def worlds_of(kind: str) -> list[World]:
    return {"ssb": ssb_worlds, "pzp": _pzp_worlds, "autobase": _autobase_worlds, "event": _event_worlds}[kind]()


def _seed_worlds(system: str, key: str | None = None) -> list[World]:
    """Return the lines of the fixture log, by file or by one of their fields."""
    worlds: dict[Any, World] = {}
    for row in fixture_seeds.log(system):
        line = b64decode(row["raw_base64"])
        document = parsed(line) if key else None
        worlds.setdefault((document or {}).get(key) if key else row["source_file"], []).append(line)
    return list(worlds.values())


def ssb_worlds() -> list[World]:
    cases = [*read_cases("groups/epochs.jsonl.gz")[::4], *read_cases("groups/fullstack.jsonl.gz")]
    groups = [[dump({"key": m["key"], "value": m["value"]}) for m in case["messages"]] for case in cases]
    variants = read_lines("ssb/variants.jsonl")
    return [*_seed_worlds("ssb"), variants, *groups]


def _pzp_worlds() -> list[World]:
    logs = [
        case["log"]
        for name in ("pzp_real", "pzp_synth", "pzp_worked_example")
        for case in read_cases(f"sets/{name}.jsonl.gz")
    ]
    logs += [case["localTangle"] for case in read_cases("sets/pzp_validate.jsonl.gz")]
    return _seed_worlds("pzp") + [[dump(entry) for entry in log] for log in logs]


def _autobase_worlds() -> list[World]:
    worlds = _seed_worlds("autobase", "base")
    names = ("writer", "length", "heads", "batch", "value")
    for case in [
        case for name in ("design", "random", "hard", "full") for case in read_cases(f"autobase/{name}.jsonl.gz")
    ]:
        for told in case["replicas"] if "nodes" not in case else [case]:
            base = {"base": case["id"], "indexers": told.get("indexers", case["indexers"])}
            base |= {"start": told["base"]} if told.get("base") else {}
            rows = [{"base": case["id"], **{name: row[name] for name in names}} for row in told["nodes"]]
            worlds.append(list(map(dump, [base, *rows])))
    return worlds


def _event_worlds() -> list[World]:
    worlds = _seed_worlds("events", "timeline")
    for case in read_cases("timelines/small.jsonl.gz"):
        rows = enumerate(case["arrivals"])
        names = ("timeline", "event", "after", "arrival", "author")
        values = ((case["id"], event, after, at, event[:1]) for at, (event, after) in rows)
        worlds.append([dump(dict(zip(names, each, strict=True))) for each in values])
    return worlds


def dump(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def parsed(line: bytes) -> Any:
    """Return the value of a line if it is a JSON object that orjson accepts, else None."""
    try:
        document = orjson.loads(line)
    except ValueError:
        return None
    return document if type(document) is dict else None
