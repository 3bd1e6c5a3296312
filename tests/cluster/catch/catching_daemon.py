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


def caught_in_the_middle(function, folder):
    """Wrap the function over a partition: a task is caught after it has yielded rows of Arrow."""

    def run(split, rows):
        is_new = True
        for made in function(split, rows):
            yield made
            batch = made[0] if isinstance(made, tuple) else made  # in pyspark 4.1, a batch comes with its type
            if is_new and getattr(batch, "num_rows", 0) > 0:
                is_new = False
                model = model_of_task()
                if model:
                    catch(folder, model)

    return run


def worker(*given):
    """Work as pyspark does, in a forked process: only there may its module be imported."""
    from pyspark import worker as module

    read = module.read_udfs

    def read_caught(*wanted):
        function, *others = read(*wanted)
        return caught_in_the_middle(function, os.environ[CAUGHT]), *others

    if read.__name__ == "read_udfs":
        module.read_udfs = read_caught
    return as_it_was(*given)


as_it_was = daemon.worker

if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
