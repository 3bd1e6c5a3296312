"""Compares the tables of a build of bases with the oracle; draws random bases and prints their lines."""

import random
from collections import Counter
from dataclasses import replace

import autobase_oracle as oracle
import base_results
from autobase_lines import to_line
from autobase_oracle import Base, Id, Node
from base_tables import node_id, simulate
from hostile_lines import Log

ONLY = ("--select", "stg_autobase__lines+")
DEGREES = 3


class Built:
    """The tables of a build, by base."""

    def __init__(self, project):
        self.project = project
        self.bases = {row["base_id"]: row for row in project.rows("autobase_bases")}
        self.nodes = {}
        for row in project.rows("autobase_nodes"):
            self.nodes.setdefault(row["base_id"], {})[row["node_id"]] = row
        self.quorums, self.unsettled = {}, {}
        for row in project.rows("autobase_quorums"):
            found = row["node_id"], row["degree"], row["reached_by"], row["writers"]
            self.quorums.setdefault(row["base_id"], []).append(found)
        for row in project.rows("autobase_unsettled"):
            found = row["node_id"], row["reason"], row["contender"], row["awaited_merge"], row["missing_writers"]
            self.unsettled.setdefault(row["base_id"], []).append(found)
        self.views = {}
        for row in sorted(project.rows("autobase_views"), key=lambda row: row["position"]):
            view = self.views.setdefault(row["base_id"], {}).setdefault(row["observer"], [])
            assert row["position"] == len(view)
            assert not row["is_confirmed"] or all(before["is_confirmed"] for before in view[-1:])
            assert row["node_id"] == f"{row['writer']}:{row['length']}"
            view.append(row)

    def answer(self, base_id, observer="all"):
        """Return an observer's order and its confirmed length."""
        view = self.views.get(base_id, {}).get(observer, [])
        return [row["node_id"] for row in view], sum(row["is_confirmed"] for row in view)

    def check(self, base_id, base, degrees=DEGREES):
        """Compare all tables of a base with the oracle."""
        self.check_views(base_id, base)
        self.check_nodes(base_id, base)
        self.check_quorums(base_id, base, degrees)
        assert sorted(self.unsettled.get(base_id, [])) == sorted(base_results.unsettled(base))
        row = self.bases[base_id]
        _, confirmed = self.answer(base_id)
        heads = sum(row["is_head"] for row in self.nodes.get(base_id, {}).values())
        assert row["indexer_count"] == len(base.indexers)
        assert row["majority"] == len(base.indexers) // 2 + 1
        assert (row["node_count"], row["confirmed_length"], row["head_count"]) == (len(base.nodes), confirmed, heads)
        assert row["lag"] == len(base.nodes) - confirmed

    def check_views(self, base_id, base):
        """Check that each writer sees its last node and all ancestors of it."""
        orders = {observer: oracle.order_of(known) for observer, known in base_results.views(base).items()}
        expected = {
            observer: ([node_id(i) for i in order], confirmed)
            for observer, (order, confirmed) in orders.items()
            if order
        }
        assert {observer: self.answer(base_id, observer) for observer in self.views.get(base_id, {})} == expected

    def check_nodes(self, base_id, base):
        """Compare clocks, votes and heads with a count of ancestors."""
        expected = {}
        followed = {p for i in base.nodes for p in base.previous(i)}
        for i, node in base.nodes.items():
            clock = {}
            for p in base.past[i]:
                clock[p.writer.hex()] = max(p.length, clock.get(p.writer.hex(), 0))
            voters = {y.writer for y in base.nodes if i in base.past[y]} & set(base.indexers)
            role = "indexing" if i.writer in base.indexers else "relayed" if node.is_relayed else "non_indexing"
            is_head = i not in followed and not node.is_relayed
            expected[node_id(i)] = (role, node.batch, base.depth[i], clock, is_head, len(voters))
        names = ("role", "batch", "depth", "clock", "is_head", "votes")
        found = {
            name: tuple(dict(row[n]) if n == "clock" else row[n] for n in names)
            for name, row in self.nodes.get(base_id, {}).items()
        }
        assert found == expected

    def check_quorums(self, base_id, base, degrees):
        """Compare quorums with their definition."""
        assert sorted(self.quorums.get(base_id, [])) == sorted(base_results.quorums(base, degrees))


def key_of(letter):
    """Return the key of a writer with a short name."""
    return bytes.fromhex(letter * 64)


def with_whole_keys(base, floor=None):
    """Replace the letters of writers by keys of 32 bytes, and count lengths from the lengths settled before."""

    def whole(i):
        key = key_of(i.writer.decode())
        return Id(key, i.length + (floor or {}).get(key, 0))

    nodes = {whole(i): replace(n, id=whole(i), heads=tuple(map(whole, n.heads))) for i, n in base.nodes.items()}
    return Base(tuple(key_of(key.decode()) for key in base.indexers), nodes, floor or {})


def random_base(rng):
    """Draw a base of at most six writers, and often lengths settled before, which heads may list."""
    writers = rng.randint(1, 6)
    indexers = min(writers, rng.choice([1, 2, 3, 3, 4, 5]))
    relayed = min(writers - indexers, rng.randint(0, 1))
    drawn = simulate(rng, indexers, writers - indexers - relayed, relayed, rng.randint(0, 45), 0.3)
    floor = {key_of(key): rng.choice([0, 0, 1, 7]) for key in "abcdef"[:writers]} if rng.random() < 0.4 else {}
    base = with_whole_keys(drawn, floor)
    for i, node in base.nodes.items():
        # The oracle does not follow heads that were settled before.
        before = [
            Id(key, rng.randint(1, n)) for key, n in floor.items() if n and key != i.writer and rng.random() < 0.2
        ]
        heads = {h.writer: h for h in (*before, *node.heads)}
        base.nodes[i] = replace(node, heads=tuple(heads.values()))
    return base, {i.writer for i, node in base.nodes.items() if node.is_relayed}


def lines_of(base_id, base, relayed, rng):
    """Print a base in a random format."""
    either = lambda key: key.hex().upper() if rng.random() < 0.3 else key.hex()  # noqa: E731
    found = []
    for i, node in base.nodes.items():
        heads = [[either(h.writer), h.length] for h in rng.sample(node.heads, len(node.heads))]
        own = [either(i.writer), i.length - 1]
        if i.length > 1 and rng.random() < 0.5 and all(h.writer != i.writer for h in node.heads):
            heads.append(own)
        line = {"base": base_id, "writer": either(i.writer), "length": i.length, "heads": heads}
        found.append(to_line(line | ({"batch": node.batch} if node.batch > 1 or rng.random() < 0.5 else {}), value=1))
    line = {"base": base_id, "indexers": [either(key) for key in rng.choices(base.indexers, k=9)]}
    line["indexers"] += [either(key) for key in base.indexers]
    if base.floor:
        # The log of a writer that `start` omits begins at its floor.
        firsts = {i.writer for i in base.nodes}
        said = {key: n for key, n in base.floor.items() if key not in firsts or rng.random() < 0.7}
        named = {h.writer for node in base.nodes.values() for h in node.heads}
        said |= {key: n for key, n in base.floor.items() if key in named - firsts}
        line["start"] = {either(key): n for key, n in said.items()}
    found.append(to_line(line | ({"relayed": [either(key) for key in relayed]} if relayed else {})))
    return rng.sample(found, len(found))


def random_bases(seeds):
    """Draw random bases, and print their lines."""
    bases, lines = {}, []
    for seed in seeds:
        rng = random.Random(seed)
        base, relayed = random_base(rng)
        bases[f"random/{seed}"] = base
        lines += lines_of(f"random/{seed}", base, relayed, rng)
    return bases, lines


class HostileLog(Log):
    """A log about bases; the subject of a usable line is a base, or a node with its base.

    Attributes:
        known: The bases of the oracle, with their usable nodes.
    """

    def __init__(self, folder):
        super().__init__(folder)
        self.known = {}

    def bad(self, reason, *lines, file="log.jsonl"):
        """Add rejected lines. For `not_a_message`, expect `no_base` of an object and else `not_an_object`."""
        for line in lines:
            is_object = line.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
            own = {"not_a_message": "no_base" if is_object else "not_an_object"}
            super().bad(own.get(reason, reason), line, file=file)

    def good(self, at, *lines):
        """Add usable lines."""
        super().good(*lines, subject=at)

    def base(self, base_id, indexers="abc", reason=None, **fields):
        """Add a line about a base; each indexer is named by one letter."""
        line = to_line({"base": base_id, "indexers": [letter * 64 for letter in indexers]}, **fields)
        if reason:
            return self.bad(reason, line)
        floor = {bytes.fromhex(key): length for key, length in (fields.get("start") or {}).items()}
        self.known.setdefault(base_id, Base(tuple(sorted(map(key_of, indexers))), {}, floor))
        return self.good(base_id, line)

    def node(self, base_id, name, after="", reason=None, is_relayed=False, **fields):
        """Add a node, given as a letter and a length, that follows other nodes in the same notation."""
        i, *followed = (Id(key_of(word[0]), int(word[1:])) for word in (name, *after.split()))
        document = {"base": base_id, "writer": name[0] * 64, "length": i.length, "value": name}
        line = to_line(document | {"heads": [[word[0] * 64, int(word[1:])] for word in after.split()]} | fields)
        if reason:
            return self.bad(reason, line)
        self.known[base_id].nodes[i] = Node(i, tuple(followed), fields.get("batch") or 1, is_relayed)
        return self.good((base_id, i), line)

    def nodes(self, base_id, reason, *words):
        """Add nodes with one result, each in the notation of `drawing`."""
        for word in words:
            name, _, after = word.partition(":")
            self.node(base_id, name, after.replace(",", " "), reason)

    def check(self, built):
        """Compare the results of all lines, and the nodes of all bases."""
        self.check_rejects(built.project, "autobase_rejects")
        members = {base_id: set(rows) for base_id, rows in built.nodes.items()}
        counts = {
            (row["base_id"], row["node_id"]): row["line_count"]
            for row in built.project.rows("int_autobase_nodes")
            if row["node_id"] in members.get(row["base_id"], ())
        }
        bases, nodes = Counter(), {}
        for subject, count in self.lines.items():
            if isinstance(subject, str):
                bases[subject] = count
            else:
                nodes[subject[0], node_id(subject[1])] = count
        assert counts == nodes
        assert built.bases.keys() == bases.keys()
        rows = sum(map(len, self.files.values()))
        assert rows == sum(counts.values()) + bases.total() + len(self.rejects)
