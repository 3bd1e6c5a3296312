"""pyspark's daemon of Python workers, extended: tasks of chosen models stop while they run.

The setting spark.python.daemon.module names it. A model is chosen while the folder TANGLES_CAUGHT has a file of its
name, whose content is one of:

* `once`: the first task of the model that has yielded rows stops itself, other tasks continue;
* `always`: each of them stops itself;
* `fill`: each allocates all the memory it can get.

A caught task leaves a file named after the model and its process. Spark names the model of a task, because the plugin
names job groups after models. Only modules that every worker has are imported here.
"""

import os
import signal

from pyspark import daemon

CAUGHT = "TANGLES_CAUGHT"
CHUNK = 2**24  # bytes


def model_of_task():
    """Return the name of the model of the current task, or an empty string."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return ((context and context.getLocalProperty("spark.jobGroup.id")) or "").rpartition(".")[2]


def catch(folder, model):
    """Stop, or fill the memory, if the model is chosen."""
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
    except FileNotFoundError:  # it is not chosen, or another task was first
        return
    if how == "fill":
        hoard = []
        while True:
            hoard.append(bytearray(CHUNK))
    os.kill(os.getpid(), signal.SIGSTOP)


def has_rows(made):
    """Whether a task has yielded rows of Arrow; in pyspark 4.1, a batch comes in a tuple with its type."""
    return getattr(made[0] if isinstance(made, tuple) else made, "num_rows", 0) > 0


def caught_in_the_middle(function, folder):
    """Wrap the function over a partition: a task is caught after it has yielded rows."""

    def run(split, rows):
        is_new = True
        for batch in function(split, rows):
            yield batch
            if is_new and has_rows(batch):
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
    """Work as pyspark does, in a forked process: only there may its module be imported."""
    from pyspark import worker as module

    if module.read_udfs.__name__ == "read_udfs":
        module.read_udfs = catching(module.read_udfs, os.environ[CAUGHT])
    return as_it_was(*given)


as_it_was = daemon.worker

if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
