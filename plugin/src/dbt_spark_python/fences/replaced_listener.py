"""Replaces the listening socket of a server that is a library in this process (Linux only).

Such a server opens its port itself and accepts connections at once, so a filter attached afterwards comes too late.
Therefore the server gets an address that packets never reach, and then a guarded socket is put under the file
descriptor of the server's socket. The server waits for connections with epoll, which still refers to the old socket.
/proc lists the events and data registered for the old socket; the new one is registered with the same. The only
assumption about the server is that it uses epoll.
"""

import contextlib
import ctypes
import errno
import os
import platform
import re
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from dbt_spark_python.engines.local_socket import GuardError

#: The broadcast address of the loopback device: a socket can listen there, and the kernel drops TCP packets sent to it.
UNREACHABLE = "127.255.255.255"

_ADD = 1  # EPOLL_CTL_ADD
_EVENT = "=IQ" if platform.machine() == "x86_64" else "@IQ"  # `struct epoll_event`, packed on x86-64 alone
_REGISTERED = re.compile(r"^tfd:\s*(\d+) events:\s*([0-9a-f]+) data:\s*([0-9a-f]+)", re.MULTILINE)


def check_unreachable() -> None:
    """Raise a GuardError if a connection to `UNREACHABLE` succeeds, or if a socket cannot listen there."""
    try:
        with socket.create_server((UNREACHABLE, 0)) as listener, socket.socket() as stranger:
            stranger.settimeout(1)
            failed = stranger.connect_ex(listener.getsockname())
    except OSError as error:
        raise GuardError(f"no socket can listen on {UNREACHABLE} ({error})") from error
    if failed not in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EACCES):
        raise GuardError(f"{UNREACHABLE} is an address like any other here")


def replace_listener(address: tuple[str, int], listener: socket.socket) -> None:
    """Replace this process's socket that listens on an address by another one, and close the old one.

    The new socket stays open and shares its file with the server's descriptor.

    Raises:
        GuardError: The old socket is not found, or is not registered with exactly one epoll.
    """
    number = _find_listening(address)
    known = {registered: loop for loop, registered in _registrations(number)}  # one epoll may have several descriptors
    if len(known) != 1:
        raise GuardError(f"the server's socket is registered with epoll in {len(known)} ways, and not in one")
    [(registered, loop)] = known.items()
    os.dup2(listener.fileno(), number, inheritable=False)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.epoll_ctl(loop, _ADD, number, struct.pack(_EVENT, *registered)):
        raise GuardError(f"the server cannot wait for connections: {os.strerror(ctypes.get_errno())}")


def _find_listening(address: tuple[str, int]) -> int:
    for number, target in _open_files():
        with contextlib.suppress(OSError):  # closed by another thread
            if target.startswith("socket:"):
                with socket.socket(fileno=os.dup(number)) as found:
                    is_it = found.family == socket.AF_INET and found.getsockname() == address
                    if is_it and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                        return number
    raise GuardError(f"the server's socket is not found: no file of this process listens on {address}")


def _registrations(number: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield each epoll of this process that waits for a file, with the events and data registered for the file."""
    for loop, target in _open_files():
        if target == "anon_inode:[eventpoll]":
            with contextlib.suppress(OSError):  # closed by another thread
                for waited, events, data in _REGISTERED.findall(Path(f"/proc/self/fdinfo/{loop}").read_text()):
                    if int(waited) == number:
                        yield loop, (int(events, 16), int(data, 16))


def _open_files() -> Iterator[tuple[int, str]]:
    """Yield this process's open file descriptors, with their names from /proc."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed by another thread meanwhile
            yield int(name), os.readlink(f"/proc/self/fd/{name}")
