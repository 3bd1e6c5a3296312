"""Hostile pzp sets as lines of a log, with the expected result of each line and message."""

import json
from functools import partial

from fixtures.pzp.author import Account, Device, hash_of, id_of, moot_of, to_line
from hostile_lines import MAX_LINE_BYTES, ODD, Log, broken, random_bytes
from set_builds import FOLLOWS, MAX, says

# The names that are allowed in a domain.
LEGAL = {"", "null", "None", "NaN", "0", "1", "thread", "Thread", "THREAD", "ff"}
LEGAL |= {"__proto__", "__this_round__", "constructor"}
LOST = hash_of("never published")


def units(text):
    """The sort key of `prev`: UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


class HostileLog(Log):
    """A folder of log files, with the expected result of each line, and of each message in each set.

    Attributes:
        ids: The message of each usable line.
        feeds: The sets by their short names.
        astray: For each id that is named as a set's root but is not one, the expected result of each message.
    """

    def __init__(self, folder):
        """Start an empty log."""
        super().__init__(folder)
        self.ids = {}
        self.feeds = {}
        self.astray = {}

    def good(self, *lines, file="log.jsonl", message_id=None):
        """Add lines that are usable: messages, or bytes with their id."""
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
        """Compare all lines, and each message in each set."""
        self.check_rejects(built.project, "pzp_rejects")
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
    """A set while it is written.

    Attributes:
        ids: By short name; R is the root.
        verdicts: For each message that names the set, by id: its reason, and whether it is held.
    """

    def __init__(self, log, name, account=None, device=None, domain=FOLLOWS, *, is_rooted=True):
        """Start a set of the given account, or of one outside the log."""
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
        """Sign a message that follows others: given names, or a list of ids."""
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
        """State the expected result of a message in this set."""
        self.verdicts[id_of(message)] = (reason, held)

    def write(self, name, after="R", data=None, reason=None, held=False, **fields):
        """Publish a usable message; it is invalid if a reason is given."""
        message = self.sign(name, after, data, **fields)
        self.log.good(message)
        self.expect(message, reason, held)
        return message

    def refuse(self, reason, name, after="R", data=None, **fields):
        """Publish an unusable message."""
        message = self.sign(name, after, data, **fields)
        self.log.bad(reason, to_line(message))
        self.expect(message, reason)
        return message

    def named(self, *names):
        """Return the ids of names."""
        return [self.ids[name] for name in names]


def add_items(log):
    """Add entries of all kinds to a set: equal values, and objects and arrays, which are equal to no other entry."""
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

    # Nested deeper than any stack; orjson and json cannot print them.
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

    # Data that cannot be hashed differs from the hashed data.
    feed = Feed(log, "unprintable")
    for number, text in enumerate([b'"\\ud800"', b"1e400", b"-1e400", b'{"\\udfff":1}']):
        message = feed.sign(f"{number}")
        log.bad("data_hash_mismatch", to_line(message).replace(b'"add":["%d"]' % number, b'"add":[' + text + b"]"))
        feed.expect(message, "data_hash_mismatch")
    # Data of other shapes have no effect but a reason, and count as present.
    shapes = ["text", {}, {"add": "a", "del": [], "supersedes": []}, {"add": [], "del": []}, {"supersedes": "R"}]
    for number, data in enumerate([*shapes, {"add": ["no"], "del": {}, "supersedes": []}], start=10):
        feed.write(f"{number}", data=data, reason="bad_set_data", held=True)
    for number, data in enumerate([7, ["add"], True, False, 0], start=20):
        message = feed.sign(f"{number}", data=says([f"{number}"])) | {"data": data}
        log.bad("bad_data", to_line(message))
        feed.expect(message, "bad_data")


def add_places(log):
    """Add wrong depths and links."""
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
    """Add roots that are invalid, and messages that look like roots."""
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

    # One message in two sets, in two domains; one in any number of unknown sets.
    one, two = Feed(log, "one"), Feed(log, "two", hash_of("one"), domain="set_v1__blocks")
    both = one.write("A", tangles={two.root: {"depth": 1, "prev": [two.root]}})
    two.expect(both, "other_domain")
    one.write("B", reason="other_domain", domain="set_v1__blocks")


def add_names(log):
    """Add odd names wherever a name is allowed."""
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

    # Lone surrogates and infinite numbers lack a canonical form, so values with them have no id.
    line = to_line(feed.sign("no id"))
    for old, new in ((FOLLOWS.encode(), b"\\ud800"), (feed.root.encode(), b"\\udfff"), (b'"v":4', b'"v":4e999')):
        assert old in line
        log.bad("no_id", line.replace(old, new))


def add_writers(log):
    """Add messages of other accounts and of keys that come and go, and incomplete copies."""
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

    add_copies(log, account, laptop, stranger)


def add_copies(log, account, laptop, stranger):
    """Add a set with incomplete, changed and re-signed copies of its messages."""
    feed = Feed(log, "copies", account.id, laptop, domain="set_v1__copies")

    def copies(name, *kinds, reason=None):
        """Publish copies of one message: sound, erased, signed again by the stranger, or unusable."""
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
    """Add a set by a writer that omits messages from `supersedes`."""
    feed = Feed(log, "faults")
    feed.write("A", data=says(["x"]))
    feed.write("B", "A", says(["x"]))
    feed.write("C", "B", says([], ["x"], feed.named("B")))
    feed.write("D", "C", says(["y"]))
    feed.write("E", "D", says(["z"], supersedes=feed.named("C")))
    feed.write("F", "E", says(["z"], supersedes=[*feed.named("A"), LOST, "'; --"]))


def add_lines(log):
    """Add odd lines, in odd files."""
    feed = Feed(log, "lines")
    message = feed.write("A")
    name, line = feed.ids["A"], to_line(message)

    def again(old, new, file="log.jsonl"):
        assert old in line
        log.good(line.replace(old, new, 1), file=file, message_id=name)

    # If a key occurs twice, the last value counts.
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


def hostile_log(folder):
    """Write the whole log, some of it twice."""
    log = HostileLog(folder)
    broken(log)
    random_bytes(log)
    for add in (add_items, add_places, add_roots, add_names, add_writers, add_faults, add_lines):
        add(log)
    log.repeat("log.jsonl", 5)
    return log
