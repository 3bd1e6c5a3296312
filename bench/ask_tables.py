"""A warehouse of made-up tables, as a build would leave them: threads of ten messages, a thousand feeds.

One thread in a hundred waits for a missing message, which holds back its last four messages. Tables of messages are in
random order and tables of tangles are tangle by tangle, as joins and shuffles leave them; each table has several files.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dbt_tangles.formats.ssb.ids import sigils

FEEDS, THREAD, BROKEN, FILES = 1_000, 10, 100, 8
_WORD = 40


def write(folder: Path, messages: int) -> dict[str, str]:
    """Write the tables.

    Args:
        folder: The schema's folder, `<warehouse>/tangles.db`.
        messages: The number of messages; a multiple of a thousand.

    Returns:
        Ids to ask about: `set_aside`, a message of a thread that waits; `missing`, the message it waits for; `root`,
        the root of the thread; `feed`, an author; `line`, the line of `set_aside`.
    """
    made = _Made(folder, messages)
    made.write_messages()
    made.write_feeds()
    made.write_tangle_messages()
    made.write_edges()
    made.write_tangles()
    made.write_timeline()
    return {
        "set_aside": made.ids[THREAD - 1].as_py(),
        "missing": made.gone[0].as_py(),
        "root": made.ids[0].as_py(),
        "feed": made.authors[0].as_py(),
        "line": f"made.jsonl:{THREAD}",
    }


class _Made:
    """The columns that several tables share, by message.

    Attributes:
        number: int64[messages], the messages in the order of writing.
        before: The previous message of each feed.
        thread: int64[messages], and `place`, the place of each message in it.
        is_broken: bool[messages], whether a message is set aside; `is_cause`: whether it lists the missing one.
        gone: The missing messages.
        shuffled: int64[messages], a random order.
        together: int64[messages], an order that keeps threads together.
    """

    def __init__(self, folder: Path, messages: int) -> None:
        self.folder, self.messages = folder, messages
        self.chance = chance = np.random.default_rng(1)
        self.number = number = np.arange(messages)
        self.ids = ids = _ids(chance, messages)
        self.authors = pa.array([f"@{id_[1:45]}.ed25519" for id_ in _ids(chance, FEEDS).to_pylist()])
        self.author = self.authors.take(pa.array(number % FEEDS))
        self.sequence = pa.array(number // FEEDS + 1, pa.int32())
        self.before = _where(ids, number - FEEDS, number >= FEEDS)
        self.thread, self.place = number // THREAD, number % THREAD
        self.root = ids.take(pa.array(self.thread * THREAD))
        self.is_broken = (self.thread % BROKEN == 0) & (self.place >= THREAD - 4)
        self.is_cause = self.is_broken & (self.place == THREAD - 4)
        self.gone = _ids(chance, int(self.is_cause.sum()))
        previous = _where(ids, number - 1, self.place > 0)
        self.previous = pc.replace_with_mask(previous, pa.array(self.is_cause), self.gone)
        self.shuffled = chance.permutation(messages)

    def _put(self, name: str, order: np.ndarray, **columns: pa.Array) -> None:
        table = pa.table(columns).take(pa.array(order))
        (self.folder / name).mkdir(parents=True)
        for part in range(FILES):
            begin, end = (len(table) * edge // FILES for edge in (part, part + 1))
            file = self.folder / name / f"part-{part:05}.zstd.parquet"
            pq.write_table(table.slice(begin, end - begin), file, compression="zstd")

    def _same(self, value: object, kind: pa.DataType | None = None, count: int | None = None) -> pa.Array:
        return pa.repeat(pa.scalar(value, kind or pa.bool_()), self.messages if count is None else count)

    def write_messages(self) -> None:
        """Write ssb_messages and stg_ssb__lines."""
        words, same = _ids(self.chance, 1_000).to_pylist(), self._same
        texts = [f'{{"type":"post","text":"{words[k % 1000][:_WORD] * (k % 8)}"}}' for k in self.number.tolist()]
        self._put(
            "ssb_messages",
            self.shuffled,
            message_id=self.ids,
            line_count=same(1, pa.int32()),
            author=self.author,
            sequence=self.sequence,
            previous_id=self.before,
            asserted_at=pa.array(1.6e12 + 1000.0 * self.number),
            content_type=same("post", pa.string()),
            content=pa.array(texts),
            is_encrypted=same(False),
            is_decrypted=same(False),
            is_signature_valid=same(True),
            is_usable=same(True),
            is_key_consistent=same(True),
            claimed_key=same(None, pa.string()),
            check_error=same(None, pa.string()),
            tangle_claims=same([], pa.list_(pa.struct({"tangle_name": pa.string(), "root_id": pa.string()}))),
        )
        self._put(
            "stg_ssb__lines",
            self.shuffled,
            source_file=same("file:///logs/made.jsonl", pa.string()),
            line=pa.array(self.number + 1),
            message_id=self.ids,
        )

    def write_feeds(self) -> None:
        """Write feed_messages and feeds."""
        chain = {"message_id": self.ids, "author": self.author, "sequence": self.sequence}
        self._put(
            "feed_messages", self.shuffled, **chain, in_chain=self._same(True), reason=self._same(None, pa.string())
        )
        length = self._same(self.messages // FEEDS, pa.int32(), FEEDS)
        self._put(
            "feeds",
            np.arange(FEEDS),
            author=self.authors,
            message_count=length,
            max_sequence=length,
            verified_length=length,
            fork_sequence=self._same(None, pa.int32(), FEEDS),
            gap_sequence=self._same(None, pa.int32(), FEEDS),
            status=self._same("complete", pa.string(), FEEDS),
            latest_message_id=self.ids.slice(self.messages - FEEDS),
        )

    def write_tangle_messages(self) -> None:
        """Write tangle_messages."""
        threads = self.chance.permutation(self.messages // THREAD)[self.thread]
        self.together = np.lexsort((self.number, threads))
        reasons = np.where(self.is_cause, "missing_previous", "previous_set_aside")
        depth = pa.array(self.place, pa.int32(), mask=self.is_broken)
        gone_of = self.gone.take(pa.array(np.minimum(self.thread // BROKEN, len(self.gone) - 1)))
        starts = pa.array(np.concatenate(([0], np.cumsum(self.is_broken))), pa.int32())
        self._put(
            "tangle_messages",
            self.together,
            tangle_name=self._same("thread", pa.string()),
            root_id=self.root,
            message_id=self.ids,
            author=self.author,
            is_member=pa.array(~self.is_broken),
            set_aside_reason=pa.array(reasons, mask=~self.is_broken),
            blocked_by=pa.ListArray.from_arrays(starts, gone_of.filter(pa.array(self.is_broken))),
            depth=depth,
            position=depth,
            is_root=pa.array(self.place == 0),
            is_tip=pa.array((self.place == THREAD - 1) & ~self.is_broken),
            is_fork=self._same(False),
            is_merge=self._same(False),
            concurrent_count=pa.array(np.zeros(self.messages), pa.int32(), mask=self.is_broken),
            tie_broken_with=self._same(None, pa.string()),
        )

    def write_edges(self) -> None:
        """Write tangle_edges: the links of threads and of feeds."""
        ids, in_feed = self.ids, np.flatnonzero(self.number >= FEEDS)
        links = self.together[np.isin(self.together, np.flatnonzero(self.place > 0))]
        in_thread, of_feed = pa.array(links), pa.array(in_feed)
        count = len(links) + len(in_feed)
        kinds = [self._same("thread", pa.string(), len(links)), self._same("feed", pa.string(), len(in_feed))]
        first = ids.slice(0, FEEDS).take(pa.array(in_feed % FEEDS))
        self._put(
            "tangle_edges",
            np.arange(count),
            tangle_name=pa.concat_arrays(kinds),
            root_id=pa.concat_arrays([self.root.take(in_thread), first]),
            message_id=pa.concat_arrays([ids.take(in_thread), ids.take(of_feed)]),
            previous_id=pa.concat_arrays([self.previous.take(in_thread), self.before.take(of_feed)]),
            is_member_edge=pa.array(np.concatenate((~self.is_broken[links], np.ones(len(in_feed), bool)))),
            is_redundant=self._same(False, count=count),
        )

    def write_tangles(self) -> None:
        """Write tangles, tangle_next and tangle_missing."""
        tangles, same = self.messages // THREAD, self._same
        waits = np.arange(tangles) % BROKEN == 0
        roots = self.ids.take(pa.array(np.arange(tangles) * THREAD))
        tip = self.ids.take(pa.array(np.arange(tangles) * THREAD + np.where(waits, THREAD - 5, THREAD - 1)))
        tips = pa.ListArray.from_arrays(pa.array(np.arange(tangles + 1), pa.int32()), tip)
        name = {"tangle_name": same("thread", pa.string(), tangles), "root_id": roots}
        self._put(
            "tangles",
            np.arange(tangles),
            **name,
            root_status=same("present", pa.string(), tangles),
            member_count=pa.array(np.where(waits, THREAD - 4, THREAD), pa.int32()),
            set_aside_count=pa.array(np.where(waits, 4, 0), pa.int32()),
            tips=tips,
        )
        self._put("tangle_next", np.arange(tangles), **name, previous=tips, depth=same(THREAD, pa.int32(), tangles))
        missing = len(self.gone)
        four = same(4, pa.int32(), missing)
        self._put(
            "tangle_missing",
            np.arange(missing),
            tangle_name=same("thread", pa.string(), missing),
            root_id=roots.filter(pa.array(waits)),
            missing_id=self.gone,
            is_in_log=same(False, count=missing),
            is_sealed=same(False, count=missing),
            waiting_count=same(1, pa.int32(), missing),
            blocked_count=four,
            unlocks=four,
        )

    def write_timeline(self) -> None:
        """Write timeline_events, timeline_links and timeline_stats of the log's own timeline."""
        same, in_feed = self._same, pa.array(np.flatnonzero(self.number >= FEEDS))
        self._put(
            "timeline_events",
            self.shuffled,
            timeline_id=same("ssb:log", pa.string()),
            event_id=self.ids,
            rank=self.sequence,
            position=pa.array(self.number, pa.int32()),
            is_tip=same(False),
            is_tie_broken=same(False),
            left_out_causes=same([], pa.list_(pa.string())),
            author=self.author,
            message_id=self.ids,
            source_file=same(None, pa.string()),
            line=same(None, pa.int64()),
        )
        self._put(
            "timeline_links",
            self.chance.permutation(len(in_feed)),
            timeline_id=same("ssb:log", pa.string(), len(in_feed)),
            event_id=self.ids.take(in_feed),
            cause_id=self.before.take(in_feed),
            kind=same("feed", pa.string(), len(in_feed)),
            is_known=same(True, count=len(in_feed)),
        )
        self._put(
            "timeline_stats",
            np.arange(1),
            timeline_id=same("ssb:log", pa.string(), 1),
            event_count=same(self.messages, pa.int64(), 1),
            edit_count=same(0, pa.int64(), 1),
            publication=same("p", pa.string(), 1),
        )


def _ids(chance: np.random.Generator, count: int) -> pa.Array:
    raw = chance.bytes(32 * count)
    return sigils([raw[32 * k : 32 * k + 32] for k in range(count)])


def _where(values: pa.Array, places: np.ndarray, are_there: np.ndarray) -> pa.Array:
    """Take values at places, null where `are_there` is false."""
    return values.take(pa.array(np.maximum(places, 0), mask=~are_there))
