"""The text before a mark is found anywhere in a line, for any bytes."""

import pytest

MARK, LENGTH, WITHIN = ".end", 4, 24
LINES = {
    b"0123456789abcd.end": "abcd",
    b"abcd.end" + b"-" * 100: "abcd",
    b"x" * 100 + b"abcd.end}": "abcd",
    b"x" * 100 + b"abcd.end" + b"-" * 16: "abcd",  # mark and text are within the searched end
    b"x" * 100 + b"abcd.end" + b"-" * 18: "abcd",  # only the mark is within the searched end
    b"wxyz.end" + b"-" * 100 + b"abcd.end": "abcd",  # the last mark, if it is near the end
    "ä".encode() * 50 + b"abcd.end": "abcd",
    b"abcd.end" + "ä".encode() * 50: "abcd",
}
WITHOUT = [b"", b"cd.end", b"no mark", b"\xff\xfe" * 40, b"\xff" * 40 + b"abcd.end", None]


@pytest.fixture(scope="module")
def found(project):
    """Return the text found in each line."""
    project("shuffle_key").build("--select", "fixture_log", "--indirect-selection", "empty")
    from dbt_spark_python.session.connection import process_session
    from dbt_tangles.ingest.shuffle_key import text_before

    spark = process_session()
    lines = spark.createDataFrame([(line,) for line in [*LINES, *WITHOUT]], "raw binary")
    rows = lines.select("raw", text_before(spark, "raw", MARK, LENGTH, WITHIN).alias("text")).collect()
    return {row["raw"] and bytes(row["raw"]): row["text"] for row in rows}


@pytest.mark.parametrize("line", LINES)
def test_text_before_a_mark(found, line):
    assert found[line] == LINES[line]


def test_lines_without_one_are_no_error(found):
    assert len(found) == len({*LINES, *WITHOUT} - {b""}) + (b"" in found)
