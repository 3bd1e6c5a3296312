"""Relays the bytes of this process's gRPC client to a server that only this process can connect to.

The server's socket (`dbt_spark_python.engines.local_socket`) accepts connections from one source port, and a gRPC
client cannot choose its source port. The client therefore connects to a Unix socket of this module. The kernel tells
which process is at the other end; connections of other processes are closed at once.
"""

import os
import secrets
import socket
import struct
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress

_CHUNK = 1 << 18  # bytes
_CREDENTIALS = "iII"  # `struct ucred`: process, user, group


class Relay:
    """A Unix socket, with the gRPC address `target`, whose connections are relayed to those that `connect` opens."""

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self._connect = connect
        # An abstract name instead of a file: its length is not limited by a folder path, and it ends with the process.
        name = f"dbt-spark-python-{secrets.token_hex(16)}"
        self.target = f"unix-abstract:{name}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(f"\0{name}")
        self._socket.listen(128)
        self._is_open = True
        self._clients: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        threading.Thread(target=self._serve, name="relay", daemon=True).start()

    def close(self) -> None:
        """Stop accepting connections, and end the open ones."""
        self._is_open = False
        for each in (self._socket, *self._clients):
            _end(each)
        self._socket.close()

    def _serve(self) -> None:
        while self._is_open:
            try:
                client, _ = self._socket.accept()
            except OSError:  # the socket is closed, or this process has too many open files
                time.sleep(0.05)
                continue
            if peer(client) != os.getpid():
                client.close()
                continue
            self._clients.add(client)
            threading.Thread(target=self._converse, args=(client,), name="relay", daemon=True).start()

    def _converse(self, client: socket.socket) -> None:
        with client, suppress(OSError), self._connect() as server:
            back = threading.Thread(target=_copy, args=(server, client), name="relay", daemon=True)
            back.start()
            _copy(client, server)
            back.join()


def peer(connection: socket.socket) -> int:
    """Return the process id of a Unix socket's client; 0 if it is in another container."""
    size = struct.calcsize(_CREDENTIALS)
    return struct.unpack(_CREDENTIALS, connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes until one side ends, then end both."""
    buffer = bytearray(_CHUNK)
    with suppress(OSError):
        while count := source.recv_into(buffer):
            target.sendall(memoryview(buffer)[:count])
    for each in (source, target):
        _end(each)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
