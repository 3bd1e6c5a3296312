"""The simulated stage: sizes of partitions, and the time at which list scheduling ends."""

import numpy as np
import pytest

from bench import skew_plan


def test_half_of_the_messages_lie_in_the_heavy_feeds():
    sizes = skew_plan.partition_sizes(7_800_000, 2_000, np.random.default_rng(1))
    heavy = 7_800_000 // 2 // skew_plan.HEAVY_FEEDS
    assert abs(sizes.sum() - 7_800_000) < skew_plan.FEED_LENGTH
    assert (sizes // heavy).sum() == skew_plan.HEAVY_FEEDS and sizes.max() >= heavy


@pytest.mark.parametrize(
    ("seconds", "cores", "ends"),
    [([3, 1, 2], 1, 6), ([3, 1, 2], 2, 3), ([4, 3, 3], 2, 6), ([5, 1, 1, 1], 2, 5), ([2], 5, 2)],
)
def test_tasks_start_longest_first(seconds, cores, ends):
    assert skew_plan.finish(np.array(seconds), cores) == ends


def test_the_largest_task_bounds_the_stage(capsys):
    """Enough cores do not help beyond the largest task; with one core, the stage takes as long as without skew."""
    many = skew_plan.simulate(10_000_000, 8, cores=5_000, partitions=1_000)
    assert many.stage_s == pytest.approx(many.largest * 8 / 1e6) and many.stage_s > many.balanced_s
    one = skew_plan.simulate(10_000_000, 8, cores=1, partitions=1_000)
    assert one.stage_s == pytest.approx(one.balanced_s)
    skew_plan.main(["--microseconds", "8", "--cores", "4", "--partitions", "16"])
    assert capsys.readouterr().out.count("without skew") == 4
