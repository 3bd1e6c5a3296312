"""The tables whose rows are entries of the search index, the SQL expressions of their columns, and their groupings."""

import re
from collections.abc import Callable
from typing import NamedTuple

#: Times from 1970 on and before 2100 count, because authors may assert any number. Milliseconds.
EARLIEST, LATEST = 1_000, 4_102_444_800_000


class Grouping(NamedTuple):
    """A grouping of a table's rows; rows without a group have the empty text."""

    table: str
    group: str


def _of_tangles(group: str) -> Grouping:
    return Grouping("tangles", f"case when tangle_name = 'ssb:feed' then '' else {group} end")


def _range_of(column: str) -> Grouping:
    """Group tangles by the least number of a range 0, 1, 2 to 3, 4 to 7, 8 to 15, ..., and by their trouble."""
    return _of_tangles(
        f"case when {column} < 1 then 0 else (2 ** floor(log2({column})))::bigint end || ' ' || {_TROUBLE}"
    )


_TROUBLE = "case when set_aside_count + invalid_claim_count = 0 then 'well' else 'troubled' end"
#: Groupings by name: filters of the search take them like tables, and the groups like verdicts.
GROUPINGS = {
    "messages_by_kind": Grouping(
        "tangle_messages", "case when is_fork then 'forks' when is_member then 'members' else 'set_aside' end"
    ),
    "merges": Grouping("tangle_messages", "case when is_merge then 'merges' else '' end"),
    "tangles_by_trouble": _of_tangles(_TROUBLE),
    "tangles_by_size": _range_of("candidate_count"),
    "tangles_by_depth": _range_of("depth"),
}
_LONGEST = 80
#: Ids with 32 bytes of a hash or key: a sigil, a writer in hexadecimal, base58.
_LONG = re.compile(r"([%@][A-Za-z0-9+/]{11})[A-Za-z0-9+/]{32}=\.\w+|\b([0-9a-f]{12})[0-9a-f]{52}\b")
_BASE58 = re.compile(r"([1-9A-HJ-NP-Za-km-z]{12})[1-9A-HJ-NP-Za-km-z]{31,32}")


def shorten(id_: str) -> str:
    """Shorten the hashes and keys in an id to their first 11 or 12 characters; assets/search.js shortens likewise."""
    if _BASE58.fullmatch(id_):
        return id_[:12]
    return _LONG.sub(lambda match: match[1] or match[2], id_)[:_LONGEST]


def _whole(id_: str) -> str:
    return id_[: 5 * _LONGEST]


class Source(NamedTuple):
    """A table whose rows are entries, with the SQL expressions of their columns."""

    kind: str  # The kind of the entries: its page in the report
    table: str
    id: str
    author: str = "null::varchar"
    text: str = "null::varchar"
    written: str = "null::double"  # In milliseconds since 1970
    also: tuple[str, ...] = ()  # Other tables and groupings that have these ids as `message_id`
    own: tuple[str, ...] = ()  # Groupings of the table itself
    where: str = "true"  # A condition on the rows
    shorten: Callable[[str], str] = shorten  # Shortens an id for the index


def _of_root(root: str) -> tuple[str, str]:
    """Return the SQL expressions of the author and the first words of a root."""
    of_root = f"from ssb_messages as root where root.message_id = {root}"
    return f"(select any_value(root.author) {of_root})", f"(select any_value(root.first_words) {of_root})"


_OF_MESSAGES = (
    "feed_messages",
    "tangle_messages",
    "tangle_writer_faults",
    "group_messages",
    "messages_by_kind",
    "merges",
)
_OF_SETS = ("set_messages", "set_writer_faults")
_SAID = (
    "case when json_valid(content) then coalesce(content->>'$.text', content->>'$.name', content->>'$.description') end"
)

SOURCES = (
    Source(
        "message",
        "ssb_messages",
        "message_id",
        "author",
        f"left(concat_ws(': ', coalesce(content_type, case when is_encrypted then 'encrypted' end), {_SAID}), 400)",
        "coalesce(received_ms, asserted_ms)",
        _OF_MESSAGES,
    ),
    Source("message", "pzp_messages", "message_id", "coalesce(account, sigkey)", "domain", also=_OF_SETS),
    Source("message", "autobase_nodes", "node_id", "writer", "'base ' || base_id"),
    Source(
        "message",
        "timeline_events",
        "event_id",
        "author",
        "concat_ws(' ', 'timeline', timeline_id)",
        where="message_id is null",
        shorten=_whole,
    ),
    Source("feed", "feeds", "author", "author"),
    Source(
        "tangle",
        "tangles",
        "tangle_name || ':' || root_id",
        *_of_root("root_id"),
        own=("tangles_by_trouble", "tangles_by_size", "tangles_by_depth"),
    ),
    Source("set", "sets", "set_id", "account", "domain"),
    Source("base", "autobase_bases", "base_id", shorten=_whole),
    Source(
        "timeline", "timeline_stats", "timeline_id", *_of_root("regexp_extract(timeline_id, '%.*')"), shorten=_whole
    ),
    Source("group", "group_findings", "coalesce(group_id, '')", "feed_id", "concat_ws(' ', finding, epoch_id)"),
    *(
        Source("rejects", table, "parse_filename(source_file) || ':' || line", text="detail", shorten=_whole)
        for table in ("ssb_rejects", "pzp_rejects", "autobase_rejects", "timeline_rejects")
    ),
)
