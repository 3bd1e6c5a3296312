"""pyspark's daemon of Python workers, whose tasks stop in the middle of the models that are waited for.

spark.python.daemon.module names it. A model is waited for while a file of its name is in the folder TANGLES_CAUGHT; the
file says how:

* `once`: the first task of the model that has given rows stops itself, and others are left alone;
* `always`: each of them stops itself;
* `fill`: each takes all the memory that it can have.

A task that is caught leaves a file of the model's name and its process's number. Spark says which model a task is of:
the plugin names job groups after them. Nothing is imported here that a worker may not have.
"""

import os
import signal

from pyspark import daemon

CAUGHT = "TANGLES_CAUGHT"
CHUNK = 2**24  # bytes


def model_of_task():
    """The name of the model that the current task is of; empty where it is of none."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return ((context and context.getLocalProperty("spark.jobGroup.id")) or "").rpartition(".")[2]


def catch(folder, model):
    """Stop, or fill the memory, if the model is waited for."""
    wanted = os.path.join(folder, model)
    claim = f"{wanted}.{os.getpid()}"
    try:
        with open(wanted) as file:
            how = file.read()
        if how == "once":
            os.rename(wanted, claim)
        else:
            with open(claim, "w") as file:
                file.write(how)
    except FileNotFoundError:  # it is not, or another task was first
        return
    if how == "fill":
        hoard = []
        while True:
            hoard.append(bytearray(CHUNK))
    os.kill(os.getpid(), signal.SIGSTOP)


def caught_in_the_middle(function, folder):
    """Wrap what runs over a partition: a task is caught when rows of it are on their way."""

    def run(split, rows):
        is_new = True
        for batch in function(split, rows):
            yield batch
            if is_new and getattr(batch, "num_rows", 0):
                is_new = False
                model = model_of_task()
                if model:
                    catch(folder, model)

    return run


def catching(read, folder):
    """Wrap pyspark's reader of functions."""

    def read_caught(*given):
        function, *others = read(*given)
        return caught_in_the_middle(function, folder), *others

    return read_caught


def worker(*given):
    """Work as pyspark does, in a process of its own: there, and not before, its module may be imported."""
    from pyspark import worker as module

    if module.read_udfs.__name__ == "read_udfs":
        module.read_udfs = catching(module.read_udfs, os.environ[CAUGHT])
    return as_it_was(*given)


as_it_was = daemon.worker

if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
