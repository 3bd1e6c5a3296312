"""The messages that a peer lacks, in an order it can apply, and the ranges to ask it for.

Source: SSB improvement proposal "Tangles" (tips are useful for replication). The clock is the vector clock of feeds
that SSB peers exchange. Only messages in the chain of their feed are sent, because a peer appends a feed in sequence.
"""

import json
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from typing import Any, TextIO

from dbt_tangles.cli.options import name_of
from dbt_tangles.cli.pasted_ids import as_sigil
from dbt_tangles.cli.tables import CommandError, Tables, is_unicode

#: Author: the length of the author's feed that a replica has, or `NOT_REPLICATED`.
Clock = dict[str, int]

NOT_REPLICATED = -1
MAX_LENGTH = 2**31 - 1
_MOST_CHARACTERS = 64 * 2**20


def read_peer(file: TextIO) -> Clock | list[str]:
    """Read a peer's statement: the lengths of its feeds, also as `tangles send --clock` prints them, or its tips."""

    def error(said: str) -> CommandError:
        wanted = 'give {"AUTHOR": LENGTH, ...}, ["ID", ...] or the output of `tangles send --clock`'
        return CommandError(f"{name_of(file)}: {said}; {wanted}")

    text = file.read(_MOST_CHARACTERS + 1)
    if len(text) > _MOST_CHARACTERS:
        raise error(f"has more than {_MOST_CHARACTERS:,} characters")
    try:
        said: Any = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise error(f"not JSON ({fault})") from fault
    if isinstance(said, dict):
        said = next((said[key] for key in ("clock", "tips") if isinstance(said.get(key), (dict, list))), said)
    if isinstance(said, list) and all(isinstance(each, str) for each in said):
        return [as_sigil(each) for each in said]
    if not isinstance(said, dict):
        raise error("neither a clock nor a list of ids")
    clock: Clock = {}
    for key, length in said.items():
        author = as_sigil(key)
        if type(length) is not int or not NOT_REPLICATED <= length <= MAX_LENGTH:
            feed = f"{NOT_REPLICATED} for a feed that the peer does not replicate"
            raise error(f"the length of {key!r} is not a whole number from 0, or {feed}")
        if clock.setdefault(author, length) != length:
            raise CommandError(f"{name_of(file)}: {author!r} has two lengths, as a sigil and as a URI; keep one")
    return clock


def own_clock(tables: Tables) -> Clock:
    """Return the verified length of each feed of the warehouse."""
    rows = tables.rows("select author, verified_length from feeds where verified_length > 0 order by author")
    return {row["author"]: row["verified_length"] for row in rows}


def clock_of(tables: Tables, peer: Clock | list[str]) -> tuple[Clock, list[str]]:
    """Derive a peer's clock, and list the ids of authors or messages that it names and the warehouse lacks.

    A peer that names ids has the messages that these follow, in feeds and in tangles. If it names a message of an
    author, its latest named message ends that author's feed.
    """
    if isinstance(peer, dict):
        return peer, _unknown(tables, "select author as id from feeds", peer)
    by_id = {row["message_id"]: row for row in _in_chain(tables, {})}
    links = {(row["author"], row["sequence"]): row["links"] for row in by_id.values()}
    named, clock = {}, {}
    due = [by_id[tip] for tip in peer if tip in by_id]
    for tip in due:
        named[tip["author"]] = max(named.get(tip["author"], 0), tip["sequence"])
    while due:
        last = due.pop()
        length = clock.get(last["author"], 0)
        for sequence in range(length + 1, last["sequence"] + 1):
            due += [by_id[link] for link in links.get((last["author"], sequence), ()) if link in by_id]
        clock[last["author"]] = max(length, last["sequence"])
    return clock | named, _unknown(tables, "select message_id as id from ssb_messages", peer)


def _unknown(tables: Tables, sql: str, ids: Iterable[str]) -> list[str]:
    """List the ids that a query of all known ids lacks."""
    rows = tables.rows(f"select id from ({sql}) where id in (select unnest($ids))", ids=[*filter(is_unicode, ids)])
    known = {row["id"] for row in rows}
    return [id_ for id_ in dict.fromkeys(ids) if id_ not in known]


def lacking(tables: Tables, clock: Clock) -> list[dict]:
    """List the messages that a peer with this clock lacks, in an order that it can apply.

    Each feed is in sequence, and a message comes after the messages of the list that it follows in tangles. Where links
    form a cycle, which ids that are hashes exclude, feeds follow one another.
    """
    by_id = {row["message_id"]: row for row in _in_chain(tables, clock)}
    order: TopologicalSorter[str] = TopologicalSorter()
    last = {}
    for id_, row in by_id.items():
        causes = [link for link in (*row.pop("links"), last.get(row["author"])) if link in by_id and link != id_]
        order.add(id_, *causes)
        last[row["author"]] = id_
    try:
        return [by_id[id_] for id_ in order.static_order()]
    except CycleError:
        return [*by_id.values()]


def _in_chain(tables: Tables, clock: Clock) -> list[dict]:
    """List the messages in chains behind a clock, by author and sequence, each with those it follows in tangles."""
    authors = [*filter(is_unicode, clock)]
    return tables.rows(
        """with clock as (select unnest($authors) as author, unnest($lengths) as length)
        select chain.message_id, chain.author, chain.sequence, list_sort(list_distinct(flatten([
            list_concat([claim.root_id], coalesce(claim.previous, []))
            for claim in coalesce(tangle_claims, []) if claim.defect is null
        ]))) as links
        from feed_messages as chain inner join ssb_messages as messages using (message_id)
        left join clock on chain.author = clock.author
        where chain.in_chain and coalesce(clock.length, 0) >= 0 and chain.sequence > coalesce(clock.length, 0)
        order by chain.author, chain.sequence""",
        authors=authors,
        lengths=[clock[author] for author in authors],
    )


def ranges_to_ask(tables: Tables, peer: Clock | list[str]) -> list[dict]:
    """List the ranges of feeds, and the ids, that the peer has and the warehouse lacks."""
    ours = own_clock(tables)
    if isinstance(peer, list):
        return [{"message_id": tip} for tip in clock_of(tables, peer)[1]]
    return [
        {"author": author, "from_sequence": ours.get(author, 0) + 1, "to_sequence": length}
        for author, length in sorted(peer.items())
        if length > ours.get(author, 0)
    ]


def missing_here(tables: Tables) -> list[dict]:
    """List the gaps of feeds and the missing messages of tangles, whether or not a peer has them."""
    gaps = tables.rows(
        """select author, any_value(verified_length) + 1 as from_sequence, min(sequence) - 1 as to_sequence
        from feeds inner join feed_messages as messages using (author)
        where status = 'gap' and sequence > verified_length group by author order by author"""
    )
    ids = tables.rows("select distinct missing_id as message_id from tangle_missing where not is_in_log order by 1")
    return gaps + ids
