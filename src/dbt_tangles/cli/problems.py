"""Lists the problems in the tables, the most urgent first, each with the command that explains it."""

from collections.abc import Callable

from dbt_tangles.cli import messages
from dbt_tangles.cli.messages import FILES
from dbt_tangles.cli.page import join_names, quantity
from dbt_tangles.cli.suggest import Ask
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
    """List the problems, the most urgent first.

    Returns:
        For each its `words`; `ask`, the next command, if one helps; and `page`, the page of the report that lists all
        problems of its kind, where the problem stands for several.
    """
    return [
        *_rejects(tables),
        *_runs(runs, results),
        *_tests(runs, results),
        *_files(tables),
        *_missing(tables),
        *_awaited(tables),
        *_forks(tables),
        *_gaps(tables),
        *_records(tables),
        *_groups(tables),
        *_sets(tables),
        *_bases(tables),
    ]


def _item(words: str, *ask: str) -> dict:
    return {"words": words, "ask": Ask.of(*ask) if ask else None, "page": None}


def _first(
    tables: Tables, sql: str, item: Callable[[dict], tuple[str, ...]], words: str, page: str, query: str
) -> list[dict]:
    """List the first problems of a kind, say how many others there are, and give the query that lists all.

    Args:
        tables: The tables.
        sql: A query of the problems.
        item: Returns the words for a row, and the command that explains it.
        words: The words for the others.
        page: The page of the report that has them.
        query: The query that lists all.
    """
    rows = tables.rows(f"{sql} limit {_MOST}")
    left = tables.rows(f"select count(*) as n from ({sql})")[0]["n"] - _MOST if len(rows) == _MOST else 0
    more = [_item(quantity(left, words), "sql", query) | {"page": page}] if left > 0 else []
    return [*(_item(*item(row)) for row in rows), *more]


def _runs(runs: list[dict], results: dict | None) -> list[dict]:
    if not runs:
        return []
    last, *_ = runs
    built = [run for run in runs if run["current_tables"]]
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


def _tests(runs: list[dict], results: dict | None) -> list[dict]:
    """List the failed tests of the last run, or of a later command of dbt; a later run may have mended older faults."""
    if results is None or (
        runs and results["run_id"] != runs[0]["run_id"] and results["at"][:19].replace("T", " ") < runs[0]["started_at"]
    ):
        return []
    bad = [test for test in results["failed"] if test["status"] != "warn"]
    return [_item(f"test {test['name']}: {test['status']}") for test in bad]


def _rejects(tables: Tables) -> list[dict]:
    """Count the rejected lines by log and reason, the most frequent reasons of each log first; faults of files apart.

    The frequent reasons have the place of their first line. The others are named together.
    """
    items = []
    for table, (log, meaning) in _REJECTS.items():
        rows = tables.rows(
            f"""select reason, sum(greatest(line_count, 1))::bigint as n, min(
                struct_pack(file := source_file, line := line)) filter (where source_file is not null) as first
            from {{{table}}} where reason not in (select unnest($faults))
            group by reason order by n desc, reason""",
            faults=[*FILES],
        )
        for row in rows[:_MOST]:
            said = f"{quantity(row['n'], f'rejected line{{|s}} of the {log} log')}, {row['reason']}: "
            words = said + meaning(row["reason"])
            # An order that is too large is no line of a file.
            place = [f"{row['first']['file']}:{row['first']['line']}"] if row["first"] else []
            items.append(_item(words, *(["why", *place] if place else [])) | {"page": "rejects"})
        items += _other_reasons(table, log, rows[_MOST:])
    return items


def _other_reasons(table: str, log: str, rows: list[dict]) -> list[dict]:
    if not rows:
        return []
    named = ", ".join(f"{row['reason']} {row['n']:,}" for row in rows)
    words = f"{quantity(sum(row['n'] for row in rows), f'more rejected line{{|s}} of the {log} log: ')}{named}"
    query = f"select reason, source_file, line, detail from {table} order by all"
    return [{**_item(words, "sql", query), "page": "rejects"}]


def _files(tables: Tables) -> list[dict]:
    faults = ", ".join(f"'{fault}'" for fault in FILES)
    items = []
    for table, (log, _) in _REJECTS.items():
        items += _first(
            tables,
            f"select * from {{{table}}} where reason in ({faults}) order by source_file",
            lambda row: (f"{row['source_file']}: {FILES[row['reason']]}", "why", f"{row['source_file']}:{row['line']}"),
            f"more fault{{|s}} of files of the {log} log",
            "rejects",
            f"select source_file, reason, detail from {table} where reason in ({faults}) order by all",
        )
    return [item | {"page": "rejects"} for item in items]


#: By whether a message is sealed.
_MISSING = {
    False: "missing; once it arrives",
    True: "sealed in this export; once a decrypted export shows that it is a member",
}


def _missing(tables: Tables) -> list[dict]:
    def item(row: dict) -> tuple[str, ...]:
        gained = quantity(row["unlocks"], "{message becomes a member|messages become members} of tangle ")
        words = f"a message is {_MISSING[row['is_sealed']]}, {gained}{_few(row['names'])}"
        return words, "why", row["missing_id"]

    # Duplicate tangles of one root count once: they hold the same messages.
    return _first(
        tables,
        """select missing_id, list_sort(list_distinct(flatten(list(names)))) as names, sum(unlocks)::bigint as unlocks,
            any_value(is_sealed) as is_sealed
        from (
            select missing_id, root_id, unlocks, is_sealed, list(tangle_name) as names from {tangle_missing}
            where (is_sealed or not is_in_log) and unlocks > 0
            group by missing_id, root_id, unlocks, is_sealed, waiting_count, blocked_count
        )
        group by missing_id order by unlocks desc, missing_id""",
        item,
        "more message{ is missing; once it arrives, other messages become|s are missing; once they arrive, other "
        "messages become} members of tangles",
        "tangle",
        "select missing_id, sum(unlocks) as unlocks from tangle_missing where unlocks > 0 "
        "and (is_sealed or not is_in_log) group by missing_id order by unlocks desc, missing_id",
    )


def _few(names: list[str]) -> str:
    return join_names([*names[:_MOST], *([f"{len(names) - _MOST:,} more"] if len(names) > _MOST else [])])


def _awaited(tables: Tables) -> list[dict]:
    awaits = "message{ of a set awaits|s of sets await} an account message that the log lacks"
    return _first(
        tables,
        """select id, count(*) as n from (select unnest(awaited_ids) as id from {set_messages})
        group by id order by n desc, id""",
        lambda row: (f"{quantity(row['n'], awaits)} or has without its data", "why", row["id"]),
        "more account message{ that the log lacks is|s that the log lacks are} awaited by messages of sets",
        "set",
        "select distinct unnest(awaited_ids) as awaited_id from set_messages order by all",
    )


def _forks(tables: Tables) -> list[dict]:
    return _first(
        tables,
        """select author, min(sequence) as sequence, min_by(message_id, (sequence, message_id)) as message_id
        from {feed_messages} where reason = 'forked' group by author order by author""",
        lambda row: (f"feed {row['author']} is forked at sequence {row['sequence']:,}", "why", row["message_id"]),
        "more feed{ is|s are} forked",
        "feed",
        "select author, fork_sequence from feeds where status = 'forked' order by all",
    )


def _gaps(tables: Tables) -> list[dict]:
    return _first(
        tables,
        "select author, gap_sequence as gap from {feeds} where gap_sequence is not null order by author",
        lambda row: (f"feed {row['author']} lacks the message at sequence {row['gap']:,}", "why", row["author"]),
        "more feed{ has a gap|s have gaps}",
        "feed",
        "select author, gap_sequence, max_sequence from feeds where gap_sequence is not null order by all",
    )


def _records(tables: Tables) -> list[dict]:
    def item(row: dict) -> tuple[str, ...]:
        words = f"record {row['tangle_name']}:{row['root_id']} leaves out {quantity(row['n'], 'message{|s}')}: "
        return words + row["cause_id"] + (" and its followers" if row["n"] > 1 else ""), "why", row["cause_id"]

    if not tables.files("records"):
        return []
    # The message that is the cause of the most others in its record comes first.
    return _first(
        tables,
        """select tangle_name, root_id, cause_id, count(*) as n from (
            select tangle_name, root_id, coalesce(each.cause_id, each.message_id) as cause_id
            from (select tangle_name, root_id, unnest(left_out) as each from {records})
        ) group by all order by n desc, tangle_name, root_id, cause_id""",
        item,
        "more message{ ends a branch of a record|s end branches of records}",
        "records",
        "select tangle_name, root_id, unnest(left_out) as left_out from records order by all",
    )


def _groups(tables: Tables) -> list[dict]:
    kinds = "finding{|s} of kind "
    return _first(
        tables,
        """select finding, count(*) as n, min(group_id) as group_id from {group_findings}
        group by finding order by n desc, finding""",
        lambda row: (
            f"{quantity(row['n'], kinds)}{row['finding']} in private groups",
            *("show", row["group_id"], "--kind", "group"),
        ),
        "more kind{|s} of findings in private groups",
        "group",
        "select finding, count(*) as n from group_findings group by finding order by n desc, finding",
    )


def _sets(tables: Tables) -> list[dict]:
    return _first(
        tables,
        "select set_id, root_status from {sets} where root_status <> 'present' order by set_id",
        lambda row: (f"the root of a set is {row['root_status']}", "why", row["set_id"]),
        "more set{ has no usable root|s have no usable root}",
        "set",
        "select set_id, root_status from sets where root_status <> 'present' order by all",
    )


def _bases(tables: Tables) -> list[dict]:
    where = "where status in ('incomplete', 'too_large')"
    return _first(
        tables,
        f"select base_id, status from {{autobase_bases}} {where} order by base_id",
        lambda row: (f"base {row['base_id']} is {row['status']}", "show", row["base_id"], "--kind", "base"),
        "more base{ is|s are} incomplete or too large",
        "base",
        f"select base_id, status from autobase_bases {where} order by all",
    )
