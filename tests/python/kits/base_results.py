"""The rows of `results_of_bases` by kind, and the same from the oracles."""

import pyarrow as pa

import changes_oracle
from autobase_oracle import Base, Id
from base_tables import node_id
from changes_oracle import RULES
from dbt_tangles.algorithms.autobase.results import results_of_bases
from quorums_oracle import plain_quorums
from unsettled_oracle import heads_of, reason_of

NO_LIMIT = 10**9
COLUMNS = {
    "view": ("observer", "position", "node_id", "is_confirmed", "design_position"),
    "head": ("node_id",),
    "quorum": ("node_id", "degree", "reached_by", "writers"),
    "change": ("observer", "node_id", "old_length", "kept", "undone", "appended", "settled", "left_out"),
    "unsettled": ("node_id", "reason", "contender", "awaited_merge", "writers"),
}

Results = dict[str, list[tuple]]


def results(
    table: pa.Table, row_limit: int = NO_LIMIT, max_degree: int = 3, rule: str = "autobase", columns=COLUMNS
) -> Results:
    """Return the rows of each kind, sorted: the base, and the columns of the kind."""
    found: Results = {kind: [] for kind in columns}
    for batch in results_of_bases(table, row_limit, max_degree, rule):
        assert batch.schema == results_of_bases.writes
        for row in batch.to_pylist():
            if row["row_kind"] in columns:
                found[row["row_kind"]].append((row["base_id"], *(row[name] for name in columns[row["row_kind"]])))
    return {kind: sorted(rows, key=repr) for kind, rows in found.items()}


def views(base: Base) -> dict[str, Base]:
    """Return the view of each observer: a writer sees its last node and all ancestors."""
    last = {i.writer: i for i in sorted(base.nodes)}
    return {"all": base, **{key.hex(): base.cut(base.past[i]) for key, i in last.items()}}


def _id(i: Id | None) -> str | None:
    return i and node_id(i)


def quorums(base: Base, max_degree: int) -> list[tuple]:
    """Return the rows of quorums without the base."""
    found = plain_quorums(base, max_degree).items()
    return [(node_id(x), degree, node_id(y), [key.hex() for key in voters]) for (x, degree), (y, voters) in found]


def unsettled(base: Base, rule: str = "autobase") -> list[tuple]:
    """Return the rows of unsettled nodes without the base."""
    order, confirmed = RULES[rule](base)
    settled = set(order[:confirmed])
    reasons = {x: reason_of(base, settled, x) for x in base.nodes.keys() - settled}
    return [
        (node_id(x), reason, _id(contender), _id(merge), [key.hex() for key in missing])
        for x, (reason, contender, merge, missing) in reasons.items()
    ]


def plain_results(named: dict[str, Base], max_degree: int = 3, rule: str = "autobase") -> Results:
    """Return the same from the oracles."""
    found: Results = {kind: [] for kind in COLUMNS}
    for name, base in named.items():
        for who, known in views(base).items():
            order, confirmed = RULES[rule](known)
            designed = {i: at for at, i in enumerate(RULES["design"](known)[0])}
            found["view"] += [
                (name, who, at, node_id(i), at < confirmed, designed.get(i)) for at, i in enumerate(order)
            ]
        found["head"] += [(name, node_id(i)) for i in heads_of(base)]
        found["quorum"] += [(name, *row) for row in quorums(base, max_degree)]
        for at, change in changes_oracle.changes(base, rule).items():
            settled = [{"node_id": node_id(x), "contender": _id(c)} for x, c in change.settled]
            found["change"].append((name, at.writer.hex(), node_id(at), *change[:4], settled, 0))
        found["unsettled"] += [(name, *row) for row in unsettled(base, rule)]
    return {kind: sorted(rows, key=repr) for kind, rows in found.items()}
