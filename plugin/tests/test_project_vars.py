"""Names and values of vars that a package cannot have."""

import pytest

from dbt_spark_python.project_vars import (
    COMMAND_LINE,
    PROJECT,
    find_nearest,
    find_read,
    find_unknown,
    find_wrong_values,
    is_near,
)

KNOWN = ["order_log", "cart_log", "order_log_format", "verify_totals"]


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
    assert find_read([code, None, ""]) == {"a", "b"}


def test_near_names():
    """Short names may have one error. Of equally near names the first counts."""
    assert find_nearest("log", KNOWN) == "cart_log"
    assert find_nearest("x_log", ["a_log", "b_log"]) == "a_log"
    assert is_near("edit_limits", "edit_limit")
    assert not is_near("credit_limit", "edit_limit")
    assert is_near("ancestr_limits", "ancestor_limit")


NO_TABLES = {"a": 1}, {"ref": ""}, {"source": "t"}, {"ref": ["m"]}, {"ref": ["p", 3]}, {"ref": "a", "b": 1}


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (["fast", "slow", False], ["fast", "slow", False], ["Fast", "", None, 0, True, []]),
        ("boolean", [True, False], ["yes", 1, None]),
        ("count", [0, 7], [-1, "5", 1.5, True, None]),
        ("positive", [1], [0, True, None]),
        ("positive or none", [1, None], [0, "2", [2]]),
        ("table or none", [None, "a", {"ref": "m"}, {"source": ["s", "t"]}], ["", " ", 7, [], *NO_TABLES]),
        ("log", [None, "a", {"ref": "m"}, {"ref": ["p", "m"]}, {"source": ["s", "t"]}], ["", " ", 7, [], *NO_TABLES]),
    ],
)
def test_values_of_each_kind(kind, right, wrong):
    assert [value for value in right if find_wrong_values({"v": kind}, {"v": value})] == []
    assert [value for value in wrong if len(find_wrong_values({"v": kind}, {"v": value})) != 1] == []


def test_a_sentence_names_the_value_but_no_password():
    assert find_wrong_values({"v": ["fast", False]}, {"v": "x"}) == ["var 'v' is \"x\", but must be fast or false"]
    (said,) = find_wrong_values({"v": "log"}, {"v": "s3a://key:secret@bucket/a"})
    assert "password before the @" in said and "secret" not in said
