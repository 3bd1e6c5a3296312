"""The messages that a peer lacks, in an order it can apply, and the ranges to ask it for.

Source: SSB improvement proposal "Tangles" (tips are useful for replication). The clock is the vector clock of feeds
that SSB peers exchange. Only messages in the chain of their feed are sent, because a peer appends a feed in sequence.
"""

import heapq
import json
from collections.abc import Iterable
from typing import Any, NamedTuple, TextIO

from dbt_tangles.cli.options import name_of
from dbt_tangles.cli.pasted_ids import as_sigil
from dbt_tangles.cli.tables import CommandError, Tables, is_unicode

#: Author: the length of the author's feed that a replica has, or `NOT_REPLICATED`.
Clock = dict[str, int]

NOT_REPLICATED = -1
MAX_LENGTH = 2**31 - 1
_MOST_CHARACTERS = 64 * 2**20
#: The messages that a message follows in the tangles that it claims.
_LINKS = """list_distinct(flatten([
    list_concat([claim.root_id], coalesce(claim.previous, [])) for claim in tangle_claims if claim.defect is null]))"""


class Message(NamedTuple):
    """A message in the chain of its feed."""

    message_id: str  # The id
    author: str  # The feed
    sequence: int  # The place in the feed, from 1
    links: list[str]  # The messages that it follows in tangles


class Peer(NamedTuple):
    """The messages that a peer says it has: the lengths of its feeds, or else the ids of its latest messages."""

    clock: Clock | None
    tips: list[str]


def read_peer(file: TextIO) -> Peer:
    """Read a peer's statement: `{author: length}`, a list of ids, or an answer of `tangles send --clock`.

    Raises:
        CommandError: The text is neither, or too long.
    """
    wanted = 'give {"AUTHOR": LENGTH, ...}, ["ID", ...] or the output of `tangles send --clock`'
    text = file.read(_MOST_CHARACTERS + 1)
    if len(text) > _MOST_CHARACTERS:
        raise CommandError(f"{name_of(file)}: has more than {_MOST_CHARACTERS:,} characters; {wanted}")
    try:
        said: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{name_of(file)}: not JSON ({error}); {wanted}") from error
    if isinstance(said, dict):
        said = next((said[key] for key in ("clock", "tips") if isinstance(said.get(key), (dict, list))), said)
    if isinstance(said, list) and all(isinstance(each, str) for each in said):
        return Peer(None, [as_sigil(each) for each in said])
    if not isinstance(said, dict):
        raise CommandError(f"{name_of(file)}: neither a clock nor a list of ids; {wanted}")
    clock: Clock = {}
    for key, length in said.items():
        author = as_sigil(key)
        if type(length) is not int or not NOT_REPLICATED <= length <= MAX_LENGTH:
            raise CommandError(
                f"{name_of(file)}: the length of {key!r} is not a whole number from 0, or {NOT_REPLICATED} for a feed "
                f"that the peer does not replicate; {wanted}"
            )
        if clock.setdefault(author, length) != length:
            raise CommandError(f"{name_of(file)}: {author!r} has two lengths, as a sigil and as a URI; keep one")
    return Peer(clock, [])


def own_clock(tables: Tables) -> Clock:
    """Return the verified length of each feed of the warehouse."""
    rows = tables.rows("select author, verified_length from feeds where verified_length > 0 order by author")
    return {row["author"]: row["verified_length"] for row in rows}


def clock_of(tables: Tables, peer: Peer) -> tuple[Clock, list[str]]:
    """Derive a peer's clock, and list the ids of authors or messages that it names and the warehouse lacks.

    A peer that names ids has the messages that these follow, in feeds and in tangles. If it names a message of an
    author, its latest named message ends that author's feed.
    """
    if peer.clock is not None:
        return peer.clock, _unknown(tables, "select author as id from feeds", peer.clock)
    messages = {message.message_id: message for message in _in_chain(tables, {})}
    at = {(message.author, message.sequence): message for message in messages.values()}
    tips = [tip for tip in dict.fromkeys(peer.tips) if tip in messages]
    named: Clock = {}
    for tip in tips:
        _raise_length(named, messages[tip])
    clock: Clock = {}
    due = [messages[tip] for tip in tips]
    while due:
        last = due.pop()
        for sequence in range(clock.get(last.author, 0) + 1, last.sequence + 1):
            links = at[last.author, sequence].links if (last.author, sequence) in at else []
            due += [messages[link] for link in links if link in messages]
        _raise_length(clock, last)
    return clock | named, _unknown(tables, "select message_id as id from ssb_messages", peer.tips)


def _unknown(tables: Tables, sql: str, ids: Iterable[str]) -> list[str]:
    """List the ids that a query of all known ids lacks."""
    rows = tables.rows(
        f"select id from ({sql}) where id in (select unnest($ids))",
        ids=list(filter(is_unicode, ids)),
    )
    known = {row["id"] for row in rows}
    return [id_ for id_ in dict.fromkeys(ids) if id_ not in known]


def _raise_length(clock: Clock, message: Message) -> None:
    clock[message.author] = max(clock.get(message.author, 0), message.sequence)


def lacking(tables: Tables, clock: Clock) -> list[Message]:
    """List the messages that a peer with this clock lacks, in an order that it can apply.

    Each feed is in sequence, and a message comes after the messages of the list that it follows in tangles (Kahn's
    algorithm; of the messages that are ready, the least by author and sequence comes first). Where links form a cycle,
    which ids that are hashes exclude, the feed decides.
    """
    messages = _in_chain(tables, clock)
    places = {message.message_id: place for place, message in enumerate(messages)}
    followers: list[list[int]] = [[] for _ in messages]
    waiting = [0] * len(messages)
    for place, message in enumerate(messages):
        causes = {places[link] for link in message.links if link in places} - {place}
        if place and messages[place - 1].author == message.author:
            causes.add(place - 1)
        waiting[place] = len(causes)
        for cause in causes:
            followers[cause].append(place)
    return [messages[place] for place in _topological(followers, waiting)]


def _topological(followers: list[list[int]], waiting: list[int]) -> Iterable[int]:
    """Yield places after their causes; if a cycle remains, its first place."""
    ready = [place for place, count in enumerate(waiting) if not count]
    is_done = [False] * len(waiting)
    lowest = 0
    while True:
        while ready:
            place = heapq.heappop(ready)
            if is_done[place]:
                continue
            is_done[place] = True
            yield place
            for follower in followers[place]:
                waiting[follower] -= 1
                if not waiting[follower]:
                    heapq.heappush(ready, follower)
        while lowest < len(waiting) and is_done[lowest]:
            lowest += 1
        if lowest == len(waiting):
            return
        # The places of a feed ascend, so the first of all places follows only places that are done in its own feed.
        ready.append(lowest)


def _in_chain(tables: Tables, clock: Clock) -> list[Message]:
    """List the messages in chains behind a clock, by author and sequence."""
    known = {
        author: MAX_LENGTH if length == NOT_REPLICATED else length
        for author, length in clock.items()
        if is_unicode(author)
    }
    rows = tables.rows(
        f"""with clock as (select unnest($authors) as author, unnest($lengths) as length)
        select chain.message_id, chain.author, chain.sequence, {_LINKS} as links
        from feed_messages as chain inner join ssb_messages as messages using (message_id)
        left join clock on chain.author = clock.author
        where chain.in_chain and chain.sequence > coalesce(clock.length, 0)
        order by chain.author, chain.sequence""",
        authors=[*known],
        lengths=[*known.values()],
    )
    return [Message(row["message_id"], row["author"], row["sequence"], row["links"] or []) for row in rows]


def ranges_to_ask(tables: Tables, peer: Peer) -> list[dict]:
    """List the ranges of feeds, and the ids, that the peer has and the warehouse lacks."""
    ours = own_clock(tables)
    if peer.clock is None:
        return [{"message_id": tip} for tip in clock_of(tables, peer)[1]]
    return [
        {"author": author, "from_sequence": ours.get(author, 0) + 1, "to_sequence": length}
        for author, length in sorted(peer.clock.items())
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
