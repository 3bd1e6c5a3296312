"""The manifest that test builds share equals a fresh parse by dbt."""

import pytest

import manifests

OTHER = {
    **{
        "ssb_log_format": "pretty",
        "unpack_limit": 7,
        "log_timeline": "full",
        "count_changes": False,
        "incremental_from": 9,
    },
    **{"ancestor_limit": 6, "base_clock_limit": 5, "graph_limit": 9, "rows_in_memory": 2, "max_previous": 3},
    **{"edit_limit": 4, "edit_command_limit": 8, "edit_batch_size": 0, "verify_signatures": False},
    **{"consensus_rule": "design", "quorum_degrees": 2, "design_position_limit": 8, "set_ghost_span": 9},
    **{"group_authority": True},
}
#: The time of parsing, and the contents of files.
IN_FILES = {"created_at", "unrendered_config"}


def contents(nodes) -> dict[str, dict]:
    """Return all properties of each enabled node except the text of its file."""
    return {
        key: {name: value for name, value in node.to_dict(omit_none=False).items() if name not in IN_FILES}
        for key, node in nodes.items()
        if node.config.enabled
    }


@pytest.mark.parametrize(
    ("first", "then"),
    [({}, OTHER), pytest.param(OTHER, {}, marks=pytest.mark.long)],
    ids=["given later", "given before"],
)
def test_a_shared_manifest_equals_a_parsed_one(project, monkeypatch, tmp_path, first, then):
    """Every var that is inserted afterwards differs from its value in the shared manifest."""
    assert OTHER.keys() == (manifests.IN_META | manifests.IN_META_WITH_LOGS) - {*manifests.LOGS}
    before, after = ({log: f"/{folder}/{log}" for log in manifests.LOGS} for folder in ("before", "after"))
    monkeypatch.setattr(manifests, "folder_of_run", lambda _: tmp_path)
    earlier = manifests.manifest_for(project("shared", **before, **first))
    other = project("shared_with_others", **after, **then)
    shared = manifests.manifest_for(other)
    assert len([*tmp_path.glob("*.manifest")]) == 1
    parsed = other.invoke("parse", "--no-partial-parse", "--no-write-json").result
    assert contents(shared.nodes) == contents(parsed.nodes) != contents(earlier.nodes)
    assert shared.disabled.keys() <= parsed.disabled.keys()
