"""A model runs again once if an executor with its checkpointed rows was lost; other errors are raised."""

import pytest

from dbt_spark_python.python_model import checkpoint_retry
from dbt_spark_python.python_model.checkpoint_retry import retry_lost_rows

LOST = (
    "Job aborted due to stage failure: Task 1 in stage 9.0 failed 4 times …: org.apache.spark.SparkException: "
    "[CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND] Checkpoint block rdd_21_1 not found!\nEither the executor …"
)


@pytest.fixture(autouse=True)
def lines(monkeypatch) -> list[str]:
    """The logged lines."""
    said = []
    monkeypatch.setattr(checkpoint_retry, "show_line", said.append)
    return said


def failing(*messages: str):
    """A function that raises each of these errors in turn, and then succeeds."""
    left = list(messages)

    def make():
        if left:
            raise RuntimeError(left.pop(0))

    return make, left


def test_the_model_runs_again(lines):
    make, left = failing(LOST)
    retry_lost_rows(make, "model.shop.orders")
    assert left == []
    assert lines == ["orders: an executor with checkpointed rows was lost; the model runs again"]


@pytest.mark.parametrize(("messages", "said"), [([LOST, LOST, "late"], "rdd_21_1"), (["other", LOST], "other")])
def test_other_errors_are_raised(messages, said):
    make, left = failing(*messages)
    with pytest.raises(RuntimeError, match=said):
        retry_lost_rows(make, "model.shop.orders")
    assert left == messages[-1:]
