"""Bounds the CPU time of calls."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Assert that the calls in the context take less CPU time."""
    begin = time.process_time()
    yield
    assert time.process_time() - begin < seconds
