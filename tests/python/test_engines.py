"""The kernel and SQL rounds compute the same tables.

The log consists of a signed log and of test cases of other implementations; each case is a separate tangle.
"""

import json
from collections import Counter, defaultdict

import pyarrow as pa
import pytest

from dbt_tangles.algorithms.graph.walk import Candidate, walk
from graph_oracle import known_links, naive_clocks, naive_pairs, naive_walk, walked
from log_files import read_lines, selection_of
from set_cases import cases

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
    "auto above the limit": {"tangle_engine": "auto", "sql_edge_limit": 5},
}


GRAPHS = cases("tangle_graph")
THREADS = [case for case in cases("ssb_sort") if 1 < len(case["thread"]) <= LONGEST_THREAD]


def roots_of(case: dict) -> list[str]:
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
def variables(project) -> dict:
    """The vars of all engines, and the path of the log."""
    messages = [message for case in GRAPHS for message in graph_messages(case)]
    messages += [message for case in THREADS for message in case["thread"]]
    lines = [*(json.dumps(message).encode() for message in messages), *read_lines("ssb/small.jsonl")]
    given = {"verify_signatures": False, "ancestor_limit": ANCESTOR_LIMIT, "clock_limit": 10**9}
    return project("engines", **given).given(ssb_log=lines).vars


def contents(built) -> dict[str, list[tuple]]:
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


@pytest.fixture(
    scope="module",
    params=["sql", *(pytest.param(name, marks=pytest.mark.long) for name in ("auto", "auto above the limit"))],
)
def other(request, built, variables, project):
    """Rebuild the tables that depend on the engine with another engine."""
    engine = project("engines", **variables, **ENGINES[request.param])
    engine.run("--select", *(f"int_tangle_edges+,{selected}" for selected in selection_of(*TABLES)))
    return request.param, engine


def test_engines_agree(built, other):
    ours = contents(other[1])
    for table in TABLES:
        assert len(built.kept[table]) > 100
        different = set(map(repr, built.kept[table])) ^ set(map(repr, ours[table]))
        assert not different, (table, len(different), sorted(different)[:4])
        assert ours[table] == built.kept[table]


def test_sql_rounds_compute_everything_or_nothing(built, other):
    """With SQL rounds: the depths of all members, and all pairs of ancestors. Otherwise kernels compute these."""
    name, engine = other
    columns = ["tangle_name", "root_id", "message_id", "depth"]
    settled = {tuple(row[column] for column in columns) for row in engine.rows("int_tangle_depths")}
    members = {tuple(row.values()) for row in built.rows("tangle_messages", columns) if row["depth"] is not None}
    members = {row for row in members if row[0] != "ssb:feed"}
    has_rounds = name != "auto above the limit"
    assert settled == (members if has_rounds else set())
    assert bool(engine.rows("int_tangle_ancestor_rounds")) == has_rounds
    assert bool(engine.rows("int_tangle_ancestors")) == (not has_rounds)
    assert bool(engine.rows("int_tangle_edges")) == has_rounds
    assert built.depths == []


def test_threads_are_tangles(built):
    """Each thread is a `ssb:legacy_thread` tangle with all its messages as candidates."""
    tangles = {row["root_id"]: row for row in built.rows("tangles") if row["tangle_name"] == "ssb:legacy_thread"}
    for case in THREADS:
        root = next(m["key"] for m in case["thread"] if "root" not in m["value"]["content"])
        assert tangles[root]["candidate_count"] == len(case["thread"])


@pytest.fixture(scope="module")
def expected(built) -> tuple[list[dict], list[dict]]:
    """The candidates of all tangles, and the oracle's results for each."""
    renamed = {"tangle_name": "graph_kind", "root_id": "graph_id", "message_id": "node_id"}
    rows = [{renamed.get(name, name): value for name, value in row.items()} for row in built.candidates]
    rows = [row for row in rows if row["graph_id"] is not None]
    return rows, naive_walk(rows)


@pytest.fixture(scope="module")
def graphs(expected) -> dict[tuple, dict[str, dict]]:
    """The members of each tangle by id: candidates with the oracle's results."""
    found = defaultdict(dict)
    for row, answer in zip(*expected, strict=True):
        if answer["depth"] is not None:
            found[row["graph_kind"], row["graph_id"]][row["node_id"]] = row | answer
    return found


def by_asserted(members: dict[str, dict]) -> list[str]:
    """Order members by asserted time, then id."""
    asserted = {key: row["asserted_ms"] for key, row in members.items()}
    return sorted(members, key=lambda key: (asserted[key] is None, asserted[key] or 0, key))


def rows_of(built, table: str, *columns: str) -> set[tuple]:
    return {tuple(map(row.get, ("tangle_name", "root_id", *columns))) for row in built.rows(table)}


def test_depths_orders_and_marks(built, graphs):
    """Membership, depth, orders, tips, forks and merges of every tangle."""
    orders = ("depth", "position", "thread_position")
    found = rows_of(
        built, "tangle_messages", "message_id", *orders, "asserted_position", "is_tip", "is_fork", "is_merge"
    )
    wanted = set()
    for name, members in graphs.items():
        asserted, links = by_asserted(members), known_links([*members.values()])
        for key, row in members.items():
            marks = row["child_count"] == 0, row["child_count"] > 1, len(links[key]) > 1
            wanted.add((*name, key, *map(row.get, orders), asserted.index(key), *marks))
    assert {row for row in found if row[3] is not None and row[0] != "ssb:feed"} == wanted


def test_edges(built, graphs):
    found = rows_of(built, "tangle_edges", "message_id", "previous_id", "is_redundant", "is_member_edge")
    found = {row[:-1] for row in found if row[-1] and row[0] != "ssb:feed"}
    assert found == {
        (*name, key, parent, parent in members[key]["redundant_previous"])
        for name, members in graphs.items()
        for key, links in known_links([*members.values()]).items()
        for parent in links
    }
    assert {is_redundant for *_, is_redundant in found} == {True, False}


def test_ancestors_and_clocks(built, expected):
    """Tangles up to the limit have ancestors and distances, others clocks."""
    pairs = rows_of(built, "tangle_ancestors", "message_id", "ancestor_id", "distance")
    assert pairs == naive_pairs(*expected, ANCESTOR_LIMIT) != set()
    clocks = rows_of(built, "tangle_clocks", "message_id", "author", "sequence")
    assert clocks == naive_clocks(*expected, ANCESTOR_LIMIT, 10**9) != set()


#: The faults of writers, and the oracle's columns with the messages of each.
FAULTS = {
    "own_message_left_out": "own_left_out",
    "previous_not_tip": "not_tips",
    "redundant_previous": "redundant_previous",
}


def test_faults_of_writers(built, graphs):
    """In tangles up to `ancestor_limit` members and in larger ones."""
    expected = {
        (*name, key, fault): sorted(row[column])
        for name, members in graphs.items()
        for key, row in members.items()
        for fault, column in FAULTS.items()
        if row[column]
    }
    rows = built.rows("tangle_writer_faults")
    found = {(*map(row.get, ("tangle_name", "root_id", "message_id", "fault")),): row["message_ids"] for row in rows}
    assert found == expected
    assert len({(fault, len(graphs[name, root]) > ANCESTOR_LIMIT) for name, root, _, fault in found}) == 6


def test_root_causes_and_missing_messages(built, expected):
    """The reason and root causes of each message set aside, and the counts of messages that each missing id blocks."""
    causes, waiting, blocked, unlocked = {}, Counter(), Counter(), Counter()
    for row, answer in zip(*expected, strict=True):
        graph = row["graph_kind"], row["graph_id"]
        if answer["depth"] is None:
            found = answer["blocked_by"]
            causes[(*graph, row["node_id"])] = answer["set_aside_reason"], found
            waiting.update((*graph, name) for name in answer["missing_previous"])
            blocked.update((*graph, name) for name in found)
            unlocked.update((*graph, name) for name in found if len(found) == 1)
    rows = [row for row in built.rows("tangle_messages") if row["root_id"] is not None and not row["is_member"]]
    names = ("tangle_name", "root_id", "message_id")
    assert {(*map(row.get, names),): (row["set_aside_reason"], row["blocked_by"]) for row in rows} == causes
    of_graphs = {"cycle", "empty_previous", "missing_previous", "missing_root", "previous_set_aside"}
    assert {reason for reason, _ in causes.values()} >= of_graphs
    found = rows_of(built, "tangle_missing", "missing_id", "waiting_count", "blocked_count", "unlocks")
    assert found == {(*key, count, blocked[key], unlocked[key]) for key, count in waiting.items()}
    assert any(row[4] > row[3] for row in found) and any(row[5] < row[4] for row in found)


def test_next_message_joins_its_tangle(built):
    """The message made from `tangle_next` becomes the only tip of its tangle, at the stated depth."""
    following = {(row["tangle_name"], row["root_id"]): row for row in built.rows("tangle_next")}
    told = [row for row in built.rows("tangles") if row["tangle_name"] != "ssb:feed" and row["member_count"]]
    assert following.keys() == {(row["tangle_name"], row["root_id"]) for row in told}
    rows = [row for row in built.candidates if (row["tangle_name"], row["root_id"]) in following]
    names = [name for name in Candidate._fields[3:] if name in built.candidates[0]]
    nodes = [
        dict(zip(Candidate._fields[:4], (*graph, "~", following[graph]["previous"]), strict=True))
        for graph in following
    ]
    nodes = [node | {"is_root": False} for node in nodes]
    for row in rows:
        graph = {"graph_kind": row["tangle_name"], "graph_id": row["root_id"], "node_id": row["message_id"]}
        nodes.append(graph | {name: row[name] for name in names})
    places = walked(pa.Table.from_pylist(nodes, walk.reads))
    for graph, place in zip(following, places[: len(following)], strict=True):
        assert (place["depth"], place["child_count"]) == (following[graph]["depth"], 0)
    tips = [row for row in places if row["child_count"] == 0]
    assert len(tips) == len(following)
