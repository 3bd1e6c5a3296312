"""Computes the results of `reduce_groups` with sets, one definition at a time; slow."""


def oracle(rows: list[dict]) -> tuple[dict, dict, dict]:
    """Compute the results of `reduce_groups` by group, sorted as by `group_tables.reduced`."""
    epochs, members, dropped = {}, {}, {}
    for group_id in {row["group_id"] for row in rows} - {None}:
        group = Group(group_id, [row for row in rows if row["group_id"] == group_id])
        for epoch_id in group.previous:
            epochs[group_id, epoch_id] = group.epoch(epoch_id)
            for feed in group.named(epoch_id):
                members[group_id, epoch_id, feed] = group.member(epoch_id, feed)
            for feed in group.newly_dropped(epoch_id):
                dropped[group_id, epoch_id, feed] = group.dropped(epoch_id, feed)
    return epochs, members, dropped


class Group:
    """The results of one group."""

    def __init__(self, group_id: str, rows: list[dict]):
        self.group_id = group_id
        inits = {row["message_id"]: row for row in rows if row["kind"].endswith("_init")}
        root = inits.get(group_id)
        self.previous = {group_id: set()} if root and root["kind"] == "root_init" else {}
        while True:
            known = set(self.previous)
            lists = {name: row["previous_epochs"] for name, row in inits.items() if name not in known}
            more = {name: set(listed) for name, listed in lists.items() if listed and set(listed) <= known}
            if not more:
                break
            self.previous |= more
        # Each epoch comes after its previous epochs.
        self.depth, self.above = {}, {}
        for name, previous in self.previous.items():
            self.depth[name] = max((self.depth[p] + 1 for p in previous), default=0)
            self.above[name] = previous.union(*(self.above[p] for p in previous))
        self.keys = {name: (inits[name]["epoch_key"].hex(), name) for name in self.previous}
        self.statements = [row for row in rows if row["kind"] in ("add", "exclude")]
        self.added = {name: self._feeds("add", name) for name in self.previous}
        self.excluded = {name: self._feeds("exclude", name) for name in self.previous}
        self._lost_adds = {}
        self.tips = {name for name in self.previous if not any(name in p for p in self.previous.values())}

    def _by(self, kind: str, name: str, feed: str) -> list[dict]:
        said = [row for row in self.statements if row["kind"] == kind and row["epoch_id"] == name]
        return sorted((row for row in said if feed in (row["feeds"] or [])), key=lambda row: row["message_id"])

    def _ids(self, kind: str, name: str, feed: str) -> list[str]:
        return [row["message_id"] for row in self._by(kind, name, feed)]

    def _feeds(self, kind: str, name: str) -> set[str]:
        said = [row for row in self.statements if row["kind"] == kind and row["epoch_id"] == name]
        return {feed for row in said for feed in row["feeds"] or [] if feed is not None}

    def _place(self, name: str) -> tuple[int, str]:
        return self.depth[name], name

    def missing(self, name: str) -> set[str]:
        """Return the feeds that are expected in an epoch and not added."""
        ever_added = self.added[name].union(*(self.added[a] for a in self.above[name]))
        return ever_added - self._ever_excluded(name) - self.added[name]

    def _ever_excluded(self, name: str) -> set[str]:
        return set().union(*(self.excluded[a] for a in self.above[name]))

    def preferred(self) -> tuple[str, str]:
        """Return the preferred epoch and its case."""
        least = [t for t in self.tips if not any(self.added[other] < self.added[t] for other in self.tips)]
        chosen = min(least, key=self.keys.__getitem__)
        if len(self.tips) != 2:
            return "single_tip" if len(self.tips) == 1 else "many_tips", chosen
        # Two tips: the rule of the peers; where that fails, the key decides.
        a, b = sorted(self.tips, key=self.keys.__getitem__)
        if self.added[a] == self.added[b]:
            case, theirs = "same_members", a
        elif self.added[a] < self.added[b] or self.added[b] < self.added[a]:
            case, theirs = "subset", a if self.added[a] < self.added[b] else b
        else:
            case, theirs = "overlap" if self.added[a] & self.added[b] else "disjoint", a
        assert theirs == chosen
        return case, chosen

    def epoch(self, name: str) -> dict:
        """Return the row of an epoch."""
        case, preferred = self.preferred()
        return {
            "group_id": self.group_id,
            "epoch_id": name,
            "depth": self.depth[name],
            "is_tip": name in self.tips,
            "is_preferred": name == preferred,
            "preference": case,
            "tip_count": len(self.tips),
            "added_count": len(self.added[name]),
            "excluded_count": len(self.excluded[name]),
            "missing_count": len(self.missing(name)),
            "returned_count": len(self.added[name] & self._ever_excluded(name)),
            "are_missing_listed": True,
        }

    def named(self, name: str) -> set[str]:
        """Return the feeds with a member row in an epoch."""
        return self.added[name] | self.excluded[name] | self.missing(name)

    def member(self, name: str, feed: str) -> dict:
        """Return the row of a member."""
        return {
            "group_id": self.group_id,
            "epoch_id": name,
            "feed_id": feed,
            "is_added": feed in self.added[name],
            "is_excluded": feed in self.excluded[name],
            "is_member": any(row["is_connected"] for row in self._by("add", name, feed)),
            "added_by": self._ids("add", name, feed),
            "excluded_by": self._ids("exclude", name, feed),
            "is_missing": feed in self.missing(name),
            "is_returned": feed in self.added[name] & self._ever_excluded(name),
        }

    def _standing(self, name: str, feed: str) -> set[str]:
        """Return the ancestors of an epoch that add a feed, if neither they nor later ancestors exclude it."""
        found = set()
        for r in self.above[name]:
            after = {x for x in self.above[name] if feed in self.excluded[x] and (x == r or r in self.above[x])}
            if feed in self.added[r] and not after:
                found.add(r)
        return found

    def _lost(self, name: str) -> set[tuple[str, str]]:
        """Return the adds that are in force in an epoch and that an old exclude cancels: epoch and feed."""
        if name not in self._lost_adds:
            feeds = self._ever_excluded(name) - self.added[name]
            self._lost_adds[name] = {(r, feed) for feed in feeds for r in self._standing(name, feed)}
        return self._lost_adds[name]

    def newly_dropped(self, name: str) -> set[str]:
        """Return the feeds that an epoch drops and its previous epochs do not."""
        before = set().union(*(self._lost(p) for p in self.previous[name]))
        return {feed for _, feed in self._lost(name) - before}

    def dropped(self, name: str, feed: str) -> dict:
        """Return the row of a dropped feed."""
        last_add = max(self._standing(name, feed), key=self._place)
        last_exclude = max((a for a in self.above[name] if feed in self.excluded[a]), key=self._place)
        return {
            "group_id": self.group_id,
            "epoch_id": name,
            "feed_id": feed,
            "added_by": self._ids("add", last_add, feed)[:1],
            "excluded_by": self._ids("exclude", last_exclude, feed)[:1],
        }
