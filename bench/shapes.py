"""Made-up logs in typical shapes, for measuring; the same seed gives the same table.

W   wide: 1.0M messages in 100K threads, sizes by a power law, depth up to 120.
D   deep: 524K events of 64 feeds in one tangle, depth about 36,000.
M   mixed: 1.0M, most of them in threads, and one tangle of depth about 18,000 that is set aside nearly completely,
    because an early message is missing.

Ids have the form of real ones, and rows are shuffled, as after a Spark shuffle.
"""

import binascii

import numpy as np
import pyarrow as pa
from numba import njit

ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)
ID_LENGTH = 52
MAX_DEPTH = 120
START = 1_600_000_000_000.0


def shape(name: str, scale: float = 1.0, seed: int = 1) -> pa.Table:
    """Make the candidates of one of the named shapes.

    Args:
        name: `W`, `D` or `M`.
        scale: The number of rows as a multiple of the full size.
        seed: The seed of the random generator.

    Returns:
        A table in the schema that `walk_graphs` takes, with the further columns `author` and `sequence`.
    """
    rng = np.random.default_rng(seed)

    def size(rows: int) -> int:
        return max(int(rows * scale), 1)

    if name == "W":
        return _table(rng, *_threads(rng, size(1_000_000), size(100_000)))
    if name == "D":
        return _table(rng, *_deep(rng, size(524_288), 64))
    if name == "M":
        deep, wide = size(262_144), size(737_856)
        return _table(rng, *_joined(_deep(rng, deep, 64), _threads(rng, wide, max(wide // 10, 1))), missing=deep // 500)
    raise ValueError(f"unknown shape {name!r}; choose W, D or M")


def make_ids(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw message ids.

    Returns:
        uint8[count, 52].
    """
    drawn = binascii.b2a_base64(rng.bytes(33 * count), newline=False)
    ids = np.empty((count, ID_LENGTH), np.uint8)
    ids[:, 0] = ord("%")
    ids[:, 1:44] = np.frombuffer(drawn, np.uint8).reshape(count, 44)[:, :43]
    # 32 bytes are 42 digits and four bits, so the last digit is a multiple of four.
    last = np.zeros(256, np.uint8)
    last[ALPHABET] = ALPHABET[np.arange(64) & ~3]
    ids[:, 43] = last[ids[:, 43]]
    ids[:, 44:] = np.frombuffer(b"=.sha256", np.uint8)
    return ids


def _strings(ids: np.ndarray) -> pa.Array:
    if ids.size >= 2**31:
        offsets = np.arange(len(ids) + 1) * ids.shape[1]
        return pa.LargeStringArray.from_buffers(len(ids), pa.py_buffer(offsets), pa.py_buffer(ids.ravel()))
    offsets = (np.arange(len(ids) + 1) * ids.shape[1]).astype(np.int32)
    return pa.StringArray.from_buffers(len(ids), pa.py_buffer(offsets), pa.py_buffer(ids.ravel()))


def _joined(a, b):
    shift = len(a[0])
    return (
        np.concatenate([a[0], b[0] + shift]),
        np.concatenate([a[1], b[1][1:] + a[1][-1]]),
        np.concatenate([a[2], b[2] + shift]),
        np.concatenate([a[3], b[3]]),
        np.concatenate([a[4], b[4]]),
    )


def _threads(rng, messages, threads):
    sizes = (1 - rng.random(threads)) ** (-1 / 0.98)
    sizes = np.minimum(sizes, 5_000)
    sizes = np.maximum((sizes * messages / sizes.sum()).astype(np.int64), 1)
    largest = np.argsort(-sizes)
    while sizes.sum() != messages:
        wrong = messages - sizes.sum()
        step = np.sign(wrong) * max(abs(wrong) // threads, 1)
        few = largest[: min(abs(wrong), threads)]
        sizes[few] = np.maximum(sizes[few] + step, 1)
    root, start, previous = _grow_threads(sizes, rng.random(messages), rng.random(messages))
    authors = np.minimum((1 - rng.random(messages)) ** -0.8, 1_000).astype(np.int64) - 1
    by_author = np.argsort(authors, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(authors))])
    sequence = np.empty(messages, np.int64)
    sequence[by_author] = np.arange(messages) - np.repeat(first[:-1], np.diff(first)) + 1
    return root, start, previous, authors, sequence


@njit
def _grow_threads(sizes, chance, pick):
    n = sizes.sum()
    root = np.empty(n, np.int64)
    start = np.zeros(n + 1, np.int64)
    previous = np.empty(4 * n, np.int64)
    depth = np.zeros(n, np.int64)
    tips = np.empty(sizes.max(), np.int64)
    count = 0
    first = 0
    for size in sizes:
        tips[0] = first
        tip_count = 1
        for m in range(first, first + size):
            root[m] = first
            start[m + 1] = count
            if m == first:
                continue
            if chance[m] < 0.75 and depth[tips[tip_count - 1]] < MAX_DEPTH:
                # An up-to-date message: the messages it cites are no longer tips.
                for _ in range(4):
                    p = tips[tip_count - 1]
                    if depth[p] >= MAX_DEPTH:
                        break
                    previous[count] = p
                    count += 1
                    depth[m] = max(depth[m], depth[p] + 1)
                    tip_count -= 1
                    if tip_count == 0:
                        break
            else:
                p = m - 1 - np.int64(pick[m] * min(m - first, 10))
                while depth[p] >= MAX_DEPTH:
                    p = first + (p - first) // 2
                previous[count] = p
                count += 1
                depth[m] = depth[p] + 1
            tips[tip_count] = m
            tip_count += 1
            start[m + 1] = count
        first += size
    return root, start, previous[:count]


def _deep(rng, events, feeds):
    steps = rng.integers(1, 29, events)
    return _grow_deep(events, feeds, steps, rng.random(2 * events))


@njit
def _grow_deep(events, feeds, steps, pick):
    """Grow feeds in steps: the acting feeds cite their own last event and the highest tip of the others."""
    start = np.zeros(events + 1, np.int64)
    previous = np.empty(2 * events, np.int64)
    author = np.zeros(events, np.int64)
    sequence = np.zeros(events, np.int64)
    rank = np.zeros(events, np.int64)
    last = np.zeros(feeds, np.int64)  # event 0 is the root, where all feeds start
    length = np.zeros(feeds, np.int64)
    sequence[0] = 1
    length[0] = 1
    before = last.copy()
    order = np.arange(feeds)
    count = 0
    event = 1
    step = 0
    while event < events:
        before[:] = last
        top = 0
        for f in range(feeds):
            if rank[before[f]] > rank[before[top]]:
                top = f
        second = 1 if top == 0 else 0
        for f in range(feeds):
            if f != top and rank[before[f]] > rank[before[second]]:
                second = f
        for i in range(min(steps[step], events - event, feeds)):
            j = i + np.int64(pick[event] * (feeds - i))
            order[i], order[j] = order[j], order[i]
            feed = order[i]
            own, other = before[feed], before[second if feed == top else top]
            previous[count] = own
            count += 1
            if other != own:
                previous[count] = other
                count += 1
            rank[event] = max(rank[own], rank[other]) + 1
            length[feed] += 1
            author[event] = feed
            sequence[event] = length[feed]
            last[feed] = event
            start[event + 1] = count
            event += 1
        step += 1
    return np.zeros(events, np.int64), start, previous[:count], author, sequence


def _table(rng, root, start, previous, author, sequence, missing=None):
    n = len(root)
    ids = make_ids(rng, n)
    order = rng.permutation(n)
    if missing is not None:
        order = order[order != missing]
    lengths = np.diff(start)[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    edges = np.arange(offsets[-1]) + np.repeat(start[order] - offsets[:-1], lengths)
    asserted = START + 60_000.0 * (np.arange(n) + rng.normal(0, 20, n)).round()
    received = asserted + rng.exponential(30_000, n).round()
    names = pa.array(["ssb:legacy_thread", "group", "members"])
    is_root = root == np.arange(n)
    columns = {
        "graph_kind": names.take(pa.array(root[order] % 3)),
        "graph_id": _strings(ids[root[order]]),
        "node_id": _strings(ids[order]),
        "previous": pa.ListArray.from_arrays(
            pa.array(offsets.astype(np.int32)), _strings(ids[previous[edges]]), mask=pa.array(is_root[order])
        ),
        "is_root": pa.array(is_root[order]),
        "claim_error": pa.nulls(len(order), pa.string()),
        "asserted_at": pa.array(asserted[order]),
        "received_at": pa.array(received[order], mask=rng.random(len(order)) < 0.05),
        "author": pa.array([f"@{a:043d}=.ed25519" for a in range(author.max() + 1)]).take(pa.array(author[order])),
        "sequence": pa.array(sequence[order].astype(np.int32)),
    }
    return pa.table(columns)
