"""Recorded answers of the library @tangle/reduce with the strategies overwrite, simple-set and complex-set."""

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from dbt_tangles.algorithms.record.reduction import MALFORMED_ROOT, REDUCED, Member, Record, reduce_record
from log_files import read_cases
from record_oracle import ids_left_out

MALFORMED_FIELD, UNRESOLVED_MERGE = "malformed_field", "unresolved_merge"
#: The strategies of the fields in the cases of each file.
STRATEGIES = {
    "strategies": {"title": "overwrite", "body": "overwrite", "tags": "simple_set", "people": "simple_set"},
    "complex_sets": {"title": "overwrite", "tags": "simple_set", "authors": "complex_set", "hosts": "complex_set"},
}


def cases(name: str) -> Iterator[tuple[dict, Record]]:
    """Read the cases of a file, each with the record that we reduce."""
    for case in read_cases(f"records/{name}.jsonl.gz"):
        members = [Member(node["key"], node["previous"] or [], node["data"]) for node in case["nodes"]]
        yield case, reduce_record(members, STRATEGIES[name])


#: The counts of both files.
EXPECTED = {
    "strategies": {
        **{"malformed": 108, REDUCED: 391, MALFORMED_ROOT: 9},
        **{"tips": 767, "unresolved": 47, "conflicts": 151, "lost": 5},
        **{"states": 788, "merged": 625, "conflicting values": 377, "states in conflict": 373},
    },
    "complex_sets": {
        **{"malformed": 33, REDUCED: 393, MALFORMED_ROOT: 7},
        **{"tips": 586, "unresolved": 10, "conflicts": 22, "lost": 0},
        **{"states": 1100, "merged": 450, "conflicting values": 55, "states in conflict": 55},
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_all_answers_agree(name):
    counts = Counter()
    for case, found in cases(name):
        assert ids_left_out(found, MALFORMED_FIELD) == sorted(case["malformed"])
        assert (found.status == MALFORMED_ROOT) == (case["answer"] is None)
        counts.update({"malformed": len(case["malformed"]), found.status: 1})
        if case["answer"] is not None:
            check_merges(case, found, counts)
            check_values(case["answer"], found, counts)
    assert counts == EXPECTED[name]


def check_merges(case: dict, found: Record, counts: Counter) -> None:
    """Compare tips, merges and conflicts."""
    answer = case["answer"]
    assert found.tips == answer["tips"]
    assert len(case["nodes"]) - len(found.left_out) == len(answer["left"])
    assert not {*ids_left_out(found, UNRESOLVED_MERGE)} & {*answer["left"]}
    assert {field.field for field in found.fields if field.is_conflict} == {*answer["conflicts"]}
    # The next message may set nothing exactly if there is no conflict.
    assert answer["is_conflict"] == bool(answer["conflicts"]) == (not answer["is_valid_merge"])
    counts.update({"tips": len(found.tips), "unresolved": len(ids_left_out(found, UNRESOLVED_MERGE))})
    counts.update({"conflicts": len(answer["conflicts"]), "lost": len(found.tips) - len(answer["states"])})


def check_values(answer: dict, found: Record, counts: Counter) -> None:
    """With one tip the value is the tip's state; with several it is the result of a merge that sets no field."""
    for field in found.fields:
        if field.is_conflict:
            assert field.value is None
            # The conflicting values are states of their tips, where the reducer has them.
            for value in field.conflicting_values:
                state = answer["states"].get(value.tip_id)
                counts["states in conflict"] += state is not None and state[field.field] == json.loads(value.value)
            counts["conflicting values"] += len(field.conflicting_values)
            continue
        (tip, *others) = answer["tips"]
        theirs = answer["merged"] if others or tip not in answer["states"] else answer["states"][tip]
        assert json.loads(field.value) == theirs[field.field]
        counts["states" if theirs is not answer["merged"] else "merged"] += 1
