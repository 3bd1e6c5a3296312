"""The data tests of the fixtures, which their build runs, and the unit tests of models pass on each engine."""


def passed(project, *selected: str) -> set[str]:
    """Run unit tests and return their names once all of them have passed."""
    result = project.invoke_parsed("test", "--select", *selected)
    assert result.exception is None, result.exception
    statuses = {r.node.name: r.status for r in result.result if r.node.resource_type == "unit_test"}
    assert set(statuses.values()) == {"pass"}, statuses
    return statuses.keys()


def test_all_unit_tests(fixtures, manifest):
    names = {test.name for test in manifest.unit_tests.values()}
    assert len(names) > 30
    assert passed(fixtures, "test_type:unit") == names
