"""The tables of a build of sets, by set; and a log of sets with the expected result of each line and message."""

from fixtures.pzp.author import Device, hash_of, id_of, moot_of, to_line
from hostile_lines import Log

SELECTED = ("--select", "stg_pzp__lines+")
FOLLOWS = "set_v1__follows"
MAX = 2**53 - 1


def says(add=(), delete=(), supersedes=()):
    """Build the data of a set message."""
    return {"add": list(add), "del": list(delete), "supersedes": list(supersedes)}


class Built:
    """The tables of a build, by set."""

    def __init__(self, project):
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
        """Return the messages of a set in reduction order."""
        rows = [row for row in self.members[set_id].values() if row["position"] is not None]
        rows.sort(key=lambda row: row["position"])
        assert [row["position"] for row in rows] == list(range(len(rows)))
        return [row["message_id"] for row in rows]


def units(text):
    """The sort key of `prev`: UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


class HostileLog(Log):
    """A folder of log files, with the expected result of each line, and of each message in each set.

    Attributes:
        feeds: The sets by their short names.
        astray: For each id that is named as a set's root but is not one, the expected result of each message.
    """

    to_line = staticmethod(to_line)

    def __init__(self, folder):
        super().__init__(folder)
        self.feeds = {}
        self.astray = {}

    def id_of(self, message):
        """Return the id of a message, which is a hash."""
        return id_of(message)

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

    def refuse(self, reason, name, after="R", **fields):
        """Publish an unusable message."""
        message = self.sign(name, after, **fields)
        self.log.bad(reason, to_line(message))
        self.expect(message, reason)
        return message

    def named(self, *names):
        """Return the ids of names."""
        return [self.ids[name] for name in names]
