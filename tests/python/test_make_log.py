"""The benchmark's log has the published figures of a real peer's, and every message of it is usable."""

import gzip
import itertools
import json
from collections import Counter, defaultdict

import numpy as np
import pytest

from bench import log_lengths, log_plan, make_log
from dbt_tangles.formats.ssb.verify_lines import VerifyOptions, verify_batches
from log_lines import batch_of


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Return a small log: its figures, its raw lines and its messages."""
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    told = make_log.main(["--quiet", "--out", str(path), "--messages", "1500", "--feeds", "60"])
    lines = path.read_bytes().splitlines()
    return told, lines, [json.loads(line) for line in lines]


def half_from(lengths):
    """Return how many of the longest feeds hold half of all messages."""
    return int((np.cumsum(lengths) < lengths.sum() / 2).sum()) + 1


@pytest.mark.parametrize("scale", [1, 16])
def test_lengths_meet_the_published_figures(scale):
    """Total, most common length, median, longest, and the feeds that hold half of the messages."""
    lengths = log_lengths.feed_lengths(617_362 * scale, 9_286 * scale)
    assert (lengths.sum(), len(lengths)) == (617_362 * scale, 9_286 * scale)
    assert np.bincount(lengths).argmax() == 3
    assert np.median(lengths) == 9
    assert lengths.max() == 20_080
    assert half_from(lengths) == 78 * scale


def test_longer_feeds_are_rarer():
    """From the most common length on, counts fall, except for rounding."""
    counts = np.bincount(log_lengths.peer_lengths())[3:40]
    assert (counts[:7] >= counts[1:8]).all()
    assert (counts[8:-1] >= counts[9:]).all()


@pytest.mark.parametrize(
    ("messages", "feeds"), [(1, 1), (10, 10), (11, 10), (100, 7), (5_000, 75), (20_000, 9_286), (617_362, 100)]
)
def test_lengths_add_up_for_any_numbers(messages, feeds):
    """Odd proportions bend the law, never the totals."""
    lengths = log_lengths.feed_lengths(messages, feeds)
    assert (lengths.sum(), len(lengths), lengths.min() >= 1) == (messages, feeds, True)
    assert (np.diff(lengths) <= 0).all()


def test_every_message_is_usable(log):
    """The project's own kernel accepts all messages, under the ids that they claim."""
    _, lines, messages = log
    [checked] = verify_batches(iter([batch_of(lines)]), VerifyOptions())
    assert set(checked.column("check_error").to_pylist()) == {None}
    assert checked.column("message_id").to_pylist() == [message["key"] for message in messages]


def test_lines_stand_in_the_order_of_receipt(log):
    """Receipt keeps the order of each feed; most receive timestamps have a fraction."""
    _, _, messages = log
    received = [message["timestamp"] for message in messages]
    assert received == sorted(received)
    assert 0.7 < sum(at != int(at) for at in received) / len(received) < 0.87
    for feed in feeds_of(messages).values():
        assert [v["sequence"] for v in feed] == sorted({v["sequence"] for v in feed})
        assert all(a["timestamp"] < b["timestamp"] for a, b in itertools.pairwise(feed))


def feeds_of(messages):
    """Return the values of each feed."""
    feeds = defaultdict(list)
    for message in messages:
        feeds[message["value"]["author"]].append(message["value"])
    return feeds


def test_one_feed_in_twenty_is_partial(log):
    """Beginnings and gaps show in the sequences; a missing end does not."""
    told, _, messages = log
    feeds = feeds_of(messages)
    assert (len(messages), len(feeds)) == (1_500, 60)
    assert told["partial_feeds"] == 3
    holes = [f for f in feeds.values() if [v["sequence"] for v in f] != list(range(1, len(f) + 1))]
    assert len(holes) <= 3
    assert told["unwritten"] >= 3
    plan = log_plan.make_plan(1_500, 60, 243, 1)
    assert sorted(map(len, feeds.values())) == sorted(plan.lengths.tolist())


def test_every_kind_of_hole_is_drawn():
    """A beginning, a middle piece or an end is missing, each within its feed."""
    plan = log_plan.make_plan(60_000, 900, 100, 1)
    partial = plan.hidden[:, 1] > 0
    assert partial.sum() == 45
    first, after, length = plan.hidden[partial, 0], plan.hidden[partial, 1], plan.lengths[partial]
    assert (first == 1).any()
    assert (first == length + 1).any()
    assert ((first > 1) & (first <= length)).any()
    assert (after > first).all()
    assert (first <= length + 1).all()


def test_content_is_mixed(log):
    """Nearly half are not posts; threads come in both forms, branches as strings and arrays; some text is not ASCII."""
    _, lines, messages = log
    contents = [message["value"]["content"] for message in messages]
    kinds = Counter(content["type"] if isinstance(content, dict) else "encrypted" for content in contents)
    assert kinds.keys() == {"post", "vote", "contact", "about", "encrypted"}
    assert 0.4 < 1 - kinds["post"] / len(contents) < 0.5
    posts = [content for content in contents if isinstance(content, dict) and content["type"] == "post"]
    assert {type(post["branch"]) for post in posts if "branch" in post} == {str, list}
    assert any("tangles" in post and "root" in post for post in posts)
    assert not all(line.isascii() for line in lines)
    assert 150 < np.median([len(post["text"]) for post in posts]) < 300


def test_threads_fork_and_merge_and_one_is_deep(log):
    """Links are consistent: the deep thread has the stated depth, by many authors."""
    told, _, messages = log
    threads = defaultdict(dict)
    for message in messages:
        content = message["value"]["content"]
        if isinstance(content, dict) and (content.get("tangles", {}).get("thread") or {}).get("root"):
            entry = content["tangles"]["thread"]
            threads[entry["root"]][message["key"]] = entry["previous"]
    root, links = max(threads.items(), key=lambda thread: len(thread[1]))
    depth = {root: 0}
    while rest := [key for key in links if key not in depth]:
        ready = [key for key in rest if all(previous in depth for previous in links[key])]
        assert ready
        depth.update({key: 1 + max(depth[previous] for previous in links[key]) for key in ready})
    assert len(links) + 1 == told["deep_thread"]["messages"]
    assert max(depth.values()) == told["deep_thread"]["depth"] == round(100_000 * 1_500 / 617_362)
    assert told["deep_thread"]["authors"] > 20
    listed = Counter(itertools.chain.from_iterable(links.values()))
    assert max(listed.values()) > 1
    assert max(map(len, links.values())) > 1


def test_the_same_arguments_write_the_same_bytes(log, tmp_path):
    """Compressed and split, the log is the same; another seed gives another."""
    _, lines, _ = log
    arguments = ["--quiet", "--messages", "1500", "--feeds", "60"]
    make_log.main([*arguments, "--out", str(tmp_path / "log.jsonl.gz"), "--files", "3"])
    paths = sorted(tmp_path.iterdir())
    assert [path.name for path in paths] == ["log-0001.jsonl.gz", "log-0002.jsonl.gz", "log-0003.jsonl.gz"]
    parts = [gzip.decompress(path.read_bytes()).splitlines() for path in paths]
    assert [len(part) for part in parts] == [500, 500, 500]
    assert list(itertools.chain.from_iterable(parts)) == lines
    make_log.main(["--quiet", "--messages", "20", "--seed", "2", "--out", str(tmp_path / "other.jsonl")])
    assert (tmp_path / "other.jsonl").read_bytes().splitlines() != lines[:20]


@pytest.mark.parametrize(
    ("arguments", "messages", "feeds", "depth"),
    [
        ([], 617_362, 9_286, 100_000),
        (["--scale", "16"], 9_877_792, 148_576, 100_000),
        (["--scale", "0.01"], 6_174, 93, 1_000),
        (["--messages", "5000"], 5_000, 75, 810),
        (["--feeds", "93"], 6_183, 93, 1_002),
        (["--messages", "5000", "--feeds", "9", "--depth", "7"], 5_000, 9, 7),
    ],
)
def test_missing_sizes_follow_from_the_peer(arguments, messages, feeds, depth):
    """Each number can be chosen and determines the defaults of the other numbers."""
    chosen = make_log.parse_arguments(["--out", "log.jsonl", *arguments])
    assert (chosen.messages, chosen.feeds, chosen.depth) == (messages, feeds, depth)


@pytest.mark.parametrize("arguments", [["--messages", "5", "--feeds", "6"], ["--files", "0"], ["--depth", "-1"]])
def test_impossible_numbers_are_refused(arguments, capsys):
    """An impossible log is refused before the first file is written."""
    with pytest.raises(SystemExit):
        make_log.parse_arguments(["--out", "log.jsonl", *arguments])
    assert "must be" in capsys.readouterr().err
