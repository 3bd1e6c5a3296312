"""The SQL literals of seed cells."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from dbt_spark_python.adapter import write_literal


@pytest.mark.parametrize(
    "value, literal",
    [
        (None, "null"),
        ("None", "'None'"),
        ("", "''"),
        ("o'hara", r"'o\'hara'"),
        ("a\\b", r"'a\\b'"),
        ("100 %s", "'100 %s'"),
        (True, "true"),
        (12345678901234567, "12345678901234567"),
        (Decimal("1234567890.123456789"), "1234567890.123456789"),
        (0.5, "'0.5'"),
        (date(2024, 2, 29), "'2024-02-29'"),
        (datetime(2024, 2, 29, 1, 2, 3), "'2024-02-29 01:02:03'"),
    ],
)
def test_a_cell_becomes_an_exact_literal(value, literal):
    assert write_literal(value) == literal
