"""Whatever a log holds, the build is green, each line ends in a usable message or a reject, and nothing is executed."""

import gzip
import json
import random
import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from conftest import DATA
from dbt_spark_python.lines import read_lines
from dbt_spark_python.unpack import Reading
from fixtures.ssb.author import Author, Message, box, to_line

pytestmark = pytest.mark.both_at_length

ANY = "any reason"
ROOT_CLAIM = {"root": None, "previous": None}
MAX_LINE_BYTES = 2**21
LONE, OTHER_LONE = "\ud800", "\udfff"
NO_SEEDS = ("--exclude-resource-type", "seed")
ONLY_MESSAGES = ("--select", "+ssb_messages", "+ssb_rejects", "--indirect-selection", "cautious", *NO_SEEDS)
HOSTILE = [
    *(
        "'",
        '"',
        "`",
        "\\",
        "\\'",
        '\\"',
        ";",
        "--",
        "/*",
        "%s",
        "%(name)s",
        "${name}",
        "$1",
        "\0",
        "a\0b",
        "\n",
        "a\r\nb",
    ),
    *(
        "{{ 1/0 }}",
        "{% raw %}",
        "{% endraw %}",
        "{#",
        "{{ env_var('HOME') }}",
        "'; drop table tangles; --",
        "__this_round__",
    ),
    *(
        "",
        " ",
        "null",
        "None",
        "0",
        "1",
        "NaN",
        "__proto__",
        "constructor",
        "\u2028",
        "\u202eabc",
        "\ufeff",
        "\uffff",
        "😀",
    ),
    *("thread", "Thread", "THREAD", "e\u0301", "\u00e9", "ﬀ", "ff", "a" * 1200),
]


class Log:
    """A folder of files, with what each line should come to.

    Attributes:
        rejects: The reason by file and line.
        lines: How many lines should be behind each message.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.files: dict[str, list[bytes]] = {}
        self.rejects: dict[tuple[str, int], str] = {}
        self.lines: Counter[str] = Counter()

    def bad(self, reason: str, *lines: bytes, file: str = "log.jsonl") -> None:
        """Add lines that should be rejected."""
        for line in lines:
            self.files.setdefault(file, []).append(line)
            self.rejects[file, len(self.files[file])] = reason

    def good(self, *lines: Message | bytes, file: str = "log.jsonl", message_id: str | None = None) -> None:
        """Add lines that should be usable; with the key they claim, or the one given."""
        for line in lines:
            self.files.setdefault(file, []).append(line if isinstance(line, bytes) else to_line(line))
            self.lines[line["key"] if message_id is None else message_id] += 1

    def write(self) -> str:
        """Write the files and return what is to be the var `ssb_log`."""
        for name, lines in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = b"\n".join(lines) + b"\n"
            path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return str(self.folder)

    def check(self, built) -> None:
        """Compare all lines with the tables."""
        found = {}
        for row in built.rows("ssb_rejects", ["source_file", "line", "reason"]):
            file = unquote(row["source_file"]).partition(f"{self.folder}/")[2]
            assert (file, row["line"]) not in found
            found[file, row["line"]] = row["reason"]
        assert found.keys() == self.rejects.keys()
        wrong = {at: (reason, found[at]) for at, reason in self.rejects.items() if reason not in (ANY, found[at])}
        assert not wrong, wrong
        usable = {
            row["message_id"]: row["line_count"]
            for row in built.rows("ssb_messages", ["message_id", "line_count", "is_usable"])
            if row["is_usable"]
        }
        assert usable == self.lines


def post(text: str = "", **fields: Any) -> dict[str, Any]:
    """Make a content."""
    return {"type": "post", "text": text, **fields}


def raw(message: Message, old: bytes, new: bytes) -> bytes:
    """Print a message and change its text."""
    line = to_line(message)
    assert old in line
    return line.replace(old, new, 1)


def broken(log: Log) -> None:
    """Add lines that are no messages, however they are read."""
    log.bad(
        "malformed_json",
        b"",
        b"   ",
        b"\t\r",
        b"\0",
        b"\0" * 5000,
        b"nope",
        b"{",
        b'{"a":1,}',
        b"{'a':1}",
        b"NaN",
        b"01",
    )
    log.bad(
        "malformed_json", b'"\0"', b'{"key":"\x1f"}', b"\xef\xbb\xbf{}", b"1 2", b'{"a":', b'"\\ud83', b"[" * 10_000
    )
    log.bad("malformed_json", *(text.encode() for text in HOSTILE if text not in ("0", "1", "null", "\n", "a\r\nb")))
    log.bad(
        "invalid_utf8",
        b"\xff",
        b'{"key":"\xc3("}',
        b'"\xc0\xaf"',
        b'"\xed\xa0\x80"',
        b'"\xf5\x80\x80\x80"',
        b'"\xe2\x82',
    )
    log.bad("not_a_message", b"null", b"true", b"7", b"-1e999", b'"%key"', b"{}", b"[]", b'{"sync":true}', b'"\\ud800"')
    log.bad(
        "not_a_message", b'{"key":"%k","value":7}', b'{"key":"%k","value":null}', b'{"value":{"value":{"value":{}}}}'
    )
    log.bad("not_a_message", b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000)
    log.bad("malformed_json", b"[" * 10_000 + b"]" * 9_999, b'{"a":' * 10_000 + b"}" * 10_000)


def random_bytes(log: Log) -> None:
    """Add files that are no logs."""
    log.bad(ANY, *random.Random(1).randbytes(100_000).split(b"\n"), file="garbage.bin")
    log.bad(ANY, *gzip.compress(b"not named .gz").split(b"\n"), file="compressed.jsonl")
    log.bad(ANY, *'{"key": 1}\n{}'.encode("utf-16").split(b"\n"), file="utf16.jsonl")
    (log.folder / "empty.jsonl").touch()
    (log.folder / "empty.jsonl.gz").write_bytes(gzip.compress(b""))


@pytest.fixture(scope="module")
def signed(tmp_path_factory) -> Log:
    """Write a log for a build that verifies."""
    log = Log(tmp_path_factory.mktemp("signed logs"))
    alice, bob = Author.from_seed("alice"), Author.from_seed("bob")
    broken(log)
    random_bytes(log)

    # Texts, types and tangle names that mean something to SQL, Jinja, Python or a printer.
    for name in HOSTILE:
        root = alice.publish(post(name, tangles={name: ROOT_CLAIM}), 1)
        log.good(root, bob.publish(post(name, tangles={name: {"root": root["key"], "previous": [root["key"]]}}), 2))
        log.good(alice.publish({"type": f"{name[:40]} a type", name: {name: [name]}}, 3))
        log.good(
            alice.publish(post(tangles={"thread": {"root": name, "previous": [name]}}, root=name, branch=[name]), 4)
        )
    log.good(alice.publish(post(tangles={f"t{i}": ROOT_CLAIM for i in range(80)}), 1))
    log.good(alice.publish(post(tangles={"many": {"root": "%r", "previous": [f"%{i}" for i in range(400)]}}), 1))

    # Claims of the wrong type: no claims, but usable messages.
    for odd in (None, 7, True, "x", [], {}, [None], {"root": 7}, {"a": 1}, {"root": None}, {"previous": []}):
        log.good(alice.publish(post(tangles=odd), 1), alice.publish(post(tangles={"thread": odd}), 1))
        log.good(alice.publish(post(tangles={"thread": {"root": "%r", "previous": odd}}), 1))
        log.good(alice.publish(post(tangles={"thread": {"root": odd, "previous": ["%r"]}}), 1))
        log.good(alice.publish(post(root=odd, branch=odd), 1), alice.publish(post(root="%r", branch=odd), 1))

    # A tangle named as legacy threads are, beside a legacy thread with the same root.
    root = alice.publish(post(tangles={"legacy_thread": ROOT_CLAIM}), 1)
    reply = {"root": root["key"], "previous": [root["key"]]}
    log.good(root, alice.publish(post(root=root["key"], branch=root["key"], tangles={"legacy_thread": reply}), 2))
    log.good(alice.publish(post(root=7, branch=7, tangles={"legacy_thread": 7}), 1))

    # Lone surrogates have no UTF-8 form; these two names have the same form without them.
    log.good(alice.publish(post(LONE, tangles={LONE: ROOT_CLAIM, OTHER_LONE: ROOT_CLAIM}), 1))
    log.good(
        alice.publish(post(tangles={"t": {"root": "\udc00", "previous": ["\udc00", "\ud800"]}}, branch="\ud800"), 1)
    )
    log.good(alice.publish({"type": "\ud800\ud800\ud800", LONE: 1, OTHER_LONE: 2}, 1))
    log.good(alice.publish(post(root="\ud800", branch="\udfff"), 1))

    # A key that is given twice keeps its place and takes the last value.
    twice = alice.publish(post("twice", tangles={"twice": ROOT_CLAIM}), 1)
    log.good(twice)
    log.good(raw(twice, b'"type":"post"', b'"type":"pest","type":"post"'), message_id=twice["key"])
    log.good(raw(twice, b'"hash":"sha256"', b'"hash":"md5","hash":"sha256"'), message_id=twice["key"])
    log.good(raw(twice, b'"twice":{', b'"twice":7,"twice":{'), message_id=twice["key"])
    log.good(raw(twice, b'{"key":', b'{"value":{},"key":'), message_id=twice["key"])
    log.bad("bad_signature", raw(twice, b'"type":"post"', b'"type":"post","type":"pest"'))

    # Envelopes are nobody's word.
    plain = alice.publish(post("envelopes"), 5, 6)
    for key in (b"null", b"7", b"{}", b'""', b'"%nonsense"', b'"\\ud800"', b'"\\u0000"', b"[[[]]]"):
        log.good(raw(plain, b'"' + plain["key"].encode() + b'"', key), message_id=plain["key"])
    for time in (
        b"null",
        b'"yesterday"',
        b"{}",
        b"1e400",
        b"-1e400",
        b"-0",
        b"5e-324",
        b"123456789012345678901234567890",
    ):
        log.good(raw(plain, b'"timestamp":6', b'"timestamp":' + time), message_id=plain["key"])
    for time in (-1, 0.5, 1e21, 5e-324, -1e300, 2**53):
        log.good(alice.publish(post("times", tangles={"times": ROOT_CLAIM}), time, 1))
    endless = raw(alice.publish(post("1e400"), float("inf"), 1), b'"timestamp":null', b'"timestamp":1e400')
    log.good(endless, message_id=json.loads(endless)["key"])
    for sequence in (0, -1, 2**31 - 1, -(2**31)):
        log.good(
            alice.publish(post(), 1, sequence=sequence), alice.publish(post(), 2, sequence=sequence, previous=None)
        )
    log.bad(
        "bad_sequence", *(to_line(alice.publish(post(), 1, sequence=s)) for s in (2**31, -(2**31) - 1, 1.5, "1", True))
    )

    # Messages that break a rule.
    log.bad("bad_signature", raw(plain, b"envelopes", b"envelope_"))
    log.bad("bad_signature", to_line(Author.from_seed("alice", hmac_key=b"k" * 32).publish(post(), 1)))
    log.bad("other_format", raw(plain, alice.feed_id.encode(), b"ssb:feed/bendybutt-v1/" + b"A" * 43 + b"="))
    log.bad(
        "bad_author", raw(plain, alice.feed_id.encode(), b"{{ 1/0 }}"), raw(plain, alice.feed_id.encode(), b"\\u0000")
    )
    log.bad("bad_content", *(to_line(alice.publish(content, 1)) for content in (None, [], 7, "", "{{ 1/0 }}")))
    log.bad("bad_type", *(to_line(alice.publish(c, 1)) for c in ({}, {"type": 7}, {"type": "ab"}, {"type": "😀" * 27})))
    log.good(alice.publish(box(b"sealed"), 1))
    log.bad("too_long", to_line(alice.publish(post("x" * 8192), 1)), to_line(alice.publish(post("é" * 200_000), 1)))
    deep = b"[" * 10_000 + b"]" * 10_000
    log.bad(
        "too_long",
        raw(plain, b'"envelopes"', deep),
        raw(plain, b'"envelopes"', b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
    )

    # Lines no longer than a line may be, and longer ones.
    log.good(to_line(plain).ljust(MAX_LINE_BYTES), file="long.jsonl", message_id=plain["key"])
    log.bad("too_long", to_line(plain).ljust(MAX_LINE_BYTES + 1), file="long.jsonl")
    log.bad("too_long", raw(plain, b"envelopes", b"x" * 100_000_000), file="long.jsonl")
    log.good(plain, file="long.jsonl")
    log.bad("not_a_message", b"{}", file="long.jsonl")

    # Other ways to end lines, to begin files and to name them.
    log.good(*(to_line(plain) + b"\r" for _ in range(3)), file="crlf.jsonl", message_id=plain["key"])
    log.bad("malformed_json", b"\r", file="crlf.jsonl")
    log.good(b"\xef\xbb\xbf" + to_line(plain), to_line(plain), file="bom.jsonl", message_id=plain["key"])
    log.good(plain, file="folder/a=1/packed.jsonl.gz")
    log.bad("not_a_message", b"{}", file="folder/a=1/packed.jsonl.gz")
    log.good(plain, file='it\'s {{ 1/0 }} 100% "good" [?*].jsonl')
    log.bad("not_a_message", b"{}", file='it\'s {{ 1/0 }} 100% "good" [?*].jsonl')
    return log


@pytest.fixture(scope="module")
def verified(signed, project):
    """Build with the checks on."""
    return project("bad_input_verified", ssb_log=signed.write()).build(*NO_SEEDS)


def test_verified_lines(signed, verified):
    """Every line of every file, by its number."""
    signed.check(verified)


def test_verified_names(signed, verified):
    """Names of tangles come out as they went in, and no two become one."""
    tangles = {
        (row["tangle_name"], row["member_count"], len(row["tips"]))
        for row in verified.rows("tangles")
        if row["root_status"] == "present"
    }
    assert {(name, 2, 1) for name in HOSTILE} <= tangles
    assert {(f"t{i}", 1, 1) for i in range(80)} <= tangles
    assert [row for row in tangles if row[0] == "legacy_thread"] == [("legacy_thread", 2, 1)]
    assert [row for row in tangles if "\ufffd" in row[0]] == [("\ufffd", 1, 1)]


def test_verified_contents(signed, verified):
    """Contents are JSON that says what was published."""
    contents = [json.loads(row["content"]) for row in verified.rows("ssb_messages", ["content"]) if row["content"]]
    texts = Counter(content.get("text") for content in contents if isinstance(content, dict) and "text" in content)
    assert all(texts[name] >= 2 for name in HOSTILE if name)
    assert texts["\ud800"] == 1


def test_envelope_keys_are_reported(signed, verified):
    """A wrong key makes a message inconsistent, not unusable."""
    keys = {row["message_id"]: row["is_key_consistent"] for row in verified.rows("ssb_messages") if row["is_usable"]}
    assert Counter(keys.values())[False] == 1


HUGE = "%" + "x" * 999_999
COLON_ROOTS = [":".join(parts) for length in (1, 2) for parts in product(("", "a", "25", "3A"), repeat=length)]
COLON_NAMES = ["".join(parts) for parts in product(("", "%", ":", "a", "25", "3A"), repeat=3)]


def line(key: Any, content: Any, author: str = "@a", sequence: Any = 1, **fields: Any) -> bytes:
    """Print an unsigned message."""
    value = {"author": author, "sequence": sequence, "content": content, **fields}
    return json.dumps({"key": key, "value": value, "timestamp": 1}).encode()


def reply(root: str, *previous: str, name: str = "thread") -> dict[str, Any]:
    """Make a content that claims a place in a tangle."""
    return post(tangles={name: {"root": root, "previous": list(previous)}})


@pytest.fixture(scope="module")
def unsigned(tmp_path_factory) -> Log:
    """Write a log for a build that takes ids as they are claimed."""
    log = Log(tmp_path_factory.mktemp("unsigned logs"))
    broken(log)
    random_bytes(log)

    def good(key, content, stored=None, **fields):
        log.good(line(key, content, **fields), message_id=key if stored is None else stored)

    for i, text in enumerate(HOSTILE):
        root, child = f"%{text}", f"%{text}/child"
        good(root, post(tangles={text: ROOT_CLAIM}), author=f"@{text}", previous=text)
        good(child, reply(root, root, root, name=text), author=f"@{text}", sequence=2)
        good(f"%legacy {i}", post(root=root, branch=[root]), author=f"@{text}", sequence=3)
    good("%\ud800", post(tangles={"surrogate \ud800": ROOT_CLAIM}), stored="%\ufffd")
    good(
        "%\ud800/child", reply("%\ud800", "%\ud800", name="surrogate \ud800"), stored="%\ufffd/child", author="@\ud800"
    )

    # Long ids and names.
    good(HUGE, post(tangles={"long id": ROOT_CLAIM}))
    good("%after a long id", reply(HUGE, HUGE, name="long id"))
    good("%long name", post(tangles={HUGE: ROOT_CLAIM}))
    good("%after a long name", reply("%long name", "%long name", name=HUGE))
    good("%long author", post(), author=HUGE)

    # Many of everything.
    good("%many tangles", post(tangles={f"one of many {i}": ROOT_CLAIM for i in range(10_000)}))
    good("%root", post(tangles={"thread": ROOT_CLAIM}))
    good("%many previous", reply("%root", *(f"%unknown {i}" for i in range(10_000))))
    good("%repeated previous", reply("%root", *["%root"] * 10_000))
    for i in range(500):
        good(f"%sibling {i}", reply("%root", "%root"))
    good("%merge", reply("%root", "%root", *(f"%sibling {i}" for i in range(500))))

    # What never gets in.
    good("%cycle 1", reply("%root", "%cycle 2"))
    good("%cycle 2", reply("%root", "%cycle 1"))
    good("%after the cycle", reply("%root", "%cycle 1"))
    good("%after that", reply("%root", "%after the cycle", "%root"))
    good("%itself", reply("%root", "%itself"))
    good("%itself and the root", reply("%root", "%root", "%itself and the root"))
    good("%no previous", reply("%root"))
    good("%own root", reply("%own root", "%own root"))
    good("%two roots 1", reply("%two roots 2", "%two roots 2"))
    good("%two roots 2", reply("%two roots 1", "%two roots 1"))
    good("%no root", reply("%never seen", "%never seen"))

    # Names and roots that a colon could part at another place, or that look as if it had been written otherwise.
    for root in COLON_ROOTS:
        good(root, post(tangles=dict.fromkeys(COLON_NAMES, ROOT_CLAIM)))

    # A key twice, with two texts: the claimed id decides, whoever wrote it.
    log.good(line("%twice", post("1")), line("%twice", post("2"), author="@b"), message_id="%twice")
    deep = b'"content":' + b"[" * 10_000 + b"]" * 10_000
    log.bad("bad_content", line("%deep", 7).replace(b'"content": 7', deep))
    log.bad("bad_author", line("%author", post(), author=7))
    log.bad("bad_sequence", line("%sequence", post(), sequence="1"), line("%sequence", post(), sequence=2**31))
    log.bad("missing_field", b'{"key":"%k","value":{"author":"@a","content":{}}}')
    return log


@pytest.fixture(scope="module")
def trusted(unsigned, project, tmp_path_factory):
    """Build with the checks off; small tangles go through the SQL rounds. Other events try for tangles' timelines."""
    events = tmp_path_factory.mktemp("events of others") / "log.jsonl"
    timelines = (f"{name}:{root}" for name in COLON_NAMES for root in COLON_ROOTS)
    lines = ({"timeline": timeline, "event": "e", "after": [], "arrival": 1} for timeline in timelines)
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    logs = {"ssb_log": unsigned.write() + "/*", "event_log": str(events)}
    rounds = {"sql_edge_limit": 0, "sql_round_budget": 3}
    return project("bad_input_trusted", **logs, **rounds, verify_signatures=False).build(*NO_SEEDS)


def test_trusted_lines(unsigned, trusted):
    """Every line of every file, by its number; ids are those that were claimed."""
    unsigned.check(trusted)


def test_trusted_names(trusted):
    """Ids and names come out as they went in."""
    tangles = {(row["tangle_name"], row["root_id"]): row for row in trusted.rows("tangles")}
    for text in HOSTILE:
        row = tangles[text, f"%{text}"]
        assert (row["member_count"], row["tips"], row["edge_count"]) == (2, [f"%{text}/child"], 1)
        assert tangles["legacy_thread", f"%{text}"]["member_count"] == 2
    assert tangles["surrogate \ufffd", "%\ufffd"]["tips"] == ["%\ufffd/child"]
    assert tangles["long id", HUGE]["tips"] == ["%after a long id"]
    assert tangles[HUGE, "%long name"]["tips"] == ["%after a long name"]
    assert sum(name.startswith("one of many ") for name, _ in tangles) == 10_000


def test_trusted_timelines(trusted):
    """No two tangles share a timeline: its name says which tangle's it is, and in ordinary cases nothing else."""

    def tangle_of(timeline: str) -> tuple[str, str]:
        name, _, root = timeline.partition(":")
        return re.sub("%3A|%25", lambda code: unquote(code[0]), name), root

    arrivals = trusted.rows("int_timeline_arrivals", ["timeline_id", "event_id", "is_tangle"])
    arrivals = [row for row in arrivals if row["timeline_id"] != "ssb:log"]
    members = [(*tangle_of(row["timeline_id"]), row["event_id"]) for row in arrivals if row["is_tangle"]]
    rows = [row for row in trusted.rows("tangle_messages") if row["is_member"]]
    assert sorted(members) == sorted((row["tangle_name"], row["root_id"], row["message_id"]) for row in rows)
    timelines = {row["timeline_id"] for row in arrivals if row["is_tangle"]}
    assert {f"{name}:{root}" for name, root, _ in members if not re.search(":|%25|%3A", name)} <= timelines

    # Nobody else gets into one of them, and whatever else only looks like one is free.
    rejects = trusted.rows("timeline_rejects", ["timeline_id", "reason"])
    taken = {row["timeline_id"] for row in rejects if row["reason"] == "timeline_taken"}
    free = {row["timeline_id"] for row in arrivals if not row["is_tangle"]}
    assert taken and free and taken <= timelines and not free & timelines
    assert taken | free == {f"{name}:{root}" for name in COLON_NAMES for root in COLON_ROOTS}


def test_reasons(trusted):
    """Why candidates are set aside."""
    thread = {r["message_id"]: r for r in trusted.rows("tangle_messages") if r["tangle_name"] == "thread"}
    assert {key: row["set_aside_reason"] for key, row in thread.items() if row["root_id"] == "%root"} == {
        **dict.fromkeys(["%root", "%repeated previous", "%merge", *(f"%sibling {i}" for i in range(500))]),
        "%many previous": "missing_previous",
        "%cycle 1": "cycle",
        "%cycle 2": "cycle",
        "%after the cycle": "previous_set_aside",
        "%after that": "previous_set_aside",
        "%itself": "cycle",
        "%itself and the root": "cycle",
        "%no previous": "empty_previous",
    }
    assert thread["%own root"]["set_aside_reason"] == "malformed_tangle"
    assert thread["%two roots 1"]["set_aside_reason"] == "missing_root"
    assert thread["%no root"]["set_aside_reason"] == "missing_root"
    assert (thread["%repeated previous"]["is_merge"], thread["%merge"]["is_merge"]) == (False, True)
    edges = [row for row in trusted.rows("tangle_edges") if row["message_id"] == "%merge"]
    assert {row["previous_id"] for row in edges if row["is_redundant"]} == {"%root"}
    assert len(edges) == 501


def test_empty_log(empty):
    """Logs without lines give empty tables, all but those that tell of the run."""
    folders = (empty.warehouse / "empty.db").iterdir()
    tables = [path.name for path in folders if not path.name.startswith(".")]
    assert {"ssb_messages", "sets", "group_epochs", "autobase_views", "timeline_edits", "int_tangle_depths"} <= {
        *tables
    }
    assert {name for name in tables if empty.table(name).num_rows} == {"runs", "int_run_inputs"}


NOTHING = ["nothing.jsonl", "*.jsonl", "nowhere/log.jsonl", "_log.txt", ".log", "'"]


@pytest.mark.parametrize(("log", "name"), zip(["ssb", "pzp", "autobase", "event"], NOTHING, strict=False))
def test_no_file(log, name, project, tmp_path):
    """A path at which Spark finds nothing fails the build by the name of the var."""
    built = project("no_file", **{f"{log}_log": str(tmp_path / name)})
    result = built.invoke("run", "--select", f"stg_{'events' if log == 'event' else log}__lines")
    assert result.exception is None, result.exception
    (message,) = [r.message for r in result.result if r.status == "error"]
    assert f"{log}_log" in message
    assert name in message


@pytest.mark.parametrize("name", NOTHING)
def test_no_file_is_read(name, empty, tmp_path):
    """The reader says so, by the names of the var and the path. Hidden files are nothing to Spark."""
    from pyspark.sql import SparkSession

    for hidden in ("_log.txt", ".log"):
        (tmp_path / hidden).write_bytes(b"{}\n")
    with pytest.raises(ValueError, match="some_log") as raised:
        read_lines(SparkSession.active(), str(tmp_path / name), "some_log", Reading(100)).collect()
    assert name in str(raised.value)


WRONG_VARS = [
    *(("ssb_log", value) for value in (7, "", ["a.jsonl"])),
    *(("pzp_log", value) for value in (True, " ", {"a": 1})),
    *(("autobase_log", value) for value in (0, "", [[]])),
    *(("consensus_rule", value) for value in ("Autobase", "", None, True, ["design"])),
    *(("quorum_degrees", value) for value in (0, -1, True, "3", None, 2.5)),
    *(("set_ghost_span", value) for value in (0, -1, True, "x", None, 1.5)),
    *(("ssb_log_format", value) for value in ("xml", None)),
    *(("verify_signatures", value) for value in ("yes", 1, None)),
    *(("log_timeline", value) for value in ("no", 0, None, [])),
    *(("count_changes", value) for value in ("no", 1)),
    *(("tangle_engine", value) for value in ("fast", None)),
    *((name, value) for name in ("sql_edge_limit", "sql_round_budget") for value in (1.5, -1, "5", None, True)),
    *(("ancestor_limit", value) for value in (-1, "many")),
    ("clock_limit", -1),
    *(("graph_limit", value) for value in (0, -1, "x", 1.5, None, True)),
    *(("unpack_limit", value) for value in (0, -1, "many", 1.5, True, None)),
    *(("rows_in_memory", value) for value in (0, "many", None)),
    *(("event_log", value) for value in (7, "", ["a.jsonl"])),
    *(("edit_batch_size", value) for value in (-1, "x", "1", 1.5, None, True)),
    *(("edit_limit", value) for value in (-1, "x", 1.5, None, True)),
    *(("edit_command_limit", value) for value in (-1, "x", 1.5, None, True)),
    *(("max_previous", value) for value in (0, -1, "2", 1.5, True, [2])),
]


@pytest.mark.parametrize(("name", "value"), WRONG_VARS, ids=str)
def test_wrong_vars(name, value, project, manifest, warehouse):
    """A wrong value is refused by name before any model runs."""
    result = project("wrong_vars", **{name: value}).invoke("run", manifest=manifest)
    assert not result.success
    said = str(result.exception) + "".join(r.message for r in result.result or [])
    assert f"var '{name}'" in said
    assert not [path for path in (warehouse / "wrong_vars.db").glob("*") if any(path.iterdir())]


@pytest.mark.parametrize(("name", "value"), [("ssb_log", 7), ("sql_round_budget", "5"), ("max_previous", [2])], ids=str)
def test_wrong_vars_are_parsed(name, value, project):
    """They break nothing before they are refused."""
    result = project("wrong_vars_parsed", **{name: value}).invoke("run")
    assert not result.success
    assert f"var '{name}'" in str(result.exception) + "".join(r.message for r in result.result or [])


def expected_variants() -> list[dict]:
    """Read what each line of the variants is."""
    with (DATA / "ssb" / "variants.expect.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


def test_variants(project):
    """The same messages in all export shapes."""
    built = project("variants", ssb_log=str(DATA / "ssb" / "variants.jsonl"))
    built.build(*ONLY_MESSAGES)
    expected = expected_variants()
    usable = {row["message_id"]: row["line_count"] for row in built.rows("ssb_messages") if row["is_usable"]}
    assert usable == Counter(row["id"] for row in expected if row["expect"] == "valid")
    rejects = {row["line"]: row["reason"] for row in built.rows("ssb_rejects")}
    assert rejects == {row["line"]: row["expect"].replace("-", "_") for row in expected if row["expect"] != "valid"}


def test_pretty(project, tmp_path):
    """Pretty-printed objects between blank lines, some more than need be, and one that is none."""
    text = (DATA / "ssb" / "variants_pretty.txt").read_text()
    objects = [json.loads(part) for part in text.split("\n\n") if part.strip()]
    (tmp_path / "log.txt").write_text("\n\n\n" + text + "\n\n  \n\n{oops\n\n" + "{}")
    built = project("pretty", ssb_log=str(tmp_path / "log.txt"), ssb_log_format="pretty")
    built.build(*ONLY_MESSAGES)
    messages = built.rows("ssb_messages")
    assert {row["message_id"] for row in messages} == {message["key"] for message in objects}
    assert all(row["is_usable"] and row["is_key_consistent"] and row["line_count"] == 1 for row in messages)
    assert sorted(row["reason"] for row in built.rows("ssb_rejects")) == ["malformed_json", "not_a_message"]
