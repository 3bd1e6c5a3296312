"""The end of Python functions that an engine runs in threads of its own."""

import ctypes
import sys
import threading
import time


def stop_functions(patience_s: float) -> None:
    """End the Python functions that still run in threads which Python has not started, and wait for their end.

    A Python function that runs in a thread of Sail while the interpreter shuts down would crash the process with
    another exit code; Sail cannot cancel it (pysail 0.7.2, CPython 3.10 to 3.13).
    """
    known = {thread.ident for thread in threading.enumerate() if not isinstance(thread, threading._DummyThread)}
    end = time.monotonic() + patience_s
    while (running := sys._current_frames().keys() - known) and time.monotonic() < end:
        for thread in running:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(SystemExit))
        time.sleep(0.05)
