"""Logs of Autobase through dbt: what real peers answered, plain computations, and lines made to do harm.

What must come of the hostile lines is stated beside each of them.
"""

import gzip
import json
import random
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from urllib.parse import unquote

import pytest

import autobase_oracle as oracle
from autobase_oracle import Base, Id, Node
from base_tables import drawing
from changes_oracle import changes
from conftest import DATA
from test_bad_input import ANY, MAX_LINE_BYTES, Log, broken, random_bytes
from test_sets import ODD, contents, write

ONLY = ("--select", "stg_autobase__lines+")
TABLES = (
    *("autobase_bases", "autobase_nodes", "autobase_views", "autobase_quorums", "autobase_rejects"),
    *("autobase_links", "autobase_rebases", "autobase_confirmations", "autobase_next", "autobase_updates"),
)
DEGREES = 3
MAX = 2**31 - 1


def to_line(document, **fields):
    """Print a document with other fields."""
    return json.dumps(document | fields).encode()


def node_id(i):
    """Name a node as the tables do."""
    return f"{i.writer.hex()}:{i.length}"


def pair(i):
    """Name a node as heads do."""
    return [i.writer.hex(), i.length]


class Built:
    """The tables of a build, by base."""

    def __init__(self, project):
        """Read them; orders have no holes, and what is confirmed comes first."""
        self.project = project
        self.bases = {row["base_id"]: row for row in project.rows("autobase_bases")}
        self.nodes = {}
        for row in project.rows("autobase_nodes"):
            self.nodes.setdefault(row["base_id"], {})[row["node_id"]] = row
        self.quorums = {}
        for row in project.rows("autobase_quorums"):
            self.quorums.setdefault(row["base_id"], {})[row["node_id"], row["degree"]] = row
        self.views = {}
        for row in sorted(project.rows("autobase_views"), key=lambda row: row["position"]):
            view = self.views.setdefault(row["base_id"], {}).setdefault(row["observer"], [])
            assert row["position"] == len(view)
            assert not row["is_confirmed"] or all(before["is_confirmed"] for before in view[-1:])
            assert row["node_id"] == f"{row['writer']}:{row['length']}"
            view.append(row)

    def answer(self, base_id, observer="all"):
        """Return an observer's order, and how much of it is settled."""
        view = self.views.get(base_id, {}).get(observer, [])
        return [row["node_id"] for row in view], sum(row["is_confirmed"] for row in view)

    def check(self, base_id, base, degrees=DEGREES):
        """Compare all that was made of a base with what the oracle makes of it."""
        self.check_views(base_id, base)
        self.check_nodes(base_id, base)
        self.check_quorums(base_id, base, degrees)
        row = self.bases[base_id]
        _, confirmed = self.answer(base_id)
        heads = sum(row["is_head"] for row in self.nodes.get(base_id, {}).values())
        assert row["indexer_count"] == len(base.indexers)
        assert row["majority"] == len(base.indexers) // 2 + 1
        assert (row["node_count"], row["confirmed_length"], row["head_count"]) == (len(base.nodes), confirmed, heads)
        assert row["lag"] == len(base.nodes) - confirmed

    def check_views(self, base_id, base):
        """Each writer knows what its last node follows, and that node."""
        last = {i.writer: i for i in sorted(base.nodes)}
        known = {"all": base, **{key.hex(): base.cut(base.past[i]) for key, i in last.items()}}
        expected = {}
        for observer, cut in known.items():
            order, confirmed = oracle.order_of(cut)
            if order:
                expected[observer] = [node_id(i) for i in order], confirmed
        assert {observer: self.answer(base_id, observer) for observer in self.views.get(base_id, {})} == expected
        return len(known)

    def check_nodes(self, base_id, base):
        """Clocks, votes and heads by counting in what is followed."""
        expected = {}
        followed = {p for i in base.nodes for p in base.previous(i)}
        depth = depths(base)
        for i, node in base.nodes.items():
            clock = {}
            for p in base.past[i]:
                clock[p.writer.hex()] = max(p.length, clock.get(p.writer.hex(), 0))
            voters = {y.writer for y in base.nodes if i in base.past[y]} & set(base.indexers)
            role = "indexing" if i.writer in base.indexers else "relayed" if node.is_relayed else "non_indexing"
            is_head = i not in followed and not node.is_relayed
            expected[node_id(i)] = (role, node.batch, depth[i], clock, is_head, len(voters))
        names = ("role", "batch", "depth", "clock", "is_head", "votes")
        found = {
            name: tuple(dict(row[n]) if n == "clock" else row[n] for n in names)
            for name, row in self.nodes.get(base_id, {}).items()
        }
        assert found == expected

    def check_quorums(self, base_id, base, degrees):
        """Votes are nodes of indexers that know of a majority of the votes before; so are quorums reached."""
        majority, depth = len(base.indexers) // 2 + 1, depths(base)
        votes = {i: base.past[i] for i in base.nodes if i.writer in base.indexers}
        expected = {}
        for x in base.nodes:
            counted = {i for i, past in votes.items() if x in past}
            for degree in range(1, degrees + 1):
                writers = {i: {p.writer for p in past & counted} for i, past in votes.items()}
                counted = {i for i, known in writers.items() if len(known) >= majority and base.indexers}
                if counted:
                    first = min(counted, key=lambda i: (depth[i], i))
                    by = sorted(key.hex() for key in writers[first])
                    expected[node_id(x), degree] = node_id(first), by
        quorums = self.quorums.get(base_id, {})
        assert {key: (row["reached_at"], row["writers"]) for key, row in quorums.items()} == expected


def depths(base):
    """Find the longest path below each node."""
    depth = {}
    for i in sorted(base.nodes, key=lambda i: len(base.past[i])):
        depth[i] = max((depth[p] + 1 for p in base.previous(i)), default=0)
    return depth


# ---------------------------------------------------------------------------------------------------------------------
# What real peers answered


def read_replicas(name):
    """Each replica of each case of a file: its base's id, what it knows as lines and for the oracle, its answer."""
    with gzip.open(DATA / "autobase" / f"{name}.jsonl.gz") as lines:
        cases = [json.loads(line) for line in lines]
    for case in cases:
        for replica in case["replicas"]:
            base_id = f"{case['id']}/{replica['name']}"
            rows = replica.get("nodes", case.get("nodes"))
            if "known" in replica:
                rows = [row for row in rows if row["length"] <= replica["known"].get(row["writer"], 0)]
            indexers = replica.get("indexers", case["indexers"])
            start = replica.get("base")
            by_name = {row["id"]: Id(bytes.fromhex(row["writer"]), row["length"]) for row in rows}
            nodes, floor = {}, {}
            for row in rows:
                i = by_name[row["id"]]
                nodes[i] = Node(i, tuple(Id(bytes.fromhex(key), length) for key, length in row["heads"]), row["batch"])
                # Where a replica says what was settled before, so is what lies below the first node of anyone else.
                floor[i.writer] = min(i.length - 1, floor.get(i.writer, MAX))
            floor |= {bytes.fromhex(key): length for key, length in (start or {}).items()}
            answer = [node_id(by_name[name]) for name in replica["order"]], replica["confirmed"]
            lines = [
                to_line({"base": base_id}, indexers=indexers, **({} if start is None else {"start": start})),
                # The same in another order, which is not another thing to say.
                to_line(
                    {"base": base_id}, indexers=random.Random(base_id).sample(indexers, len(indexers)), start=start
                ),
                *(
                    to_line({"base": base_id}, **{n: row[n] for n in ("writer", "length", "heads", "batch", "value")})
                    for row in rows
                ),
            ]
            yield base_id, lines, Base(tuple(map(bytes.fromhex, indexers)), nodes, floor), answer, rows


FILES = ("design", "random", "hard", "large", "full")
REPLICAS = {name: list(read_replicas(name)) for name in FILES}
COUNTS = {"design": 12, "random": 436, "hard": 180, "large": 16, "full": 47}
# Bases that are small enough for the oracle, a few of each file.
FOR_ORACLE = [
    replica
    for name, step in (("design", 1), ("random", 29), ("hard", 20), ("full", 5))
    for replica in REPLICAS[name][::step]
]


def key_of(letter):
    """Return the key of a writer with a short name."""
    return bytes.fromhex(letter * 64)


def random_base(rng):
    """Let writers write on top of what they know and hear what others know; also what was settled before."""
    letters = rng.sample("abcdef", rng.randint(1, 6))
    keys = [key_of(letter) for letter in letters]
    indexers = keys[: rng.choice([1, 2, 3, 3, 4, 5])]
    others = keys[len(indexers) :]
    relayed = set(others[: rng.randint(0, 1)])
    floor = {key: rng.choice([0, 0, 1, 7]) for key in keys} if rng.random() < 0.4 else {}
    base, past, knows = Base(tuple(indexers), {}, floor), {}, {key: frozenset() for key in keys}
    for _ in range(rng.randint(0, 45)):
        key, other = rng.choice(keys), rng.choice(keys)
        heard = [i for i in sorted(knows[other]) if base.nodes[i].batch == 1]
        if heard:
            knows[key] |= past[rng.choice(heard)] if rng.random() < 0.3 else knows[other]
        if rng.random() < 0.3:
            continue
        for left in range(rng.choice([1, 1, 1, 1, 2, 3]), 0, -1):
            heads = [i for i in sorted(knows[key]) if not any(i in past[j] for j in knows[key] if j != i)]
            i = Id(key, floor.get(key, 0) + 1 + sum(j.writer == key for j in knows[key]))
            # What was settled before may be named, and is nothing to follow.
            heads += [Id(k, rng.randint(1, n)) for k, n in floor.items() if n and k != key and rng.random() < 0.2]
            heads = list({h.writer: h for h in reversed(heads)}.values())
            base.nodes[i] = Node(i, tuple(heads), left, key in relayed)
            past[i] = knows[key] | {i}
            knows[key] = past[i]
    return base, relayed


def lines_of(base_id, base, relayed, rng):
    """Print a base in a way of its own."""
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
        # Of a writer who is left out, the log begins where it begins.
        firsts = {i.writer for i in base.nodes}
        said = {key: n for key, n in base.floor.items() if key not in firsts or rng.random() < 0.7}
        named = {h.writer for node in base.nodes.values() for h in node.heads}
        said |= {key: n for key, n in base.floor.items() if key in named - firsts}
        line["start"] = {either(key): n for key, n in said.items()}
    found.append(to_line(line | ({"relayed": [either(key) for key in relayed]} if relayed else {})))
    return rng.sample(found, len(found))


def with_whole_keys(base):
    """Give the writers of a drawn base, which are letters, keys of 32 bytes."""
    whole = lambda i: i._replace(writer=i.writer * 32)  # noqa: E731
    nodes = [replace(n, id=whole(i), heads=tuple(map(whole, n.heads))) for i, n in base.nodes.items()]
    return replace(base, indexers=tuple(key * 32 for key in base.indexers), nodes={n.id: n for n in nodes})


def random_bases(seeds):
    """Make random bases, and their lines."""
    bases, lines = {}, []
    for seed in seeds:
        rng = random.Random(seed)
        base, relayed = random_base(rng)
        bases[f"random/{seed}"] = base
        lines += lines_of(f"random/{seed}", base, relayed, rng)
    return bases, lines


RANDOM, RANDOM_LINES = random_bases(range(80))


@pytest.fixture(scope="module")
def peers(project, tmp_path_factory):
    """Build what every replica knows as a base of its own, and random bases; the lines in no order."""
    lines = [line for name in FILES for _, lines, *_ in REPLICAS[name] for line in lines] + RANDOM_LINES
    random.Random(1).shuffle(lines)
    log = write(tmp_path_factory.mktemp("bases") / "log.jsonl", lines)
    built = project("bases_of_peers", autobase_log=log)
    built.run(*ONLY)
    return Built(built)


@pytest.mark.parametrize("name", FILES)
def test_every_replica_answers_as_autobase(name, peers):
    """The whole order, and how much of it is settled, of every replica."""
    agreed = 0
    for base_id, _, base, answer, rows in REPLICAS[name]:
        assert peers.answer(base_id) == answer, base_id
        row = peers.bases[base_id]
        assert row["confirmed_length"] == answer[1]
        assert (row["node_count"], row["lag"]) == (len(base.nodes), len(base.nodes) - answer[1])
        assert row["status"] == ("ok" if base.nodes else "empty")
        values = {f"{row['writer']}:{row['length']}": row["value"] for row in rows}
        for row in peers.views.get(base_id, {}).get("all", []):
            value = values[row["node_id"]]
            assert row["is_ack"] == (value is None)
            assert (row["value"] and json.loads(row["value"])) == value
        agreed += 1
    assert agreed == COUNTS[name]


def test_nothing_of_real_peers_is_refused(peers):
    """Nor is a second line about a base that says the same in another order, or of random bases anything."""
    assert peers.project.rows("autobase_rejects") == []
    assert len(peers.bases) == sum(COUNTS.values()) + len(RANDOM)


@pytest.mark.parametrize("at", range(len(FOR_ORACLE)), ids=lambda at: FOR_ORACLE[at][0])
def test_observers_of_real_peers(at, peers):
    """Each writer's view is what the oracle makes of the writer's past; clocks, votes and quorums are as counted."""
    base_id, _, base, *_ = FOR_ORACLE[at]
    peers.check(base_id, base)


def test_random_bases(peers):
    """Bases with other writers, relayed ones, batches and what was settled before."""
    for base_id, base in RANDOM.items():
        peers.check(base_id, base)
        assert peers.bases[base_id]["status"] == ("ok" if base.nodes else "empty")
    bases = RANDOM.values()
    relayed = [base for base in bases if any(node.is_relayed for node in base.nodes.values())]
    hidden = [base for base in relayed if len(oracle.order_of(base)[0]) < len(base.nodes)]
    settled = [base for base in bases if any(base.floor.values()) and oracle.order_of(base)[1]]
    assert min(len(relayed), len(hidden), len(settled)) >= 5
    assert any(node.batch > 1 for base in bases for node in base.nodes.values())
    assert len({len(base.indexers) for base in bases}) >= 4


# ---------------------------------------------------------------------------------------------------------------------
# Hostile lines

A, B, C, D, E, F = (letter * 64 for letter in "abcdef")
NO_KEYS = [7, True, {}, [], "", "a", A[1:], A + "a", A[1:] + "g", f" {A[1:]}", f"{A[1:]}\n", "\u0665" * 64, *ODD]
NO_LENGTHS = [0, -1, 0.5, 1.5, "1", True, [], {}, MAX + 1, 2**63, 10**30]


class HostileLog(Log):
    """A folder of files, with what each line should come to.

    Attributes:
        lines: How many lines are behind each usable node: by base, writer and length.
        base_lines: How many usable lines there are about each base.
        known: The bases as the oracle takes them, with their usable nodes.
        at: Of each usable line what it adds to: a node, or a base alone.
    """

    def __init__(self, folder):
        """Start with no lines."""
        super().__init__(folder)
        self.base_lines = Counter()
        self.known = {}
        self.at = {}

    def bad(self, reason, *lines, file="log.jsonl"):
        """Add lines that should be rejected. What `broken` calls no message is an object without a base, or none."""
        for line in lines:
            is_object = line.lstrip().startswith(b"{")
            super().bad(
                {"not_a_message": "no_base" if is_object else "not_an_object"}.get(reason, reason), line, file=file
            )

    def good(self, at, *lines, file="log.jsonl"):
        """Add lines that should be usable."""
        for line in lines:
            self.files.setdefault(file, []).append(line)
            self.at[file, len(self.files[file])] = at
            if isinstance(at, str):
                self.base_lines[at] += 1
            else:
                self.lines[at] += 1

    def base(self, base_id, indexers="abc", reason=None, **fields):
        """Add a line about a base, whose indexers have names of a letter."""
        line = to_line({"base": base_id, "indexers": [letter * 64 for letter in indexers]}, **fields)
        if reason:
            return self.bad(reason, line)
        floor = {bytes.fromhex(key): length for key, length in (fields.get("start") or {}).items()}
        self.known.setdefault(base_id, Base(tuple(sorted(map(key_of, indexers))), {}, floor))
        return self.good(base_id, line)

    def node(self, base_id, name, after="", reason=None, is_relayed=False, file="log.jsonl", **fields):
        """Add a node, a letter and a length, that follows others, written in the same way."""
        i, *followed = (Id(key_of(word[0]), int(word[1:])) for word in (name, *after.split()))
        document = {"base": base_id, "writer": name[0] * 64, "length": i.length, "value": name}
        line = to_line(document | {"heads": [[word[0] * 64, int(word[1:])] for word in after.split()]} | fields)
        if reason:
            return self.bad(reason, line, file=file)
        self.known[base_id].nodes[i] = Node(i, tuple(followed), fields.get("batch", 1), is_relayed)
        return self.good((base_id, i), line, file=file)

    def repeat(self, step):
        """Add some lines again."""
        for number in range(1, len(self.files["log.jsonl"]) + 1, step):
            at, line = ("log.jsonl", number), self.files["log.jsonl"][number - 1]
            if at in self.rejects:
                super().bad(self.rejects[at], line)
            else:
                self.good(self.at[at], line)

    def check(self, built):
        """Compare all lines, and all bases by their nodes."""
        found = {}
        for row in built.project.rows("autobase_rejects"):
            file = unquote(row["source_file"]).partition(f"{self.folder}/")[2]
            assert (file, row["line"]) not in found
            found[file, row["line"]] = row["reason"]
        assert found.keys() == self.rejects.keys()
        wrong = {at: (reason, found[at]) for at, reason in self.rejects.items() if reason not in (ANY, found[at])}
        assert not wrong, wrong
        members = {base_id: set(rows) for base_id, rows in built.nodes.items()}
        counts = {
            (row["base_id"], row["node_id"]): row["line_count"]
            for row in built.project.rows("int_autobase_nodes")
            if row["node_id"] in members.get(row["base_id"], ())
        }
        assert counts == {(base_id, node_id(i)): count for (base_id, i), count in self.lines.items()}
        assert built.bases.keys() == self.base_lines.keys()
        rows = sum(map(len, self.files.values()))
        assert rows == sum(counts.values()) + sum(self.base_lines.values()) + len(found)


def add_malformed(log):
    """Add lines that the check refuses, each for one thing; not one is left of their base."""
    base = {"base": "victim", "indexers": [A, B]}
    node = {"base": "victim", "writer": A, "length": 3, "heads": [[B, 2]]}
    for document in (base, node):
        log.bad("no_base", *(to_line(document, base=odd) for odd in (None, 7, True, "", [], {}, "\ud800", "a\udc00")))
        log.bad("no_base", to_line({name: value for name, value in document.items() if name != "base"}))
    log.bad(
        "neither",
        *(to_line({"base": "victim"}, **{name: value}) for name in ("x", "relayed", "start") for value in ([], 1)),
    )
    log.bad("neither", to_line(base, indexers=None), to_line({"base": "victim"}, value=1, batch=1, heads=None))
    for odd in NO_KEYS:
        log.bad("bad_indexers", to_line(base, indexers=[A, odd]))
        log.bad("bad_relayed", to_line(base, relayed=[C, odd]))
        log.bad("bad_writer", to_line(node, writer=odd))
        log.bad("bad_heads", to_line(node, heads=[[odd, 1]]))
        if isinstance(odd, str):
            log.bad("bad_start", to_line(base, start={A: 1, odd: 1}))
    for odd in (7, 0, False, "", A, {}, {A: 1}, [None], [[A]]):
        log.bad("bad_indexers", to_line(base, indexers=odd))
        log.bad("bad_relayed", to_line(base, relayed=odd))
    log.bad("bad_roles", to_line(base, relayed=[C, A.upper()]), to_line(base, relayed=[B, B]))
    for odd in NO_LENGTHS:
        log.bad("bad_length", to_line(node, length=odd))
        log.bad("bad_heads", to_line(node, heads=[[B, 1], [C, odd]]))
        log.bad("bad_batch", to_line(node, batch=odd))
        if odd != 0:  # of whom nothing was settled
            log.bad("bad_start", to_line(base, start={B: 0, A: odd}))
    log.bad("bad_length", to_line(node, length=None), to_line({"base": "victim", "writer": A, "heads": []}))
    log.bad("bad_writer", to_line(node, writer=None), to_line({"base": "victim", "length": 1, "heads": []}))
    log.bad("bad_heads", to_line(node, heads=None), to_line({"base": "victim", "writer": A, "length": 1}))
    log.bad(
        "bad_heads", *(to_line(node, heads=odd) for odd in (7, "", {}, {B: 1}, [7], [[]], [[B]], [[B, 1, 1]], [{}]))
    )
    # Two of one writer, the node itself, and a later one.
    log.bad("bad_heads", to_line(node, heads=[[B, 1], [C, 1], [B.upper(), 2]]), to_line(node, heads=[[B, 1]] * 2))
    log.bad("bad_heads", to_line(node, heads=[[A, 3]]), to_line(node, heads=[[A.upper(), 4]]))
    log.bad(
        "bad_start", *(to_line(base, start=odd) for odd in (7, True, "", [], [[A, 1]], {A: 1, A.upper(): 1}, {A: None}))
    )


def add_without_base(log):
    """Add nodes of bases of which there is no line, or no sound one."""
    log.bad("bad_indexers", to_line({"base": "unsound", "indexers": 7}))
    for base_id in ("unheard of", "unsound"):
        log.node(base_id, "a1", reason="unknown_base")
        log.node(base_id, "a2", "b1", reason="unknown_base")
        log.node(base_id, "b9", "c1", reason="unknown_base")


def add_faults(log):
    """Add what a node may be set aside for, and what comes of those that follow it."""
    log.base("holes")
    log.node("holes", "a1")
    log.node("holes", "a3", reason="hole")
    log.node("holes", "a4", reason="previous_set_aside")
    log.node("holes", "b2", reason="hole")
    log.node("holes", "c1", "a1")
    log.node("holes", "c2", "b2", reason="previous_set_aside")
    log.node("holes", "d1", "a2", reason="missing_head")

    log.base("missing", start={E: 5})
    log.node("missing", "a1")
    log.node("missing", "b1", "a9", reason="missing_head")
    log.node("missing", "b2", "a1", reason="previous_set_aside")
    log.node("missing", "c1", "a1 d1", reason="unknown_writer")
    log.node("missing", "c2", reason="previous_set_aside")
    log.node("missing", "f1", "d1 a2", reason="unknown_writer")
    # Of this one it is known that there were five.
    log.node("missing", "a2", "e6", reason="missing_head")
    log.node("missing", "a3", "e5", reason="previous_set_aside")

    log.base("cycles")
    log.node("cycles", "a1", "b1", reason="cycle")
    log.node("cycles", "b1", "a1", reason="cycle")
    log.node("cycles", "a2", reason="previous_set_aside")
    log.node("cycles", "c1")
    log.node("cycles", "c2", "d2", reason="cycle")
    log.node("cycles", "d1", "c2", reason="cycle")
    log.node("cycles", "d2", reason="cycle")
    log.node("cycles", "e1", "c1 d1", reason="previous_set_aside")
    log.node("cycles", "f1", "c1")

    log.base("two things")
    log.node("two things", "a1")
    for odd in ({}, {"value": "other"}, {"value": None}, {"heads": [[A, 1]]}, {"batch": 2}):
        log.node("two things", "b1", reason="equivocation", **odd)
    log.node("two things", "b2", reason="previous_set_aside")
    log.node("two things", "c1", "a1 b1", reason="previous_set_aside")
    log.node("two things", "a2", reason="equivocation")
    log.node("two things", "a2", "b1", reason="equivocation")
    log.node("two things", "a3", reason="previous_set_aside")

    log.base("one thing")
    log.node("one thing", "a1", value={"x": [1], "y": "é"})
    log.good(
        ("one thing", Id(key_of("a"), 1)),
        to_line(
            {"base": "one thing", "writer": A.upper(), "length": 1, "heads": []},
            value={"y": "\u00e9", "x": [1]},
            batch=1,
        ),
    )
    log.node("one thing", "b1", "a1", value=None)
    log.good(
        ("one thing", Id(key_of("b"), 1)),
        to_line({"base": "one thing", "writer": B, "length": 1, "heads": [[A, 1]], "batch": None}),
    )
    log.node("one thing", "c1", "a1 b1")
    log.node("one thing", "c1", "b1 a1")
    log.node("one thing", "c2", "c1")
    log.node("one thing", "c2")

    log.base("batches")
    log.node("batches", "a1", batch=2)
    log.node("batches", "a2", batch=1)
    log.node("batches", "a3", batch=3)
    log.node("batches", "b1", "a2")
    log.node("batches", "b2", "a1", reason="bad_batch")
    log.node("batches", "b3", reason="previous_set_aside")
    log.node("batches", "c1", "a3", reason="bad_batch")
    log.node("batches", "d1", batch=MAX)
    log.node("batches", "d2", batch=MAX, reason="bad_batch")
    log.node("batches", "e1", batch=2)
    log.node("batches", "e2", batch=2, reason="bad_batch")
    log.node("batches", "e3", reason="previous_set_aside")


def add_starts(log):
    """Add what was settled before, huge lengths and the ends of 32 bits."""
    log.base("started", start={A: 2, D: 0, E: 3})
    log.node("started", "a1", "c9 d9", reason="before_start")
    log.node("started", "a1", reason="before_start")
    log.node("started", "a2", reason="before_start")
    log.node("started", "a3", "e1 b3")
    log.node("started", "a4", "e3")
    log.node("started", "b4", "a1")
    log.node("started", "b5", "a4 c7")
    log.node("started", "c8", "a2")
    log.node("started", "d2", reason="hole")
    log.node("started", "e5", reason="hole")
    log.known["started"].floor |= {key_of("b"): 3, key_of("c"): 7}

    log.base("huge", start={A: MAX, B: MAX - 1, D: MAX})
    log.node("huge", f"a{MAX}", f"b{MAX}", reason="before_start")
    log.node("huge", "a1", reason="before_start")
    log.node("huge", f"b{MAX}", f"a{MAX} d{MAX}")
    log.node("huge", f"c{MAX - 1}", f"b{MAX - 1}")
    log.node("huge", f"c{MAX}", f"b{MAX}")
    log.known["huge"].floor[key_of("c")] = MAX - 2
    log.base("huge and fresh")
    log.node("huge and fresh", f"a{MAX}", reason="hole")
    log.node("huge and fresh", "b1", f"a{MAX}", reason="previous_set_aside")
    log.node("huge and fresh", "c1", f"a{MAX - 1}", reason="missing_head")


def add_conflicts(log):
    """Add lines that say different things about a base: the least counts, first by indexers."""
    log.base("conflict", "bc", reason="conflicting_base")
    log.base("conflict", "ab", relayed=[D], reason="conflicting_base")
    log.base("conflict", "ab", start={}, reason="conflicting_base")
    log.base("conflict", "ab", start={C: 0}, reason="conflicting_base")
    log.base("conflict", "ab")
    log.base("conflict", "ba", relayed=[])
    log.good("conflict", to_line({"base": "conflict", "indexers": [B.upper(), A, B, A.upper()]}, relayed=None, more=7))
    log.base("conflict", "abc", reason="conflicting_base")
    log.node("conflict", "a1")
    log.node("conflict", "b1", "a1")


NAMES = dict.fromkeys([*filter(None, ODD), "all", "autobase", ":", "a:1", "*", "\uffff\U0010ffff", "a" * 100_000])


def add_names(log):
    """Add bases whose names mean something to SQL, Jinja, Python, a shell or a file system; no two become one."""
    for name in NAMES:
        log.base(name, "ab")
        log.node(name, "a1", value={name: name})
        log.node(name, "b1", "a1", value=None)


VALUES = {
    '"\\ud800"': '"\\ud800"',
    "1e999": "1e999",
    "-1e400": "-1e999",
    "[" * 5000 + "1" + "]" * 5000: "[" * 5000 + "1" + "]" * 5000,
    '{"b": 1, "a": {"z": [], "": null}}': '{"a":{"":null,"z":[]},"b":1}',
    "false": "false",
    "0": "0",
    '""': '""',
    '"\\u0000"': '"\\u0000"',
    '"\\u0041{{ 1/0 }}"': '"A{{ 1/0 }}"',
    '"' + "x" * 1_500_000 + '"': '"' + "x" * 1_500_000 + '"',
}


def add_values(log):
    """Add values that some printer or parser could not do."""
    log.base("values", "a")
    for at, text in enumerate(VALUES, start=1):
        line = to_line({"base": "values", "writer": A, "length": at, "heads": []}, value=0)
        i = Id(key_of("a"), at)
        log.good(("values", i), line.replace(b'"value": 0', b'"value": ' + text.encode()))
        log.known["values"].nodes[i] = Node(i)


WIDE = [f"{number:064x}" for number in range(10_000)]


def add_wide(log):
    """Add many heads: that are nowhere, that were settled before, and that are there; and many indexers."""
    heads = [[key, 1] for key in WIDE]
    log.base("wide", "a", relayed=[F])
    log.node("wide", "a1")
    log.bad("unknown_writer", to_line({"base": "wide", "writer": A, "length": 2, "heads": heads}))
    log.bad(
        "missing_head", to_line({"base": "wide", "writer": B, "length": 1, "heads": [[key, 2] for key in WIDE[:500]]})
    )
    for key in reversed(WIDE[:500]):
        i = Id(bytes.fromhex(key), 1)
        log.good(("wide", i), to_line({"base": "wide", "writer": key, "length": 1, "heads": []}))
    i = Id(key_of("c"), 1)
    log.good(("wide", i), to_line({"base": "wide", "writer": C, "length": 1, "heads": heads[:500]}))

    log.base("wide start", "a", start=dict.fromkeys(WIDE, 1))
    i = Id(key_of("a"), 1)
    log.good(("wide start", i), to_line({"base": "wide start", "writer": A, "length": 1, "heads": heads}))
    log.known["wide start"].nodes[i] = Node(i)

    log.good("wide indexers", to_line({"base": "wide indexers", "indexers": [*WIDE, A]}))
    log.good(("wide indexers", i), to_line({"base": "wide indexers", "writer": A, "length": 1, "heads": []}))


def add_roles(log):
    """Add bases without nodes, without indexers, and with relayed writers."""
    log.base("empty")
    log.base("nobody", "")
    log.base("no indexers", "")
    log.node("no indexers", "b1")
    log.node("no indexers", "a1")
    log.node("no indexers", "a2", "b1")
    log.base("one indexer", "b", relayed=[E, F.upper()])
    log.node("one indexer", "e1", is_relayed=True)
    log.node("one indexer", "a1", "e1")
    log.node("one indexer", "b1", "a1")
    log.node("one indexer", "f1", "b1", is_relayed=True)
    log.node("one indexer", "c1", "f1")
    log.base("only relayed", "a", relayed=[E, F])
    log.node("only relayed", "e1", is_relayed=True)
    log.node("only relayed", "f1", "e1", is_relayed=True)
    log.base("capitals", "ab")
    log.node("capitals", "a1", writer=A.upper())
    log.node("capitals", "b1", heads=[[A.upper(), 1]])
    log.known["capitals"].nodes[Id(key_of("b"), 1)] = Node(Id(key_of("b"), 1), (Id(key_of("a"), 1),))
    log.node("capitals", "a2", "b1", writer="aA" * 32)


def add_lines(log):
    """Add lines that are long, in odd files, or say a thing twice."""
    log.base("lines", "a")
    at = ("lines", Id(key_of("a"), 1))
    log.node("lines", "a1")
    line = to_line({"base": "lines", "writer": A, "length": 1, "heads": [], "value": "a1"})
    log.good(
        at, line.ljust(MAX_LINE_BYTES), line + b"\r", b" \t" + line, line[:-1] + b',"x":[[{}],"; --"],"indexers":7}'
    )
    log.good(at, line.replace(b'"length": 1', b'"length":"x","length":1'), line.replace(b"lines", rb"l\u0069nes"))
    log.bad("bad_length", line.replace(b'"length": 1', b'"length":1,"length":0'))
    log.bad("too_long", line.ljust(MAX_LINE_BYTES + 1), b"x" * 5_000_000, file="long.jsonl")
    for file in ("long.jsonl", "folder/a=1/packed.jsonl.gz", 'it\'s {{ 1/0 }} 100% "good" [?*].jsonl'):
        log.good(at, line, file=file)
        log.bad("no_base", b"{}", file=file)
        log.node("holes", "a3", reason="hole", file=file)


@pytest.fixture(scope="module")
def hostile_log(tmp_path_factory):
    """Write all that, some of it twice, in no order."""
    log = HostileLog(tmp_path_factory.mktemp("hostile_bases"))
    broken(log)
    random_bytes(log)
    for add in (add_malformed, add_without_base, add_faults, add_starts, add_conflicts, add_names):
        add(log)
    for add in (add_values, add_wide, add_roles, add_lines):
        add(log)
    log.repeat(5)
    return log


@pytest.fixture(scope="module")
def hostile(hostile_log, project):
    """Build it, in one partition."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TANGLES_SHUFFLE_PARTITIONS", "1")
        return Built(project("hostile_bases", autobase_log=hostile_log.write()).build(*ONLY))


# Which reasons there are, and no others.
REASONS = {
    *(
        "too_long",
        "invalid_utf8",
        "malformed_json",
        "not_an_object",
        "no_base",
        "neither",
        "bad_indexers",
        "bad_relayed",
    ),
    *("bad_roles", "bad_start", "bad_writer", "bad_length", "bad_heads", "bad_batch", "unknown_base", "before_start"),
    *("equivocation", "hole", "unknown_writer", "missing_head", "previous_set_aside", "cycle", "conflicting_base"),
}


def test_hostile_lines(hostile_log, hostile):
    """Every line of every file by its number, and every reason there is."""
    hostile_log.check(hostile)
    assert set(hostile_log.rejects.values()) == REASONS | {ANY}
    assert "victim" not in hostile.bases


def test_hostile_bases(hostile_log, hostile):
    """All that is made of what is left of each base is what the oracle makes of it."""
    for base_id in hostile_log.known.keys() - {"wide"}:
        hostile.check(base_id, hostile_log.known[base_id])
    assert hostile.bases.keys() == hostile_log.known.keys() | {"wide indexers"}


def test_what_becomes_of_hostile_bases(hostile):
    """Nodes, those whose order is settled, heads and status, of some by name."""
    names = ("node_count", "confirmed_length", "head_count", "status")
    found = {base_id: tuple(row[name] for name in names) for base_id, row in hostile.bases.items()}
    assert found == {
        **dict.fromkeys(NAMES, (2, 1, 1, "ok")),
        "holes": (2, 0, 1, "incomplete"),
        "missing": (1, 0, 1, "incomplete"),
        "cycles": (2, 0, 1, "incomplete"),
        "two things": (1, 0, 1, "incomplete"),
        "one thing": (4, 1, 1, "ok"),
        "batches": (6, 0, 4, "incomplete"),
        "started": (5, 0, 2, "incomplete"),
        "huge": (3, 0, 1, "ok"),
        "huge and fresh": (0, 0, 0, "incomplete"),
        "conflict": (2, 1, 1, "ok"),
        "values": (len(VALUES), len(VALUES), 1, "ok"),
        "wide": (502, 1, 2, "incomplete"),
        "wide start": (1, 1, 1, "ok"),
        "wide indexers": (1, 0, 1, "ok"),
        "empty": (0, 0, 0, "empty"),
        "nobody": (0, 0, 0, "empty"),
        "no indexers": (3, 0, 1, "ok"),
        "one indexer": (5, 3, 1, "ok"),
        "only relayed": (2, 0, 0, "ok"),
        "capitals": (3, 2, 1, "ok"),
        "lines": (1, 1, 1, "ok"),
    }


def test_hostile_names_and_values(hostile):
    """Names of bases and values come out as they went in."""
    for name in NAMES:
        a, b = hostile.views[name]["all"]
        assert (json.loads(a["value"]), b["value"]) == ({name: name}, None)
        assert (a["is_ack"], b["is_ack"]) == (False, True)
    assert [row["value"] for row in hostile.views["values"]["all"]] == list(VALUES.values())
    assert {row["value"] for row in hostile.views["one thing"]["all"]} == {'{"x":[1],"y":"é"}', None, '"c1"', '"c2"'}


def test_hostile_width(hostile):
    """Many heads, indexers, and lengths settled before."""
    order, confirmed = hostile.answer("wide")
    first, *others = [f"{key}:1" for key in WIDE[:500]]
    assert order == [f"{A}:1", first, *others, f"{C}:1"]
    assert confirmed == 1
    c = hostile.nodes["wide"][f"{C}:1"]
    assert (c["depth"], c["is_head"], len(c["clock"])) == (1, True, 501)
    row = hostile.bases["wide indexers"]
    assert (row["indexer_count"], row["majority"]) == (10_001, 5_001)
    assert hostile.answer("wide indexers") == ([f"{A}:1"], 0)


@pytest.fixture(scope="module")
def shuffled(hostile_log, project, tmp_path_factory):
    """Make the tables of the hostile lines in another order, in five files, one packed, and thirteen partitions."""
    folder = tmp_path_factory.mktemp("shuffled_bases")
    rng = random.Random("shuffled bases")
    lines = [line for lines in hostile_log.files.values() for line in lines]
    lines = rng.sample(lines, len(lines))
    for number, (start, end) in enumerate(pairwise([0, *sorted(rng.sample(range(len(lines)), 4)), len(lines)])):
        # Spark takes a byte order mark off the beginning of a file.
        assert not lines[start].startswith(b"\xef\xbb\xbf")
        write(folder / f"{number}.jsonl", lines[start:end])
    (folder / "3.jsonl.gz").write_bytes(gzip.compress((folder / "3.jsonl").read_bytes()))
    (folder / "3.jsonl").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TANGLES_SHUFFLE_PARTITIONS", "13")
        built = project("shuffled_bases", autobase_log=str(folder))
        built.run(*ONLY)
    return built


@pytest.mark.parametrize("table", [*TABLES, "int_autobase_bases", "int_autobase_candidates", "int_autobase_members"])
def test_order_files_and_partitions(table, hostile, shuffled):
    """Every table is the same."""
    expected = contents(hostile.project, table)
    assert expected
    assert contents(shuffled, table) == expected


# ---------------------------------------------------------------------------------------------------------------------
# Other ways to build


def test_limits(project, tmp_path):
    """Beyond the limit there is one observer, and there are no clocks; there are as many degrees as are asked for."""
    bases, lines = random_bases(range(100, 130))
    sizes = {name: len({i.writer for i in base.nodes}) * len(base.nodes) for name, base in bases.items()}
    limit = sorted(sizes.values())[15]
    log = write(tmp_path / "log.jsonl", lines)
    built = project("limited_bases", autobase_log=log, clock_limit=limit, quorum_degrees=5)
    built.run(*ONLY)
    built = Built(built)
    for name, base in bases.items():
        if sizes[name] <= limit:
            built.check(name, base, degrees=5)
            continue
        order, confirmed = oracle.order_of(base)
        assert built.answer(name) == ([node_id(i) for i in order], confirmed)
        assert built.views.get(name, {}).keys() <= {"all"}
        assert all(row["clock"] is row["votes"] is None for row in built.nodes[name].values())
        built.check_quorums(name, base, 5)
    assert 10 < sum(size > limit for size in sizes.values()) < 20
    assert any(degree == 5 for found in built.quorums.values() for _, degree in found)


def as_line(base_id, writer, length, heads, batch=1):
    """Print a node as its writer publishes it."""
    pairs = [[key, int(at)] for key, at in (head.split(":") for head in heads)]
    return to_line({"base": base_id, "writer": writer, "length": length, "heads": pairs, "batch": batch, "value": 1})


def test_bases_go_on(project, tmp_path):
    """A log, then what its writers may write next, then nothing new: in the views, and told as updates."""
    bases, lines = random_bases(range(200, 215))
    log = tmp_path / "log.jsonl"
    write(log, lines)
    project = project("bases_go_on", autobase_log=str(log))
    project.run(*ONLY)
    first = Built(project)
    changes_are_those_of_the_oracle(project, bases)
    links_are_those_of_the_oracle(project, bases)
    updates = {row["base_id"]: row for row in project.rows("autobase_updates")}
    for base_id, row in updates.items():
        assert (row["previous_publication"], row["kept"], row["undone"]) == (None, 0, 0)
        assert row["appended"] == len(first.answer(base_id)[0])

    following = project.rows("autobase_next")
    relayed = {row["base_id"]: row["relayed"] for row in project.rows("int_autobase_bases")}
    chosen = {}
    for at, row in enumerate(sorted(following, key=lambda row: (row["base_id"], row["writer"]))):
        if row["writer"] not in relayed[row["base_id"]] and (at % 3 == 0 or row["base_id"] not in chosen):
            chosen[row["base_id"]] = row
    assert len(chosen) > 10
    names = ("base_id", "writer", "length", "heads", "batch")
    write(log, [*lines, *(as_line(*(row[name] for name in names)) for row in chosen.values())])
    project.run(*ONLY)
    second = Built(project)
    assert project.rows("autobase_rejects") == []
    for base_id, row in chosen.items():
        node = f"{row['writer']}:{row['length']}"
        for observer in ("all", row["writer"]):
            assert node in second.answer(base_id, observer)[0]
    updates_are_those_of_views(project, first, second, updates)
    again = project.rows("autobase_updates")
    project.run(*ONLY)
    by_base = sorted(again, key=lambda row: row["base_id"])
    assert sorted(project.rows("autobase_updates"), key=lambda row: row["base_id"]) == by_base


def updates_are_those_of_views(project, first, second, before):
    """Each leads from what was published to what is."""
    for row in project.rows("autobase_updates"):
        old, new = first.answer(row["base_id"])[0], second.answer(row["base_id"])[0]
        if old == new:
            assert row == before[row["base_id"]]
            continue
        assert old[: row["kept"]] == new[: row["kept"]]
        assert old[row["kept"] :][:1] != new[row["kept"] :][:1]
        assert (len(old), len(new)) == (row["kept"] + row["undone"], row["kept"] + row["appended"])
        published = before.get(row["base_id"], {"publication": None})["publication"]
        assert row["previous_publication"] == published != row["publication"]


def changes_are_those_of_the_oracle(project, bases):
    """Rebases and confirmations, and for `all` where anybody first found a node settled."""
    rebases, settled = {}, {}
    for base_id, base in bases.items():
        depth = depths(base)
        for at, change in sorted(changes(base).items(), key=lambda item: (depth[item[0]], item[0])):
            if change.undone:
                rebases[base_id, at.writer.hex(), node_id(at)] = change[:4]
            for x, contender in change.settled:
                where = node_id(at), contender and node_id(contender)
                settled[base_id, at.writer.hex(), node_id(x)] = where
                settled.setdefault((base_id, "all", node_id(x)), where)
    names = ("old_length", "kept", "undone", "appended")
    found = {
        (row["base_id"], row["observer"], row["at_node"]): tuple(row[name] for name in names)
        for row in project.rows("autobase_rebases")
    }
    assert found == rebases
    assert len(found) > 20
    rows = project.rows("autobase_confirmations")
    found = {(row["base_id"], row["observer"], row["node_id"]): (row["confirmed_at"], row["contender"]) for row in rows}
    # What only all nodes together settle is settled at none.
    assert {key: where for key, where in found.items() if where[0]} == settled
    confirmed = {
        (row["base_id"], row["observer"], row["node_id"])
        for row in project.rows("autobase_views")
        if row["is_confirmed"]
    }
    assert found.keys() == confirmed


def links_are_those_of_the_oracle(project, bases):
    """All is known but what was settled before."""
    rows = project.rows("autobase_links")
    assert {(row["is_known"], row["is_before_start"]) for row in rows} == {(True, False), (False, True)}
    found = {(row["base_id"], row["node_id"], row["head_id"]) for row in rows if row["is_known"]}
    expected = {
        (base_id, node_id(i), node_id(p))
        for base_id, base in bases.items()
        for i in base.nodes
        for p in base.previous(i)
    }
    assert found == expected


def test_the_rule_of_the_document(project):
    """Over the fixtures, where the document's views are compared with what it states."""
    built = project("bases_by_design", consensus_rule="design")
    options = ("--select", "fixture_names", "expected_autobase", "+stg_autobase__lines+", "--exclude", "test_type:unit")
    result = built.invoke("build", *options)
    assert result.exception is None, result.exception
    statuses = {r.node.name: r.status for r in result.result}
    assert set(statuses.values()) <= {"success", "pass", "no-op"}  # an exposure is selected too, and does nothing
    assert statuses["documents_autobase_views_design"] == "pass"
    assert "documents_autobase_views" not in statuses
    assert built.rows("autobase_views")


def test_all_has_settled_what_any_writer_has(project, tmp_path):
    """By the document's rule: whatever a lead of two degrees is known to, the whole base settles."""
    bases, lines = random_bases(range(100, 140))
    words = (
        "a1 b1 a2:b1 c1:a1 b2:c1",
        "a1 b1 b2:a1 c1:b1 a2:c1",
        "a1 b1 c1:a1 a2:b1,c1 b2:c1",
        "a1 b1 c1:a1 a2:c1 a3:b1",
    )
    for place, each in enumerate(words):
        bases[f"small/{place}"] = with_whole_keys(drawing("abc", each))
        lines += lines_of(f"small/{place}", bases[f"small/{place}"], (), random.Random(place))
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(lines) + b"\n")
    built = project("bases_by_design_settle", autobase_log=str(log), consensus_rule="design").build(*ONLY)
    settled = defaultdict(set)
    for row in built.rows("autobase_views"):
        if row["is_confirmed"]:
            settled[row["base_id"], row["observer"]].add(row["node_id"])
    small = [(base_id, who) for base_id, who in settled if base_id.startswith("small/") and who != "all"]
    assert {base_id for base_id, _ in small} == {f"small/{place}" for place in range(len(words))}
    assert len(settled) > 60
    assert {key for key, nodes in settled.items() if not nodes <= settled[key[0], "all"]} == set()
