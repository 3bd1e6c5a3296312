"""Feed lengths that match the published figures of a real peer's log."""

from collections.abc import Callable

import numpy as np

PEER_MESSAGES = 617_362
PEER_FEEDS = 9_286
PEER_LONGEST = 20_080
PEER_TOP_FEEDS = 78

# The numbers of feeds of length 1, 2, ... 9. The nines straddle the middle, so that the median is 9.
SHORT_FEEDS = (480, 620, 760, 640, 540, 480, 430, 390, 376)


def _bisect(sum_at: Callable[[float], float], low: float, high: float, wanted: float) -> float:
    """Return the last place at which an increasing function is below a value, by bisection."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if sum_at(middle) < wanted else (low, middle)
    return low


def peer_lengths() -> np.ndarray:
    """Return the lengths of the peer's feeds, longest first, by a law that meets the published figures."""
    short = np.repeat(np.arange(len(SHORT_FEEDS), 0, -1), SHORT_FEEDS[::-1])
    half = PEER_MESSAGES / 2

    # The longest: a power law whose sum is half of all messages, by less than the last of these feeds.
    rank = np.arange(1, PEER_TOP_FEEDS + 1)
    slope = -_bisect(lambda x: (PEER_LONGEST * rank**x).sum(), -3.0, 0.0, half)
    top = np.ceil(PEER_LONGEST * rank**-slope)

    # Between the longest and the short feeds: a parabola on logarithmic axes, bent to reach the total.
    count = PEER_FEEDS - len(top) - len(short)
    t = np.log(np.arange(1, count + 1) / count * (PEER_FEEDS / PEER_TOP_FEEDS) + 1)
    t = (t - t[0]) / (t[-1] - t[0])
    line = np.log(top[-1]) * (1 - t) + np.log(10) * t
    rest = PEER_MESSAGES - top.sum() - short.sum()
    bend = _bisect(lambda x: np.exp(line + x * t * (1 - t)).sum(), -20.0, 20.0, rest)
    middle = np.maximum(np.rint(np.exp(line + bend * t * (1 - t))), 10)
    missing = int(rest - middle.sum())
    middle[5 : 5 + abs(missing)] += np.sign(missing)  # rounding, spread over feeds of hundreds of messages
    return np.sort(np.concatenate([top, middle, short]).astype(np.int64))[::-1]


def feed_lengths(messages: int, feeds: int) -> np.ndarray:
    """Return feed lengths for any number of messages and feeds, longest first, in the shape of the peer's.

    Args:
        messages: The sum of the lengths.
        feeds: The number of lengths; at most `messages`.
    """
    if not 0 < feeds <= messages:
        raise ValueError("there must be a feed, and no more feeds than messages")
    peer = peer_lengths()
    picked = peer[((np.arange(feeds) + 0.5) / feeds * len(peer)).astype(int)]
    if picked.sum() == messages:
        return picked
    # Short feeds keep their length if possible; the long ones are stretched to reach the total.
    long = picked > len(SHORT_FEEDS)
    if long.sum() + picked[~long].sum() > messages or not long.any():
        long[:] = True

    def stretched(factor: float) -> np.ndarray:
        return np.where(long, np.maximum(np.floor(picked * factor), 1), picked).astype(np.int64)

    factor = _bisect(lambda x: stretched(x).sum(), 0.0, float(messages), messages + 1)
    lengths = stretched(factor)
    missing = messages - int(lengths.sum())
    lengths[: missing % feeds] += 1
    lengths += missing // feeds
    return np.sort(lengths)[::-1]
