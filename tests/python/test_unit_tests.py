"""The unit tests of models pass on each engine: all of them on Sail, and on Spark in `make test-all`."""

import pytest

#: One test for each kind of computation: a window, arrays and a tree of joins.
SMOKE = {"feed_says_what_ended_it", "commands_are_counted_by_batch", "links_of_a_set"}


def passed(project, *selected: str) -> set[str]:
    """Run unit tests and return their names once all of them have passed."""
    result = project.invoke("test", "--select", *selected)
    assert result.exception is None, result.exception
    statuses = {r.node.name: r.status for r in result.result if r.node.resource_type == "unit_test"}
    assert set(statuses.values()) == {"pass"}, statuses
    return statuses.keys()


@pytest.mark.both
def test_all_unit_tests(fixtures, manifest):
    """Each unit test runs over rows of its own."""
    names = {test.name for test in manifest.unit_tests.values()}
    assert len(names) > 30
    assert passed(fixtures, "test_type:unit") == names


@pytest.mark.spark
def test_some_unit_tests_on_spark(fixtures):
    assert passed(fixtures, *SMOKE) == SMOKE
