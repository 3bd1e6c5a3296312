"""Faults of a project that installs a package, in small graphs."""

import pytest

from dbt_spark_python.project_graph import explain_missing_tables, find_confusions, find_private_reads


def node(kind: str, package: str, name: str, *parents: str, **more) -> dict[str, dict]:
    """A graph of one node."""
    key = f"{kind}.{package}.{name}"
    fields = {"unique_id": key, "name": name, "package_name": package, "schema": "s", "alias": name}
    return {key: fields | {"depends_on": {"nodes": list(parents)}} | more}


def test_models_of_the_same_name_are_confused():
    nodes = node("model", "shop", "sums", "model.mine.orders") | node("model", "shop", "lines", "model.mine.log")
    nodes |= node("model", "mine", "orders", patch_path="shop://models/orders.yml")
    nodes |= node("model", "mine", "log", patch_path="mine://models/log.yml")
    wrong_reader, wrong_name = find_confusions(nodes, "shop", ["lines"])
    assert wrong_reader.startswith("sums of shop would read model.mine.orders, which has the name of a model of shop")
    assert wrong_name.startswith("model.mine.orders has the name of a disabled model of shop")


def test_private_models_have_no_readers_in_other_packages():
    nodes = node("model", "shop", "secret", access="private")
    nodes |= node("model", "shop", "sums", "model.shop.secret", access="public")
    nodes |= node("model", "mine", "right", "model.shop.sums", "model.shop.gone")
    nodes |= node("model", "mine", "wrong", "model.shop.secret")
    (said,) = find_private_reads(nodes, "shop")
    assert said.startswith("model.mine.wrong reads model.shop.secret, which is private")


@pytest.mark.parametrize(
    ("built", "remedy", "leaves_out", "said"),
    [
        ({"model.shop.a", "seed.shop.c"}, None, False, "1 of the selected tests read tables that are not built"),
        (set(), "--leave-them-out", True, "leave such tests out: --leave-them-out"),
        (set(), None, False, "--exclude of_a_and_b of_c"),
        ({"model.shop.a", "seed.shop.c"}, None, True, None),
        ({"model.shop.a", "model.shop.b"}, None, True, "s.c. Build these first"),
    ],
)
def test_tests_need_their_tables(built, remedy, leaves_out, said):
    """A test with the tag leaves out models, but no seeds."""
    tests = node("test", "shop", "of_a_and_b", "model.shop.a", "model.shop.b", tags=["skips_missing_tables"])
    tests |= node("test", "shop", "of_c", "seed.shop.c", "source.shop.outside")
    tables = node("model", "shop", "a") | node("model", "shop", "b") | node("seed", "shop", "c")
    found = explain_missing_tables(tests | tables, [*tests], built.__contains__, remedy, leaves_out)
    assert found is None if said is None else said in found


def test_an_error_names_five_of_many():
    nodes = {}
    for n in range(7):
        nodes |= node("test", "shop", f"of_{n}", f"model.shop.m{n}") | node("model", "shop", f"m{n}")
    said = explain_missing_tables(nodes, [key for key in nodes if key.startswith("test")], lambda _: False, None, False)
    assert said.startswith("7 of the selected tests")
    assert "s.m0, s.m1, s.m2, s.m3, s.m4, …" in said and said.endswith("--exclude of_0 of_1 of_2 of_3 of_4 …")
