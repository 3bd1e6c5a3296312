"""Runs dbt in a process of its own, and searches its files and its output for secrets."""

import json
import os
import subprocess
import sys
from base64 import b64decode, b64encode, urlsafe_b64encode

import pyarrow.dataset as ds

from conftest import ROOT

# One process for all commands, so that they share a catalog; the output of its JVM and workers is captured, too.
DRIVER = """
import json
import sys

from dbt.cli.main import dbtRunner

for command in json.load(sys.stdin):
    result = dbtRunner().invoke(command)
    if not result.success:
        sys.exit(f"failed: {command[0]}")
"""


def other_alphabet(key):
    return urlsafe_b64encode(b64decode(key)).decode()


def unpadded(key):
    return key.rstrip("=")


def in_hex(key):
    return b64decode(key).hex()


def spellings(key):
    """Spell a secret in all forms that clients use."""
    return [key, unpadded(key), other_alphabet(key), unpadded(other_alphabet(key)), in_hex(key), in_hex(key).upper()]


def run_alone(folder, commands, log, schema, **environment):
    """Run dbt commands on a log in a process of its own; return the folder with its files and output."""
    options = ["--project-dir", str(ROOT), "--profiles-dir", str(ROOT), "--vars", json.dumps({"ssb_log": str(log)})]
    options += ["--target-path", str(folder / "target"), "--log-path", str(folder / "logs"), "--debug"]
    (folder / "run").mkdir()
    places = {"TANGLES_WAREHOUSE": str(folder / "warehouse"), "TANGLES_SCHEMA": schema}
    done = subprocess.run(  # with a usual umask, independent of the tests' own
        [sys.executable, "-c", DRIVER],
        input=json.dumps([command + options for command in commands]).encode(),
        cwd=folder / "run",
        env=os.environ | places | {"TANGLES_SHUFFLE_PARTITIONS": "4"} | environment,
        capture_output=True,
        umask=0o022,
    )
    (folder / "stdout").write_bytes(done.stdout)
    (folder / "stderr").write_bytes(done.stderr)
    assert done.returncode == 0, "dbt failed, see here:\n" + done.stdout.decode()[-3000:] + done.stderr.decode()[-1000:]
    return folder


def read(path):
    return ds.dataset(path, format="parquet").to_table()


def values(value):
    """Return all strings and bytes in a value, including field names, as bytes."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from values(name)
            yield from values(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from values(each)
    elif isinstance(value, bytes):
        yield value
    elif value is not None:
        yield str(value).encode()


def everything_in(path):
    """Return all values of a table as one byte string."""
    rows = read(path).to_pylist()
    return b"\n".join(values(rows)) + json.dumps(rows, default=repr).encode()


def forms(key):
    """Return the byte strings that reveal a secret: halves of each of its spellings and of encodings of these."""
    raw = b64decode(key)
    whole = {
        raw,
        *(spelt.encode() for spelt in (unpadded(key), unpadded(other_alphabet(key)), in_hex(key), in_hex(key).upper())),
    }
    # The last letters depend on the padding.
    whole |= {b64encode(each.encode())[:54] for each in (key, other_alphabet(key), in_hex(key), in_hex(key).upper())}
    return {half for each in whole for half in (each[: len(each) // 2], each[len(each) // 2 :])}
