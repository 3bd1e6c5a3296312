"""The committed fixture seeds are what their command writes."""

import pytest

from fixtures.__main__ import SYSTEMS, main
from fixtures.seed_files import SEEDS


def test_every_seed_is_of_a_system():
    written = {(name, f"{seed}.csv") for name, system in SYSTEMS.items() for seed in system.make_tables()}
    assert written == {(path.parent.name, path.name) for path in SEEDS.rglob("*.csv")}


def test_check_is_clean():
    assert main(["--check"]) == 0


@pytest.mark.parametrize(
    ("system", "seed"),
    [
        ("ssb", "expected_tangles"),
        ("pzp", "expected_sets"),
        ("autobase", "expected_autobase_bases"),
        ("events", "expected_timeline_events"),
    ],
)
def test_check_notices_a_difference(system, seed, tmp_path, capsys):
    """A seed that was edited by hand fails the check, which leaves it alone."""
    (tmp_path / system).mkdir()
    for path in (SEEDS / system).glob("*.csv"):
        (tmp_path / system / path.name).write_bytes(path.read_bytes())
    edited = tmp_path / system / f"{seed}.csv"
    edited.write_text("example\n")
    options = ["--system", system, "--seeds", str(tmp_path)]
    assert main(["--check", *options]) == 1
    assert capsys.readouterr().err == f"differs: {system}/{seed}.csv\n"
    assert edited.read_text() == "example\n"
    assert main(options) == 0
    assert edited.read_bytes() == (SEEDS / system / f"{seed}.csv").read_bytes()
