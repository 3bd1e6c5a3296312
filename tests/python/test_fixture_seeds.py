"""The committed fixture seeds equal the output of `python -m fixtures`."""

import pytest
import yaml

from fixtures.__main__ import main
from fixtures.seed_files import SEEDS
from fixtures.systems import SYSTEMS, make_seeds


def test_every_seed_is_written():
    assert make_seeds().keys() == {path.stem for path in SEEDS.rglob("*.csv")}


def test_committed_seeds_are_current():
    assert main(["--check"]) == 0


@pytest.mark.parametrize("system", SYSTEMS)
def test_columns_of_statements_are_described(system):
    (seed,) = yaml.safe_load((SEEDS / f"_expected_{system}__seeds.yml").read_text())["seeds"]
    statements = seed["config"]["meta"]["statements"]
    headers = {name: header.split() for name, header in SYSTEMS[system].HEADERS.items()}
    assert {name: ["example", *statement["column_types"]] for name, statement in statements.items()} == headers
    assert {name: ["example", *statement["columns"]] for name, statement in statements.items()} == headers


@pytest.mark.parametrize("seed", ["fixture_log", "expected_ssb"])
def test_check_notices_a_difference(seed, tmp_path, capsys):
    """`--check` fails on a seed that was edited by hand, without changing it."""
    for path in SEEDS.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    edited = tmp_path / f"{seed}.csv"
    edited.write_text("example\n")
    assert main(["--check", "--seeds", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"differs: {seed}.csv\n"
    assert edited.read_text() == "example\n"
    assert main(["--seeds", str(tmp_path)]) == 0
    assert edited.read_bytes() == (SEEDS / f"{seed}.csv").read_bytes()
