"""`tangles lint` gives the findings that a build gives on the same log."""

import base64
import json

import pytest

import fixture_seeds
from dbt_tangles.lint.records import default_reducers
from dbt_tangles.reasons import GroupReason
from fixtures.systems import LOGS
from lint_kit import OF_FEEDS, REJECTS, as_rejects, feed_messages_of, feeds_of, findings_of, rejects_of

CLAIMS = ("malformed_tangle", "wrong_type")
MALFORMED = "malformed_field"
#: Kind of log: its name in the odd files.
ODD = {"ssb": "ssb", "pzp": "pzp", "autobase": "autobase", "events": "event"}
GROUPS = {reason.value for reason in GroupReason}
EVERY_KIND = pytest.mark.parametrize("kind", [*REJECTS])


def lines_of(kind: str, folder) -> list[str]:
    files: dict[str, list[bytes]] = {}
    for row in fixture_seeds.seed("fixture_log"):
        if row["log"] == LOGS[kind]:
            files.setdefault(row["source_file"], []).append(base64.b64decode(row["raw_base64"]))
    for name, lines in files.items():
        (folder / name).write_bytes(b"\n".join(lines) + b"\n")
    return [str(folder / name) for name in files]


@EVERY_KIND
def test_rejects_of_the_fixtures(kind, fixtures, tmp_path):
    found = [f for f in findings_of(kind, *lines_of(kind, tmp_path)) if is_reject(f.reason)]
    assert as_rejects(found) == rejects_of(fixtures, kind)
    assert found


def is_reject(reason: str) -> bool:
    return reason not in (*OF_FEEDS, *CLAIMS, MALFORMED) and reason not in GROUPS


@pytest.fixture(scope="module")
def ssb_findings(tmp_path_factory):
    return findings_of("ssb", *lines_of("ssb", tmp_path_factory.mktemp("lint")))


def test_check_errors_of_the_fixtures(fixtures, ssb_findings):
    errors = {(row["message_id"], row["check_error"]) for row in fixtures.rows("ssb_messages") if row["check_error"]}
    assert errors and errors <= {(finding.id, finding.reason) for finding in ssb_findings}


def test_feeds_of_the_fixtures(fixtures, ssb_findings):
    beside, behind = feeds_of(ssb_findings)
    assert (beside, behind) == feed_messages_of(fixtures) and beside and behind


def test_claims_of_the_fixtures(fixtures, ssb_findings):
    """Malformed claims of tangles, and contents of private groups that break their schema."""
    claims = [(r["message_id"], r["claim_error"]) for r in fixtures.rows("int_tangle_claims") if r["claim_error"]]
    assert sorted((f.id, f.reason) for f in ssb_findings if f.reason in CLAIMS) == sorted(claims)
    groups = [
        (row["message_id"], row["set_aside_reason"])
        for row in fixtures.rows("group_messages")
        if row["set_aside_reason"] in GROUPS
    ]
    of_groups = [(f.id, f.reason) for f in ssb_findings if f.reason in GROUPS]
    assert sorted(of_groups) == sorted(groups)
    assert claims and groups


def test_malformed_fields_of_the_fixtures(fixtures, ssb_findings):
    """Each member with a malformed field has a finding; `lint` does not know which messages are members."""
    left_out = [each for row in fixtures.rows("records") for each in row["left_out"] if each["reason"] == MALFORMED]
    found = {f.id: f.detail for f in ssb_findings if f.reason == MALFORMED}
    assert left_out
    assert all(", ".join(each["fields"]) in found[each["message_id"]] for each in left_out)


def test_reducers_are_those_of_the_table(fixtures):
    reducers = {
        row["tangle_name"]: json.loads(row["reducer"]) for row in fixtures.rows("tangle_types") if row["reducer"]
    }
    assert default_reducers() == reducers


@pytest.mark.both
@EVERY_KIND
def test_rejects_of_odd_files(kind, odd_files):
    """Damaged and compressed files, wrong line ends, bombs, and many equal lines."""
    found = [f for f in findings_of(kind, odd_files.folders[ODD[kind]]) if is_reject(f.reason)]
    assert as_rejects(found) == rejects_of(odd_files.built, kind)
    assert len({finding.reason for finding in found}) >= 6


def test_restricted_types_are_those_of_the_table(fixtures):
    """The content types of claims, which `lint` checks, are restricted for these types alone."""
    restricted = {
        row["tangle_name"]: (row["content_types"], row["root_content_types"])
        for row in fixtures.rows("tangle_types")
        if row["content_types"] or row["root_content_types"] or row["previous_rule"] == "one_member"
    }
    assert restricted == {"epoch": (["group/init"], ["group/init"]), "group": (None, ["group/init"])}
