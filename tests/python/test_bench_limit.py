"""LIMIT is the same for all models: read the needed columns, shuffle them by group, write the model's rows."""

import pytest

from bench import limit, model_runner
from bench.cpu import Spent
from bench.limit import Pieces
from cli_kit import declared


def spent(cpu, wall=1.0):
    return Spent(wall, {"driver": 0.0, "jvm": cpu, "workers": 0.0})


def test_reading_again_is_no_part_of_it():
    found = Pieces(spent(5, wall=4), spent(3, wall=3), spent(1, wall=2)).spent
    assert (found.total, found.wall) == (7, 5)


def test_the_limit_is_at_least_the_moved_part():
    """With few rows the difference of two measurements is chance."""
    found = Pieces(spent(5), spent(1), spent(2)).spent
    assert (found.total, found.wall) == (5, 1)


@pytest.mark.parametrize("model", limit.MODELS, ids=lambda model: f"{model.name}-{model.shape}")
def test_inputs_have_the_columns_that_the_models_read(model):
    """A model gets the columns that dbt would give it, as far as it reads them; the benchmark loads dbt's own file."""
    assert callable(model_runner.load(model.name).model)
    rows = model.make(0.0002)
    assert len(rows) and {*model.key, *model.needs} <= {*rows.column_names}
    known = declared("int_tangle_claims" if model.ref == "int_tangle_candidates" else model.ref)
    assert all(field == known.field(field.name) for field in rows.schema)


@pytest.mark.sail
def test_models_and_their_limits_are_measured():
    """All models in small, on Sail: each writes rows, and has figures of its own and of its LIMIT."""
    from bench import __main__ as command

    options = command.parse(["limit", "--scale", "0.0002", "--repeats", "1"])
    options.engine = "sail"
    results, goals = limit.run(options)
    assert [(found["model"], found["shape"]) for found in results] == [(each.name, each.shape) for each in limit.MODELS]
    assert all(found["rows"] > 0 and found["found"]["cpu_s"] >= 0 <= found["limit"]["cpu_s"] for found in results)
    assert all(goal.met is None for goal in goals)
