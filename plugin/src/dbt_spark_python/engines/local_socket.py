"""A listening socket on 127.0.0.1 that accepts connections of this process only (Linux only).

The kernel applies a listening socket's filter (SO_ATTACH_FILTER) to each packet. This filter drops every connection
request except those from one address and port. This process has bound that port exclusively, so other processes cannot
send from it. The filter is attached before the socket listens, so the socket is never open to other processes. Packets
of existing connections pass. All this works without privileges.
"""

import select
import socket
import sys
import threading

from dbt_spark_python.fences.socket_filter import HOST, admit

_NO_PORT = 0  # packets never come from this port
_PATIENCE = 10.0  # seconds to wait for a connection to this process itself
_PROBE = 20  # milliseconds within which an unfiltered connection would succeed


class GuardError(RuntimeError):
    """This system cannot keep other users away from a listening socket; the message says why."""


class GuardedSocket:
    """The guarded listening socket.

    Raises:
        GuardError: The system lacks socket filters, or ignores them.
    """

    def __init__(self) -> None:
        if not sys.platform.startswith("linux"):
            raise GuardError(f"socket filters need Linux, and this is {sys.platform}")
        self._turn = threading.Lock()
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            admit(self.listener, _NO_PORT)
            self.listener.bind((HOST, 0))
            self.listener.listen(128)
            self.listener.setblocking(False)
            self._try_out()
        except OSError as error:
            raise GuardError(f"the system refuses a socket filter ({error})") from error

    def connect(self) -> socket.socket:
        """Open a connection to the socket from this process."""
        own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        own.bind((HOST, 0))  # without SO_REUSEADDR, so that other processes cannot bind the same port
        own.settimeout(_PATIENCE)
        with self._turn:
            admit(self.listener, own.getsockname()[1])
            try:
                own.connect(self.listener.getsockname())
            finally:
                admit(self.listener, _NO_PORT)
        own.settimeout(None)
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return own

    def close(self) -> None:
        """Close the socket."""
        self.listener.close()

    def _try_out(self) -> None:
        """Raise a GuardError if the system does not apply the filter: some systems accept a filter and ignore it."""
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as stranger:
            stranger.setblocking(False)
            stranger.connect_ex(self.listener.getsockname())
            with self.connect() as own:
                asked = select.poll()
                asked.register(stranger, select.POLLOUT)
                answered = asked.poll(_PROBE)
                taken, source = self.listener.accept()
                taken.close()
                if answered or source != own.getsockname():
                    raise GuardError("the system does not heed the filter of a socket")
