"""Other texts and bytes for mutated lines."""

import random
import re

from hostile_lines import MAX_LINE_BYTES
from mutation_worlds import World

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*|true|false|null|[][{},:]')
_KEY = re.compile(r'"(?:[^"\\]|\\.)*"(?=\s*:)')
NUMBERS = [
    *("0", "-0", "0.0", "1", "-1", "1.0", "1.5", "2147483647", "2147483648", "-2147483649", "4294967296"),
    *("9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808"),
    *("-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1" * 400),
    *("1e2", "1E+2", "1e999", "-1e999", "5e-324", "1e-999", "1.7976931348623157e308", "1e15", "1e16", "1e21", "1e-7"),
]
NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "01", "1.", ".5", "+1", "1e", "0x10", "--1", "1_0", "undefined"]
STRINGS = [
    *(r'"\ud800"', r'"\udfff"', r'"\ude00\ud83d"', r'"\ud83d\ude00"', r'"\u0000"', r'"\u2028"', r'"\ufeff"'),
    *(
        *(r'"\/"', r'"\uffff"', r'"\b\f\n\r\t"', '""', '"\u00e9"', '"e\u0301"', '"\U0001f600"', '"\u202e"'),
        *('"٣"', '"__proto__"'),
    ),
]
NO_STRINGS = [r'"\x41"', r'"\u12"', r'"\"', '"a\tb"', '"a\0b"', "'a'", '"a', r'"\ud83d']
BYTES = [
    *(b"\0", b"\r", b"\n", b"\xef\xbb\xbf", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"),
    *(b"\\ud800", b"\\u0000", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"1e999", b"\x1f", b"\x7f"),
]
SPACES = [" ", "\t", "\r", "  \t ", "\x0b", "\x0c", "\u00a0", "\u2028", "\ufeff", "/**/", ","]
DEPTHS = (2, 60, 130, 260, 1_030, 5_000)


def mutated_text(rng: random.Random, world: World, text: str) -> str:
    """Change a token, the space between tokens, or the whole text."""
    operation = rng.randrange(9)
    tokens = list((_KEY if operation == 0 else _TOKEN).finditer(text))
    if operation == 8 or not tokens:
        other = rng.choice(world).decode("utf-8", "replace")
        return rng.choice((text + other, other, f"[{text}]", f"{text},", f"\ufeff{text}", f" {text}\t", text * 2))
    start, end = rng.choice(tokens).span()
    token = text[start:end]
    if operation == 0:  # the same key twice: the last counts
        value = rng.choice((*NUMBERS[:3], *STRINGS[:3], "null", "{}", "[]"))
        token = f"{token}:{value},{token}"
    elif operation == 1:
        token = rng.choice(NUMBERS if rng.random() < 0.8 else NO_NUMBERS)
    elif operation == 2:
        token = rng.choice(STRINGS if rng.random() < 0.8 else NO_STRINGS)
    elif operation == 3:  # the same string, or a broken one
        token = "".join(f"\\u{ord(one):04x}" if one.isalnum() and ord(one) < 2**16 else one for one in token)
    elif operation == 4:
        token = rng.choice((rng.choice(SPACES[:4]), rng.choice(SPACES))) + token
    elif operation == 5:
        depth = rng.choice(DEPTHS) if rng.random() < 0.5 else 2
        opened, closed = rng.choice((("[", "]"), ('{"a":', "}")))
        token = opened * depth + ("1" if rng.random() < 0.2 else token) + closed * (depth - (rng.random() < 0.1))
    elif operation == 6:
        token = rng.choice(tokens)[0]
    else:
        length = rng.choice((10, 10, 1_000, 9_000, 90_000))
        token = rng.choice(('"' + "x" * length + '"', "1" * (length // 9), "[7" + ',"y"' * (length // 9) + "]"))
    return text[:start] + token + text[end:]


def mutated_bytes(rng: random.Random, line: bytes) -> bytes:
    """Flip, drop, double, insert or move bytes; truncate the line or make it too long."""
    place = rng.randrange(len(line) + 1)
    length = rng.choice((1, 1, 2, 8, 50))
    before, piece, after = line[:place], line[place : place + length], line[place + length :]
    operation = rng.randrange(9)
    if operation == 0:
        return before + bytes(byte ^ 1 << rng.randrange(8) for byte in piece) + after
    if operation == 1:
        return before + after
    if operation == 2:
        return before + piece * rng.choice((2, 3)) + after
    if operation < 5:
        return before + rng.choice(BYTES) + rng.choice((piece, b"")) + after
    if operation == 5:
        return before if rng.random() < 0.5 else after
    if operation == 6:
        return before + rng.randbytes(length) + after
    if operation == 7:
        return after + piece + before if rng.random() < 0.1 else before + rng.choice(BYTES) * length + after
    return (
        rng.choice((b"", b" ", b"\r", line + b"\r", b"null"))
        if rng.random() < 0.99
        else line.ljust(MAX_LINE_BYTES + 1 - rng.randrange(2))
    )
