"""Lines that claim an id other than that of their text: altered after signing, or exported with a wrong key."""

from __future__ import annotations

from collections.abc import Iterable

from dbt_tangles.cli import messages
from dbt_tangles.cli.forms import forms
from dbt_tangles.cli.ids import LAST
from dbt_tangles.cli.page import BAD, ID, Page
from dbt_tangles.cli.tables import Tables

#: Of an id no more lines.
_MOST = 10
#: Kind of id: the tables of lines that gave no message and of messages, and their column of claimed ids.
_CLAIMS = {
    "message": ("ssb_rejects", "ssb_messages", "claimed_key"),
    "pzp": ("pzp_rejects", "pzp_messages", "claimed_id"),
}
_MEANINGS = {"message": messages.ssb, "pzp": messages.pzp}


def complete(tables: Tables, given: str) -> str | None:
    """Complete the prefix of an id that lines claim; None unless one alone begins so."""
    for form in forms(given):
        values = {"low": form.text, "high": form.text + (LAST if form.may_go_on else "\0")}
        ids = {
            row["id"]
            for *names, column in _CLAIMS.values()
            for table in names
            for row in tables.rows(
                f"select distinct {column} as id from {{{table}}} where {column} >= $low and {column} < $high limit 2",
                **values,
            )
        }
        if len(ids) == 1:
            return ids.pop()
    return None


def claims_of(tables: Tables, ids: Iterable[str], kinds: Iterable[str] = tuple(_CLAIMS)) -> dict[str, list[dict]]:
    """List the lines and messages that claim ids which they do not have.

    Args:
        tables: Where to look.
        ids: The ids.
        kinds: What they are ids of, `message` or `pzp`.

    Returns:
        By id, at most 10 each: `kind`, the `message_id` that the text has (None where it has none), and of a line that
        is refused `source_file`, `line`, `reason` and `meaning`, which of a message that counts are None; and `words`.
    """
    wanted = sorted(set(ids))
    found: dict[str, list[dict]] = {}
    for kind in kinds:
        rejects, accepted, column = _CLAIMS[kind]
        # A line that was refused may have the id that it claims: then `why` explains it as a message.
        rows = tables.rows(
            f"""select {column} as id, source_file, line, reason, message_id from {{{rejects}}}
            where {column} in (select unnest($ids)) and {column} is distinct from message_id
            qualify row_number() over (partition by {column} order by source_file, line) <= {_MOST}
            order by source_file, line""",
            ids=wanted,
        )
        rows += tables.rows(
            f"""select {column} as id, null as source_file, null as line, null as reason, message_id from {{{accepted}}}
            where {column} in (select unnest($ids)) and is_usable
            qualify row_number() over (partition by {column} order by message_id) <= {_MOST} order by message_id""",
            ids=wanted,
        )
        for row in rows:
            row |= {"kind": kind, "meaning": row["reason"] and _MEANINGS[kind](row["reason"])}
            found.setdefault(row.pop("id"), []).append({**row, "words": _words(row)})
    return found


def _words(row: dict) -> str:
    if row["line"] is None:
        return f"a line claims this id for {row['message_id']}, which counts under the id that is computed"
    line = f"line {row['line']:,} of {row['source_file']} claims this id; "
    if row["reason"] == "bad_signature":
        return f"{line}its signature does not hold: it was altered after it was signed, or somebody else wrote it"
    return f"{line}it is refused, {row['reason']}: {row['meaning']}"


def write_claims(page: Page, claims: list[dict]) -> None:
    """Show the lines that claim an id, and the remedy."""
    for claim in claims:
        page.line((claim["words"], BAD), indent=1)
        if claim["message_id"]:
            page.line("its text has the id ", (claim["message_id"], ID), indent=2)
    if any(claim["reason"] for claim in claims):
        page.line("what would help: the message as its author signed it, from a peer", indent=1)
