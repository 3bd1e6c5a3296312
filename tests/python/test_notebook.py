"""The notebook's cells run, and give the answers of plain Python over the same tables."""

import json
import re
import statistics
from collections import Counter, defaultdict

import pytest

import cli_kit
import scripts
from conftest import ROOT

notebook = scripts.load("docs/run_notebook.py")

QUERIES = {path.stem: path.read_text() for path in (ROOT / "docs" / "queries").iterdir()}
KEPT = json.loads(notebook.NOTEBOOK.read_text())


@pytest.fixture(scope="module")
def answers(fixtures):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TANGLES_WAREHOUSE", str(fixtures.warehouse))
        patch.setenv("TANGLES_SCHEMA", fixtures.schema)
        return notebook.execute(json.loads(notebook.NOTEBOOK.read_text()))


def test_who_forks(answers, fixtures):
    forked = {feed["author"]: feed for feed in fixtures.rows("feeds") if feed["fork_sequence"] is not None}
    assert len(forked) > 0
    assert sorted(zip(answers["forked"].feed, answers["forked"].lost, strict=True)) == sorted(
        (author[:9], feed["message_count"] - feed["verified_length"]) for author, feed in forked.items()
    )

    members = {(r["tangle_name"], r["root_id"], r["message_id"]): r for r in fixtures.rows("tangle_messages")}
    followers = defaultdict(list)
    for edge in fixtures.rows("tangle_edges"):
        if edge["is_member_edge"] and edge["tangle_name"] != "ssb:feed":
            name, root = edge["tangle_name"], edge["root_id"]
            followers[name, root, edge["previous_id"]].append(members[name, root, edge["message_id"]])
    wrote, forks = set(), set()
    for (name, root, _), found in followers.items():
        found.sort(key=lambda member: member["received_position"])
        keys = [(name, root, member["message_id"]) for member in found]
        wrote.update(keys)
        forks.update(keys[1:])
    assert len(forks) > 0
    by_author = Counter(members[key]["author"] for key in wrote), Counter(members[key]["author"] for key in forks)
    told = answers["forks"]
    assert dict(zip(told.author, told.messages, strict=True)) == by_author[0]
    assert {author: n for author, n in zip(told.author, told.forks, strict=True) if n} == by_author[1]
    by_name = answers["by_name"]
    assert dict(zip(by_name.tangle_name, by_name.messages, strict=True)) == Counter(name for name, _, _ in wrote)


def test_how_late(answers, fixtures):
    delays = defaultdict(list)
    for row in fixtures.rows("ssb_messages", ["author", "asserted_ms", "received_ms", "is_usable"]):
        if row["is_usable"] and row["received_ms"] is not None:
            delays[row["author"]].append((row["received_ms"] - row["asserted_ms"]) / 1000)
    late = answers["late"].set_index("author")
    assert set(late.index) == delays.keys() and len(delays) > 0
    for author, of_feed in delays.items():
        assert late.messages[author] == len(of_feed)
        assert late.p50[author] == pytest.approx(statistics.median(of_feed))
        assert late.latest[author] == pytest.approx(max(of_feed))
        assert late.early[author] == sum(delay < 0 for delay in of_feed)


def test_how_many_edits(answers, fixtures):
    tangles = {event["timeline_id"] for event in fixtures.rows("timeline_events") if event["message_id"]}
    batches, screens, above = Counter(), defaultdict(int), set()
    for edit in sorted(
        fixtures.rows("timeline_edits"), key=lambda row: (row["timeline_id"], row["batch"], row["step"])
    ):
        timeline = edit["timeline_id"]
        kind = re.match("(ssb:)?[^:]*", timeline)[0] if timeline in tangles else "event log"
        arrival = kind, timeline, edit["batch"]
        batches[arrival] += 1
        if edit["op"] == "ins":
            screens[timeline] += 1
            if edit["to_position"] < screens[timeline] - 1:
                above.add(arrival)
    edits = answers["edits"].set_index("kind")
    assert len(above) > 0 and max(batches.values()) > 1
    assert dict(edits.arrivals) == Counter(kind for kind, _, _ in batches)
    for kind, row in edits.iterrows():
        of_kind = [n for arrival, n in batches.items() if arrival[0] == kind]
        assert (row.edits, row.most) == (sum(of_kind), max(of_kind))
        assert row.per_arrival == pytest.approx(sum(of_kind) / len(of_kind))
        assert row.percent_above_the_end == pytest.approx(100 * sum(a[0] == kind for a in above) / len(of_kind))


@pytest.fixture(scope="module")
def tangles(fixtures):
    """The members of each tangle but feeds by id, with their ancestors."""
    found = defaultdict(dict)
    for row in fixtures.rows("tangle_messages"):
        if row["is_member"] and row["tangle_name"] != "ssb:feed":
            found[row["tangle_name"], row["root_id"]][row["message_id"]] = row | {"ancestors": set()}
    for row in fixtures.rows("tangle_ancestors"):
        if row["tangle_name"] != "ssb:feed":
            found[row["tangle_name"], row["root_id"]][row["message_id"]]["ancestors"].add(row["ancestor_id"])
    return found


def test_how_concurrent(answers, tangles):
    pairs, all_pairs, ties, neighbours = Counter(), Counter(), Counter(), Counter()
    for (name, _), members in tangles.items():
        order = sorted(members.values(), key=lambda member: member["thread_position"])
        for number, member in enumerate(order):
            unrelated = [other for other in order[:number] if other["message_id"] not in member["ancestors"]]
            pairs[name] += len(unrelated)
            all_pairs[name] += number
            ties[name] += order[number - 1] in unrelated
            neighbours[name] += number > 0
    table = answers["concurrent"].set_index("tangle_name")
    assert set(table.index) == {name for name, n in all_pairs.items() if n} and sum(pairs.values()) > 50
    for name, row in table.iterrows():
        assert row.concurrent_pairs == pairs[name]
        assert row.percent_of_pairs == pytest.approx(100 * pairs[name] / all_pairs[name], abs=0.051)
        assert row.percent_of_neighbours == pytest.approx(100 * ties[name] / neighbours[name], abs=0.051)


def test_lies_about_time(answers, tangles):
    """The order by asserted time is sorted again for each author, with the times that the author would claim."""
    reversed_pairs, kept = Counter(), Counter()
    for members in tangles.values():
        for author in {member["author"] for member in members.values()}:
            true = {key: member["asserted_ms"] for key, member in members.items()}
            said = {key: time + 3.6e6 * (members[key]["author"] == author) for key, time in true.items()}
            for one in members:
                for other in members:
                    if true[one] < true[other] and said[one] > said[other]:
                        reversed_pairs[author] += 1
                        kept[author] += one in members[other]["ancestors"]
    lies = answers["lies"].set_index("author")
    assert len(reversed_pairs) > 5 and 0 < sum(kept.values()) < sum(reversed_pairs.values())
    assert dict(lies.reversed_pairs) == +reversed_pairs
    assert dict(lies.kept_pairs) == {author: kept[author] for author in +reversed_pairs}


def test_pruning(answers, fixtures):
    actions = defaultdict(Counter)
    for row in fixtures.rows("set_messages"):
        if row["action"]:
            actions[row["set_id"]][row["action"]] += 1
    sets = answers["sets"].set_index("set_id")
    assert set(sets.index) == actions.keys() and len(actions) > 3
    for action in ("keep", "erase", "delete"):
        assert {key: n for key, n in sets[action].items() if n} == {
            k: c[action] for k, c in actions.items() if c[action]
        }
    assert dict(sets.messages) == {key: count.total() for key, count in actions.items()}
    assert 0.2 < answers["spared"] < 0.35, "about a quarter, as the text says"


def test_queries_are_files():
    cells = "".join("".join(cell["source"]) for cell in notebook.code_cells(KEPT))
    assert set(re.findall(r'query\("(\w+)"\)', cells)) == QUERIES.keys()


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_each_query_is_complete(name, fixtures):
    """The command `tangles sql` answers a query as it stands in its file."""
    place = ["--warehouse", str(fixtures.warehouse), "--schema", fixtures.schema]
    result = cli_kit.tangles("sql", "--json", *place, "--", QUERIES[name])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["rows"]


def test_it_runs_on_a_small_log(small, monkeypatch):
    """A newcomer has no other one: some answers are empty, but all cells run and draw."""
    monkeypatch.setenv("TANGLES_WAREHOUSE", str(small.warehouse))
    monkeypatch.setenv("TANGLES_SCHEMA", small.schema)
    again = json.loads(notebook.NOTEBOOK.read_text())
    space = notebook.execute(again)
    assert len(space["lies"]) > 0 and "sets" not in space
    assert len(pictures(again)) == 5


def pictures(of: dict) -> list[dict]:
    """Return the outputs of a notebook that are pictures."""
    return [o for cell in notebook.code_cells(of) for o in cell["outputs"] if "image/png" in o.get("data", {})]


def test_outputs_are_kept():
    """The stored outputs are those of one run, in order; test_ssb_agreement compares their contents."""
    cells = notebook.code_cells(KEPT)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert [cell["id"] for cell in cells if not cell["outputs"]] == []
    assert len(pictures(KEPT)) == 5
    assert not any(output["output_type"] == "error" for cell in cells for output in cell["outputs"])
    assert notebook.NOTEBOOK.stat().st_size < 400_000
