"""Recorded answers of the libraries @tangle/reduce, @tangle/strategy, @tangle/overwrite and @tangle/simple-set."""

import gzip
import json
from collections import Counter

from conftest import DATA
from dbt_tangles.algorithms.record.graph import Member
from dbt_tangles.algorithms.record.reduction import MALFORMED_ROOT, REDUCED, Record, reduce_record

STRATEGIES = {"title": "overwrite", "body": "overwrite", "tags": "simple_set", "people": "simple_set"}


def cases() -> list[dict]:
    with gzip.open(DATA / "records" / "strategies.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def reduced(case: dict) -> Record:
    members = [Member(node["key"], node["previous"] or [], node["data"]) for node in case["nodes"]]
    return reduce_record(members, STRATEGIES)


def test_malformed_messages_agree():
    counts = Counter()
    for case in cases():
        found = reduced(case)
        assert found.malformed_messages == sorted(case["malformed"])
        assert (found.status == MALFORMED_ROOT) == (case["answer"] is None)
        counts.update({"malformed": len(case["malformed"]), found.status: 1})
    assert counts == {"malformed": 108, REDUCED: 391, MALFORMED_ROOT: 9}


def test_merges_tips_and_conflicts_agree():
    counts = Counter()
    for case in cases():
        found, answer = reduced(case), case["answer"]
        if answer is None:
            continue
        assert found.tips == answer["tips"]
        assert len(case["nodes"]) - found.left_out_count == len(answer["left"])
        assert not {*found.unresolved_merges} & {*answer["left"]}
        assert {field.field for field in found.fields if field.is_conflict} == {*answer["conflicts"]}
        # The next message may set nothing exactly if there is no conflict.
        assert answer["is_conflict"] == bool(answer["conflicts"]) == (not answer["is_valid_merge"])
        counts.update({"tips": len(found.tips), "unresolved": len(found.unresolved_merges)})
        counts.update({"conflicts": len(answer["conflicts"]), "lost": len(found.tips) - len(answer["states"])})
    assert counts == {"tips": 767, "unresolved": 47, "conflicts": 151, "lost": 5}


def test_values_agree():
    """With one tip the value is the tip's state; with several it is the result of a merge that sets no field."""
    counts = Counter()
    for case in cases():
        answer = case["answer"]
        for field in reduced(case).fields if answer else ():
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
    assert counts == {"states": 788, "merged": 625, "conflicting values": 377, "states in conflict": 373}
