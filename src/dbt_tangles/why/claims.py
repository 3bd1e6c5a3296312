"""Finds lines that state an id other than the computed one: altered after signing, or exported with a wrong key."""

from collections.abc import Iterable

from dbt_tangles.cli import messages
from dbt_tangles.cli.tables import Tables

#: The most lines listed for an id.
_MOST = 10
#: Kind of id: its log, and the column of claimed ids in the tables of rejected lines and of messages.
_CLAIMS = {"message": ("ssb", "claimed_key"), "pzp": ("pzp", "claimed_id")}


def claims_of(tables: Tables, ids: Iterable[str], kinds: Iterable[str] = tuple(_CLAIMS)) -> dict[str, list[dict]]:
    """List the lines and messages that claim some ids of the kinds although their computed id is another.

    Returns:
        By id, at most 10 dicts: `kind`; `message_id`, the computed id, if any; `source_file`, `line`, `reason` and
        `meaning`, if the line is rejected; and `words`, a sentence.
    """
    wanted = sorted(set(ids))
    found: dict[str, list[dict]] = {}
    for kind in kinds:
        log, column = _CLAIMS[kind]
        # A rejected line may have the id that it claims; `why` then explains it as a message.
        rejects = f"""select {column} as id, source_file, line, reason, message_id from {log}_rejects
            where {column} in (select unnest($ids)) and {column} is distinct from message_id
            qualify row_number() over (partition by {column} order by source_file, line) <= {_MOST}
            order by source_file, line"""
        others = f"""select {column} as id, null as source_file, null as line, null as reason, message_id
            from {log}_messages where {column} in (select unnest($ids)) and is_usable
            qualify row_number() over (partition by {column} order by message_id) <= {_MOST} order by message_id"""
        for row in [*tables.rows(rejects, ids=wanted), *tables.rows(others, ids=wanted)]:
            row |= {"kind": kind, "meaning": row["reason"] and getattr(messages, log)(row["reason"])}
            found.setdefault(row.pop("id"), []).append({**row, "words": _words(row)})
    return found


def _words(row: dict) -> str:
    if row["line"] is None:
        return f"a line claims this id for the message whose computed id is {row['message_id']}"
    line = f"line {row['line']:,} of {row['source_file']} claims this id, but "
    if row["reason"] == "bad_signature":
        return f"{line}its signature is wrong: it was altered after signing, or someone else wrote it"
    return f"{line}is rejected: {row['reason']}. {row['meaning']}"
