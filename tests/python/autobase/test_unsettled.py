"""Nodes that are not settled: the document's examples, and the reasons in one line."""

import pytest

from autobase_oracle import Base, Id
from base_results import results
from base_tables import drawing, rows_of, table_of
from rule_search import name


def read(text: str) -> Id:
    writer, length = text.split(":")
    return Id(bytes.fromhex(writer), int(length))


def shown(base: Base) -> list[str]:
    """Return the reason of each node in one line: the contender, the awaited merge, and the missing writers."""
    lines = []
    for _, x, reason, *others, missing in results(table_of(rows_of("x", base)))["unsettled"]:
        ids = [name(read(other)) if other else "-" for other in others]
        keys = "".join(bytes.fromhex(key).decode() for key in missing)
        lines.append(" ".join([name(read(x)), reason, *ids, keys or "-"]))
    return sorted(lines)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # The document's first example: a2 has a quorum at b2; one more indexer has to know it.
        ("a1 b1:a1 c1:b1 a2:c1 b2:a2", ["a2 needs_votes - - ac", "b2 needs_votes - - ac"]),
        # The document's example of two branches.
        (
            "a1 b1 c1:a1,b1 a2:c1",
            [
                "a1 awaits_merge b1 c1 bc",
                "a2 needs_votes - - bc",
                "b1 awaits_merge a1 c1 bc",
                "c1 needs_votes - - bc",
            ],
        ),
        ("a1 b1", ["a1 contender b1 - bc", "b1 contender a1 - ac"]),
    ],
    ids=["chain", "branches", "fork"],
)
def test_reasons(words, expected):
    assert shown(drawing("abc", words)) == expected
