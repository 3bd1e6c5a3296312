"""The benchmark's log has the published figures of a real peer's, and every message of it is usable."""

import gzip
import itertools
import json
from collections import defaultdict

import numpy as np
import pytest

from bench import log_lengths, make_log
from dbt_tangles.formats.ssb.verify_lines import VerifyOptions, verify_batches
from log_lines import batch_of

SMALL = ["--quiet", "--messages", "1500", "--feeds", "60"]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Return a small log: its figures, its raw lines and its messages."""
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    told = make_log.main([*SMALL, "--out", str(path)])
    lines = path.read_bytes().splitlines()
    return told, lines, [json.loads(line) for line in lines]


@pytest.mark.parametrize("scale", [1, 16])
def test_lengths_meet_the_published_figures(scale):
    """Total, most common length, median, longest, and the feeds that hold half of the messages."""
    lengths = log_lengths.feed_lengths(617_362 * scale, 9_286 * scale)
    assert (lengths.sum(), len(lengths)) == (617_362 * scale, 9_286 * scale)
    assert (np.bincount(lengths).argmax(), np.median(lengths), lengths.max()) == (3, 9, 20_080)
    assert (np.cumsum(lengths) < lengths.sum() / 2).sum() + 1 == 78 * scale


def test_every_message_is_usable_and_stands_in_the_order_of_receipt(log):
    """Beginnings and gaps of the partial feeds show in the sequences; a missing end does not."""
    told, lines, messages = log
    [checked] = verify_batches(iter([batch_of(lines)]), VerifyOptions())
    assert set(checked.column("check_error").to_pylist()) == {None}
    assert checked.column("message_id").to_pylist() == [message["key"] for message in messages]
    received = [message["timestamp"] for message in messages]
    assert received == sorted(received)
    feeds = defaultdict(list)
    for message in messages:
        feeds[message["value"]["author"]].append(message["value"]["sequence"])
    assert all(feed == sorted({*feed}) for feed in feeds.values())
    assert (len(messages), len(feeds), told["partial_feeds"]) == (1_500, 60, 3)
    assert sum(feed != list(range(1, len(feed) + 1)) for feed in feeds.values()) <= 3 <= told["unwritten"]


def test_the_same_arguments_write_the_same_bytes(log, tmp_path):
    """Compressed and split, the log is the same; another seed gives another."""
    _, lines, _ = log
    make_log.main([*SMALL, "--out", str(tmp_path / "log.jsonl.gz"), "--files", "3"])
    paths = sorted(tmp_path.iterdir())
    assert [path.name for path in paths] == ["log-0001.jsonl.gz", "log-0002.jsonl.gz", "log-0003.jsonl.gz"]
    parts = [gzip.decompress(path.read_bytes()).splitlines() for path in paths]
    assert [len(part) for part in parts] == [500, 500, 500]
    assert list(itertools.chain.from_iterable(parts)) == lines
    make_log.main(["--quiet", "--messages", "20", "--seed", "2", "--out", str(tmp_path / "other.jsonl")])
    assert (tmp_path / "other.jsonl").read_bytes().splitlines() != lines[:20]
