"""Logs of sets through dbt: what other implementations answered, and what comes of lines made to do harm.

What must come of the hostile lines is stated beside each of them.
"""

import gzip
import json
import random
from collections import Counter
from functools import partial
from itertools import pairwise
from urllib.parse import unquote

import pytest

import set_cases
from conftest import DATA
from fixtures.pzp.author import Account, Device, hash_of, id_of, moot_of, to_line
from pzp_kit import cases, line_of, reason_of
from test_bad_input import ANY, HOSTILE, MAX_LINE_BYTES, Log, broken, random_bytes

SELECTED = ("--select", "stg_pzp__lines+", "--exclude", "test_type:unit")
# Of the peer's answers, what is in `sets`.
NAMES = {
    "tips": "tips",
    "maxDepth": "max_depth",
    "values": "items",
    "supersedeRoots": "item_roots",
    "squeezePotential": "squeeze_potential",
    "minRequiredDepth": "min_required_depth",
    "minGhostDepth": "min_ghost_depth",
}


def write(path, lines):
    """Write a file of lines."""
    path.write_bytes(b"\n".join(lines) + b"\n")
    return str(path)


class Built:
    """The tables of a build, by set."""

    def __init__(self, project):
        """Read them."""
        self.project = project
        self.sets = {row["set_id"]: row for row in project.rows("sets")}
        self.messages = {row["message_id"]: row for row in project.rows("pzp_messages")}
        self.members = {}
        for row in project.rows("set_messages"):
            self.members.setdefault(row["set_id"], {})[row["message_id"]] = row
        self.items = {}
        for row in sorted(project.rows("set_items"), key=lambda row: row["item_position"]):
            self.items.setdefault(row["set_id"], []).append(row)
        for set_id, items in self.items.items():
            assert [row["item_position"] for row in items] == list(range(len(items)))
            assert [row["item"] for row in items] == self.sets[set_id]["items"]

    def order(self, set_id):
        """Return the messages of a set in the order in which they are applied."""
        rows = [row for row in self.members[set_id].values() if row["position"] is not None]
        rows.sort(key=lambda row: row["position"])
        assert [row["position"] for row in rows] == list(range(len(rows)))
        return [row["message_id"] for row in rows]


# ---------------------------------------------------------------------------------------------------------------------
# What the peers answered

REAL, VALIDATE = cases("real"), cases("validate")
SYNTH = cases("worked_example") + cases("synth")
# The spans that most cases have; `tests/python/sets` has the others.
REAL_SPAN, SYNTH_SPAN = 2, 1


def checks_of(case):
    """Return the checks of a case but those that depend on messages of an account, which the log lacks."""
    return [each for each in case["checks"] if each["label"] != "unauthorised key"]


@pytest.fixture(scope="module")
def peers(project, tmp_path_factory):
    """Build all logs of real peers, and behind each tangle what they were asked about it."""
    logs = [*(case["log"] for case in REAL), *(case["localTangle"] for case in VALIDATE)]
    lines = [line_of(entry["msg"], id=entry["id"]) for log in logs for entry in log]
    first_check = len(lines) + 1
    lines += [line_of(each["msg"]) for case in VALIDATE for each in checks_of(case)]
    log = write(tmp_path_factory.mktemp("peers") / "log.jsonl", lines)
    built = project("sets_of_peers", pzp_log=log, set_ghost_span=REAL_SPAN).build(*SELECTED)
    return Built(built), first_check


def compare(built, set_id, case, prefix=""):
    """Compare a set with a case; return which answers are the same and which are not."""
    theirs = case["expected"]
    named = lambda ids: [prefix + one for one in ids]  # noqa: E731
    assert built.order(set_id) == named(theirs["order"])
    agreed, other = {"order"}, set()
    for their_name, our_name in NAMES.items():
        # Where they fail, they say nothing about item roots.
        if their_name not in theirs or theirs[their_name] == "error":
            continue
        wanted = theirs[their_name]
        if their_name in ("tips", "supersedeRoots"):
            wanted = named(wanted)
        (agreed if built.sets[set_id][our_name] == wanted else other).add(their_name)
    return agreed, other


def test_sets_of_real_peers(peers):
    """All that is in a set, and what is needed of it; where their answer is an error, there is nothing to compare."""
    built, _ = peers
    agreed = Counter()
    for case in REAL:
        same, other = compare(built, case["mootID"], case)
        assert other <= ({"minGhostDepth"} if case["ghostSpan"] != REAL_SPAN else set()), case["case"]
        agreed.update(same if case["ghostSpan"] == REAL_SPAN else same - {"minGhostDepth"})
        members = built.members[case["mootID"]]
        assert members.keys() == set(case["expected"]["order"])
        assert all(row["is_valid"] or row["is_held"] for row in members.values())
        agreed["held"] += sum(row["is_held"] for row in members.values())
        agreed["errors"] += case["expected"]["minRequiredDepth"] == "error"
        if case["ghostSpan"] == REAL_SPAN and "purpose" in case["expected"]:
            assert {name: row["purpose"] for name, row in members.items()} == case["expected"]["purpose"]
            agreed["purpose"] += 1
    assert agreed == {
        **dict.fromkeys(("order", "tips", "maxDepth", "values", "squeezePotential"), 80),
        **dict.fromkeys(("supersedeRoots", "minRequiredDepth"), 75),
        **dict.fromkeys(("minGhostDepth", "purpose"), 16),
        **{"errors": 5, "held": 3},
    }


def test_keys_of_real_peers(peers):
    """Each device's key is the account's, where the log has the account; nothing real is refused."""
    built, first_check = peers
    ids = {entry["id"] for case in REAL for entry in case["log"]}
    assert all(built.messages[one]["is_usable"] and built.messages[one]["is_id_consistent"] for one in ids)
    in_feeds = [built.messages[one] for one in ids]
    in_feeds = [row for row in in_feeds if row["account"] != "self" and not row["is_moot"]]
    assert Counter(row["is_key_authorised"] for row in in_feeds) == {True: 557}
    assert min(row["line"] for row in built.project.rows("pzp_rejects")) >= first_check


def test_every_check(peers):
    """Of each message the peer's verdict and reason."""
    built, first_check = peers
    line = first_check
    rejects = {row["line"]: row for row in built.project.rows("pzp_rejects")}
    agreed = Counter()
    for case in VALIDATE:
        members = built.members[case["mootID"]]
        local = [members[entry["id"]] for entry in case["localTangle"]]
        assert all(row["is_valid"] or row["is_held"] for row in local)
        agreed["held"] += sum(row["is_held"] for row in local)
        for each in checks_of(case):
            message = built.messages[each["id"]]
            if line in rejects and message["is_usable"]:  # by another line
                reason = rejects[line]["reason"]
                assert rejects[line]["message_id"] == each["id"]
                agreed["only the line"] += 1
            else:
                reason = members.get(each["id"], message)["reject_reason"]
            assert reason == (None if each["valid"] else reason_of(each["error"])), (case["case"], each["label"])
            agreed["valid" if each["valid"] else "refused"] += 1
            line += 1
    assert agreed == {"valid": 195, "refused": 525, "only the line": 80, "held": 11}
    assert line == first_check + 720


@pytest.fixture(scope="module")
def trusted(project, tmp_path_factory):
    """Build sets whose ids are no hashes, with prefixes so that cases do not meet, and hostile ones beside them."""
    lines = [line for case in SYNTH for line in prefixed(case)] + claimed_lines()
    log = write(tmp_path_factory.mktemp("trusted") / "log.jsonl", lines)
    built = project("trusted_sets", pzp_log=log, verify_signatures=False, set_ghost_span=SYNTH_SPAN)
    return Built(built.build(*SELECTED))


def prefixed(case):
    """Print the lines of a case, the case's name and a slash before each id, which leaves their order as it is."""
    prefix = case["case"] + "/"
    for entry in case["log"]:
        message = json.loads(json.dumps(entry["msg"]))
        tangles = message["metadata"]["tangles"]
        for root in list(tangles):
            place = tangles.pop(root)
            tangles[prefix + root] = place | {"prev": [prefix + one for one in place["prev"]]}
        data = message["data"]
        if isinstance(data, dict) and isinstance(data.get("supersedes"), list):
            data["supersedes"] = [prefix + one if isinstance(one, str) else one for one in data["supersedes"]]
        yield line_of(message, id=prefix + entry["id"])


def test_sets_of_any_ids(trusted):
    """The peers' answers, but for those that depend on the order of arrival (see tests/python/sets)."""
    agreed = Counter()
    for case in SYNTH:
        prefix = case["case"] + "/"
        set_id = prefix + case["mootID"]
        same, other = compare(trusted, set_id, case, prefix)
        members = trusted.members[set_id]
        assert len(members) == len(case["log"])
        theirs, ours = case["expected"], trusted.sets[set_id]
        if case["ghostSpan"] != SYNTH_SPAN:
            same, other = same - {"minGhostDepth"}, other - {"minGhostDepth"}
        elif "ghostable" in theirs:
            # A message on a trail may be of the depths that are remembered, too.
            sure = {name for name, row in members.items() if row["purpose"] != "trail"}
            ghosts = {name for name in sure if members[name]["purpose"] == "ghost"}
            assert ghosts == {prefix + name for name, is_ghost in theirs["ghostable"].items() if is_ghost} & sure
            agreed["ghostable"] += 1
        if "tips" in other:
            assert case["arrival"] == "shuffled+root"
            # In the order of arrival, where the root, which comes late, stays.
            assert set(theirs["tips"]) - {tip.removeprefix(prefix) for tip in ours["tips"]} == {case["mootID"]}
        if "squeezePotential" in other:
            assert not arrives_causally(set_cases.rows_of(case))
            assert ours["squeeze_potential"] < theirs["squeezePotential"]
        assert other <= {"tips", "squeezePotential"}
        agreed.update(same)
        agreed["errors"] += theirs["minRequiredDepth"] == "error"
    assert agreed == {
        **dict.fromkeys(("order", "maxDepth", "values"), 135),
        **{"tips": 121, "squeezePotential": 106, "minGhostDepth": 23, "ghostable": 22},
        **dict.fromkeys(("supersedeRoots", "minRequiredDepth"), 114),
        "errors": 21,
    }
    assert {row["reason"] for row in trusted.project.rows("pzp_rejects")} == {"bad_depth"}


CLAIMED = "claimed/"


def claimed_lines():
    """Write a set of messages that no peer could write, because ids are hashes."""
    R, A, B, C, D, E, F, G = (CLAIMED + name for name in "RABCDEFG")
    blank = {"dataHash": "?", "dataSize": 1, "accountTips": None, "domain": "set_v1__claimed"}

    def claim(name, entry, data, root=R, account="a", **fields):
        metadata = blank | {"account": account, "tangles": {root: entry}} | fields
        return json.dumps({"id": name, "msg": {"data": data, "metadata": metadata}}).encode()

    def moot(account):
        return claim(R, None, None, account=account, dataHash=None, dataSize=0, tangles={})

    def place(depth, *prev):
        return {"depth": depth, "prev": list(prev)}

    huge = CLAIMED + "x" * 500_000
    infinite = claim(A, place(1, A, R), says(["x", "\ud800", "\udfff", "+", "-"], [], [A, B, R]))
    return [
        # Of two that claim one id one counts, whichever comes first.
        *(moot("b"), moot("a"), claim(A, place(1, R), says(["b"]), account="b")),
        # At one depth the later id counts as later; what supersedes what comes later, or itself, does nothing.
        infinite.replace(b'"+"', b"1e999").replace(b'"-"', b"-1e999"),
        claim(B, place(1, B, R), says(["y", "\ud800"], [], [A, B, "\ud800", None])),
        # Two that follow each other; one that follows a later one; depths at the end of what is one, and beyond.
        *(claim(C, place(5, D), says(["c"])), claim(D, place(5, C), says([], ["c"]))),
        *(claim(E, place(2, F, 7, None, {}, "\ud800"), says()), claim(F, place(MAX, E), says([], [], [E, F]))),
        *(claim(G, place(depth, R), says(["g"])) for depth in (0, -1, MAX + 1, 1.5, "1", True, None)),
        # Ids that are hardly any: with a lone surrogate, very long, empty, NUL, a number.
        claim(CLAIMED + "\ud800", place(3, CLAIMED + "\udfff"), says(["s"])),
        *(claim(huge, place(4, huge), says([huge])), claim("", place(4, "", "\0"), says([""]))),
        *(claim("\0", place(4, ""), says(["\0"])), claim(7, place(4, R), says(["no id"]))),
        # One id, six messages: the least of those that have data counts.
        *(claim(CLAIMED + "twice", place(6, R), data) for data in ("text", None, "")),
        *(claim(CLAIMED + "twice", place(6, R), says([f"v{number}"])) for number in (2, 0, 1)),
        # Roots that are a member of the set, the message itself, and nothing.
        *(claim(CLAIMED + "in A", place(1, A), says(["q"]), root=A), claim("self", place(1), says(), root="self")),
        claim("in \ud800", place(1), says(), root="\udc00"),
    ]


def test_claimed_ids(trusted):
    """All that can be read is in the set, by its declared depth; no link and no name leads anywhere it should not."""
    R, A, B, C, D, E, F, G = (CLAIMED + name for name in "RABCDEFG")
    huge, replaced, twice = CLAIMED + "x" * 500_000, CLAIMED + "\ufffd", CLAIMED + "twice"
    order, members, row = trusted.order(R), trusted.members[R], trusted.sets[R]
    [computed] = {*order} - {R, A, B, C, D, E, F, huge, replaced, twice, "", "\0"}
    assert (order[:5], {*order[5:9]}, order[9:]) == (
        [R, A, B, E, replaced],
        {"", "\0", computed, huge},
        [C, D, twice, F],
    )
    assert {*members} == {*order, G}
    assert (members[G]["reject_reason"], trusted.messages[G]["line_count"]) == ("bad_depth", 7)
    assert (row["account"], row["root_status"], row["message_count"], row["max_depth"]) == ("a", "present", 13, MAX)
    # Surrogates that differ are different items.
    assert row["items"][:7] == ["x", '"\\ud800"', '"\\udfff"', "1e999", "-1e999", "y", "s"]
    assert ({*row["items"][7:11]}, row["items"][11:]) == ({"", "\0", "no id", huge}, ["v0"])
    assert {*row["item_roots"]} == {*order} - {R, A, E}
    # The others are listed: by each other, by what is less deep, or by themselves.
    assert row["tips"] == [computed, twice]
    assert (trusted.messages[A]["account"], trusted.messages[A]["line_count"]) == ("a", 2)
    for root, message, status in ((A, CLAIMED + "in A", "unusable"), ("\ufffd", "in \ufffd", "missing")):
        assert (trusted.sets[root]["root_status"], trusted.sets[root]["items"]) == (status, [])
        assert not trusted.members[root][message]["is_valid"]
    assert "self" not in trusted.members


def arrives_causally(rows):
    """Whether each message arrives after all it lists."""
    place = {row["message_id"]: number for number, row in enumerate(rows)}
    return all(place.get(p, -1) < place[row["message_id"]] for row in rows for p in row["prev"])


# ---------------------------------------------------------------------------------------------------------------------
# Hostile lines

FOLLOWS = "set_v1__follows"
MAX = 2**53 - 1
# Names that mean something to SQL, Jinja, Python, a shell, a file system or a printer.
ODD = [*HOSTILE, "../../etc/passwd", "file:///etc/passwd", "C:\\con", "$(id)", "a\tb", "\x7f"]
# Of these, what may stand in a domain.
LEGAL = {"", "null", "None", "NaN", "0", "1", "thread", "Thread", "THREAD", "ff"}
LEGAL |= {"__proto__", "__this_round__", "constructor"}
LOST = hash_of("never published")


def units(text):
    """The order of `prev`."""
    return text.encode("utf-16-be", "surrogatepass")


def says(add=(), delete=(), supersedes=()):
    """Make the data of a set's message."""
    return {"add": list(add), "del": list(delete), "supersedes": list(supersedes)}


class HostileLog(Log):
    """A folder of files, with what each line should come to, and each message in each set.

    Attributes:
        ids: Of each usable line, its message.
        feeds: The sets by the name they have here.
        astray: By the id of what is named as a set's root and was not written as one, what becomes of each message.
    """

    def __init__(self, folder):
        """Start with no lines."""
        super().__init__(folder)
        self.ids = {}
        self.feeds = {}
        self.astray = {}

    def good(self, *lines, file="log.jsonl", message_id=None):
        """Add lines that should be usable: messages, or bytes with the id they should have."""
        for line in lines:
            raw = line if isinstance(line, bytes) else to_line(line)
            self.files.setdefault(file, []).append(raw)
            self.ids[file, len(self.files[file])] = message_id or id_of(line)
            self.lines[message_id or id_of(line)] += 1

    def repeat(self, file, step):
        """Add some lines of a file again."""
        for number in range(1, len(self.files[file]) + 1, step):
            line = self.files[file][number - 1]
            if (file, number) in self.rejects:
                self.bad(self.rejects[file, number], line)
            else:
                self.good(line, message_id=self.ids[file, number])

    def check(self, built):
        """Compare all lines, and what each message is in each set."""
        found = {}
        for row in built.project.rows("pzp_rejects"):
            file = unquote(row["source_file"]).partition(f"{self.folder}/")[2]
            assert (file, row["line"]) not in found
            found[file, row["line"]] = row["reason"]
        assert found.keys() == self.rejects.keys()
        wrong = {at: (reason, found[at]) for at, reason in self.rejects.items() if reason not in (ANY, found[at])}
        assert not wrong, wrong
        usable = {name: row["line_count"] for name, row in built.messages.items() if row["is_usable"]}
        assert usable == self.lines
        expected = self.astray | {feed.root: feed.verdicts for feed in self.feeds.values()}
        verdicts = {
            set_id: {name: (row["reject_reason"], row["is_held"]) for name, row in rows.items()}
            for set_id, rows in built.members.items()
        }
        assert verdicts.keys() == expected.keys()
        wrong = {set_id: (expected[set_id], rows) for set_id, rows in verdicts.items() if expected[set_id] != rows}
        assert not wrong, wrong


class Feed:
    """A set as it is written.

    Attributes:
        ids: By the name they have here; R is the root.
        verdicts: Of each message that names the set, by id: why it is not valid, and whether it is held.
    """

    def __init__(self, log, name, account=None, device=None, domain=FOLLOWS, *, is_rooted=True):
        """Start a set of an account that is not in the log, if none is given."""
        self.log, self.domain = log, domain
        self.device = device or Device.from_name("laptop")
        self.account = hash_of(name) if account is None else account
        self.moot = moot_of(self.account, domain, self.device)
        self.root = id_of(self.moot)
        self.ids, self.depths, self.verdicts = {"R": self.root}, {"R": 0}, {}
        assert name not in log.feeds
        log.feeds[name] = self
        if is_rooted:
            log.good(self.moot)
            self.verdicts[self.root] = (None, False)

    def sign(self, name, after="R", data=None, depth=None, by=None, **fields):
        """Sign a message that follows others: those of the names given, or a list of ids."""
        prev = sorted((self.ids[one] for one in after.split(", ")), key=units) if isinstance(after, str) else after
        if depth is None:
            depth = 1 + max([self.depths[one] for one in after.split(", ")] if isinstance(after, str) else [0])
        entry = fields.pop("entry", {"depth": depth, "prev": prev})
        tangles = {self.root: entry} | fields.pop("tangles", {})
        account, domain = fields.pop("account", self.account), fields.pop("domain", self.domain)
        data = says([name]) if data is None else data
        message = (by or self.device).write(data, tangles, account, domain, fields.pop("tips", None), **fields)
        self.ids[name], self.depths[name] = id_of(message), depth
        return message

    def expect(self, message, reason=None, held=False):
        """Say what becomes of a message in this set."""
        self.verdicts[id_of(message)] = (reason, held)

    def write(self, name, after="R", data=None, reason=None, held=False, **fields):
        """Publish a message that is usable, and if a reason is given not valid."""
        message = self.sign(name, after, data, **fields)
        self.log.good(message)
        self.expect(message, reason, held)
        return message

    def refuse(self, reason, name, after="R", data=None, **fields):
        """Publish a message that is not usable."""
        message = self.sign(name, after, data, **fields)
        self.log.bad(reason, to_line(message))
        self.expect(message, reason)
        return message

    def named(self, *names):
        """Return the ids of names."""
        return [self.ids[name] for name in names]


def add_items(log):
    """Add entries of all kinds to a set: equal by value, but objects and arrays, which nothing equals."""
    feed = Feed(log, "items")
    junk = [1, 1.0, "1", None, "null", True, "true", {}, {}, [], [[]], [1], "", "\0", "\x001", 2**53, 2**53 + 1, 2**70]
    feed.write("A", data=says([*junk, -0.0, 0, "é", "e\u0301", {"b": 1, "a": [None]}]))
    feed.write("B", "A", says([], [{}, [], 1, "\0", "true", "nothing", None], junk))
    feed.write("C", "B", says(ODD, supersedes=[*ODD, LOST, feed.root, None, 7, {}, [feed.ids["A"]]]))
    feed.write("D", "C", says(ODD[:3], ODD[:2]))
    feed.write("E", "D", says([1, None], supersedes=feed.named("C", "C", "D")))

    feed = Feed(log, "many")
    many = [f"{number:05}" for number in range(10_000)]
    feed.write("A", data=says(many, supersedes=[f"%{number}" for number in range(10_000)]))
    feed.write("B", "A", says([], many[1:], [feed.ids["A"]] * 10_000))
    feed.write("C", sorted([*feed.named("B"), *many]), says([], [{}] * 1000), depth=3)

    # Nested deeper than any stack; orjson and json print none of these.
    feed = Feed(log, "deep")
    deep = 1
    for _ in range(5000):
        deep = [deep]
    message = feed.sign("A", data=says([deep]))
    feed.expect(message)
    line = to_line(message | {"data": says(["?"])}).replace(b'"?"', b"[" * 5000 + b"1" + b"]" * 5000)
    log.good(line, message_id=id_of(message))
    metadata = feed.sign("B", "A", says(["b"]))["metadata"] | {"odd": deep}
    message = feed.device.sign(metadata, says(["b"]))
    line = to_line(message | {"metadata": metadata | {"odd": "?"}}).replace(b'"?"', b"[" * 5000 + b"1" + b"]" * 5000)
    log.good(line, message_id=id_of(message))
    feed.expect(message)

    # What cannot be hashed is not what was hashed.
    feed = Feed(log, "unprintable")
    for number, text in enumerate([b'"\\ud800"', b"1e400", b"-1e400", b'{"\\udfff":1}']):
        message = feed.sign(f"{number}")
        log.bad("data_hash_mismatch", to_line(message).replace(b'"add":["%d"]' % number, b'"add":[' + text + b"]"))
        feed.expect(message, "data_hash_mismatch")
    # Data of other shapes do nothing, and are there.
    shapes = ["text", {}, {"add": "a", "del": [], "supersedes": []}, {"add": [], "del": []}, {"supersedes": "R"}]
    for number, data in enumerate([*shapes, {"add": ["no"], "del": {}, "supersedes": []}], start=10):
        feed.write(f"{number}", data=data)
    for number, data in enumerate([7, ["add"], True, False, 0], start=20):
        message = feed.sign(f"{number}", data=says([f"{number}"])) | {"data": data}
        log.bad("bad_data", to_line(message))
        feed.expect(message, "bad_data")


def add_places(log):
    """Add depths and links that lie."""
    feed = Feed(log, "depths")
    feed.write("A")
    for depth in (0, -1, MAX + 1, 1.5, "2", True, False, [], 1e300, -0.0):
        feed.refuse("bad_depth", f"depth {depth}", "A", depth=depth)
    feed.write("float", "A", depth=2.0)
    feed.write("gap", "A", reason="depth_gap", depth=MAX)
    feed.write("same", "A", reason="prev_not_lower", depth=1)
    feed.write("lower", "A, float", reason="prev_not_lower", depth=2)
    feed.write("after a refused one", feed.named("gap"), reason="no_known_prev", depth=3)
    feed.write("beside a refused one", sorted(feed.named("A", "gap")), depth=2, reason=None)
    feed.write("far", sorted([feed.ids["A"], LOST]), depth=1000)
    feed.write("last", sorted([feed.ids["far"], LOST]), depth=MAX)
    feed.write("behind the last", "last", reason="prev_not_lower", depth=MAX)
    feed.refuse("bad_depth", "too far", "last", depth=MAX + 1)
    feed.write("held", [LOST], reason="no_known_prev", held=True, depth=7)
    feed.write("after a held one", "held", depth=8)
    feed.write("no id", ["'; drop table sets; --"], reason="no_known_prev", depth=7)
    feed.write("after that", "no id", reason="no_known_prev", depth=8)

    feed = Feed(log, "links")
    feed.write("A")
    a = feed.ids["A"]
    for prev in (None, 7, "R", {}, {"0": a}, True):
        feed.refuse("bad_prev", f"prev {prev}", entry={"depth": 2, "prev": prev})
    for entry in (7, "R", [], {}, {"depth": 2}, True, {"prev": 7}):
        feed.refuse("bad_prev", f"entry {entry}", entry=entry)
    for entry in (None, 0, False, ""):
        log.bad("no_tangle", to_line(feed.sign(f"no entry {entry}", entry=entry)))
    feed.refuse("bad_depth", "no depth", entry={"prev": [a]})
    feed.refuse("bad_depth", "null", entry={"depth": None, "prev": [a]})
    for bad in (7, None, [a], {}, True):
        feed.refuse("prev_not_string", f"in prev {bad}", [a, bad], depth=2)
    feed.refuse("prev_uri", "uri", [a, "pzp:message/v4/x"], depth=2)
    feed.refuse("prev_duplicate", "twice", [a, a], depth=2)
    feed.refuse("prev_unsorted", "unsorted", ["~", a], depth=2)
    feed.refuse("no_known_prev", "nothing", [], depth=2)
    feed.write("odd", sorted([a, *ODD], key=units), depth=2)
    feed.write("many", sorted([a, *(f"%{number}" for number in range(10_000))]), depth=2)
    # A message of another set is missing in this one.
    feed.write("astray", log.feeds["items"].named("A"), reason="no_known_prev", held=True, depth=2)


def add_roots(log):
    """Add roots that are none, and none that are."""
    feed = Feed(log, "wrong signature", is_rooted=False)
    feed.expect(feed.moot)
    log.good(feed.moot | {"sig": "; drop table sets"})
    log.bad("bad_sigkey", to_line(feed.moot | {"sigkey": "xx"}))
    log.bad("missing_signature", to_line(feed.moot | {"sig": None}))
    log.bad("data_hash_mismatch", to_line(feed.moot | {"data": says(["mallory"])}))
    log.bad("bad_data", to_line(feed.moot | {"data": 7}))
    feed.write("A")

    feed = Feed(log, "junk sigkey", is_rooted=False)
    log.bad("bad_sigkey", to_line(feed.moot | {"sigkey": "0" * 44}), to_line(feed.moot | {"sigkey": 7}))
    feed.expect(feed.moot, "bad_sigkey")
    feed.write("A", reason="missing_root")
    Feed(log, "never sent", is_rooted=False).write("A", reason="missing_root")
    Feed(log, "nobody writes")

    # A feed of another kind, an account, and a plain message.
    feed = Feed(log, "dict", domain="dict_v1__profile")
    feed.write("A", reason="other_domain", domain=FOLLOWS)
    in_dict = feed.sign("B")
    log.good(in_dict)
    account = Account(Device.from_name("laptop"), "root of a set")
    log.good(*account.messages.values())
    plain = log.feeds["items"].ids["A"]
    for root in (account.id, plain):
        message = Device.from_name("laptop").write(says(["x"]), {root: {"depth": 1, "prev": [root]}}, "a", FOLLOWS)
        log.good(message)
        log.astray[root] = {id_of(message): ("not_a_feed", False), root: ("not_a_feed", False)}
    unsigned = Feed(log, "root of another")
    bad = unsigned.sign("A") | {"sig": "1"}
    log.bad("bad_signature", to_line(bad))
    unsigned.expect(bad, "bad_signature")
    message = Device.from_name("laptop").write(says(["x"]), {id_of(bad): {"depth": 1, "prev": [LOST]}}, "a", FOLLOWS)
    log.good(message)
    log.astray[id_of(bad)] = {id_of(message): ("missing_root", False), id_of(bad): ("missing_root", False)}

    # One message in two sets, in two domains; one in any number of sets that nobody knows.
    one, two = Feed(log, "one"), Feed(log, "two", hash_of("one"), domain="set_v1__blocks")
    both = one.write("A", tangles={two.root: {"depth": 1, "prev": [two.root]}})
    two.expect(both, "other_domain")
    one.write("B", reason="other_domain", domain="set_v1__blocks")


def add_names(log):
    """Add odd names in every place that takes a name."""
    for text in ODD:
        feed = Feed(log, f"account {text}", account=text, is_rooted=False)
        log.good(to_line(feed.moot, text), message_id=feed.root)
        feed.expect(feed.moot)
        message = feed.sign("A", data=says([text], supersedes=[text]), tips=[text])
        log.good(to_line(message, text), message_id=id_of(message))
        feed.expect(message)
        # The root of any domain is one.
        feed = Feed(log, f"domain {text}", account=text, domain=f"set_v1__{text}")
        (feed.write if text in LEGAL else partial(feed.refuse, "bad_domain"))("A")

    feed = Feed(log, "roots")
    message = feed.write("A", tangles={text: {"depth": 1, "prev": [text]} for text in ODD})
    log.astray |= {text: {id_of(message): ("missing_root", False)} for text in ODD}
    for number, tips in enumerate([ODD, [], [None, 7, {}], 7, {"a": []}, [[[]]]]):
        feed.write(f"tips {number}", accountTips=tips)
    for value in (7, None, [], {}, True):
        feed.refuse("bad_account", f"account {value}", account=value)
        feed.refuse("bad_domain", f"domain {value}", domain=value)
    for size in (-1, 0.5, "7", None, True, MAX + 1, [7]):
        feed.refuse("bad_data_size", f"size {size}", dataSize=size)
    feed.refuse("data_size_mismatch", "size", dataSize=7)
    for digest in (None, 7, "", LOST, "0" * 44, [LOST]):
        feed.refuse("data_hash_mismatch", f"hash {digest}", dataHash=digest)

    # Lone surrogates and infinite numbers have no canonical form, so nothing that holds them has an id.
    line = to_line(feed.sign("no id"))
    for old, new in ((FOLLOWS.encode(), b"\\ud800"), (feed.root.encode(), b"\\udfff"), (b'"v":4', b'"v":4e999')):
        assert old in line
        log.bad("no_id", line.replace(old, new))


def add_writers(log):
    """Add messages of others, of keys that come and go, and copies that lack something."""
    laptop, phone, tablet, stranger = map(Device.from_name, ("laptop", "phone", "tablet", "stranger"))
    account = Account(laptop, "writers")
    with_phone = account.add(phone)
    by_stranger = account.add(stranger, by=stranger)
    by_phone = account.add(tablet, by=phone)
    account.delete(laptop, by=phone)
    without_phone = account.delete(phone)
    log.good(*account.messages.values())
    junk = {"action": "add", "key": {"purpose": [], "algorithm": {}, "bytes": 7}}
    log.good(laptop.write(junk, {}, "self", "account__x"))
    entry = {account.id: {"depth": "1", "prev": [account.id]}}
    log.bad("bad_depth", to_line(laptop.write({"action": "del"}, entry, "self", "account__account")))

    feed = Feed(log, "writers", account.id, laptop)
    for number, (device, tips, reason) in enumerate(
        [
            (laptop, [account.id], None),
            (laptop, None, None),
            (laptop, account.tips, None),
            (laptop, [LOST], "unknown_account_tips"),
            (phone, [account.id], "unauthorised_key"),
            (phone, [with_phone], None),
            (phone, [by_stranger], None),
            (phone, [without_phone], "unauthorised_key"),
            (phone, [with_phone, without_phone], "unauthorised_key"),
            (phone, None, "unauthorised_key"),
            (phone, [LOST], "unknown_account_tips"),
            (stranger, [by_stranger], "unauthorised_key"),
            (stranger, None, "unauthorised_key"),
            (tablet, [by_phone], "unauthorised_key"),
            (tablet, account.tips, "unauthorised_key"),
        ]
    ):
        feed.write(f"{number}", reason=reason, by=device, tips=tips)
    feed.write("after the stranger", feed.named("11"), reason="no_known_prev", depth=2, tips=[account.id])
    other = Account(stranger, "other")
    log.good(*other.messages.values())
    feed.write("other", reason="other_account", by=stranger, account=other.id, tips=other.tips)
    feed.write("other's key", reason="unauthorised_key", by=stranger, tips=other.tips)
    feed.write("own key, other account", reason="unauthorised_key", account=other.id, tips=other.tips)
    feed.write("any", reason="other_account", account="any")
    feed.write("self", reason="account_self", account="self")
    feed.expect(feed.refuse("bad_account", "self with tips", account="self", tips=[account.id]), "account_self")
    anyone = Feed(log, "anyone", "any")
    anyone.write("A", by=stranger)
    anyone.write("B", "A", by=phone)

    feed = Feed(log, "copies", account.id, laptop, domain="set_v1__copies")

    def copies(name, *kinds, reason=None):
        """Publish copies of one message: sound, erased, or signed anew by the stranger; or not usable."""
        message = feed.sign(name, tips=account.tips)
        again = stranger.sign(message["metadata"], message["data"])
        for kind in kinds:
            copy = again if kind.startswith("stranger") else message
            copy = copy | ({"data": None} if kind.endswith("erased") else {})
            if kind == "changed":
                log.bad("data_hash_mismatch", to_line(message | {"data": says(["mallory"])}))
            elif kind == "damaged":
                log.bad("bad_signature", to_line(message | {"sig": again["sig"]}))
            else:
                log.good(copy)
        feed.expect(message, reason)

    copies("full", "erased", "full", "erased")
    copies("erased", "erased")
    copies("signed by a stranger", "stranger", "full", "stranger erased")
    copies("stranger has the data", "stranger", "erased")
    copies("strangers only", "stranger", "stranger erased", reason="unauthorised_key")
    copies("damaged", "changed", "damaged", "full", "changed", "damaged")
    copies("erased and changed", "changed", "erased")
    copies("damaged only", "changed", "damaged", reason="bad_signature")


def add_faults(log):
    """Add a set whose writer forgets what to supersede."""
    feed = Feed(log, "faults")
    feed.write("A", data=says(["x"]))
    feed.write("B", "A", says(["x"]))
    feed.write("C", "B", says([], ["x"], feed.named("B")))
    feed.write("D", "C", says(["y"]))
    feed.write("E", "D", says(["z"], supersedes=feed.named("C")))
    feed.write("F", "E", says(["z"], supersedes=[*feed.named("A"), LOST, "'; --"]))


def add_lines(log):
    """Add lines of odd forms, in odd files."""
    feed = Feed(log, "lines")
    message = feed.write("A")
    name, line = feed.ids["A"], to_line(message)

    def again(old, new, file="log.jsonl"):
        assert old in line
        log.good(line.replace(old, new, 1), file=file, message_id=name)

    # Of a key that is given twice the last counts.
    again(b'"v":4', b'"v":3,"v":4')
    again(b'{"data":', b'{"data":7,"metadata":[],"sig":0,"data":')
    again(b'"depth":1', b'"depth":"x","depth":1')
    again(b'"depth":1', b'"depth":1.0')
    again(b'"add":["A"]', b'"add":[7],"add":["\\u0041"]')
    log.bad("wrong_version", line.replace(b'"v":4', b'"v":4,"v":3'))
    log.bad("no_tangle", line.replace(b'"tangles":{', b'"tangles":{},"tangles":null,"x":{'))
    for envelope in (None, 7, {}, [], "'; --", "\0", LOST, "\ud800"):
        log.good(json.dumps({"ts": 1e300, "id": envelope, "msg": message}).encode(), message_id=name)
    log.good(to_line({"id": name, "msg": message} | {"more": [ODD]}), message_id=name)
    log.good(to_line(message | {"more": "'; --", "id": {}}), message_id=name)
    log.bad("not_a_message", to_line({"metadata": 7, "msg": message}), to_line({"msg": {"msg": message}}))
    log.bad("json_array", to_line([message]))
    log.bad("not_a_message", to_line({"value": message}))
    for field in ("data", "dataHash", "dataSize", "account", "accountTips", "tangles", "domain"):
        copy = json.loads(line)
        copy.pop(field, None)
        copy["metadata"].pop(field, None)
        log.bad("missing_field", to_line(copy))
    for value in (None, 3, "4", True, [4], 4.5):
        log.bad("wrong_version", to_line(feed.sign("version", v=value)))
    for value in (None, 7, {}, []):
        log.bad("missing_signature", to_line(message | {"sig": value}))
    for value in ("", "1", "0" * 88, "\0", "é", "z" * 88, "1" * 100_000):
        log.bad("bad_signature", to_line(message | {"sig": value}))
    for value in (None, 7, "", "\0", "1" * 100_000, "I" * 44, f"{message['sigkey']}1"):
        log.bad("bad_sigkey", to_line(message | {"sigkey": value}))
    log.bad("bad_signature", to_line(message | {"sigkey": Device.from_name("nobody").key}))

    long = "long.jsonl"
    log.good(line.ljust(MAX_LINE_BYTES), file=long, message_id=name)
    log.bad("too_long", line.ljust(MAX_LINE_BYTES + 1), b"x" * 5_000_000, file=long)
    log.good(line, file=long, message_id=name)
    log.good(line + b"\r", b" \t" + line + b" ", file="crlf.jsonl", message_id=name)
    log.bad("malformed_json", b"\r", file="crlf.jsonl")
    for file in ("folder/a=1/packed.jsonl.gz", 'it\'s {{ 1/0 }} 100% "good" [?*].jsonl'):
        log.good(line, file=file, message_id=name)
        log.bad("not_a_message", b"{}", file=file)


@pytest.fixture(scope="module")
def hostile_log(tmp_path_factory):
    """Write all that, some of it twice."""
    log = HostileLog(tmp_path_factory.mktemp("hostile_sets"))
    broken(log)
    random_bytes(log)
    for add in (add_items, add_places, add_roots, add_names, add_writers, add_faults, add_lines):
        add(log)
    log.repeat("log.jsonl", 5)
    return log


@pytest.fixture(scope="module")
def hostile(hostile_log, project):
    """Build it, in one partition."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TANGLES_SHUFFLE_PARTITIONS", "1")
        return Built(project("hostile_sets", pzp_log=hostile_log.write()).build(*SELECTED))


def test_hostile_lines(hostile_log, hostile):
    """Every line of every file by its number, every message of every set."""
    hostile_log.check(hostile)
    lines = sum(map(len, hostile_log.files.values()))
    assert lines == sum(hostile_log.lines.values()) + len(hostile_log.rejects)


def answers(built, feed, *names):
    """Return columns of a set, ids by their names."""
    name_of = {one: name for name, one in feed.ids.items()}
    row = built.sets[feed.root]
    return [[name_of.get(one, one) for one in row[name]] if type(row[name]) is list else row[name] for name in names]


def test_hostile_items(hostile_log, hostile):
    """Equal are those that JavaScript takes for equal; they are shown as they are, or as JSON."""
    feeds = hostile_log.feeds
    added = {}
    for row in hostile.items[feeds["items"].root]:
        added.setdefault(row["added_by"], []).append(row["item"])
    a, c, e = feeds["items"].named("A", "C", "E")
    assert added == {
        # Deleted were the number 1, null and the string "true", but neither 1 nor null in quotes, nor any object.
        a: [
            *("1", "null", "true", "{}", "{}", "[]", "[[]]", "[1]", "", "\x001", "9007199254740992"),
            *("1.1805916207174113e+21", "0", "é", "e\u0301", '{"b":1,"a":[null]}'),
        ],
        c: [text for text in ODD[2:] if text not in ("1", "null", "", "é", "e\u0301")],
        e: ["1", "null"],
    }
    # The root of another kind of feed is no set, whoever names it.
    assert [name for name, feed in feeds.items() if feed.root not in hostile.sets] == ["dict"]
    items = {name: hostile.sets[feed.root]["items"] for name, feed in feeds.items() if name != "dict"}
    assert items["many"] == ["00000"]
    assert items["deep"] == ["[" * 5000 + "1" + "]" * 5000, "b"]
    assert items["unprintable"] == []
    assert items["copies"] and set(items["copies"]) == {"full", "signed by a stranger", "damaged"}
    assert set(items["writers"]) == {"0", "1", "2", "5", "6"}
    for text in ODD:
        assert items[f"account {text}"] == [text]
        assert items[f"domain {text}"] == (["A"] if text in LEGAL else [])


def test_hostile_sets(hostile_log, hostile):
    """Depths, roots and tips of sets in which some lie."""
    feeds = hostile_log.feeds
    depths = feeds["depths"]
    found = answers(hostile, depths, "root_status", "max_depth", "min_required_depth", "squeeze_potential")
    assert found == ["present", MAX, 1, MAX - 1]
    order = list(map({one: name for name, one in depths.ids.items()}.get, hostile.order(depths.root)))
    assert (order[:2], set(order[2:4]), order[4:]) == (
        ["R", "A"],
        {"float", "beside a refused one"},
        ["held", "after a held one", "far", "last"],
    )
    assert set(answers(hostile, depths, "tips")[0]) == {"float", "beside a refused one", "after a held one", "last"}
    everything = ("root_status", "message_count", "invalid_count", "max_depth", "item_roots", "tips")
    for name, expected in {
        "nobody writes": ["present", 1, 0, 0, [], ["R"]],
        "never sent": ["missing", 0, 1, None, [], []],
        "junk sigkey": ["unusable", 0, 2, None, [], []],
        "wrong signature": ["present", 2, 0, 1, ["A"], ["A"]],
        "one": ["present", 2, 1, 1, ["A"], ["A"]],
        "faults": ["present", 7, 0, 6, ["D", "E", "F"], ["F"]],
    }.items():
        assert answers(hostile, feeds[name], *everything) == expected, name
    assert answers(hostile, feeds["faults"], "items", "min_required_depth", "squeeze_potential") == [["y", "z"], 4, 3]
    assert Counter(hostile.sets[set_id]["root_status"] for set_id in hostile_log.astray) == {
        "missing": len(ODD),
        "unusable": 3,
    }
    assert all(row["are_writers_checked"] for row in hostile.sets.values())


def test_hostile_writers(hostile_log, hostile):
    """Faults, and which of several copies counts."""
    feed = hostile_log.feeds["faults"]
    faults = [row for row in hostile.project.rows("set_writer_faults") if row["set_id"] == feed.root]
    name_of = {one: name for name, one in feed.ids.items()}
    assert {(name_of[r["message_id"]], r["item"], r["rule"], *map(name_of.get, r["left_out"])) for r in faults} == {
        ("B", "x", "must", "A"),
        ("D", "x", "should", "C"),
        ("F", "z", "must", "E"),
        ("C", None, "lipmaa_left_out", "R"),
    }
    assert len(faults) == 4
    copies = hostile_log.feeds["copies"]
    laptop, stranger = Device.from_name("laptop").key, Device.from_name("stranger").key
    assert {
        name: (row["has_data"], row["sigkey"] == laptop)
        for name, one in copies.ids.items()
        if (row := hostile.messages[one])["is_usable"] and name != "R"
    } == {
        "full": (True, True),
        "erased": (False, True),
        "signed by a stranger": (True, True),
        "stranger has the data": (False, True),
        "strangers only": (True, False),
        "damaged": (True, True),
        "erased and changed": (False, True),
    }
    assert hostile.messages[copies.ids["strangers only"]]["sigkey"] == stranger


def test_claimed_ids_are_reported(hostile_log, hostile):
    """A wrong id in the envelope makes a message inconsistent, not unusable."""
    feeds = hostile_log.feeds
    wrong = {feeds[f"account {text}"].ids[name] for text in ODD for name in "RA"} | {feeds["lines"].ids["A"]}
    assert {name for name, row in hostile.messages.items() if row["is_usable"] and not row["is_id_consistent"]} == wrong


def shuffle(project, schema, lines, folder, **variables):
    """Make the tables of lines in another order, in five files, one of them packed, and in thirteen partitions."""
    rng = random.Random(schema)
    lines = rng.sample(lines, len(lines))
    cuts = [0, *sorted(rng.sample(range(len(lines)), 4)), len(lines)]
    for number, (start, end) in enumerate(pairwise(cuts)):
        # Spark takes a byte order mark off the beginning of a file.
        assert not lines[start].startswith(b"\xef\xbb\xbf")
        write(folder / f"{number}.jsonl", lines[start:end])
    (folder / "3.jsonl.gz").write_bytes(gzip.compress((folder / "3.jsonl").read_bytes()))
    (folder / "3.jsonl").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TANGLES_SHUFFLE_PARTITIONS", "13")
        built = project(schema, pzp_log=str(folder), **variables)
        built.run(*SELECTED[:2])
    return built


@pytest.fixture(scope="module")
def shuffled(hostile_log, project, tmp_path_factory):
    """Make the tables of the hostile lines anew."""
    lines = [line for lines in hostile_log.files.values() for line in lines]
    return shuffle(project, "shuffled_sets", lines, tmp_path_factory.mktemp("shuffled_sets"))


@pytest.fixture(scope="module")
def shuffled_trusted(trusted, project, tmp_path_factory):
    """Make the tables of sets with any ids anew."""
    options = dict(trusted.project.vars)
    with open(options.pop("pzp_log"), "rb") as log:
        lines = log.read().splitlines()
    return shuffle(project, "shuffled_trusted", lines, tmp_path_factory.mktemp("shuffled_trusted"), **options)


TABLES = (
    "pzp_messages",
    "pzp_rejects",
    "sets",
    "set_messages",
    "set_items",
    "set_writer_faults",
    "set_links",
    "set_next",
    "set_next_items",
)
INT_TABLES = ("int_pzp_messages", "int_set_entries", "int_set_messages")


def contents(built, table):
    """Read a table without places in files, rows in a fixed order; a row for several rejected lines counts as often."""
    left_out = ("source_file", "line", *(["line_count"] if table.endswith("_rejects") else []))
    found = []
    for row in built.rows(table):
        shown = tuple((name, value) for name, value in row.items() if name not in left_out)
        found += [shown] * (row["line_count"] if table.endswith("_rejects") else 1)
    return sorted(found, key=repr)


@pytest.mark.parametrize("table", [*TABLES, *INT_TABLES])
def test_order_files_and_partitions(table, hostile, shuffled):
    """Every table is the same."""
    expected = contents(hostile.project, table)
    assert expected
    assert contents(shuffled, table) == expected


@pytest.mark.parametrize("table", [*TABLES, *INT_TABLES])
def test_order_and_files_of_any_ids(table, trusted, shuffled_trusted):
    """The same where lines may say different things of one id."""
    expected = contents(trusted.project, table)
    assert expected
    assert contents(shuffled_trusted, table) == expected


# ---------------------------------------------------------------------------------------------------------------------
# Small logs


def test_one_line(project, tmp_path):
    """One moot, without an end of line; of the logs that are not given there is nothing."""
    moot = moot_of(hash_of("one line"), FOLLOWS, Device.from_name("laptop"))
    (tmp_path / "log.jsonl").write_bytes(to_line(moot))
    built = project("one_set", pzp_log=str(tmp_path / "log.jsonl"))
    built.run(*SELECTED[:2], "+ssb_messages", "+ssb_rejects")
    assert [len(built.rows(table)) for table in TABLES] == [1, 0, 1, 1, 0, 0, 0, 1, 0]
    assert built.rows("sets")[0]["tips"] == [id_of(moot)]
    assert [built.rows(table) for table in ("ssb_messages", "ssb_rejects")] == [[], []]


def test_no_log(project):
    """So does a log of another kind alone."""
    built = project("no_pzp_log", ssb_log=str(DATA / "ssb" / "small.jsonl"))
    built.run("--select", "stg_tables__lines", SELECTED[1])
    assert [built.rows(table) for table in TABLES] == [[]] * len(TABLES)
