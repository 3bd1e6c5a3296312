"""The answers of `tangles why` for the nodes of a report, as lines of styled texts, and the rows that they need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import islice

from dbt_tangles.cli.tables import Tables
from dbt_tangles.cli.text import lines_of
from dbt_tangles.cli.why import explain, resolve
from dbt_tangles.report.parts import WhyQuery
from dbt_tangles.report.slices import Slice

#: The most lines of an answer.
_MOST_LINES = 80
#: The number of answers whose rows are read at once.
_AT_ONCE = 500
#: The cached rows for answers; the names of the values in their queries, and the query of these values for some ids.
_Sliced = tuple[Slice, str, str]


def answers_of(tables: Tables, asked: Iterable[WhyQuery]) -> dict[WhyQuery, list[list]]:
    """Return the lines of `tangles why` for each of some ids."""
    by_kind: dict[str, list[WhyQuery]] = defaultdict(list)
    for query in dict.fromkeys(asked):
        by_kind[query.kind].append(query)
    answers = {}
    for kind, queries in by_kind.items():
        only = sorted({query.only for query in queries if query.only})
        kept, names, expected = _SLICES[kind](tables, sorted({query.id for query in queries}), only)
        for first in range(0, len(queries), _AT_ONCE):
            some = queries[first : first + _AT_ONCE]
            kept.expect(names, expected, ids=sorted({query.id for query in some}))
            answers |= {query: _explain(kept, kind, query.id, query.only) for query in some}
    return answers


def answer_any(tables: Tables, given: str) -> list[list]:
    """Return the lines of `tangles why` for any id, also one that the log lacks.

    Raises:
        CommandError: The text does not look like an id, or a table cannot be read.
    """
    return _explain(tables, *resolve(tables, given))


def _explain(tables: Tables, kind: str, id_: str, only: str | None = None) -> list[list]:
    answer = explain(tables, kind, id_, only)
    return [[indent, *pieces] for indent, pieces in islice(lines_of(kind, answer), _MOST_LINES)]


def _slice_messages(tables: Tables, ids: list[str], _only: list[str]) -> _Sliced:
    """Cache the rows that the answers about some SSB messages need."""
    kept = Slice(tables)
    kept.keep_some("tangle_messages", "message_id in (select unnest($ids))", ids=ids)
    causes = [
        row["id"] for row in kept.rows("select distinct unnest(blocked_by) as id from tangle_messages order by 1")
    ]
    tangles = kept.rows("select distinct tangle_name, root_id from tangle_messages where root_id is not null")
    names, roots = [row["tangle_name"] for row in tangles], [row["root_id"] for row in tangles]
    claimed = (
        "struct_pack(a := tangle_name, b := root_id) in (select struct_pack(a := unnest($names), b := unnest($roots)))"
    )
    both = sorted({*ids, *causes})
    kept.keep_some("tangle_messages", "message_id in (select unnest($ids))", ids=both)
    for table in ("ssb_rejects", "ssb_messages"):  # and the lines that claim their ids
        kept.keep_some(table, "message_id in (select unnest($ids)) or claimed_key in (select unnest($ids))", ids=both)
    kept.keep_some(
        "tangle_edges",
        f"""tangle_name <> 'ssb:feed' and {claimed} and (not is_member_edge
            or message_id in (select unnest($ids)) or previous_id in (select unnest($ids)))""",
        names=names,
        roots=roots,
        ids=ids,
    )
    records = [name for name in ("records", "record_fields") if tables.files(name)]
    for table in ("tangles", "tangle_next", *records):
        kept.keep_some(table, claimed, names=names, roots=roots)
    kept.keep_some("tangle_missing", "missing_id in (select unnest($ids))", ids=both)
    kept.keep_some("tangle_writer_faults", "message_id in (select unnest($ids))", ids=ids)
    kept.keep_some("group_messages", "message_id in (select unnest($ids))", ids=ids)
    kept.keep_some("group_findings", "list_has_any(message_ids, $ids)", ids=ids)
    authors = [row["author"] for row in kept.rows("select distinct author from ssb_messages")]
    for table in ("feeds", "feed_next"):
        kept.keep_some(table, "author in (select unnest($authors))", authors=authors)
    kept.keep_some(
        "feed_messages",
        """author in (select unnest($authors)) and (reason in ('forked', 'bad_link', 'off_chain')
            or struct_pack(a := author, b := sequence) in (
                select struct_pack(a := author, b := sequence) from ssb_messages
                union all select struct_pack(a := author, b := sequence::bigint + 1) from ssb_messages))""",
        authors=authors,
    )
    return (
        kept,
        "id, value, ids, author, sequence, name, root, is_member",
        """select message_id as id, message_id as value, [message_id] as ids, of_feed.author, of_feed.sequence,
            tangle_name as name, root_id as root, is_member
        from ssb_messages as of_feed left join tangle_messages using (message_id)
        where message_id in (select unnest($ids))""",
    )


def _slice_sets(tables: Tables, ids: list[str], sets: list[str]) -> _Sliced:
    """Cache the rows that the answers about pzp messages of some sets need."""
    kept = Slice(tables)
    kept.keep_some("pzp_rejects", "message_id in (select unnest($ids)) or claimed_id in (select unnest($ids))", ids=ids)
    for table in ("set_messages", "set_links", "set_writer_faults", "set_next", "int_set_entries"):
        kept.keep_some(table, "set_id in (select unnest($sets))", sets=sets)
    listed = kept.rows(
        """select unnest(awaited_ids) as id from set_messages union select unnest(prev) from int_set_entries
        order by id"""
    )
    kept.keep_some("int_pzp_messages", "message_id in (select unnest($ids))", ids=ids)
    kept.keep_some(
        "pzp_messages",
        """message_id in (select unnest($listed)) or claimed_id in (select unnest($ids))
            or list_has_any(awaited_ids, $ids)""",
        ids=ids,
        listed=[*ids, *(row["id"] for row in listed)],
    )
    return (
        kept,
        "id, value, ids, set",
        """select message_id as id, message_id as value, [message_id] as ids, set_id as set
        from set_messages where message_id in (select unnest($ids))""",
    )


def _slice_bases(tables: Tables, _ids: list[str], bases: list[str]) -> _Sliced:
    """Cache the rows that the answers about nodes of some bases need."""
    kept = Slice(tables)
    for table in ("autobase_nodes", "autobase_rejects", "autobase_links", "autobase_next", "autobase_unsettled"):
        kept.keep_some(table, "base_id in (select unnest($bases))", bases=bases)
    for table in ("autobase_views", "autobase_confirmations"):
        kept.keep_some(table, "base_id in (select unnest($bases)) and observer = 'all'", bases=bases)
    return (
        kept,
        "id, value, base",
        """select distinct node_id as id, node_id as value, base_id as base from (
            select node_id, base_id from autobase_nodes union all select node_id, base_id from autobase_rejects
        ) where node_id in (select unnest($ids))""",
    )


def _slice_events(tables: Tables, ids: list[str], timelines: list[str]) -> _Sliced:
    """Cache the rows that the answers about events of some timelines need."""
    kept = Slice(tables)
    where = "timeline_id in (select unnest($timelines)) and "
    values = {"timelines": timelines, "ids": ids}
    kept.keep_some("timeline_events", where + "event_id in (select unnest($ids))", **values)
    kept.keep_some(
        "timeline_links", where + "(event_id in (select unnest($ids)) or cause_id in (select unnest($ids)))", **values
    )
    kept.keep_some("timeline_rejects", "event_id in (select unnest($ids))", ids=ids)
    return (
        kept,
        "id, value, timeline",
        """select event_id as id, event_id as value, timeline_id as timeline
        from timeline_events where event_id in (select unnest($ids))""",
    )


_SLICES = {"message": _slice_messages, "pzp": _slice_sets, "node": _slice_bases, "event": _slice_events}
