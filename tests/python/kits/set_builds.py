"""The tables of a build of sets, by set."""

SELECTED = ("--select", "stg_pzp__lines+", "--exclude", "test_type:unit")


FOLLOWS = "set_v1__follows"
MAX = 2**53 - 1
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


def says(add=(), delete=(), supersedes=()):
    """Build the data of a set message."""
    return {"add": list(add), "del": list(delete), "supersedes": list(supersedes)}


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
        """Return the messages of a set in reduction order."""
        rows = [row for row in self.members[set_id].values() if row["position"] is not None]
        rows.sort(key=lambda row: row["position"])
        assert [row["position"] for row in rows] == list(range(len(rows)))
        return [row["message_id"] for row in rows]
