"""The session that a process has already."""

import sys

from pyspark.sql import SparkSession


def find_session() -> SparkSession | None:
    """Return the session of this process, which another thread may have opened, if there is one.

    `SparkSession.getActiveSession` knows the sessions of its own thread only, and `getOrCreate` would open a session
    (pyspark 4.0 to 4.3). dbt works in several threads, and a notebook has opened its session in the main thread.
    """
    if (active := SparkSession.getActiveSession()) is not None:
        return active
    connect = sys.modules.get("pyspark.sql.connect.session")
    remote = connect.SparkSession._default_session if connect else None
    if remote is not None and not remote.is_stopped:
        return remote
    return getattr(SparkSession, "_instantiatedSession", None)
