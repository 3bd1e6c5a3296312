"""Root causes of nodes that are set aside; `test_graph_properties.py` compares them with plain Python."""

from hypothesis import given

from graph_logs import logs
from graph_oracle import DEFAULTS, answers_of, table_of, thread, walked


@given(logs())
def test_a_repaired_cause_releases_its_nodes(rows):
    """The nodes that wait only for one missing id become members when it arrives, and all others stay."""
    before = walked(table_of(rows))
    there = {(row["graph_kind"], row["graph_id"], row["node_id"]) for row in rows}
    missing = {
        (row["graph_kind"], row["graph_id"], name)
        for row, answer in zip(rows, before, strict=True)
        for name in answer["missing_previous"] or []
    }
    assert not missing & there
    for kind, graph, name in missing:
        comes = DEFAULTS | {"graph_kind": kind, "graph_id": graph, "node_id": name, "is_root": True}
        after = walked(table_of([*rows, comes]))
        for row, was, now in zip(rows, before, after[:-1], strict=True):
            waits = (row["graph_kind"], row["graph_id"], was["blocked_by"]) == (kind, graph, [name])
            # A null in a list stays missing, although it has no name.
            if was["depth"] is None and now["depth"] is not None:
                assert waits
            elif waits and None not in (row["previous"] or []):
                assert now["depth"] is not None or now["blocked_by"] != [name]


def test_only_the_first_causes_are_kept():
    links = {"root": None} | {f"{number:03}": [] for number in range(300)}
    links |= {"merge": [f"{number:03}" for number in range(299, 49, -1)], "next": ["merge", "007"]}
    answers = answers_of(thread(links))
    assert answers["merge"]["blocked_by"] == [f"{number:03}" for number in range(50, 150)]
    assert answers["next"]["blocked_by"] == ["007", *answers["merge"]["blocked_by"][:99]]


def test_a_long_chain_behind_a_missing_node():
    names = [f"{number:06}" for number in range(200_000)]
    links = {"root": None} | {name: [before] for before, name in zip(["gone", *names], names, strict=False)}
    found = walked(table_of(thread(links)))
    reasons = [answer["set_aside_reason"] for answer in found[1:]]
    assert reasons == ["missing_previous", *["previous_set_aside"] * (len(names) - 1)]
    assert {tuple(answer["blocked_by"]) for answer in found[1:]} == {("gone",)}
    assert [answer["missing_previous"] for answer in found] == [None, ["gone"], *([[]] * (len(names) - 1))]
