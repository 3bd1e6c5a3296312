"""Lists the problems in the tables, the most urgent first, each with the command that explains it."""

import shlex

from dbt_tangles.cli import messages
from dbt_tangles.cli.messages import FILES
from dbt_tangles.cli.page import join_names, quantity
from dbt_tangles.cli.tables import Tables

_MOST = 3
#: Table of rejected lines: the name of its log, and the function of `messages` that explains its reasons.
_REJECTS = {
    "ssb_rejects": ("SSB", messages.ssb),
    "pzp_rejects": ("pzp", messages.pzp),
    "autobase_rejects": ("autobase", messages.autobase),
    "timeline_rejects": ("event", messages.event),
}


def find(tables: Tables, runs: list[dict], results: dict | None) -> list[dict]:
    """List the problems, the most urgent first: each with `words` and, if one helps, the next command as `ask`."""
    return [
        *_rejects(tables),
        *_runs(runs, results),
        *_tests(results),
        *_files(tables),
        *_missing(tables),
        *_awaited(tables),
        *_forks(tables),
        *_records(tables),
        *_groups(tables),
        *_sets(tables),
        *_bases(tables),
    ]


def _item(words: str, *ask: str) -> dict:
    # Quoted for a shell, because people copy commands and a log may choose any name.
    return {"words": words, "ask": shlex.join(["tangles", *ask]) if ask else None}


def _runs(runs: list[dict], results: dict | None) -> list[dict]:
    if not runs:
        return []
    last, *_ = runs
    built = [run for run in runs if run["tables"]]
    items = []
    if last["status"] == "running":
        items.append(_item(f"a build is running since {last['started_at']}: a table is from it or from an older run"))
    elif last["status"] != "success":
        items.append(_item(f"the last run ended with {last['status']}{_broken(last, results)}"))
    if len(built) > 1:
        items.append(_item(f"the tables come from {len(built)} runs"))
    return items


def _broken(run: dict, results: dict | None) -> str:
    """List the nodes that failed in a run, if dbt's results are of that run."""
    if run["status"] == "interrupted":
        return ""
    if results is None or results["run_id"] != run["run_id"]:
        return "; to see which model or test failed, give dbt's target folder of that run: --target-path DIR"
    names = [f"{row['kind']} {row['name']}" for row in results["broken"]]
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    return f": {', '.join(names[:_MOST])}{more}" if names else ""


def _tests(tests: dict | None) -> list[dict]:
    bad = [test for test in (tests or {}).get("failed", []) if test["status"] != "warn"]
    return [_item(f"test {test['name']}: {test['status']}") for test in bad]


def _rejects(tables: Tables) -> list[dict]:
    """Count the rejected lines by log and reason, the most frequent reasons of each log; faults of files apart."""
    items = []
    for table, (log, meaning) in _REJECTS.items():
        rows = tables.rows(
            f"""select reason, count(*) as n, min(struct_pack(file := source_file, line := line)) as first
            from {{{table}}} where reason not in (select unnest($faults))
            group by reason order by n desc, reason limit {_MOST}""",
            faults=[*FILES],
        )
        for row in rows:
            said = f"{quantity(row['n'], f'rejected line{{|s}} of the {log} log')}, {row['reason']}: "
            place = f"{row['first']['file']}:{row['first']['line']}"
            items.append(_item(said + meaning(row["reason"]), "why", "--line", place))
    return items


def _files(tables: Tables) -> list[dict]:
    items = []
    for table in _REJECTS:
        rows = tables.rows(
            f"""select source_file, line, reason from {{{table}}} where reason in (select unnest($faults))
            order by source_file limit {_MOST}""",
            faults=[*FILES],
        )
        items += [
            _item(
                f"{row['source_file']}: {FILES[row['reason']]}", "why", "--line", f"{row['source_file']}:{row['line']}"
            )
            for row in rows
        ]
    return items


def _missing(tables: Tables) -> list[dict]:
    # Duplicate tangles of one root count once: they hold the same messages.
    rows = tables.rows(
        f"""select missing_id, list_sort(list_distinct(flatten(list(names)))) as names, sum(unlocks)::bigint as unlocks
        from (
            select missing_id, root_id, unlocks, list(tangle_name) as names from {{tangle_missing}}
            where not is_in_log and unlocks > 0 group by missing_id, root_id, unlocks, waiting_count, blocked_count
        )
        group by missing_id order by unlocks desc, missing_id limit {_MOST}"""
    )
    gained = [
        quantity(row["unlocks"], "{message becomes a member|messages become members} of tangle ") + _few(row["names"])
        for row in rows
    ]
    return [
        _item(f"a message is missing; once it arrives, {members}", "why", row["missing_id"])
        for row, members in zip(rows, gained, strict=True)
    ]


def _few(names: list[str]) -> str:
    return join_names([*names[:_MOST], *([f"{len(names) - _MOST:,} more"] if len(names) > _MOST else [])])


def _awaited(tables: Tables) -> list[dict]:
    rows = tables.rows(
        f"""select id, count(*) as n from (select unnest(awaited_ids) as id from {{set_messages}})
        group by id order by n desc, id limit {_MOST}"""
    )
    return [
        _item(
            quantity(row["n"], "message{ of a set awaits|s of sets await} an account message that the log lacks")
            + " or has without its data",
            "why",
            row["id"],
        )
        for row in rows
    ]


def _forks(tables: Tables) -> list[dict]:
    rows = tables.rows(
        f"""select message_id, author, sequence, count(*) over () as n from {{feed_messages}} where reason = 'forked'
        order by author, sequence, message_id limit {_MOST}"""
    )
    return [
        _item(f"feed {row['author']} is forked at sequence {row['sequence']:,}", "why", row["message_id"])
        for row in {row["author"]: row for row in rows}.values()
    ]


def _records(tables: Tables) -> list[dict]:
    if not tables.files("records"):
        return []
    # The message that is the cause of the most others in its record comes first.
    rows = tables.rows(
        f"""select tangle_name, root_id, cause_id, count(*) as n from (
            select tangle_name, root_id, coalesce(each.cause_id, each.message_id) as cause_id
            from (select tangle_name, root_id, unnest(left_out) as each from {{records}})
        ) group by all order by n desc, tangle_name, root_id, cause_id limit {_MOST}"""
    )
    return [
        _item(
            f"record {row['tangle_name']}:{row['root_id']} leaves out {quantity(row['n'], 'message{|s}')}: "
            f"{row['cause_id']}" + (" and its followers" if row["n"] > 1 else ""),
            "why",
            row["cause_id"],
        )
        for row in rows
    ]


def _groups(tables: Tables) -> list[dict]:
    rows = tables.rows(
        f"""select finding, count(*) as n, min(group_id) as group_id from {{group_findings}}
        group by finding order by n desc, finding limit {_MOST}"""
    )
    return [
        _item(
            f"{quantity(row['n'], 'finding{|s} of kind ')}{row['finding']} in private groups",
            *("show", row["group_id"], "--as", "group"),
        )
        for row in rows
    ]


def _sets(tables: Tables) -> list[dict]:
    rows = tables.rows(
        f"select set_id, root_status from {{sets}} where root_status <> 'present' order by set_id limit {_MOST}"
    )
    return [_item(f"the root of a set is {row['root_status']}", "why", row["set_id"]) for row in rows]


def _bases(tables: Tables) -> list[dict]:
    rows = tables.rows(
        f"""select base_id, status from {{autobase_bases}} where status in ('incomplete', 'too_large')
        order by base_id limit {_MOST}"""
    )
    return [_item(f"base {row['base_id']} is {row['status']}", "show", row["base_id"], "--as", "base") for row in rows]
