"""Counts the depths of tangles that SQL rounds computed, and why the rounds ended (docs/adr/005-engines.md)."""

import json

from dbt_tangles.cli.page import Page, quantity
from dbt_tangles.cli.tables import Tables

_TABLES = ("int_tangle_depths", "int_tangle_levels", "int_tangle_edges", "tangle_messages")


def find_rounds(tables: Tables) -> dict | None:
    """Count the members with a depth from the SQL rounds, if the tables of the rounds are built.

    These tables hold the tangles that the last run computed: all of them in a full build, later only changed ones.

    Returns:
        `settled`, the members with a depth from SQL rounds; `members`, all members in these tables; `all_members`, the
        members of all tangles; `last_round`, the depth of the last round; `edges`, the number of links, which decides
        whether a log is small; `stopped`, `settled` if every member got its depth, `limit` if a limit ended the rounds;
        and the vars of the run that set the limit.
    """
    if not all(map(tables.files, _TABLES)):
        return None
    found = tables.row(
        """select (select count(*) from {int_tangle_depths}) as settled,
            (select max(depth) from {int_tangle_depths}) as last_round,
            (select coalesce(bool_or(is_frontier), false) from {int_tangle_depths}) as is_early,
            (select count(*) from {int_tangle_levels} where depth is not null) as members,
            (select count(*) from {tangle_messages} where is_member) as all_members,
            (select count(*) from {int_tangle_edges}) as edges"""
    )
    if found is None or not found["members"]:
        return None
    is_early = found.pop("is_early")
    run = tables.row("select vars from {runs} where vars is not null order by started_at desc limit 1") or {"vars": {}}
    given = {name: json.loads(value) for name, value in dict(run["vars"]).items() if name.startswith("sql_")}
    return {**found, "stopped": "limit" if is_early else "settled", **given}


def write(page: Page, rounds: dict | None) -> None:
    """Print the answer on one line."""
    if rounds is None:
        return
    edges = quantity(rounds["edges"], "edge{|s}")
    if rounds["last_round"] is None:
        reason = "no round ran"
    elif rounds["stopped"] == "settled":
        reason = f"all depths up to {rounds['last_round']:,}"
    else:
        reason = f"the rounds ended at depth {rounds['last_round']:,} of a log with {edges}; the kernel did the rest"
    members = quantity(rounds["members"], "member{|s}")
    changed = "" if rounds["members"] == rounds["all_members"] else " of the tangles that the last run computed"
    page.line(f"SQL rounds computed the depths of {rounds['settled']:,} of {members}{changed}: {reason}")
