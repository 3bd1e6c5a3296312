"""Strikes in the middle of a function that runs on a worker. Python imports a module of this name when it starts.

TANGLES_STRIKES is JSON, a list of `{"module", "function", "what", "mark"}`. The function is a generator over batches of
a Spark partition: when the first task that calls it has taken and given some, the strike falls, and leaves the file
`mark`. Later calls, of the same task begun again too, are left alone. Nothing is imported here that a worker may not
have.
"""

import glob
import importlib.util
import json
import os
import signal
import sys
import time


def kill_worker():
    """Kill -9 the worker of a standalone cluster that this Python belongs to, and its executor."""
    for pid in list(ancestors()):
        if b"org.apache.spark.executor" in command(pid) or b"org.apache.spark.deploy.worker" in command(pid):
            os.kill(pid, signal.SIGKILL)
    time.sleep(600)  # the daemon above ends this process, as its executor is gone


def kill_executor():
    """Kill -9 the executor, as a system does that is out of memory."""
    for pid in list(ancestors()):
        if b"org.apache.spark.executor" in command(pid):
            os.kill(pid, signal.SIGKILL)
    time.sleep(600)


def lose_shuffles():
    """Remove all shuffle files of all executors."""
    for path in glob.glob(os.path.join(os.environ["TANGLES_SCRATCH"], "**", "shuffle_*.data"), recursive=True):
        os.unlink(path)


def out_of_memory():
    """Fail as Python does."""
    raise MemoryError("struck")


def straggle():
    """Take very long, but for once."""
    time.sleep(600)


STRIKES = {each.__name__: each for each in (kill_worker, kill_executor, lose_shuffles, out_of_memory, straggle)}


def ancestors():
    """The processes above this one, the nearest first."""
    pid = os.getpid()
    while pid > 1:
        with open(f"/proc/{pid}/stat") as stat:
            pid = int(stat.read().rpartition(")")[2].split()[1])
        yield pid


def command(pid):
    """The command line of a process."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            return line.read()
    except OSError:
        return b""


def struck(function, what, mark):
    """Wrap a function; it is struck once, whoever calls it where."""

    def wrapped(*args, **kwargs):
        made = function(*args, **kwargs)
        for number, batch in enumerate(made):
            yield batch
            if number == 0:
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                STRIKES[what]()

    return wrapped


class Finder:
    """Finds the modules that are to be struck as Python does, and wraps their functions once they are there."""

    def __init__(self, strikes):
        self.strikes = strikes

    def find_spec(self, name, path=None, target=None):
        """As `importlib` asks."""
        mine = [strike for strike in self.strikes if strike["module"] == name]
        if not mine:
            return None
        self.strikes = [strike for strike in self.strikes if strike not in mine]
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            if module.__name__ != name:  # a zip file has one loader for all its modules
                return
            for strike in mine:
                function = getattr(module, strike["function"])
                setattr(module, strike["function"], struck(function, strike["what"], strike["mark"]))

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder(json.loads(os.environ.get("TANGLES_STRIKES", "[]"))))
