"""Unknown names of vars, by the place where they are set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_spark_python import var_names
from dbt_spark_python.var_names import COMMAND_LINE, PROJECT, count_errors, find_nearest, find_unknown, is_near

KNOWN = ["order_log", "cart_log", "order_log_format", "verify_totals"]
LETTERS = st.text("abc", max_size=5)


def places(found: list[dict]) -> dict[tuple[str, str], str]:
    return {(each["place"], each["name"]): each["nearest"] for each in found}


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        *((name, "order_log") for name in ("order_logs", "oder_log", "order_lgo", "ORDER_LOG")),
        *((name, "order_log") for name in ("order-log", "orderlog", "order_log_path")),
        *(("order_log_fromat", "order_log_format"), ("verify", "verify_totals"), ("shops", "shop")),
    ],
)
def test_a_near_name_is_found_everywhere(name, nearest):
    """On the command line, among the vars of all packages, and among those of one package."""
    given_vars = {COMMAND_LINE: {name: 1}, PROJECT: {name: 1, "shop": {name: 1}}}
    expected = dict.fromkeys([(COMMAND_LINE, name), (PROJECT, name), (f"{PROJECT} shop:", name)], nearest)
    assert places(find_unknown("shop", KNOWN, given_vars, set())) == expected


@pytest.mark.parametrize("name", ["colour", "order", "log", "cart", "paper_log", "start_date", "dbt_utils"])
def test_another_name_is_found_where_it_can_be_of_one_package_alone(name):
    given_vars = {COMMAND_LINE: {name: 1}, PROJECT: {name: 1, "shop": {name: 1}}}
    (found,) = find_unknown("shop", KNOWN, given_vars, set())
    assert (found["place"], found["name"]) == (f"{PROJECT} shop:", name)
    assert found["nearest"] in [*KNOWN, "shop"]
    assert len(find_unknown("shop", KNOWN, given_vars, None)) == 3


def test_known_names_and_those_of_others_are_right():
    given_vars = {COMMAND_LINE: {"order_log": 1}, PROJECT: {"cart_log": 1, "shop": {"order_log": 1}, "order_logs": 1}}
    assert find_unknown("shop", KNOWN, given_vars, {"order_logs"}) == []
    assert find_unknown("shop", KNOWN, {PROJECT: {"shop": None}}, {"order_logs"}) == []


def test_the_command_line_has_no_scopes():
    """Vars that are set there below the package's name are ignored by dbt."""
    for others in (None, {"shop"}):
        found = find_unknown("shop", KNOWN, {COMMAND_LINE: {"shop": {"order_log": 1}}}, others)
        assert places(found) == {(COMMAND_LINE, "shop"): "shop"}


def test_names_that_are_read():
    code = """{{ var('a') }} {{ var( "b", none) }} {% if var('a') and variance('c') %}"""
    assert var_names.find_read([code, None, ""]) == {"a", "b"}


def slowly(one: str, other: str) -> int:
    """The distance of `count_errors`, by its recursive definition."""
    if not one or not other:
        return len(one) + len(other)
    ways = [slowly(one[1:], other) + 1, slowly(one, other[1:]) + 1, slowly(one[1:], other[1:]) + (one[0] != other[0])]
    if len(one) > 1 < len(other) and (one[0], one[1]) == (other[1], other[0]):
        ways.append(slowly(one[2:], other[2:]) + 1)
    return min(ways)


@given(LETTERS, LETTERS)
def test_errors_are_counted_by_the_definition(one, other):
    assert count_errors(one, other) == slowly(one, other)


def test_near_names():
    """Short names may have one error. Of equally near names the first counts."""
    assert find_nearest("log", KNOWN) == "cart_log"
    assert find_nearest("x_log", ["a_log", "b_log"]) == "a_log"
    assert is_near("edit_limits", "edit_limit")
    assert not is_near("credit_limit", "edit_limit")
    assert is_near("ancestr_limits", "ancestor_limit")
