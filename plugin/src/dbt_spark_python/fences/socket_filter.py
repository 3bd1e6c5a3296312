"""The filter of a listening socket, which the kernel applies to each packet (Linux only)."""

import ctypes
import socket
import struct

HOST = "127.0.0.1"

_ATTACH_FILTER = 26  # SO_ATTACH_FILTER, which Python's `socket` does not name

# Instructions of a socket filter (linux/filter.h), and the offsets of the fields they load.
_LOAD_WORD, _LOAD_HALF, _LOAD_BYTE, _IF_EQUAL, _IF_BITS, _RETURN = 0x20, 0x28, 0x30, 0x15, 0x45, 0x06
_SOURCE_PORT, _FLAGS, _SOURCE_ADDRESS = 0, 13, 0xFFF00000 + 12  # offsets in the TCP header, and in the IP header
_SYN = 0x02
_DROP, _PASS = 0, 0xFFFFFFFF


def admit(listener: socket.socket, port: int) -> None:
    """Replace a socket's filter by one that accepts connections from `HOST` and one port only.

    Sail has neither a Unix socket nor a token (0.7.2), so the port itself keeps other users out. Packets of existing
    connections pass. Tested with Linux 5.10 to 6.18.

    Raises:
        OSError: The system refuses a filter.
    """
    address = int.from_bytes(socket.inet_aton(HOST), "big")
    instructions = [  # operation, instructions to skip if true and if false, value
        (_LOAD_BYTE, 0, 0, _FLAGS),
        (_IF_BITS, 0, 5, _SYN),
        (_LOAD_HALF, 0, 0, _SOURCE_PORT),
        (_IF_EQUAL, 0, 2, port),
        (_LOAD_WORD, 0, 0, _SOURCE_ADDRESS),
        (_IF_EQUAL, 1, 0, address),
        (_RETURN, 0, 0, _DROP),
        (_RETURN, 0, 0, _PASS),
    ]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in instructions))
    given = struct.pack("HP", len(instructions), ctypes.addressof(program))
    listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, given)
