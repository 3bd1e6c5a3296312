"""The committed fixtures of private groups have an example of every rule, and real envelopes."""

from functools import partial

import fixture_seeds
from dbt_tangles.formats.ssb.group_claims import GroupReason

expected = partial(fixture_seeds.expected, "ssb")
REASONS = {reason.value for reason in GroupReason}


def test_every_rule_has_an_example():
    assert {row["finding"] for row in expected("group_findings")} == {
        "dropped_after_return",
        "foreign_exclude",
        "unconnected_add",
        "returned_though_excluded",
        "init_not_counted",
        "unchecked_entry",
        "foreign_group",
        "foreign_key",
        "same_key",
        "no_answer",
        "added_in_own_epoch",
        "added_outside_additions",
    }
    published = {row["published_in_kind"] for row in expected("group_messages")}
    assert published > {"additions", "unknown"}
    cases = {"single_tip", "same_members", "subset", "overlap", "disjoint", "many_tips"}
    assert {row["preference"] for row in expected("group_epochs")} == cases
    reasons = {row["set_aside_reason"] for row in expected("group_messages")}
    assert reasons == REASONS | {"", "unconnected_epoch", "unknown_epoch"}
