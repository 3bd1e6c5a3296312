"""The canonical text compared with V8 itself, on machines with Node.js (other tests need no Node)."""

import base64
import json
import random
import shutil
import struct
import subprocess

import pytest

from dbt_tangles.formats.json.parse import parse, parse_exact
from dbt_tangles.formats.json.printing import canonical_bytes, canonical_text, compact_bytes

SCRIPT = """
const lines = require('fs').readFileSync(0, 'latin1').split('\\n')
console.log(lines.map(line => {
  try {
    const value = JSON.parse(Buffer.from(line, 'base64').toString('utf8'))
    return JSON.stringify([JSON.stringify(value, null, 2), JSON.stringify(value)])
  } catch (error) { return 'null' }
}).join('\\n'))
"""


# Random JSON texts with constructs on which printers differ; about a quarter are damaged.


def number(rng):
    """Return a random number, half of them near a limit."""
    below = rng.randrange
    double = struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0]
    return rng.choice(
        [
            str(below(-(10 ** below(1, 25)), 10 ** below(1, 25))),
            repr(double) if abs(double) < float("inf") else "1e999",
            f"{below(10 ** below(1, 19))}.{below(10 ** below(1, 19))}",
            f"-{below(100)}.{below(1000)}{rng.choice(['e', 'E+', 'e-'])}{below(330)}",
            str(2 ** below(50, 70) + below(-3, 4)),
            f"0.{'0' * below(9)}{below(1, 10 ** below(1, 18))}",
            rng.choice(["-0", "0.0", "-0.0", "1.0", "1e21", "1e-7", "9007199254740993", "2e-324"]),
        ]
    )


def string(rng):
    """Return a string with escapes, or halves of surrogate pairs."""
    below = rng.randrange
    parts = [
        *"ab019-. é日🐚\u2028\x7f\ufeff\uffff",
        *("\\n", '\\"', "\\\\", "\\/", "\\b"),
        f"\\u{below(0x10000):04x}",
        f"\\u{below(0xD800, 0xE000):04X}",
        f"\\u{below(0xD800, 0xDC00):04x}\\u{below(0xDC00, 0xE000):04x}",
    ]
    return '"' + "".join(rng.choices(parts, k=below(6))) + '"'


def key(rng):
    """Return a key, often an array index or nearly one."""
    below = rng.randrange
    indexes = [f'"{below(20)}"', f'"{below(2**33)}"', f'"0{below(9)}"', '"\\u0031"']
    return rng.choice([string(rng), '"a"', '"b"', '"__proto__"', *indexes])


def value(rng, depth):
    kind = rng.randrange(10 if depth else 6)
    space = rng.choice(["", "", " ", "\n\t"])
    if kind < 3:
        return number(rng)
    if kind < 6:
        return rng.choice([string(rng), string(rng), "true", "null"])
    count = range(rng.randrange(4))
    if kind < 8:
        return "[" + ",".join(space + value(rng, depth - 1) for _ in count) + "]"
    return "{" + ",".join(f"{space}{key(rng)}:{value(rng, depth - 1)}" for _ in count) + "}"


def text(rng):
    made = value(rng, 4)
    if rng.randrange(4) == 0:
        place = rng.randrange(len(made))
        wrong = rng.choice([*',}]"\\0e.-\n{:', "", "\x00", "NaN"])
        made = made[:place] + wrong + made[place + rng.randrange(2) :]
    return made


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_texts_equal_v8s():
    rng = random.Random(8)
    texts = [text(rng).encode() for _ in range(4000)]
    node = subprocess.run(
        ["node", "-e", SCRIPT], input=b"\n".join(map(base64.b64encode, texts)), capture_output=True, check=True
    )
    expected = [json.loads(line) for line in node.stdout.splitlines()]
    assert len(expected) == len(texts)

    def printed(source, parser, printer):
        try:
            parsed = parser(source)
        except ValueError:
            return None
        return [printer(parsed), compact_bytes(parsed).decode()]

    def fast_text(parsed):
        return canonical_bytes(parsed, 0)[0].decode()

    assert [printed(source, lambda raw: parse(raw)[0], fast_text) for source in texts] == expected
    assert [printed(source, parse_exact, canonical_text) for source in texts] == expected
