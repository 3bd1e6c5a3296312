"""Changes of views: the design document's examples, endless forks, and the limit of steps."""

import time

import pyarrow as pa
import pytest

import changes_oracle as oracle
from autobase_oracle import Base
from base_results import COLUMNS, plain_results, results
from base_tables import chain_table, drawing, rows_of, table_of
from dbt_tangles.algorithms.autobase import view_changes
from rule_search import name

ONLY = {"change": COLUMNS["change"]}


def shown(base: Base, rule: str = "autobase") -> dict[str, str]:
    """Return the changes of one base; the oracle must agree."""
    assert results(table_of(rows_of("b", base)), rule=rule)["change"] == plain_results({"b": base}, rule=rule)["change"]
    found = {}
    for at, change in oracle.changes(base, rule).items():
        settled = [name(x) + (f"/{name(c)}" if c else "") for x, c in change.settled]
        found[name(at)] = " ".join([f"{change.kept}-{change.undone}+{change.appended}", *settled])
    return found


# Nodes count from 0 in the document, and from 1 here.


def test_a_view_that_only_grows_is_not_rebased():
    assert shown(drawing("abc", "a1 b1:a1 c1:b1 a2:c1")) == {"c1": "0-0+3 a1", "a2": "1-0+3 a1 b1"}


def test_conflict_example_is_rebased_once_b_has_synced_a():
    base = drawing("abc", "a1 c1 c2:a1 b1:c1 b2:c2")
    assert shown(base) == {"c2": "0-1+3", "b2": "0-2+5"}


@pytest.mark.parametrize(("keys", "rebases"), [("abc", "1-1+3"), ("bac", "0-2+4")])
def test_consistent_ordering_example(keys, rebases):
    a, b, c = keys
    base = drawing("abc", f"{a}1 {b}1 {c}1:{a}1 {a}2:{c}1 {c}2:{b}1 {b}2:{c}2")
    assert shown(base)[f"{c}2"] == rebases
    assert shown(base)[f"{a}2"] == f"1-0+2 {a}1"
    # By the document, c keeps the node of a in front.
    assert shown(base, "design")[f"{c}2"] == "1-1+3"
    assert shown(base, "design")[f"{a}2"] == f"1-0+2 {a}1"


def test_caveat_example_has_a_contender():
    assert shown(drawing("abc", "a1 c1 c2:a1 a2:c2 b1:c2 a3:b1")) == {"c2": "0-1+3", "a3": "4-0+2 a1/c1 c1 c2"}


def test_relayed_nodes_enter_the_view_when_they_are_settled():
    assert shown(drawing("ab", "a1 f1:a1 b1:f1 a2:b1 f2", relayed="f")) == {"b1": "0-0+2 a1", "a2": "1-0+3 a1 f1 b1"}
    assert shown(drawing("ab", "c1 f1:c1 a1:f1 c2 b1:a1,c2 a2:b1", relayed="f"))["a2"] == "1-1+5 c1 f1 a1 c2 b1"


def test_bases_without_indexers():
    assert shown(drawing("", "b1 a1 b2:a1")) == {"b2": "0-1+3"}
    assert shown(drawing("x", "b1")) == {}


def timed(table: pa.Table) -> tuple[list[tuple], float]:
    """Return the rows of changes, and the CPU seconds for all results."""
    results(chain_table("b", 3, 20))
    begin = time.process_time()
    return results(table, columns=ONLY)["change"], time.process_time() - begin


def test_a_chain_of_20_000():
    found, seconds = timed(chain_table("b", 5, 20_000))
    assert len(found) > 19_000
    assert not any(row[5] for row in found)
    assert seconds < 15


def forked(rounds: int, writers: int = 5) -> pa.Table:
    """Write in rounds, each writer on top of the whole round before: the views are rebased and never settle."""
    keys = [bytes([97 + at]) for at in range(writers)]
    words = [
        f"{k.decode()}{at + 1}" + (":" + ",".join(f"{o.decode()}{at}" for o in keys if o != k) if at else "")
        for at in range(rounds)
        for k in keys
    ]
    return table_of(rows_of("b", drawing("".join(k.decode() for k in keys), " ".join(words))))


def test_endless_forks_of_5_000_nodes():
    found, seconds = timed(forked(1_000))
    # Each round goes behind the one before; only nodes of lesser keys come before the writer's own node.
    assert sum(row[5] for row in found) > 0
    assert not any(row[-1] for row in found)
    assert seconds < 15


def test_an_observer_beyond_the_step_limit_is_left_out(monkeypatch):
    table = forked(30)
    whole = {row[2]: row for row in results(table)["change"]}
    monkeypatch.setattr(view_changes, "STEPS_PER_NODE", 0)
    monkeypatch.setattr(view_changes, "MORE_STEPS", 5 * 300)
    found = results(table)["change"]
    cut = {row[1]: row for row in found if row[-1]}
    assert len(cut) == 5
    first_cut = {observer: int(row[2].split(":")[1]) for observer, row in cut.items()}
    for observer, row in cut.items():
        assert row[3:] == (None, None, None, None, [], 30 - first_cut[observer] + 1)
        assert 1 < first_cut[observer] < 30
    before = {row[2]: row for row in found if not row[-1]}
    assert before == {at: row for at, row in whole.items() if int(at.split(":")[1]) < first_cut[row[1]]}
