"""Tables depend on the lines alone: neither on line order, nor on files, nor on Spark's partitions."""

from base64 import b64encode

import pytest

from fixtures.ssb.author import Author, box, to_line
from group_kit import root_init
from log_files import contents, read_lines, scatter, selection_of
from small_log import VARS

LINES = read_lines("ssb/small.jsonl")
CLAIM = {"root": None, "previous": None}
TABLES = (
    *("stg_ssb__lines", "ssb_messages", "ssb_rejects", "feeds", "feed_messages"),
    *("tangle_messages", "tangles", "tangle_edges", "tangle_ancestors", "tangle_clocks"),
    *("int_feed_links", "int_feed_chain", "int_tangle_candidates", "int_tangle_levels"),
)


def contradictions() -> list[bytes]:
    """Write lines that contradict each other about the same messages."""
    lines = []
    author = Author.from_seed("contradictions")
    same_byte = [chr(256 * high + ord("A")) for high in range(5)]
    too_deep = b"[" * 3000 + b"]" * 3000
    for number in range(6):
        message = author.publish({"type": "post", "text": same_byte[1], "tangles": {"thread": CLAIM}}, number, 10)
        value = message["value"]
        lines += [to_line(message), to_line(value), to_line(message | {"timestamp": 5 - number})]
        # The same time, printed in two ways.
        lines += [to_line(message | {"timestamp": time}) for time in (0.0, -0.0)]
        lines += [to_line(message | {"key": key, "timestamp": 20}) for key in ("%wrong", 7, None)]
        # Ids hash only the low byte of each character: these messages have the same id and invalid signatures.
        lines += [to_line(message).replace(same_byte[1].encode(), other.encode()) for other in same_byte]
        forged = to_line(message).replace(b'"sequence":', b'"sequence":1')
        lines += [forged.replace(same_byte[1].encode(), other.encode()) for other in same_byte]
        # Decrypted by one exporter and not by another; the first may have invented the content.
        sealed = author.publish(box(b"sealed %d" % number), number, number)
        lines.append(to_line(sealed))
        for text in ("plain", "other"):
            shown = sealed["value"] | {
                "content": {"type": "post", "text": text, "root": value["signature"], "branch": "%"}
            }
            meta = {"private": True, "originalContent": sealed["value"]["content"]}
            lines.append(to_line(sealed | {"value": shown, "meta": meta, "timestamp": len(text) + number % 2}))
        # The fault of a message is not always visible in the parts that may be shown.
        for said in ({}, {"author": 7}):
            value = {"sequence": 1, "content": {"type": "post"}, "hash": "sha256", "deep": "?", **said}
            line = to_line({"key": f"%{number} wrong", "value": value, "timestamp": 1})
            lines.append(line.replace(b'"?"', too_deep))
        # A key, and a text with the fingerprint of a key.
        sealed = author.publish(box(b"group %d" % number), number, number)
        meta = {"private": True, "originalContent": sealed["value"]["content"]}
        secret = b"%032d" % number
        for text in (b64encode(secret), secret):
            shown = sealed["value"] | {"content": root_init(text.decode())}
            lines.append(to_line(sealed | {"value": shown, "meta": meta}))
    return lines


# `test_mutations.py` shuffles the lines of all logs without verification.
@pytest.fixture(scope="module")
def pair(project, tmp_path_factory):
    """Build the same lines twice: in one file; in another order, seven files and one partition."""
    lines, selected = LINES + contradictions(), selection_of(*TABLES)
    one = project("in_order", **VARS).given(ssb_log=lines).run("--select", *selected)
    assert all(contents(one, table) for table in TABLES)
    folder = tmp_path_factory.mktemp("shuffled")
    scatter(folder, lines, 7)
    other = project("shuffled", partitions=1, **{**VARS, "ssb_log": str(folder)})
    return one, other.run("--select", *selected)


@pytest.mark.parametrize("table", TABLES)
def test_order_files_and_partitions(table, pair):
    one, other = pair
    assert contents(other, table) == contents(one, table)
