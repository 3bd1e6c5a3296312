"""The first build that a newcomer runs."""

import pytest


@pytest.mark.sail  # whose workers are threads of this process
def test_the_fixtures_need_no_compiler(fixtures):
    assert fixtures.compiled == []
