"""Builds of a log with a private group, announcements of metafeeds and a table of identities."""

import pytest

from dbt_projects import installing
from group_kit import add, epoch_init, exclude, feed, key_of, message_id, place, root_init, to_line, uri

OF_GROUPS = ("+group_authority", "+group_findings", "+group_next", "+group_members")
SELECTED = ("--select", *OF_GROUPS, "--exclude", "resource_type:seed", "--indirect-selection", "buildable")
TABLES = ("group_authority", "group_epochs", "group_findings", "group_members", "group_messages", "group_next")


def link(name, kind, author, **content):
    return to_line(uri(name), {"type": f"metafeed/{kind}", **content}, author=author)


def post(name, author, *previous):
    content = {"type": "post", "text": "hello", "tangles": {"group": place(uri("R"), *map(uri, previous))}}
    return to_line(uri(name), content, author=author)


def in_group(*previous):
    return place(uri("R"), *map(uri, previous))


LINKS = [
    link("l1", "announce", "@alice", metafeed=feed("alice")),
    link("l2", "add/existing", feed("bob"), metafeed=feed("bob"), subfeed="@bob"),
    link("l3", "add/derived", feed("bob"), metafeed=feed("bob"), subfeed=feed("shard of bob")),
    link("l4", "add/derived", feed("shard of bob"), metafeed=feed("shard of bob"), subfeed="@other feed of bob"),
    link("l5", "tombstone", feed("bob"), metafeed=feed("bob"), subfeed="@bob"),
    link("l6", "announce", "@dave", metafeed=feed("dave")),
    link("l7", "announce", "@dave", metafeed=feed("another dave")),
    link("l8", "add/existing", "@mallory", metafeed=feed("eve"), subfeed="@eve"),  # of a metafeed of another
    link("l9", "announce", "@frank", metafeed=feed("mallory")),
    link("l10", "announce", "@gus", metafeed=7),
]
MALLORY = link("l11", "announce", "@mallory", metafeed=feed("mallory"))
K0, K1, K2 = key_of("R"), key_of("E"), key_of("M")
GROUP = [
    to_line(uri("R"), root_init(K0), author="@alice"),
    to_line(
        uri("a1"),
        add(K0, in_group("R"), place(uri("R"), uri("R")), map(feed, ("alice", "bob", "carol", "dave", "frank"))),
        author="@alice",
    ),
    post("of bob", "@other feed of bob", "a1"),
    to_line(uri("x1"), exclude(in_group("a1"), place(uri("R"), uri("a1")), [feed("carol")]), author="@bob"),
    post("of carol", "@carol", "x1"),
    post("of dave", "@dave", "a1"),
    post("of eve", "@eve", "a1"),
    post("of frank", "@frank", "a1"),
    post("of gus", "@gus", "a1"),
    to_line(uri("E"), epoch_init(K1, in_group("x1"), place(uri("R"), uri("R"))), author="@alice"),
    to_line(
        uri("a2"),
        add(K1, in_group("E"), place(uri("E"), uri("E")), [feed("alice"), feed("bob")]),
        author="@alice",
    ),
    to_line(
        uri("m1"), add(K1, in_group("a2"), place(uri("E"), uri("a2")), [feed("mallory")]), author="@mallory", sequence=2
    ),
    to_line(uri("M"), epoch_init(K2, in_group("m1"), place(uri("R"), uri("E"))), author="@mallory", sequence=3),
]
#: The table that a user gives, as a model. The row of @frank replaces the announcement.
IDENTITIES = f"""
{{{{ config(materialized='table', file_format='parquet') }}}}
select '{feed("carol")}' as person, '@carol' as feed
union all select '{feed("frank")}', '@frank'
union all select cast(null as string), '@gus'
"""


def told(project):
    """Return the person, source, verdict and evidence of each message."""
    return {
        row["message_id"]: (row["person"], row["person_source"], row["verdict"], row["evidence"])
        for row in project.rows("group_authority")
    }


@pytest.fixture(scope="module")
def installed(project, tmp_path_factory):
    """Build the log in a project that gives identities."""
    folder = installing(tmp_path_factory.mktemp("identities") / "p", {"people.sql": IDENTITIES})
    made = project("authority", folder, verify_signatures=False, identities="people")
    return made.given(ssb_log=[*LINKS, MALLORY, *GROUP]).build(*SELECTED)


def test_persons_by_identities_and_announcements(installed):
    found = told(installed)
    ids = {name: message_id(name) for name in ("R", "a1", "a2", "x1", "E", "m1")}
    by_log, by_user = "announcement", "identities"
    assert found == {
        ids["R"]: (feed("alice"), by_log, "member", [ids["R"]]),
        ids["a1"]: (feed("alice"), by_log, "member", [ids["R"]]),
        message_id("of bob"): (feed("bob"), by_log, "member", [ids["a1"]]),
        ids["x1"]: (feed("bob"), by_log, "member", [ids["a1"]]),
        message_id("of carol"): (feed("carol"), by_user, "excluded", [ids["x1"]]),
        message_id("of dave"): (None, by_log, "unknown_person", []),
        message_id("of eve"): (None, None, "unknown_person", []),
        message_id("of frank"): (feed("frank"), by_user, "member", [ids["a1"]]),
        message_id("of gus"): (None, None, "unknown_person", []),
        ids["E"]: (feed("alice"), by_log, "member", [ids["a1"]]),
        ids["a2"]: (feed("alice"), by_log, "member", sorted([ids["a1"], ids["E"]])),
        ids["m1"]: (feed("mallory"), by_log, "never", []),
        message_id("M"): (feed("mallory"), by_log, "member", [ids["m1"]]),
    }


def test_findings_of_authority(installed):
    rows = [
        row for row in installed.rows("group_findings") if row["finding"] in ("without_authority", "ambiguous_person")
    ]
    found = {(row["finding"], row["epoch_id"], row["feed_id"], tuple(row["message_ids"])) for row in rows}
    assert len(rows) == 3
    assert found == {
        ("without_authority", message_id("R"), "@carol", (message_id("of carol"),)),
        ("without_authority", None, "@mallory", (message_id("m1"),)),  # neither of E nor of R before it
        ("ambiguous_person", None, "@dave", tuple(sorted([message_id("l6"), message_id("l7")]))),
    }


def test_the_rule_is_off_by_default(installed):
    assert {row["set_aside_reason"] for row in installed.rows("group_messages")} == {None}
    assert len(installed.rows("group_epochs")) == 3


@pytest.mark.long
def test_the_rule_in_nights_that_learn_who_is_who(project):
    """Mallory is unknown at first and counts. Once the log says who she is, her messages are set aside."""
    options = {"verify_signatures": False, "group_authority": True}
    grown = project("authority_grown", **options).given(ssb_log=[*LINKS, *GROUP]).build(*SELECTED)
    assert told(grown)[message_id("M")][2] == "unknown_person"
    assert len(grown.rows("group_epochs")) == 3
    grown.given(ssb_log=[*LINKS, *GROUP, MALLORY]).build(*SELECTED)
    reasons = {row["message_id"]: row["set_aside_reason"] for row in grown.rows("group_messages")}
    assert {one for one, reason in reasons.items() if reason} == {message_id("m1"), message_id("M")}
    assert {*reasons.values()} == {None, "no_authority"}
    assert {row["epoch_id"] for row in grown.rows("group_epochs")} == {message_id("R"), message_id("E")}
    assert feed("mallory") not in {row["feed_id"] for row in grown.rows("group_members")}
    assert told(grown)[message_id("M")][2:] == ("never", [])
    whole = project("authority_whole", **grown.vars).build(*SELECTED)
    for table in TABLES:
        assert grown.sorted_rows(table) == whole.sorted_rows(table), table
