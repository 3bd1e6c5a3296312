"""Builds in which tangles and timelines are too large: reasons replace orders, and the rest stays as it was."""

from collections import Counter

import pytest

from log_files import selection_of
from small_log import EVENTS as LIMIT

pytestmark = pytest.mark.long  # graph/test_large_graphs.py has the limits of kernels

TANGLES = ("tangle_messages", "tangles", "tangle_edges", "tangle_ancestors", "tangle_clocks")
TIMELINES = ("timeline_events", "timeline_links", "timeline_edits", "timeline_stats", "timeline_rejects")
SELECTED = ("--select", *selection_of(*TANGLES, *TIMELINES))


@pytest.fixture(scope="module")
def limited(project, small):
    return project("large_graphs", **small.vars, graph_limit=LIMIT, rows_in_memory=2).run(*SELECTED)


@pytest.fixture(scope="module")
def tables(small, limited) -> dict[str, tuple[list[dict], list[dict]]]:
    return {table: (small.rows(table), limited.rows(table)) for table in (*TANGLES, *TIMELINES)}


def in_any_order(rows: list[dict]) -> list[str]:
    return sorted(repr(row) for row in rows)


def is_of(names: set, row: dict) -> bool:
    return (row["tangle_name"], row["root_id"]) in names


def test_tangles_that_are_too_large(tables):
    """Their candidates get the reason; tangles within the limit are unchanged."""
    before, after = tables["tangle_messages"]
    sizes = Counter((row["tangle_name"], row["root_id"]) for row in before)
    large = {name for name, size in sizes.items() if size > LIMIT}
    assert large and sizes.keys() - large
    for table in TANGLES:
        was, now = ([row for row in rows if not is_of(large, row)] for rows in tables[table])
        assert in_any_order(was) == in_any_order(now), table
        assert was, table
    reasons = Counter(row["set_aside_reason"] for row in after if is_of(large, row))
    claims = Counter(
        row["set_aside_reason"]
        for row in before
        if is_of(large, row) and row["set_aside_reason"] in ("malformed_tangle", "wrong_type")
    )
    assert reasons == claims | {"tangle_too_large": sum(sizes[name] for name in large) - claims.total()}
    assert all(row["depth"] is row["position"] is row["thread_position"] is None for row in after if is_of(large, row))
    statuses = {(row["tangle_name"], row["root_id"]): row["root_status"] for row in tables["tangles"][1]}
    assert {name for name, status in statuses.items() if status == "too_large"} == {
        name for name in large if name[1] is not None
    }
    assert not [row for table in ("tangle_ancestors", "tangle_clocks") for row in tables[table][1] if is_of(large, row)]


def test_timelines_that_are_too_large(tables):
    """Each of their lines is refused, with one row for the whole SSB log; other timelines are unchanged."""
    large = {"ssb:log", "long", "short"}
    before, after = tables["timeline_events"]
    for table in TIMELINES:
        was = [row for row in tables[table][0] if row["timeline_id"] not in large]
        now = [row for row in tables[table][1] if row["timeline_id"] not in large]
        # Tangles that are too large have neither members nor a timeline.
        kept = {row["timeline_id"] for row in after}
        assert in_any_order(now) == in_any_order([row for row in was if row["timeline_id"] in kept]), table
    assert {row["timeline_id"] for row in before} >= large and not {row["timeline_id"] for row in after} & large
    rejects = [row for row in tables["timeline_rejects"][1] if row["reason"] == "timeline_too_large"]
    assert Counter(row["timeline_id"] for row in rejects) == {"ssb:log": 1, "long": LIMIT + 1, "short": LIMIT + 1}
    (log,) = [row for row in rejects if row["line"] is None]
    messages = sum(row["timeline_id"] == "ssb:log" for row in before)
    assert log["detail"] == f"it has {messages} messages, more than {LIMIT}" and log["source_file"] is None
    assert {row["detail"] for row in rejects if row["line"]} == {f"its timeline has more than {LIMIT} arrivals"}


def test_why_names_the_limit(tables, limited):
    set_aside = next(row for row in tables["tangle_messages"][1] if row["set_aside_reason"] == "tangle_too_large")
    said = limited.ask("why", set_aside["message_id"]).output
    assert "tangle_too_large. The tangle has more candidates than" in said
    assert "what to do: build with a larger graph_limit" in said


def test_raised_limits(project, small, tables):
    """The previous output of a graph that was too large is not a basis for its order."""
    raised = project("large_graphs", **small.vars, rows_in_memory=2).run(*SELECTED)
    for table, (unlimited, _) in tables.items():
        assert in_any_order(unlimited) == in_any_order(raised.rows(table)), table
