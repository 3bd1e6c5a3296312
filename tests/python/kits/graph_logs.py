"""Draws random candidates of graphs, and selects their members."""

from hypothesis import strategies as st

# Ids that are easily confused: empty, prefixes of each other, zero bytes, long common beginnings, and characters
# whose order by code point is not their order by UTF-16 unit.
IDS = [
    *("", "a", "a\0", "a\0\0", "aaaaaaa", "aaaaaaaa", "aaaaaaa\0", "a" * 40 + "b", "a" * 40 + "c", "a" * 40, "b"),
    *("é", "\uff5e", "\U0001f980", "%" + "A" * 43 + "=.sha256", "%" + "A" * 42 + "B=.sha256"),
]
TIMES = st.sampled_from([None, None, 0.0, -0.0, -1.5, 1.0, 2.0, float("nan"), float("inf"), 1.6e12])


@st.composite
def logs(draw):
    """Draw candidates of a few graphs that share their ids, in any order."""
    prefix = draw(st.sampled_from(["", "refs/heads/"]))
    ids = [prefix + id_ for id_ in draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=9, unique=True))]
    listable = st.sampled_from([*ids, *ids, *ids, "nobody", None])
    rows = []
    for name, root in draw(
        st.lists(st.tuples(st.sampled_from([None, "", "t"]), st.sampled_from([None, "", "A"])), max_size=3, unique=True)
    ):
        # Most graphs are histories, in which a node lists earlier nodes; some list any node.
        causal = draw(st.booleans())
        order = draw(st.permutations(ids))
        for i, id_ in enumerate(order):
            earlier = st.sampled_from(order[: max(i, 1)])
            choice = draw(st.integers(0, 19))
            lists = st.lists(earlier, max_size=4) if causal and choice > 1 else st.lists(listable, max_size=4)
            rows.append(
                {
                    "graph_kind": name,
                    "graph_id": root,
                    "node_id": id_,
                    "previous": draw(st.one_of(st.none(), lists) if choice < 4 else lists),
                    "is_root": (i == 0 and choice > 0) or choice == 19,
                    "claim_error": draw(st.sampled_from(["wrong_type", "malformed_tangle"])) if choice == 18 else None,
                    "asserted_ms": draw(TIMES),
                    "received_ms": draw(TIMES),
                    "author": draw(st.sampled_from(["x", "y", "z", "z", None])),
                    "sequence": draw(st.sampled_from([1, 2, 3, 4, 5, 2**31 - 1, 0, -1, -(2**31), None])),
                }
            )
    return draw(st.permutations(rows))


def graph_of(row: dict) -> tuple:
    return row["graph_kind"], row["graph_id"]


def known_rows(rows: list[dict], answers: list[dict]) -> list[dict]:
    """Return rows with the depths of the members."""
    return [
        {name: row[name] for name in ("graph_kind", "graph_id", "node_id")}
        | {"is_root": None, "known_depth": answer["depth"]}
        for row, answer in zip(rows, answers, strict=True)
        if answer["depth"] is not None
    ]
