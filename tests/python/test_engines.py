"""The kernel, SQL rounds, and a kernel that continues after some rounds compute the same tables.

The log consists of a signed log and of test cases of other implementations; each case is a separate tangle.
"""

import gzip
import json
from collections import defaultdict

import pyarrow as pa
import pytest

from conftest import DATA
from dbt_tangles.algorithms.graph import WALK_INPUT_SCHEMA, walk_graphs
from graph_oracle import naive_causes, waiting_of
from log_files import selection_of

TABLES = (
    *("tangle_messages", "tangles", "tangle_edges", "tangle_ancestors", "tangle_clocks"),
    *("tangle_missing", "tangle_writer_faults", "tangle_next"),
)
# The limit is small, so that cases lie on both sides of it.
ANCESTOR_LIMIT = 8
# SQL runs one round for each level.
LONGEST_THREAD = 24
ENGINES = {
    "sql": {"tangle_engine": "sql"},
    "auto": {"tangle_engine": "auto"},
    "two rounds": {"tangle_engine": "auto", "sql_edge_limit": 0, "sql_round_budget": 2},
}


def cases(name: str) -> list[dict]:
    """Read a file of vectors."""
    with gzip.open(DATA / "sets" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


GRAPHS = cases("tangle_graph")
ANSWERED = [case for case in GRAPHS if "graphError" not in case["expected"]["flags"]]
THREADS = [case for case in cases("ssb_sort") if 1 < len(case["thread"]) <= LONGEST_THREAD]


def roots_of(case: dict) -> list[str]:
    """List the nodes without previous, which the peer treats as roots; each has its own tangle."""
    roots = dict.fromkeys(node["key"] for node in case["candidates"] if node["previous"] is None)
    return list(roots) or ["nobody"]


def graph_messages(case: dict) -> list[dict]:
    """Make messages from the nodes of a case. In each tangle, the roots of other tangles have an empty `previous`."""
    name, messages = case["case"], []
    for number, node in enumerate(case["candidates"]):
        tangles = {}
        for place, root in enumerate(roots_of(case)):
            previous = [f"%{name} {key}" for key in node["previous"] or []]
            claim = {"root": f"%{name} {root}", "previous": previous}
            tangles[f"{name}/{place}"] = {"root": None, "previous": None} if node["key"] == root else claim
        value = {
            "author": f"@{number % 3}",
            "sequence": number * 7 % 5 - 1,
            "timestamp": number * 5 % 7,
            "content": {"type": "post", "tangles": tangles},
        }
        messages.append({"key": f"%{name} {node['key']}", "value": value})
    return messages


@pytest.fixture(scope="module")
def variables(tmp_path_factory) -> dict:
    """Write the log; return the vars of its builds."""
    folder = tmp_path_factory.mktemp("engines")
    messages = [message for case in GRAPHS for message in graph_messages(case)]
    messages += [message for case in THREADS for message in case["thread"]]
    (folder / "vectors.jsonl").write_text("\n".join(map(json.dumps, messages)))
    (folder / "small.jsonl").write_bytes((DATA / "ssb" / "small.jsonl").read_bytes())
    return {"ssb_log": str(folder), "verify_signatures": False, "ancestor_limit": ANCESTOR_LIMIT}


def contents(built) -> dict[str, list[tuple]]:
    """Read the tables; sort the rows of each."""
    return {table: sorted((tuple(row.values()) for row in built.rows(table)), key=repr) for table in TABLES}


@pytest.fixture(scope="module")
def built(variables, project):
    """Build with the kernel, and keep its rows, because other engines write the same tables."""
    kernel = project("engines", **variables, tangle_engine="kernel")
    kernel.run("--select", *selection_of(*TABLES))
    kernel.kept = contents(kernel)
    kernel.candidates = kernel.rows("int_tangle_candidates")
    kernel.depths = kernel.rows("int_tangle_depths")
    return kernel


@pytest.fixture(scope="module", params=ENGINES)
def other(request, built, variables, project):
    """Rebuild the tables that depend on the engine with another engine."""
    engine = project("engines", **variables, **ENGINES[request.param])
    engine.run("--select", *(f"int_tangle_edges+,{selected}" for selected in selection_of(*TABLES)))
    return request.param, engine


def test_engines_agree(built, other):
    """All rows of all tables are equal."""
    ours = contents(other[1])
    for table in TABLES:
        assert len(built.kept[table]) > 100
        different = set(map(repr, built.kept[table])) ^ set(map(repr, ours[table]))
        assert not different, (table, len(different), sorted(different)[:4])
        assert ours[table] == built.kept[table]


def test_sql_rounds_settle_the_lowest_depths(built, other):
    """SQL settles every member, or every member up to a depth; the kernel alone does not run rounds."""
    name, engine = other
    columns = ["tangle_name", "root_id", "message_id", "depth"]
    rows = engine.rows("int_tangle_depths")
    settled = {tuple(row[column] for column in columns) for row in rows}
    frontier = {row["depth"] for row in rows if row["is_frontier"]}
    members = {tuple(row.values()) for row in built.rows("tangle_messages", columns) if row["depth"] is not None}
    deepest = max(depth for *_, depth in settled)
    assert settled == {row for row in members if row[-1] <= deepest}
    assert 1 <= deepest <= 2 if name == "two rounds" else deepest == max(depth for *_, depth in members)
    assert frontier == ({deepest} if name == "two rounds" else set())
    assert built.depths == []


def test_sql_computes_pairs_and_clocks_of_settled_tangles(built, other):
    """SQL computes pairs and clocks of the tangles that it settled; the kernel computes those of other tangles."""
    name, engine = other
    deepest = {(row["tangle_name"], row["root_id"]): row["depth"] for row in built.rows("tangles")}
    frontier = [row["depth"] for row in engine.rows("int_tangle_depths") if row["is_frontier"]]
    limit = max(frontier, default=10**9)
    for by_rounds, by_kernel in (
        ("int_tangle_ancestor_rounds", "int_tangle_ancestors"),
        ("int_tangle_clock_rounds", "int_tangle_clocks"),
    ):
        rounds = {(row["tangle_name"], row["root_id"]) for row in engine.rows(by_rounds)}
        kernel = {(row["tangle_name"], row["root_id"]) for row in engine.rows(by_kernel)}
        assert all(deepest[graph] < limit for graph in rounds)
        assert all(deepest[graph] >= limit for graph in kernel)
        assert rounds or name == "two rounds"
        assert bool(kernel) == (name == "two rounds")


def test_tangle_graph(built):
    """Members and tips equal the peer's. With several roots, a tangle has the nodes that follow only its root."""
    members, tips, edges = defaultdict(set), defaultdict(set), defaultdict(set)
    for row in built.rows("tangle_messages"):
        if row["is_member"]:
            members[row["tangle_name"]].add(row["message_id"])
        if row["is_tip"]:
            tips[row["tangle_name"]].add(row["message_id"])
    for row in built.rows("tangle_edges"):
        if row["is_member_edge"]:
            edges[row["tangle_name"]].add((row["message_id"], row["previous_id"]))
    for case in ANSWERED:
        expected, roots = case["expected"], set(roots_of(case))
        previous = {node["key"]: set(node["previous"] or []) for node in case["candidates"]}
        for place, root in enumerate(roots_of(case)):
            name = f"{case['case']}/{place}"
            inside = {key for key, history in expected["history"].items() if roots & {key, *history} == {root}}
            followed = {parent for key in inside for parent in previous[key]}
            assert members[name] == {f"%{case['case']} {key}" for key in inside}
            assert tips[name] == {f"%{case['case']} {key}" for key in inside - followed}
            assert edges[name] == {
                (f"%{case['case']} {key}", f"%{case['case']} {parent}") for key in inside for parent in previous[key]
            }
            if len(roots) == 1:
                assert inside == set(expected["connected"])
                assert inside - followed == set(expected["tips"])


def test_threads_are_tangles(built):
    """Each thread is a `ssb:legacy_thread` tangle with all its messages as candidates."""
    tangles = {row["root_id"]: row for row in built.rows("tangles") if row["tangle_name"] == "ssb:legacy_thread"}
    for case in THREADS:
        root = next(m["key"] for m in case["thread"] if "root" not in m["value"]["content"])
        assert tangles[root]["candidate_count"] == len(case["thread"])


class Graph:
    """A slow, independent version of a tangle with plain dictionaries."""

    def __init__(self, candidates: list[dict]):
        known = {row["message_id"]: row for row in candidates if row["claim_error"] is None}
        links = {key: set() if row["is_root"] else set(row["previous"]) for key, row in known.items()}
        self.depth: dict[str, int] = {}
        for _ in known:
            for key, row in known.items():
                if key not in self.depth and (row["is_root"] or links[key]) and links[key] <= self.depth.keys():
                    self.depth[key] = 1 + max((self.depth[parent] for parent in links[key]), default=-1)
        self.rows = {key: known[key] for key in sorted(self.depth)}
        self.links = {key: links[key] for key in self.rows}
        self.ancestors = {}
        for key in sorted(self.rows, key=self.depth.get):
            distances = self.ancestors[key] = dict.fromkeys(self.links[key], 1)
            for parent in self.links[key]:
                for ancestor, distance in self.ancestors[parent].items():
                    distances[ancestor] = max(distances.get(ancestor, 0), distance + 1)

    def places(self) -> dict[str, tuple]:
        """Return each member's depth, positions in the three orders, and whether it is a tip, a fork, a merge."""
        by_depth = sorted(self.rows, key=lambda key: (self.depth[key], key))
        asserted = {key: row["asserted_at"] for key, row in self.rows.items()}
        by_asserted = sorted(self.rows, key=lambda key: (asserted[key] is None, asserted[key] or 0, key))
        by_thread: list[str] = []
        while len(by_thread) < len(self.rows):
            ready = [key for key in self.rows if key not in by_thread and self.links[key] <= set(by_thread)]
            by_thread.append(min(ready, key=lambda key: (self.time(key), key)))
        children = {key: sum(key in links for links in self.links.values()) for key in self.rows}
        return {
            key: (
                self.depth[key],
                *(order.index(key) for order in (by_depth, by_thread, by_asserted)),
                children[key] == 0,
                children[key] > 1,
                len(self.links[key]) > 1,
            )
            for key in self.rows
        }

    def time(self, key: str) -> float:
        """Return the earlier of a message's two times."""
        times = [self.rows[key][name] for name in ("asserted_at", "received_at")]
        return min((time for time in times if time is not None), default=float("inf"))

    def edges(self) -> set[tuple]:
        """Return the links, each with whether another path implies it."""
        return {
            (key, parent, any(parent in self.ancestors[other] for other in links))
            for key, links in self.links.items()
            for parent in links
        }

    def left_out(self) -> dict[str, set[str]]:
        """List the earlier messages of each member's author that it does not follow; in large graphs the latest."""
        found = {}
        for key in self.rows:
            others = self.own_before(key)
            if len(self.rows) > ANCESTOR_LIMIT:
                others = others[-1:]
                seen = {
                    self.rows[ancestor]["sequence"] for ancestor in self.ancestors[key] if self.is_own(key, ancestor)
                }
                found[key] = {other for other in others if max(seen, default=-9) < self.rows[other]["sequence"]}
            else:
                found[key] = {other for other in others if other not in self.ancestors[key]}
        return found

    def known_followed(self) -> dict[str, set[str]]:
        """List, for each member, the previous messages that its author's latest earlier member follows."""
        left_out = self.left_out()
        orderly = {row["author"] for row in self.rows.values()}
        if len(self.rows) > ANCESTOR_LIMIT:
            written = [(row["author"], row["sequence"]) for row in self.rows.values()]
            orderly -= {self.rows[key]["author"] for key, others in left_out.items() if others}
            orderly -= {author for author, sequence in written if written.count((author, sequence)) > 1}
        return {
            key: {
                parent
                for own in self.own_before(key)[-1:]
                for parent in self.links[key] & self.ancestors[own].keys()
                if self.rows[parent]["author"] in orderly
            }
            for key in self.rows
        }

    def is_own(self, key: str, other: str) -> bool:
        """Return whether two members have the same author."""
        return self.rows[key]["author"] == self.rows[other]["author"]

    def own_before(self, key: str) -> list[str]:
        """List an author's earlier members."""
        own = [other for other in self.rows if self.is_own(key, other)]
        own = [other for other in own if self.rows[other]["sequence"] < self.rows[key]["sequence"]]
        return sorted(own, key=lambda other: (self.rows[other]["sequence"], other))

    def pairs(self) -> set[tuple]:
        """List the ancestors, in a graph up to the limit."""
        if len(self.rows) > ANCESTOR_LIMIT:
            return set()
        return {(key, *pair) for key, distances in self.ancestors.items() for pair in distances.items()}

    def clocks(self) -> set[tuple]:
        """List the latest message of each author that a member follows, in a graph above the limit."""
        latest: dict[tuple, int] = {}
        for key, distances in self.ancestors.items() if len(self.rows) > ANCESTOR_LIMIT else ():
            for ancestor in distances:
                row = self.rows[ancestor]
                latest[key, row["author"]] = max(latest.get((key, row["author"]), -(2**31)), row["sequence"])
        return {(*place, sequence) for place, sequence in latest.items()}


@pytest.fixture(scope="module")
def graphs(built) -> dict[tuple, Graph]:
    """Compute all tangles with the slow version."""
    candidates = defaultdict(list)
    for row in built.candidates:
        if row["root_id"] is not None:
            candidates[row["tangle_name"], row["root_id"]].append(row)
    return {graph: Graph(rows) for graph, rows in candidates.items()}


def by_graph(built, table: str, *columns: str) -> dict[tuple, set[tuple]]:
    """Read some columns of a table, tangle by tangle."""
    found = defaultdict(set)
    for row in built.rows(table):
        found[row["tangle_name"], row["root_id"]].add(tuple(row[column] for column in columns))
    return found


def test_depths_orders_and_marks(built, graphs):
    """Membership, depth, orders, tips, forks and merges of every tangle."""
    columns = (
        "message_id",
        "depth",
        "position",
        "thread_position",
        "asserted_position",
        "is_tip",
        "is_fork",
        "is_merge",
    )
    found = by_graph(built, "tangle_messages", *columns)
    for name, graph in graphs.items():
        places = {(key, *place) for key, place in graph.places().items()}
        assert {row for row in found[name] if row[1] is not None} == places, name


def test_edges(built, graphs):
    """Links and their redundancy."""
    found = defaultdict(set)
    for row in built.rows("tangle_edges"):
        if row["is_member_edge"] and row["tangle_name"] != "ssb:feed":
            found[row["tangle_name"], row["root_id"]].add(
                tuple(map(row.get, ("message_id", "previous_id", "is_redundant")))
            )
    assert found == {name: graph.edges() for name, graph in graphs.items() if graph.edges()}
    assert {is_redundant for edges in found.values() for *_, is_redundant in edges} == {True, False}


def test_ancestors(built, graphs):
    """Only tangles up to the limit have ancestors and distances."""
    found = by_graph(built, "tangle_ancestors", "message_id", "ancestor_id", "distance")
    assert found == {name: graph.pairs() for name, graph in graphs.items() if graph.pairs()}


def test_clocks(built, graphs):
    """Only tangles above the limit have clocks."""
    found = by_graph(built, "tangle_clocks", "message_id", "author", "sequence")
    assert found == {name: graph.clocks() for name, graph in graphs.items() if graph.clocks()}


def test_faults_of_writers(built, graphs):
    """Writer faults equal the slow version's, in tangles with ancestors and in tangles with clocks."""
    expected = {}
    for name, graph in graphs.items():
        redundant = defaultdict(set)
        for key, parent, is_redundant in graph.edges():
            redundant[key] |= {parent} if is_redundant else set()
        faults = {
            "own_message_left_out": graph.left_out(),
            "previous_not_tip": graph.known_followed(),
            "redundant_previous": redundant,
        }
        for fault, found in faults.items():
            expected |= {(*name, key, fault): sorted(others) for key, others in found.items() if others}
    rows = built.rows("tangle_writer_faults")
    found = {(*map(row.get, ("tangle_name", "root_id", "message_id", "fault")),): row["message_ids"] for row in rows}
    assert found == expected
    sizes = {name: len(graph.rows) > ANCESTOR_LIMIT for name, graph in graphs.items()}
    assert len({(fault, sizes[name, root]) for name, root, _, fault in found}) == 6


def test_root_causes_and_missing_messages(built):
    """The root causes of all messages set aside, and the counts of messages that each missing id blocks."""
    links = defaultdict(list)
    for row in built.rows("tangle_edges"):
        links[row["tangle_name"], row["root_id"], row["message_id"]].append(row["previous_id"])
    graphs = defaultdict(list)
    rows = [row for row in built.rows("tangle_messages") if row["root_id"] is not None]
    for row in rows:
        is_bad = row["set_aside_reason"] in ("wrong_type", "malformed_tangle")
        previous = links[row["tangle_name"], row["root_id"], row["message_id"]]
        node = {"graph_id": row["root_id"], "node_id": row["message_id"], "claim_error": "bad" if is_bad else None}
        graphs[row["tangle_name"]].append(node | {"previous": previous, "depth": row["depth"]})
    causes, missing = {}, {}
    for name, nodes in graphs.items():
        waiting = waiting_of(nodes, {(node["graph_id"], node["node_id"]): node["depth"] for node in nodes})
        found = naive_causes(waiting)
        there = {(node["graph_id"], node["node_id"]) for node in nodes}
        causes |= {(name, *key): ids for key, ids in found.items() if key in there}
        for graph, id_ in found.keys() - there:
            behind = [ids for key, ids in found.items() if key in there and key[0] == graph and id_ in ids]
            direct = sum(row["graph_id"] == graph and id_ in row["waits_for"] for row in waiting)
            missing[name, graph, id_] = direct, len(behind), sum(ids == [id_] for ids in behind)
    keys = ("tangle_name", "root_id", "message_id")
    assert {(*map(row.get, keys),): row["blocked_by"] for row in rows if not row["is_member"]} == causes
    columns = ("tangle_name", "root_id", "missing_id", "waiting_count", "blocked_count", "unlocks")
    rows = [(*map(row.get, columns),) for row in built.rows("tangle_missing")]
    assert {row[:3]: row[3:] for row in rows} == missing
    assert any(row[4] > row[3] for row in rows) and any(row[5] < row[4] for row in rows)


def test_next_message_joins_its_tangle(built):
    """The message made from `tangle_next` becomes the only tip of its tangle, at the stated depth."""
    following = {(row["tangle_name"], row["root_id"]): row for row in built.rows("tangle_next")}
    told = [row for row in built.rows("tangles") if row["tangle_name"] != "ssb:feed" and row["member_count"]]
    assert following.keys() == {(row["tangle_name"], row["root_id"]) for row in told}
    rows = [row for row in built.candidates if (row["tangle_name"], row["root_id"]) in following]
    names = WALK_INPUT_SCHEMA.names[3:]
    nodes = [
        dict(zip(WALK_INPUT_SCHEMA.names[:4], (*graph, "~", following[graph]["previous"]), strict=True))
        for graph in following
    ]
    nodes = [node | {"is_root": False} for node in nodes]
    for row in rows:
        graph = {"graph_kind": row["tangle_name"], "graph_id": row["root_id"], "node_id": row["message_id"]}
        nodes.append(graph | {name: row[name] for name in names})
    walked = walk_graphs(pa.Table.from_pylist(nodes, WALK_INPUT_SCHEMA)).to_pylist()
    for graph, place in zip(following, walked[: len(following)], strict=True):
        assert (place["depth"], place["child_count"]) == (following[graph]["depth"], 0)
    tips = [row for row in walked if row["child_count"] == 0]
    assert len(tips) == len(following)
