"""Builds over fewer logs than before: the rows of a left-out log go, and all other rows stay as they were."""

import pytest

import fixture_seeds
from manifests import LOGS

#: Small logs of the fixtures: the seed of each, and the file that is taken.
FILES = {
    "ssb_log": ("ssb", "private_groups.jsonl"),
    "pzp_log": ("pzp", "growth.jsonl"),
    "autobase_log": ("autobase", "examples.jsonl"),
    "event_log": ("events", "timelines.jsonl"),
}
#: Tables with rows of one log alone.
TABLES = {
    "ssb_log": ["ssb_messages", "feeds", "group_epochs", "group_next"],
    "pzp_log": ["pzp_messages", "set_messages"],
    "autobase_log": ["autobase_nodes", "autobase_next", "autobase_views"],
    "event_log": ["stg_events__lines"],
}
SELECTED = [f"+{name}" for names in TABLES.values() for name in names]


@pytest.fixture(scope="module")
def paths(tmp_path_factory) -> dict[str, str]:
    """The logs, by the names of their vars."""
    folder = tmp_path_factory.mktemp("logs")
    for name, seed in FILES.items():
        (folder / name).write_bytes(b"\n".join(fixture_seeds.lines(*seed)))
    return {name: str(folder / name) for name in FILES}


@pytest.mark.long
def test_each_log_is_left_out_once(project, paths):
    names = [name for listed in TABLES.values() for name in listed]
    assert paths.keys() == TABLES.keys() == set(LOGS)

    def rows(built):
        return {name: sorted(map(repr, built.rows(name))) for name in names}

    whole = rows(project("left_out", **paths).run("--select", *SELECTED))
    assert all(whole.values()), "a table is empty although its log is given"
    for kept in (LOGS[::2], LOGS[1::2]):
        given = {name: paths[name] for name in kept}
        found = rows(project("left_out", **given).run("--select", *SELECTED))
        assert {name for name in names if found[name]} == {name for log in kept for name in TABLES[log]}
        assert all(found[name] == whole[name] for name in names if found[name])
    assert rows(project("left_out", **paths).run("--select", *SELECTED)) == whole
