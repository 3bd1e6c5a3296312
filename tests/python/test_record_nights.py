"""Random records with restricted writers: any order and any nights end in the tables of one build."""

import random
from collections import Counter

import pytest

from nights import differing
from record_stories import TYPES, random_lines

SELECTED = ("--select", "+records", "+record_fields", "+tangle_messages", "--exclude", "test_type:unit")
TABLES = ("records", "record_fields", "tangle_messages", "tangles")


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_records_do_not_depend_on_order_or_nights(project, tmp_path, seed):
    lines = random_lines(150, seed)
    given = {"ssb_log": str(tmp_path / "log.jsonl"), "tangle_types": TYPES, "log_timeline": False}
    grown, at_once = project(f"records_grown_{seed}", **given), project(f"records_at_once_{seed}", **given)
    chosen = random.Random(seed)
    shuffled = chosen.sample(lines, len(lines))
    for night in (chosen.randrange(20, 130), 150):
        (tmp_path / "log.jsonl").write_bytes(b"".join(line + b"\n" for line in shuffled[:night]))
        grown.run(*SELECTED)
    (tmp_path / "log.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    at_once.run(*SELECTED)
    assert differing(grown, at_once, TABLES) == []
    counts = Counter(row["set_aside_reason"] for row in grown.rows("tangle_messages"))
    counts.update("conflict" for row in grown.rows("record_fields") if row["is_conflict"])
    counts.update("malformed" for row in grown.rows("records") if row["malformed_messages"])
    assert {"not_a_writer", "missing_previous", "conflict", "malformed"} <= counts.keys()
