"""Public tables change only in ways that are announced to their readers."""

import re

import pytest

from bench import contracts
from conftest import ROOT


def test_nothing_changed_that_readers_are_not_told(manifest):
    """The rules of docs/how-to/upgrade.md; a failing line says what to do."""
    changes = re.split("^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1]
    found = contracts.contracts_of(manifest.to_dict(omit_none=False))
    assert len(found) > 40 and found["feeds"][0]["author"] == "string"
    assert contracts.unannounced(contracts.read(), found, changes) == []


KEPT = {"feeds": {"author": "string", "length": "bigint"}}


@pytest.mark.parametrize(
    ("found", "changes", "said"),
    [
        ({"feeds": [{"author": "string"}]}, "`feeds.length` is gone", ["feeds: length: gone or of another type"]),
        ({"feeds": [{"author": "string", "length": "int"}]}, "", ["feeds: length: gone or of another type"]),
        ({}, "`feeds` is gone", ["feeds: author, length: gone or of another type"]),
        ({"feeds": [KEPT["feeds"] | {"end": "string"}]}, "", ["feeds.end: a new column"]),
        ({"feeds": [KEPT["feeds"] | {"end": "string"}]}, "- `feeds.end` says why.", []),
        (KEPT | {"runs": {}}, "", ["runs: a new table"]),
        (KEPT | {"runs": {"id": "string"}}, "- `runs`: one row each.", []),
        # A second version of the model, beside the first one.
        ({"feeds": [KEPT["feeds"], {"author": "binary"}]}, "", []),
        ({"feeds": [KEPT["feeds"], {"author": "binary", "end": "string"}]}, "", ["feeds.end: a new column"]),
    ],
)
def test_what_is_noticed(found, changes, said):
    """Whatever the changelog says, a column stays until a version of its model is removed."""
    found = {name: versions if isinstance(versions, list) else [versions] for name, versions in found.items()}
    lines = contracts.unannounced(KEPT, found, changes)
    assert len(lines) == len(said)
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True))
