"""The changelog announces every change of the public tables' contracts."""

import re
from collections import defaultdict

import pytest

import scripts
from conftest import ROOT

contracts = scripts.load("docs/reference/contracts.py")


def test_changelog_announces_contract_changes(manifest):
    """Contracts follow docs/how-to/upgrade.md; each failing line states the remedy."""
    changes = re.split("^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1]
    found = contracts.contracts_of(manifest.to_dict(omit_none=False))
    assert len(found) > 40 and found["feeds"][0]["author"] == "string"
    assert contracts.unannounced(contracts.read(), found, changes) == []


#: Sets declare their depths, which may be any number; a feed is added by many messages, an item by one.
OTHER_TYPES = {"depth": {"int", "bigint"}, "added_by": {"string", "array<string>"}}


def test_equal_names_have_equal_types(manifest):
    types = defaultdict(set)
    for versions in contracts.contracts_of(manifest.to_dict(omit_none=False)).values():
        for name, kind in versions[-1].items():
            types[name].add(kind)
    assert {name: kinds for name, kinds in types.items() if len(kinds) > 1} == OTHER_TYPES
    assert {name for name, kinds in types.items() if name.endswith("_at") != (kinds == {"timestamp"})} == set()


KEPT = {"feeds": {"author": "string", "length": "bigint"}}


@pytest.mark.parametrize(
    ("found", "changes", "said"),
    [
        ({"feeds": [{"author": "string"}]}, "`feeds.length` is gone", ["feeds: length: gone or of another type"]),
        ({"feeds": [{"author": "string", "length": "int"}]}, "", ["feeds: length: gone or of another type"]),
        ({}, "`feeds` is gone", ["feeds: author, length: gone or of another type"]),
        ({"feeds": [KEPT["feeds"] | {"end": "string"}]}, "", ["feeds.end: a new column"]),
        ({"feeds": [KEPT["feeds"] | {"end": "string"}]}, "- `feeds.end` says why.", []),
        ({"feeds": [{"author": "string", "end": "bigint"}]}, "| `feeds.length` | `feeds.end` |", []),
        ({"feeds": [{"author": "string"}]}, "| `feeds.length` | `feeds.end` |", ["feeds: length: gone"]),
        ({"feeds": [{"author": "string", "length": "int"}]}, "| `feeds.length` | `feeds.length`, an int |", []),
        (KEPT | {"runs": {}}, "", ["runs: a new table"]),
        (KEPT | {"runs": {"id": "string"}}, "- `runs`: one row each.", []),
        # A second version of the model, beside the first one.
        ({"feeds": [KEPT["feeds"], {"author": "binary"}]}, "", []),
        ({"feeds": [KEPT["feeds"], {"author": "binary", "end": "string"}]}, "", ["feeds.end: a new column"]),
    ],
)
def test_unannounced_changes_are_found(found, changes, said):
    """A removed column is reported, unless the changelog has its new name or a version of its model keeps it."""
    found = {name: versions if isinstance(versions, list) else [versions] for name, versions in found.items()}
    lines = contracts.unannounced(KEPT, found, changes)
    assert len(lines) == len(said)
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True))
