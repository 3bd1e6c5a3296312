"""Claims of signed logs: forms of ids, names of tangles, and messages that are sealed in the first of two nights."""

import json

import pytest

from conftest import DATA
from fixtures.ssb.author import Author, box, to_line
from log_files import selection_of

pytestmark = pytest.mark.both

SELECTED = selection_of("tangle_missing", "tangle_edges", "tangles", "tangle_next", "int_timeline_arrivals", "feeds")
SEALED = "%p4nQoGMRlNK65eO7hMVFcW4FGFoqqdsMtxUQbqG0ZfU=.sha256"
DIRECT, BEHIND = (
    "%qLMWyhN3IfxBpbBb1Qe1Smyrofi6xDnzOrJMKWgkexM=.sha256",
    "%qdSvgW21K1LMsx7V4eHJTLt3B+jS9Ls4DBJ6rd2jkbo=.sha256",
)
OPEN_ROOT = "%/0dOIjetexIYI0gdWHxswqzyQWhQUNiUFbJeJZ9kvVY=.sha256"
LEGACY_ROOT = "%czFiWyhr5KqjgyQJrwaHbRgKsasd6K/J5UhYwwK7IaE=.sha256"


class SealedRoot:
    """A thread with a sealed root, a reply to it, and a reply that lists only the first reply."""

    def __init__(self) -> None:
        author, envelope = Author.from_seed("sealed root"), box(b"root")
        root = author.publish(envelope, 1)
        self.id, self.author = root["key"], root["value"]["author"]
        first = author.publish(self._post({"root": self.id, "previous": [self.id]}), 2)
        second = author.publish(self._post({"root": self.id, "previous": [first["key"]]}), 3)
        self.replies = [first["key"], second["key"]]
        self.lines = [to_line(each) for each in (root, first, second)]
        shown = {"content": self._post({"root": None, "previous": None}), "cyphertext": envelope, "private": True}
        self.decrypted = to_line(root | {"value": root["value"] | shown})

    @staticmethod
    def _post(place: dict) -> dict:
        return {"type": "post", "tangles": {"thread": place}}


ROOT = SealedRoot()


class Night:
    """The tables after a build, and the answers of commands about them."""

    def __init__(self, built) -> None:
        self.built = built
        rows = built.rows("tangle_messages")
        self.aside = {(row["tangle_name"], row["message_id"]): row["set_aside_reason"] for row in rows}
        self.members = {row["message_id"] for row in rows if row["is_member"] and row["tangle_name"] == "thread"}
        self.tangles = {(row["tangle_name"], row["root_id"]): row for row in built.rows("tangles")}
        self.missing = {row["missing_id"]: (row["is_in_log"], row["is_sealed"]) for row in built.rows("tangle_missing")}
        self.roots = {row["root_id"] for row in rows}
        self.texts = {
            json.loads(row["content"]).get("text"): row["message_id"]
            for row in built.rows("ssb_messages", ["message_id", "content", "is_encrypted"])
            if not row["is_encrypted"]
        }
        self.timelines = {row["timeline_id"] for row in built.rows("int_timeline_arrivals", ["timeline_id"])}
        self.opaque = {row["author"]: row["opaque_count"] for row in built.rows("feeds")}
        self.said = {
            "status": self.ask("status"),
            "ask": self.ask("send", "--ask"),
            "aside": self.ask("why", DIRECT),
            "behind": json.loads(self.ask("why", BEHIND, "--json")),
            "sealed": self.ask("why", SEALED),
            "root": self.ask("why", ROOT.replies[1]),
            "drawn": self.ask("show", f"thread:{OPEN_ROOT}"),
        }

    def ask(self, *words: str) -> str:
        """Run a command and return its output."""
        return self.built.ask(*words).output


@pytest.fixture(scope="module")
def nights(project, tmp_path_factory) -> list[Night]:
    """Build the logs, then build again with a decrypted export beside them."""
    folder = tmp_path_factory.mktemp("claims")
    for name in ("message_uris", "ids_in_claims", "sealed_reply"):
        (folder / f"{name}.jsonl").write_bytes((DATA / "ssb" / f"{name}.jsonl").read_bytes())
    (folder / "sealed_root.jsonl").write_bytes(b"\n".join(ROOT.lines) + b"\n")
    built = project("claim_references", ssb_log=str(folder))
    first = Night(built.run("--select", *SELECTED))
    reply = (DATA / "ssb" / "sealed_reply.decrypted.jsonl").read_bytes()
    (folder / "decrypted.jsonl").write_bytes(reply + ROOT.decrypted + b"\n")
    return [first, Night(built.run("--select", *SELECTED))]


def test_uris_name_the_messages_that_peers_read(nights):
    expected = json.loads((DATA / "ssb" / "message_uris.expect.json").read_text())
    members = {each for _, each, _, is_member in expected["member_by_ssb_uri2"] if is_member}
    assert nights[0].tangles["thread", expected["root"]]["member_count"] == 1 + len(members)
    reasons = {name: nights[0].aside["thread", each] for name, each, *_ in expected["member_by_ssb_uri2"]}
    other = {"bendy": "missing_root"} | dict.fromkeys(("nopad", "upper", "pct", "std64", "web"), "malformed_tangle")
    assert {name: reason for name, reason in reasons.items() if reason} == other


def test_texts_that_are_no_ids_are_not_awaited(nights):
    """The claims are malformed, and nobody is asked for `hello` or a feed."""
    night = nights[0]
    for text in ("nonid", "feedid"):
        assert night.aside["thread", night.texts[text]] == "malformed_tangle"
    wanted = {*night.missing, *night.roots} - {None}
    assert all(each.startswith(("%", "ssb:message/bendybutt-v1/")) for each in wanted)
    assert "hello" not in night.said["ask"] and "viewer" not in night.said["ask"]


def test_every_key_names_a_tangle(nights):
    night = nights[0]
    counts = {name: row["member_count"] for (name, _), row in night.tangles.items()}
    assert {name: counts[name] for name in ("x:y", "", "7", "feed")} == dict.fromkeys(("x:y", "", "7", "feed"), 2)
    assert {"x%3Ay:" + night.texts["colon"], f"ssb:legacy_thread:{LEGACY_ROOT}"} <= night.timelines
    for name, root in (("x:y", night.texts["colon"]), ("ssb:legacy_thread", LEGACY_ROOT)):
        assert f"tangle {name} {root}" in night.ask("show", f"{name}:{root}")
        assert f"tangle {name} on {root}: member" in night.ask("why", root, "--in", f"{name}:{root}")


def test_a_sealed_message_is_unknown(nights):
    night, said = nights[0], nights[0].said
    assert OPEN_ROOT in night.members and not {SEALED, DIRECT, BEHIND} & night.members
    assert night.aside["thread", DIRECT] == "missing_previous"
    assert night.aside["thread", BEHIND] == "previous_set_aside"
    assert night.missing[SEALED] == (True, True)
    assert SEALED not in said["ask"]
    assert "a message is sealed in this export" in said["status"]
    assert "sealed (encrypted), and a decrypted export settles it" in said["aside"]
    assert "export in which the sealed messages are decrypted" in said["aside"]
    assert "publish a new message" not in said["aside"] and "from a peer" not in said["aside"]
    (cause,) = said["behind"]["tangles"][0]["causes"]
    assert (cause["id"], cause["trouble"], cause["is_sealed"]) == (SEALED, "sealed", True)
    assert "the tangles that it claims are unknown" in said["sealed"] and "waits for it" in said["sealed"]
    assert "sealed in this export" in said["drawn"]


def test_a_sealed_root_is_unknown(nights):
    night = nights[0]
    assert {night.aside["thread", reply] for reply in ROOT.replies} == {"missing_root"}
    assert night.tangles["thread", ROOT.id]["root_status"] == "sealed"
    assert "the root is in the log: in this export it is sealed" in night.said["root"]
    assert f"root cause: {ROOT.id}, in the log, and unknown" in night.said["root"]
    assert "publish a new message" not in night.said["root"]
    # A root of the older fields makes no claim, so its content does not matter.
    assert night.tangles["ssb:legacy_thread", LEGACY_ROOT]["member_count"] == 2


def test_a_decrypted_export_settles_it(nights):
    night = nights[1]
    assert {OPEN_ROOT, SEALED, DIRECT, BEHIND, ROOT.id, *ROOT.replies} <= night.members
    assert not {SEALED, ROOT.id} & night.missing.keys()
    assert night.tangles["thread", ROOT.id]["root_status"] == "present"
    assert "sealed (" not in night.said["aside"] + night.said["sealed"] + night.said["root"]
    assert "sealed in this export" not in night.said["status"] + night.said["drawn"]
    assert [each.opaque[ROOT.author] for each in nights] == [1, 0]
