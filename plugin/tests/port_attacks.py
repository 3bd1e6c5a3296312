"""Attacks of other users of the machine on the ports and sockets of a process.

`tests/python/test_cluster.py` loads this file too, so it imports no other test.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

#: The user `nobody`. Without root rights the attack runs as the same user from another process; that is refused as
#: well, because a guarded port or socket accepts only its own process.
UID = 65534 if os.geteuid() == 0 else os.geteuid()

_BECOME = """
import json, os, sys
if os.geteuid() != int(sys.argv[1]):
    os.setgroups([])
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))
"""

# All imports come first, because the interpreter's folder may be closed to other users.
_ASK_CONNECT = (
    """
import uuid
import grpc
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc, relations_pb2
"""
    + _BECOME
    + """
said = {}
for target in json.loads(sys.argv[2]):
    relation = relations_pb2.Relation(sql=relations_pb2.SQL(query=f"select value from text.`{sys.argv[3]}`"))
    request = base_pb2.ExecutePlanRequest(session_id=str(uuid.uuid4()), plan=base_pb2.Plan(root=relation))
    request.user_context.user_id = "stranger"
    with grpc.insecure_channel(target) as channel:
        try:
            answers = base_pb2_grpc.SparkConnectServiceStub(channel).ExecutePlan(request, timeout=5)
            said[target] = b"".join(answer.arrow_batch.data for answer in answers).decode("latin-1")
        except grpc.RpcError as error:
            said[target] = error.code().name
print(json.dumps(said))
"""
)


def listening(pid: int) -> list[str]:
    """The gRPC addresses of the TCP and Unix sockets on which a process listens (Linux)."""
    mine = set()
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            mine.add(os.readlink(file))
        except FileNotFoundError:
            continue
    found = []
    for name in ("tcp", "tcp6"):
        rows = [line.split() for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
        ports = [int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine]
        found += [f"127.0.0.1:{port}" for port in ports]
    for row in [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]:
        if row[3] == "00010000" and f"socket:[{row[6]}]" in mine:  # it accepts connections
            found.append(f"unix-abstract:{row[7][1:]}" if row[7].startswith("@") else f"unix:{row[7]}")
    return sorted(set(found))


def _as_another_user(code: str, targets: list[str], *arguments: str) -> dict[str, str]:
    """Run code as another user; return what it prints about each target."""
    command = [sys.executable, "-c", code, str(UID), json.dumps(targets), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ask_connect(targets: list[str], file: Path) -> dict[str, str]:
    """Request the lines of a file from Spark Connect as another user; return each answer, or gRPC's error name."""
    return _as_another_user(_ASK_CONNECT, targets, str(file))


# Sends two messages to each port of a JVM: one of Spark's own protocol (network-common: length, type RpcRequest,
# number, length, body) without the secret, and a py4j call without its token.
_ASK_JVM = (
    "import socket, struct\n"
    + _BECOME
    + """
body = b"hello"
of_spark = struct.pack(">qbqi", 21 + len(body), 3, 77, len(body)) + body
of_py4j = b"c\\nz:java.lang.System\\ngetProperty\\nsuser.name\\ne\\n"
said = {}
for port in json.loads(sys.argv[2]):
    said[port] = ""
    for asked in (of_spark, of_py4j):
        with socket.socket() as one:
            one.settimeout(2)
            try:
                one.connect(("127.0.0.1", int(port)))
                one.sendall(asked)
                said[port] += one.recv(4000).decode("latin-1")
            except OSError:  # closed, or silent
                continue
print(json.dumps(said))
"""
)


def jvm_of(pid: int) -> int:
    """The JVM that a process has started (Linux)."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, parent = Path(file.parent, "comm").read_text().strip(), file.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if name == "java" and int(parent) == pid:
            return int(file.parent.name)
    raise ProcessLookupError(f"process {pid} has no JVM")


def ask_jvm(pid: int) -> list[str]:
    """Send requests to all ports of a JVM as another user; return each answer."""
    ports = [target.rpartition(":")[2] for target in listening(pid) if target.startswith("127.0.0.1:")]
    return list(_as_another_user(_ASK_JVM, ports).values())
