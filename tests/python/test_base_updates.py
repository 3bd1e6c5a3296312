"""Views and published updates of bases that grow, and of bases under other vars."""

import re

import pytest

import autobase_oracle as oracle
from autobase_lines import to_line
from base_builds import ONLY, Built, random_bases
from base_tables import node_id
from changes_oracle import changes


@pytest.mark.long
def test_clock_limit_and_quorum_degrees(project):
    bases, lines = random_bases(range(100, 130))
    sizes = {name: len({i.writer for i in base.nodes}) * len(base.nodes) for name, base in bases.items()}
    limit = sorted(sizes.values())[15]
    made = project("limited_bases", base_clock_limit=limit, quorum_degrees=5).given(autobase_log=lines)
    built = Built(made.run(*ONLY))
    for name, base in bases.items():
        if sizes[name] <= limit:
            built.check(name, base, degrees=5)
            continue
        order, confirmed = oracle.order_of(base)
        assert built.answer(name) == ([node_id(i) for i in order], confirmed)
        assert built.views.get(name, {}).keys() <= {"all"}
        assert all(row["clock"] is row["votes"] is None for row in built.nodes[name].values())
        built.check_quorums(name, base, 5)
    assert 10 < sum(size > limit for size in sizes.values()) < 20
    assert any(degree == 5 for found in built.quorums.values() for _, degree, *_ in found)


def as_line(base_id, writer, length, heads, batch=1):
    """Print a node as its writer publishes it."""
    pairs = [[key, int(at)] for key, at in (head.split(":") for head in heads)]
    return to_line({"base": base_id, "writer": writer, "length": length, "heads": pairs, "batch": batch, "value": 1})


@pytest.mark.long
def test_views_and_updates_of_growing_bases(project):
    """Build a log, then the next nodes of its writers; compare views and updates of each build."""
    bases, lines = random_bases(range(200, 215))
    project = project("bases_go_on").given(autobase_log=lines).run(*ONLY)
    first = Built(project)
    changes_are_those_of_the_oracle(project, bases)
    links_are_those_of_the_oracle(project, bases)
    updates = {row["base_id"]: row for row in project.rows("autobase_updates")}
    for base_id, row in updates.items():
        assert (row["previous_publication"], row["kept"], row["undone"]) == (None, 0, 0)
        assert row["appended"] == len(first.answer(base_id)[0])

    following = project.rows("autobase_next")
    relayed = {row["base_id"]: row["relayed"] for row in project.rows("int_autobase_bases")}
    chosen = {}
    for at, row in enumerate(sorted(following, key=lambda row: (row["base_id"], row["writer"]))):
        if row["writer"] not in relayed[row["base_id"]] and (at % 3 == 0 or row["base_id"] not in chosen):
            chosen[row["base_id"]] = row
    assert len(chosen) > 10
    names = ("base_id", "writer", "length", "heads", "batch")
    following = [as_line(*(row[name] for name in names)) for row in chosen.values()]
    second = Built(project.given(autobase_log=lines + following).run(*ONLY))
    assert project.rows("autobase_rejects") == []
    for base_id, row in chosen.items():
        node = f"{row['writer']}:{row['length']}"
        for observer in ("all", row["writer"]):
            assert node in second.answer(base_id, observer)[0]
    updates_are_those_of_views(project, first, second, updates)


def updates_are_those_of_views(project, first, second, before):
    """Check that each update leads from the published order to the new order."""
    for row in project.rows("autobase_updates"):
        old, new = first.answer(row["base_id"])[0], second.answer(row["base_id"])[0]
        if old == new:
            assert row == before[row["base_id"]]
            continue
        assert old[: row["kept"]] == new[: row["kept"]]
        assert old[row["kept"] :][:1] != new[row["kept"] :][:1]
        assert (len(old), len(new)) == (row["kept"] + row["undone"], row["kept"] + row["appended"])
        published = before.get(row["base_id"], {"publication": None})["publication"]
        assert row["previous_publication"] == published != row["publication"]


def changes_are_those_of_the_oracle(project, bases):
    """Compare rebases and confirmations; for `all`, a confirmation names the first node at which any writer settled."""
    rebases, settled = {}, {}
    for base_id, base in bases.items():
        for at, change in sorted(changes(base).items(), key=lambda item: (base.depth[item[0]], item[0])):
            if change.undone:
                rebases[base_id, at.writer.hex(), node_id(at)] = change[:4]
            for x, contender in change.settled:
                where = node_id(at), contender and node_id(contender)
                settled[base_id, at.writer.hex(), node_id(x)] = where
                settled.setdefault((base_id, "all", node_id(x)), where)
    names = ("old_length", "kept", "undone", "appended")
    found = {
        (row["base_id"], row["observer"], row["at_node"]): tuple(row[name] for name in names)
        for row in project.rows("autobase_rebases")
    }
    assert found == rebases
    assert len(found) > 20
    rows = project.rows("autobase_confirmations")
    found = {(row["base_id"], row["observer"], row["node_id"]): (row["confirmed_by"], row["contender"]) for row in rows}
    # `confirmed_by` is null if only all nodes together settle a node.
    assert {key: where for key, where in found.items() if where[0]} == settled
    confirmed = {
        (row["base_id"], row["observer"], row["node_id"])
        for row in project.rows("autobase_views")
        if row["is_confirmed"]
    }
    assert found.keys() == confirmed


def links_are_those_of_the_oracle(project, bases):
    """Compare links; the replicas know all nodes except those settled before."""
    rows = project.rows("autobase_links")
    assert {(row["is_known"], row["is_before_start"]) for row in rows} == {(True, False), (False, True)}
    found = {(row["base_id"], row["node_id"], row["head_id"]) for row in rows if row["is_known"]}
    expected = {
        (base_id, node_id(i), node_id(p))
        for base_id, base in bases.items()
        for i in base.nodes
        for p in base.previous(i)
    }
    assert found == expected


@pytest.mark.long
def test_fixtures_under_consensus_rule_design(project):
    built = project("bases_by_design", consensus_rule="design")
    options = ("--select", "+documents_autobase", "--exclude", "test_type:unit")
    result = built.invoke("build", *options)
    assert result.exception is None, result.exception
    statuses = {r.node.name: r.status for r in result.result}
    assert set(statuses.values()) <= {"success", "pass", "no-op"}  # dbt selects an exposure too, without running it
    (documents,) = (r.node.compiled_code for r in result.result if r.node.name == "documents_autobase")
    compared = re.findall(r"^-- (\w+) in ", documents, re.M)
    assert compared.count("autobase_views_design") == 2 and "autobase_views" not in compared
    assert built.rows("autobase_views")
