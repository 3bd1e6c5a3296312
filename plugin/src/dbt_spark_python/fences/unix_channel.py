"""A session of Spark Connect at a Unix socket."""

import os
from typing import Any

from pyspark.sql import SparkSession


def open_session(target: str) -> SparkSession:
    """Open a session at a gRPC address of this process, such as `unix-abstract:name`.

    The addresses that pyspark takes (`sc://host:port`) cannot name Unix sockets, and its builder of channels keeps the
    options of a channel to itself (pyspark 4.0 to 4.3).
    """
    import grpc
    from pyspark.sql.connect.client import core
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    class Builder(core.DefaultChannelBuilder):
        def toChannel(self) -> Any:
            return grpc.insecure_channel(target, options=self._channel_options)

    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # pyspark sets this when it is given an address
    return RemoteSession.builder.channelBuilder(Builder("sc://localhost")).getOrCreate()
