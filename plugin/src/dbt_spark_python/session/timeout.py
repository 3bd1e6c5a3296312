"""The config `timeout` of a model: the seconds that it may take."""

import ctypes
import threading
from types import TracebackType
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from dbt_spark_python.session.progress import is_connect

# Python code of the model is interrupted if its jobs have been cancelled for this long.
_GRACE = 3.0
_PAUSE = 0.5


class _Interrupted(BaseException):
    """Ends a model's Python code; a BaseException, so that `except Exception` does not catch it."""


class Deadline:
    """Context manager: ends a model that exceeds its time, together with its running jobs.

    The jobs are found by the job group (on Spark Connect: the session tag) with the node's name.
    """

    def __init__(self, spark: SparkSession, node: str, seconds: float | None) -> None:
        self.spark, self.node, self.seconds = spark, node, seconds
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._is_over = False
        self._watch = threading.Thread(target=self._wait, name=f"deadline-{node}", daemon=True)

    def __enter__(self) -> "Deadline":
        if self.seconds is not None:
            self._watch.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        with self._lock:
            if self._is_over:
                interrupt(self._thread, None)  # withdraw an exception that has not been raised yet
                raise TimeoutError(
                    f"it took longer than its `timeout` of {self.seconds:g} seconds: raise the `timeout` in "
                    f"the model's config, or give the model less data"
                ) from error

    def _wait(self) -> None:
        if self._done.wait(self.seconds):
            return
        with self._lock:
            self._is_over = not self._done.is_set()
        # A model may start another job at any time.
        patience = _GRACE
        while self._is_over and not self._done.is_set():
            self._cancel_jobs()
            if self._done.wait(_PAUSE):
                return
            patience -= _PAUSE
            with self._lock:
                if -_PAUSE < patience <= 0 and not self._done.is_set():
                    interrupt(self._thread, _Interrupted)

    def _cancel_jobs(self) -> None:
        try:
            if is_connect(self.spark):
                self.spark.interruptTag(self.node)
            else:
                self.spark.sparkContext.cancelJobGroup(self.node)
        except Exception:  # the engine has ended, or cannot cancel: then the model's thread is interrupted
            return


def seconds_of(config: dict[str, Any]) -> float | None:
    """Read the config `timeout`, if it is set.

    Raises:
        DbtRuntimeError: It is not a number above 0.
    """
    given = config.get("timeout")
    if given is None:
        return None
    try:
        seconds = float(given)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise DbtRuntimeError(f"the model's `timeout` is {given!r}: set it to a number of seconds above 0")
    return seconds


def interrupt(thread: int, exception: type | None) -> None:
    """Raise an exception in another thread at its next Python step, or withdraw one that is still pending."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(exception) if exception else None
    )
