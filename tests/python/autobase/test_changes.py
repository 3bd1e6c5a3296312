"""Changes of views: endless forks, and the limit of steps; `test_results.py` compares changes with an oracle."""

import time

import pyarrow as pa

from base_results import COLUMNS, results
from base_tables import chain_table, drawing, rows_of, table_of
from dbt_tangles.algorithms.autobase import view_changes

ONLY = {"change": COLUMNS["change"]}


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
