"""Runs moto's S3 server behind a relay of TCP connections that a test can cut and restore."""

import contextlib
import re
import socket
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

from tests.cluster.servers import free_port, is_open

_CHUNK = 1 << 16  # bytes
#: The server reads objects for signed requests only, but verifies no signature.
_HEADERS = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request",
    "Content-Type": "application/octet-stream",
}


class ObjectStore:
    """A server of the program `moto_server` that keeps buckets in memory; a lost connection is a cut relay."""

    def __init__(self, program: str, said: Path, *buckets: str) -> None:
        self._port = free_port()
        command = [program, "-H", "127.0.0.1", "-p", str(self._port)]
        self._process = subprocess.Popen(command, stdout=said.open("w"), stderr=subprocess.STDOUT)
        end = time.monotonic() + 30
        while not is_open(self._port):
            assert time.monotonic() < end, "the server does not start within 30 s"
            time.sleep(0.05)
        self._relay = Relay(self._port)
        for bucket in buckets:
            self.put(bucket, b"")

    @property
    def endpoint(self) -> str:
        """The address for clients, which leads through the relay."""
        return f"http://127.0.0.1:{self._relay.port}"

    def put(self, key: str, content: bytes) -> None:
        """Write an object, or make a bucket."""
        self._ask(quote(key), "PUT", content)

    def get(self, key: str) -> bytes:
        """Read an object."""
        return self._ask(quote(key))

    def keys(self, bucket: str) -> list[str]:
        """List the keys of all objects of a bucket."""
        found: list[str] = []
        while True:
            after = quote(found[-1], safe="") if found else ""
            page = self._ask(f"{bucket}?list-type=2&start-after={after}").decode()
            found += re.findall("<Key>(.*?)</Key>", page)
            if "<IsTruncated>true" not in page:
                return found

    def _ask(self, path: str, method: str = "GET", content: bytes | None = None) -> bytes:
        with urlopen(Request(f"http://127.0.0.1:{self._port}/{path}", content, _HEADERS, method=method)) as answer:
            return answer.read()

    def cut(self) -> None:
        """Close all connections, and refuse new ones."""
        self._relay.close()

    def restore(self) -> None:
        """Accept connections again, at the same address."""
        self._relay = Relay(self._port, self._relay.port)

    def close(self) -> None:
        """End the server."""
        self._relay.close()
        self._process.terminate()
        self._process.wait()


class Relay:
    """Passes the bytes of TCP connections on to another port of this machine."""

    def __init__(self, to: int, port: int = 0) -> None:
        self._to, self._open, self._connections = to, True, set()
        self._socket = socket.create_server(("127.0.0.1", port), backlog=64)
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Close the port and all connections."""
        self._open = False
        for each in [self._socket, *self._connections]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _serve(self) -> None:
        while self._open:
            with contextlib.suppress(OSError):  # the port is closed
                client = self._socket.accept()[0]
                server = socket.create_connection(("127.0.0.1", self._to))
                self._connections |= {client, server}
                for pair in (client, server), (server, client):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while self._open and (chunk := source.recv(_CHUNK)):
                target.sendall(chunk)
        for each in source, target:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
