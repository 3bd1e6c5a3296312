"""The config `timeout` of a model: how many seconds it may take."""

import ctypes
import threading
from types import TracebackType
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from dbt_spark_python.session.progress import is_connect

# Python code that runs on without the engine is interrupted when what runs on the engine has had so long to end.
_GRACE = 3.0
_PAUSE = 0.5


class _Interrupted(BaseException):
    """Ends a model's Python code; nothing in it catches this by accident."""


class Deadline:
    """Context manager: ends a model that takes longer, with the jobs that it has running.

    The jobs are those of a group (on Spark Connect, with a tag) of the node's name.
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
                interrupt(self._thread, None)  # one that was sent and has not arrived
                raise TimeoutError(f"it took longer than its `timeout` of {self.seconds:g} seconds") from error

    def _wait(self) -> None:
        if self._done.wait(self.seconds):
            return
        with self._lock:
            self._is_over = not self._done.is_set()
        # A model may begin another job at any time, or be about to begin its first.
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
        except Exception:  # the engine is gone, or has no such call: then the model's thread is interrupted
            return


def seconds_of(config: dict[str, Any]) -> float | None:
    """Read the config; None where there is none.

    Raises:
        DbtRuntimeError: It is no number above 0.
    """
    given = config.get("timeout")
    if given is None:
        return None
    try:
        seconds = float(given)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise DbtRuntimeError(f"the model's `timeout` is {given!r}, but must be a number of seconds above 0")
    return seconds


def interrupt(thread: int, exception: type | None) -> None:
    """Raise an exception in another thread at its next step in Python, or take one back that has not arrived."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(exception) if exception else None
    )
