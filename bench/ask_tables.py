"""A warehouse of made-up tables, as a build would leave them: threads of ten messages, a thousand feeds.

One thread in a hundred waits for a message that is not there, and holds back its last four. Tables of messages are in
no order, those of tangles tangle by tangle, as joins and shuffles leave them; each is in several files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dbt_tangles.formats.ssb.ids import sigils

FEEDS, THREAD, BROKEN, FILES = 1_000, 10, 100, 8
_WORD, BLOCK = 40, 100_000


def write(folder: Path, messages: int) -> dict[str, str]:
    """Write the tables.

    Args:
        folder: The schema's folder, `<warehouse>/tangles.db`.
        messages: How many there are; a multiple of a thousand.

    Returns:
        What to ask about: `set_aside`, a message far down in a thread that waits; `missing`, what it waits for;
        `root`, that of the thread; `feed`, an author; `line`, that of `set_aside`.
    """
    chance = np.random.default_rng(1)
    number = np.arange(messages)
    ids = _ids(chance, messages)
    authors = pa.array([f"@{id_[1:45]}.ed25519" for id_ in _ids(chance, FEEDS).to_pylist()])
    author, sequence = authors.take(pa.array(number % FEEDS)), pa.array(number // FEEDS + 1, pa.int32())
    before = _where(ids, number - FEEDS, number >= FEEDS)
    thread, place = number // THREAD, number % THREAD
    root = ids.take(pa.array(thread * THREAD))
    is_broken = (thread % BROKEN == 0) & (place >= THREAD - 4)
    is_cause = is_broken & (place == THREAD - 4)
    gone = _ids(chance, int(is_cause.sum()))
    previous = _where(ids, number - 1, place > 0)
    previous = pc.replace_with_mask(previous, pa.array(is_cause), gone)
    gone_of = gone.take(pa.array(np.minimum(thread // BROKEN, len(gone) - 1)))
    depth = pa.array(place, pa.int32(), mask=is_broken)
    times = pa.array(1.6e12 + 1000.0 * number)

    def put(name: str, order: np.ndarray, **columns: pa.Array) -> None:
        table = pa.table(columns).take(pa.array(order))
        (folder / name).mkdir(parents=True)
        for part in range(FILES):
            begin, end = (len(table) * edge // FILES for edge in (part, part + 1))
            file = folder / name / f"part-{part:05}.zstd.parquet"
            pq.write_table(table.slice(begin, end - begin), file, compression="zstd")

    def same(value: object, kind: pa.DataType | None = None, count: int = messages) -> pa.Array:
        return pa.repeat(pa.scalar(value, kind or pa.bool_()), count)

    anyhow = chance.permutation(messages)
    words = _ids(chance, 1_000).to_pylist()
    texts = pa.array([f'{{"type":"post","text":"{words[k % 1000][:_WORD] * (k % 8)}"}}' for k in number.tolist()])
    put(
        "ssb_messages",
        anyhow,
        message_id=ids,
        line_count=same(1, pa.int32()),
        author=author,
        sequence=sequence,
        previous_id=before,
        asserted_at=times,
        content_type=same("post", pa.string()),
        content=texts,
        is_encrypted=same(False),
        is_decrypted=same(False),
        is_signature_valid=same(True),
        is_usable=same(True),
        is_key_consistent=same(True),
        claimed_key=same(None, pa.string()),
        check_error=same(None, pa.string()),
        tangle_claims=same([], pa.list_(pa.struct({"tangle_name": pa.string(), "root_id": pa.string()}))),
    )
    put(
        "stg_ssb__lines",
        anyhow,
        source_file=same("file:///logs/made.jsonl", pa.string()),
        block_start=pa.array(number // BLOCK * BLOCK),
        row_id=pa.array(number % BLOCK),
        message_id=ids,
    )
    chain = {"message_id": ids, "author": author, "sequence": sequence}
    put("feed_messages", anyhow, **chain, in_chain=same(True), reason=same(None, pa.string()))
    last, length = ids.slice(messages - FEEDS), same(messages // FEEDS, pa.int32(), FEEDS)
    put(
        "feeds",
        np.arange(FEEDS),
        author=authors,
        message_count=length,
        max_sequence=length,
        verified_length=length,
        fork_sequence=same(None, pa.int32(), FEEDS),
        gap_sequence=same(None, pa.int32(), FEEDS),
        status=same("complete", pa.string(), FEEDS),
        latest_message_id=last,
    )
    together = np.lexsort((number, chance.permutation(messages // THREAD)[thread]))
    reasons = np.where(is_cause, "missing_previous", "previous_set_aside")
    put(
        "tangle_messages",
        together,
        tangle_name=same("thread", pa.string()),
        root_id=root,
        message_id=ids,
        author=author,
        is_member=pa.array(~is_broken),
        set_aside_reason=pa.array(reasons, mask=~is_broken),
        blocked_by=pa.ListArray.from_arrays(
            pa.array(np.concatenate(([0], np.cumsum(is_broken))), pa.int32()), gone_of.filter(pa.array(is_broken))
        ),
        depth=depth,
        position=depth,
        is_root=pa.array(place == 0),
        is_tip=pa.array((place == THREAD - 1) & ~is_broken),
        is_fork=same(False),
        is_merge=same(False),
    )
    follows, in_feed = np.flatnonzero(place > 0), np.flatnonzero(number >= FEEDS)
    links = together[np.isin(together, follows)]
    first = ids.slice(0, FEEDS)
    put(
        "tangle_edges",
        np.arange(len(links) + len(in_feed)),
        tangle_name=pa.concat_arrays(
            [same("thread", pa.string(), len(links)), same("feed", pa.string(), len(in_feed))]
        ),
        root_id=pa.concat_arrays([root.take(pa.array(links)), first.take(pa.array(in_feed % FEEDS))]),
        message_id=pa.concat_arrays([ids.take(pa.array(links)), ids.take(pa.array(in_feed))]),
        previous_id=pa.concat_arrays([previous.take(pa.array(links)), before.take(pa.array(in_feed))]),
        is_member_edge=pa.array(np.concatenate((~is_broken[links], np.ones(len(in_feed), bool)))),
        is_redundant=same(False, count=len(links) + len(in_feed)),
    )
    tangles = messages // THREAD
    waits = np.arange(tangles) % BROKEN == 0
    roots = ids.take(pa.array(np.arange(tangles) * THREAD))
    tip = ids.take(pa.array(np.arange(tangles) * THREAD + np.where(waits, THREAD - 5, THREAD - 1)))
    tips = pa.ListArray.from_arrays(pa.array(np.arange(tangles + 1), pa.int32()), tip)
    name = {"tangle_name": same("thread", pa.string(), tangles), "root_id": roots}
    put(
        "tangles",
        np.arange(tangles),
        **name,
        root_status=same("present", pa.string(), tangles),
        member_count=pa.array(np.where(waits, THREAD - 4, THREAD), pa.int32()),
        set_aside_count=pa.array(np.where(waits, 4, 0), pa.int32()),
        tips=tips,
    )
    put("tangle_next", np.arange(tangles), **name, previous=tips, depth=same(THREAD, pa.int32(), tangles))
    four = same(4, pa.int32(), len(gone))
    put(
        "tangle_missing",
        np.arange(len(gone)),
        tangle_name=same("thread", pa.string(), len(gone)),
        root_id=roots.filter(pa.array(waits)),
        missing_id=gone,
        is_in_log=same(False, count=len(gone)),
        waiting_count=same(1, pa.int32(), len(gone)),
        blocked_count=four,
        unlocks=four,
    )
    put(
        "timeline_events",
        anyhow,
        timeline_id=same("ssb:log", pa.string()),
        event_id=ids,
        rank=sequence,
        position=pa.array(number, pa.int32()),
        is_tip=same(False),
        author=author,
        message_id=ids,
    )
    put(
        "timeline_links",
        chance.permutation(len(in_feed)),
        timeline_id=same("ssb:log", pa.string(), len(in_feed)),
        event_id=ids.take(pa.array(in_feed)),
        cause_id=before.take(pa.array(in_feed)),
        kind=same("feed", pa.string(), len(in_feed)),
        is_known=same(True, count=len(in_feed)),
    )
    put(
        "timeline_stats",
        np.arange(1),
        timeline_id=same("ssb:log", pa.string(), 1),
        event_count=same(messages, pa.int64(), 1),
        edit_count=same(0, pa.int64(), 1),
        publication=same("p", pa.string(), 1),
    )
    return {
        "set_aside": ids[THREAD - 1].as_py(),
        "missing": gone[0].as_py(),
        "root": ids[0].as_py(),
        "feed": authors[0].as_py(),
        "line": f"made.jsonl:{THREAD}",
    }


def _ids(chance: np.random.Generator, count: int) -> pa.Array:
    raw = chance.bytes(32 * count)
    return sigils([raw[32 * k : 32 * k + 32] for k in range(count)])


def _where(values: pa.Array, places: np.ndarray, are_there: np.ndarray) -> pa.Array:
    """Take values at places, null where they are not there."""
    return values.take(pa.array(np.maximum(places, 0), mask=~are_there))
