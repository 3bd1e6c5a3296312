"""Hostile lines for any reader of a log, and a log that states the expected result of each line."""

import gzip
import random
from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from urllib.parse import unquote

from fixtures.ssb.author import Message, to_line

ANY = "any reason"

MAX_LINE_BYTES = 2**21

HOSTILE = [
    *("'", '"', "`", "\\", "\\'", '\\"', ";", "--", "/*", "%s", "%(name)s", "${name}", "$1"),
    *("\0", "a\0b", "\n", "a\r\nb"),
    *("{{ 1/0 }}", "{% raw %}", "{% endraw %}", "{#", "{{ env_var('HOME') }}", "'; drop table tangles; --"),
    *("__this_round__", "", " ", "null", "None", "0", "1", "NaN", "__proto__", "constructor"),
    *("\u2028", "\u202eabc", "\ufeff", "\uffff", "😀", "thread", "Thread", "THREAD", "e\u0301", "\u00e9", "ﬀ", "ff"),
    "a" * 1200,
]

# Names with a meaning in SQL, Jinja, Python, a shell, a file system or a terminal.
ODD = [*HOSTILE, "../../etc/passwd", "file:///etc/passwd", "C:\\con", "$(id)", "a\tb", "\x7f"]


class Log:
    """A folder of files, with the expected result of each line.

    Attributes:
        rejects: The reason of each rejected line, by file and line.
        subjects: The subject of each usable line, such as the id of its message, likewise.
    """

    to_line = staticmethod(to_line)

    def __init__(self, folder: Path):
        self.folder = folder
        self.files: dict[str, list[bytes]] = {}
        self.rejects: dict[tuple[str, int], str] = {}
        self.subjects: dict[tuple[str, int], Hashable] = {}

    @property
    def lines(self) -> Counter:
        """How many lines should be behind each subject."""
        return Counter(self.subjects.values())

    def put(self, line: bytes, file: str) -> tuple[str, int]:
        """Add a line to a file; return its place."""
        self.files.setdefault(file, []).append(line)
        return file, len(self.files[file])

    def bad(self, reason: str, *lines: bytes, file: str = "log.jsonl") -> None:
        """Add lines that should be rejected."""
        for line in lines:
            self.rejects[self.put(line, file)] = reason

    def good(self, *lines: Message | bytes, file: str = "log.jsonl", subject: Hashable = None) -> None:
        """Add lines that should be usable; with the id that they claim, or the given subject."""
        for line in lines:
            raw = line if isinstance(line, bytes) else self.to_line(line)
            self.subjects[self.put(raw, file)] = self.id_of(line) if subject is None else subject

    def id_of(self, message: Message) -> str:
        """Return the id of a message."""
        return message["key"]

    def repeat(self, step: int, file: str = "log.jsonl") -> None:
        """Add some lines of a file again."""
        for number in range(1, len(self.files[file]) + 1, step):
            at, line = (file, number), self.files[file][number - 1]
            results = self.rejects if at in self.rejects else self.subjects
            results[self.put(line, file)] = results[at]

    def write(self) -> str:
        """Write the files, compressed if a name ends in `.gz`; return the folder, as the value of a var."""
        for name, lines in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = b"\n".join(lines) + b"\n"
            path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return str(self.folder)

    def check_rejects(self, project, table: str) -> None:
        """Compare the rejected lines with a table of rejects."""
        found = {}
        for row in project.rows(table, ["source_file", "line", "reason"]):
            file = unquote(row["source_file"]).partition(f"{self.folder}/")[2]
            assert (file, row["line"]) not in found
            found[file, row["line"]] = row["reason"]
        assert found.keys() == self.rejects.keys()
        wrong = {at: (reason, found[at]) for at, reason in self.rejects.items() if reason not in (ANY, found[at])}
        assert not wrong, wrong

    def check(self, built) -> None:
        """Compare all lines with the tables."""
        self.check_rejects(built, "ssb_rejects")
        usable = {
            row["message_id"]: row["line_count"]
            for row in built.rows("ssb_messages", ["message_id", "line_count", "is_usable"])
            if row["is_usable"]
        }
        assert usable == self.lines


def broken(log: Log) -> None:
    """Add lines that are no messages in any format."""
    log.bad("malformed_json", b"", b"   ", b"\t\r", b"\0", b"\0" * 5000, b"nope", b"{", b'{"a":1,}', b"{'a':1}", b"NaN")
    log.bad("malformed_json", b"01", b'"\0"', b'{"key":"\x1f"}', b"1 2", b'{"a":', b'"\\ud83', b"[" * 10_000)
    log.bad("malformed_json", *(text.encode() for text in HOSTILE if text not in ("0", "1", "null", "\n", "a\r\nb")))
    log.bad("malformed_json", b"[" * 10_000 + b"]" * 9_999, b'{"a":' * 10_000 + b"}" * 10_000)
    log.bad("invalid_utf8", b"\xff", b'{"key":"\xc3("}', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xf5\x80\x80\x80"')
    log.bad("invalid_utf8", b'"\xe2\x82')
    log.bad(
        "not_a_message", b"null", b"true", b"7", b"-1e999", b'"%key"', b"{}", b"\xef\xbb\xbf{}", b"[]", b'"\\ud800"'
    )
    log.bad("not_a_message", b'{"sync":true}', b'{"key":"%k","value":7}', b'{"key":"%k","value":null}')
    log.bad("not_a_message", b'{"value":{"value":{"value":{}}}}')
    log.bad("not_a_message", b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000)


def random_bytes(log: Log) -> None:
    log.bad(ANY, *random.Random(1).randbytes(100_000).split(b"\n"), file="garbage.bin")
    log.bad(ANY, *gzip.compress(b"not named .gz").split(b"\n"), file="compressed.jsonl")
    log.bad(ANY, *'{"key": 1}\n{}'.encode("utf-16").split(b"\n"), file="utf16.jsonl")
    (log.folder / "empty.jsonl").touch()
    (log.folder / "empty.jsonl.gz").write_bytes(gzip.compress(b""))
