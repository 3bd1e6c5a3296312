"""Tangle claims: the contents that make them, and the defects."""

import gzip
import json
from collections import defaultdict

import pytest

from dbt_tangles.formats.ssb.claims import LEGACY_THREAD, MALFORMED_TANGLE, tangle_claims
from dbt_tangles.formats.ssb.ids import normalise
from ssb_kit import DATA, check, read_expected, read_lines

A, B, C = (f"%{letter * 43}=.sha256" for letter in "AEI")
A_URI = f"ssb:message/classic/{'A' * 43}="
B_URI = f"ssb:message/sha256/{'A' * 42}E="
B_SIGIL = f"%{'A' * 42}E=.sha256"


def named(fields):
    return tangle_claims({"type": "post", "tangles": {"thread": fields}})


def legacy(**fields):
    return tangle_claims({"type": "post", **fields})


def malformed(root=None, name="thread"):
    return [(name, root, None, False, MALFORMED_TANGLE)]


@pytest.mark.parametrize("previous", [[B, C], [], [B, B, A]], ids=["two", "none", "repeated"])
def test_well_formed_claims(previous):
    """The graph algorithms set aside a message without previous, and remove duplicates."""
    assert named({"root": A, "previous": previous}) == [("thread", A, previous, False, None)]
    assert named({"root": None, "previous": None}) == [("thread", None, None, True, None)]


@pytest.mark.parametrize("text", ["hello", "", f"@{'A' * 43}=.ed25519"])
def test_references_that_can_be_no_message_are_malformed(text):
    """Such a root is not the root of any tangle, and nobody can send such a previous; `test_ids` has all forms."""
    assert named({"root": text, "previous": [A]}) == malformed()
    assert named({"root": A, "previous": [B, text]}) == malformed(A)
    assert legacy(root=text, branch=A) == malformed(name=LEGACY_THREAD)
    assert legacy(root=A, branch=[text]) == malformed(A, LEGACY_THREAD)


def test_ids_of_other_formats_may_be_awaited():
    ids = [f"ssb:message/bendybutt-v1/{'x' * 43}=", f"%{'x' * 43}=.bbmsg-v1", f"%{'x' * 43}=.cloaked"]
    assert named({"root": ids[0], "previous": ids}) == [("thread", ids[0], ids, False, None)]


def test_ids_of_free_choice():
    """In a log without signatures, any string may be the id of a message."""
    content = {"tangles": {"thread": {"root": "x", "previous": ["", "\0", A_URI]}}}
    assert tangle_claims(content, normalise) == [("thread", "x", ["", "\0", A], False, None)]


def test_uris_are_read_as_peers_read_them():
    """Of the forms that name no message, only that of another format's message may be awaited."""
    expected = json.loads((DATA / "message_uris.expect.json").read_text())
    claims = {row["message_id"]: row["claims"][0] for row in check(read_lines("message_uris.jsonl"))}
    for form, message_id, _, is_member in expected["member_by_ssb_uri2"]:
        claim = claims[message_id]
        assert (claim["root_id"] == expected["root"]) == is_member, form
        assert (claim["defect"] is None) == (is_member or form == "bendy"), form


def test_uris_are_normalised():
    assert named({"root": A_URI, "previous": [B_URI, C]}) == [("thread", A, [B_SIGIL, C], False, None)]
    assert legacy(root=A_URI, branch=[B_URI]) == [(LEGACY_THREAD, A, [B_SIGIL], False, None)]


@pytest.mark.parametrize(
    ("fields", "root"),
    [
        ({"root": A}, A),
        *(({"root": A, "previous": previous}, A) for previous in (None, B, {"0": B}, [None], [B, 7])),
        ({"root": A_URI, "previous": [[B]]}, A),
        *((fields, None) for fields in ({}, {"root": None}, {"previous": None}, {"previous": [B]})),
        *(({"root": None, "previous": previous}, None) for previous in ([], [B])),
        *(({"root": root, "previous": previous}, None) for root, previous in ((7, [7]), ([A], [B]), (False, False))),
        *((fields, None) for fields in (None, "x", 7, True, [], [A])),
    ],
)
def test_other_tangles_are_malformed(fields, root):
    """A root that is a string is kept, so that the defect can be shown with its tangle."""
    assert named(fields) == malformed(root)


@pytest.mark.parametrize("tangles", [[], [A], "thread", "", 7, 0, True, False])
def test_tangles_that_are_not_an_object_are_malformed(tangles):
    assert tangle_claims({"type": "post", "tangles": tangles}) == malformed(name=None)


@pytest.mark.parametrize(
    "content",
    [
        *({}, {"tangles": None}, {"tangles": {}}, {"type": "post", "text": "x"}),
        *({"root": None}, {"branch": None}, {"root": None, "branch": None}),
    ],
)
def test_contents_without_claims(content):
    """Old posts that start a thread have a null root, or lack both `root` and `branch`."""
    assert tangle_claims(content) == []


def test_each_tangle_makes_its_claim_in_order():
    root = {"root": None, "previous": None}
    content = {"tangles": {"group": {"root": A, "previous": [B]}, "members": root, "": root, "__proto__": 7}}
    assert tangle_claims(content) == [
        ("group", A, [B], False, None),
        ("members", None, None, True, None),
        ("", None, None, True, None),
        *malformed(name="__proto__"),
    ]


@pytest.mark.parametrize("branch", [B, [B], [B, C], [B, B], []])
def test_legacy_candidate(branch):
    previous = branch if type(branch) is list else [branch]
    assert legacy(root=A, branch=branch) == [(LEGACY_THREAD, A, previous, False, None)]


@pytest.mark.parametrize(
    ("fields", "root"),
    [
        *(({"root": root}, A) for root in (A, f"{A}?unbox=key")),
        *(({"root": A, "branch": branch}, A) for branch in (None, 7, [B, None], {})),
        *((fields, None) for fields in ({"branch": B}, {"root": 7}, {"root": None, "branch": [B]})),
        *(({"root": root, "branch": B}, None) for root in (7, {"link": A})),
        ({"root": "", "branch": False}, None),
    ],
)
def test_other_legacy_threads_are_malformed(fields, root):
    assert legacy(**fields) == malformed(root, LEGACY_THREAD)


def test_legacy_links_lose_their_unbox_tail():
    assert legacy(root=f"{A}?unbox=x.boxs", branch=[f"{B}?unbox=", C]) == [(LEGACY_THREAD, A, [B, C], False, None)]
    assert legacy(root=f"{A_URI}?unbox=x", branch=B) == [(LEGACY_THREAD, A, [B], False, None)]


def test_lone_root_beside_tangles_is_not_a_claim():
    tangles = {"group": {"root": A, "previous": [B]}}
    assert tangle_claims({"root": A, "tangles": tangles}) == [("group", A, [B], False, None)]
    assert tangle_claims({"root": 7, "tangles": {}}) == []
    assert tangle_claims({"root": A, "tangles": None}) == malformed(A, LEGACY_THREAD)
    assert tangle_claims({"root": A, "tangles": 7}) == malformed(name=None) + malformed(A, LEGACY_THREAD)
    assert tangle_claims({"root": A, "branch": None, "tangles": {}}) == malformed(A, LEGACY_THREAD)


def test_both_forms_make_both_claims():
    content = {"root": A, "branch": B, "tangles": {"thread": {"root": A, "previous": [B]}}}
    assert tangle_claims(content) == [("thread", A, [B], False, None), (LEGACY_THREAD, A, [B], False, None)]


@pytest.mark.parametrize("log", ["small.jsonl", "medium.jsonl.gz"])
def test_claims_are_those_of_the_peers(log):
    name = log.split(".")[0]
    candidates, odd, types = defaultdict(set), set(), {}
    # Lines without these words make no claims; a third of the log is left.
    lines = [line for line in read_lines(log) if b'"tangles"' in line or b'"root"' in line or b'"branch"' in line]
    for row in check(lines, verify_signatures=name == "small"):
        types[row["message_id"]] = row["content_type"]
        for claim in row["claims"]:
            if claim["defect"]:
                odd.add((claim["tangle_name"], row["message_id"]))
            elif not claim["is_root"]:
                candidates[claim["tangle_name"], claim["root_id"]].add(row["message_id"])
    assert odd == {(said["tangle"], said["id"]) for said in read_expected(f"{name}.expect_odd.jsonl")}
    if name != "small":
        # Signatures were not checked: leave out what the peers do not use.
        usable = {said["id"] for said in read_expected(f"{name}.expect_messages.jsonl.gz") if said.get("ooo")}
        candidates = {tangle: ids & usable for tangle, ids in candidates.items()}
    path = DATA / f"{name}.expect_tangles.jsonl{'' if name == 'small' else '.gz'}"
    seen = 0
    with gzip.open(path) if path.suffix == ".gz" else path.open() as tangles:
        for said in map(json.loads, tangles):
            tangle = LEGACY_THREAD if said["tangle"] == "old" else said["tangle"]
            ours = candidates.get((tangle, said["root"]), set()) - {said["root"]}
            assert len(ours) == said["candidates"], said
            if "members" in said and said["members"] is not None:
                assert ours == (set(said["members"]) | set(said["aside"])) - {said["root"]}, said
            seen += len(ours)
    assert seen == sum(map(len, candidates.values()))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        *((key, key) for key in ("feed", "legacy_thread", "ssb", "Ssb:feed", "x:y", "")),
        *((key, f"ssb:{key}") for key in ("ssb:feed", "ssb:legacy_thread", "ssb:ssb:feed", "ssb:")),
    ],
)
def test_every_key_is_a_name_but_none_of_ours(key, name):
    """A named tangle that calls itself ssb:legacy_thread would mix with `root` and `branch`."""
    content = {"tangles": {key: {"root": None, "previous": None}}, "root": A, "branch": B}
    assert tangle_claims(content) == [(name, None, None, True, None), (LEGACY_THREAD, A, [B], False, None)]
