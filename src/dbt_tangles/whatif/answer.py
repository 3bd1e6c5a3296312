"""Replays a log and sums up, in the form of the JSON answers of `tangles whatif`."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from dbt_tangles.lint.log_kinds import AUTOBASE, PZP, SSB
from dbt_tangles.whatif import bases, logs, timelines
from dbt_tangles.whatif.deliveries import DELAYS, PARTITION, RECEIVED, WITHHELD, Items, Model, clock, deliver
from dbt_tangles.whatif.measures import compare, moments, sum_up

#: The most lines of a log, and the most items times replicas.
LINE_LIMIT, ITEM_LIMIT = 1_000_000, 2_000_000
#: The replicas of deliveries without chance; further ones would repeat them.
REPLICAS = {RECEIVED: 1, WITHHELD: 2, PARTITION: 2}
#: Delivery: its parameter.
PARAMETERS = {DELAYS: "delay_s", WITHHELD: "withheld", PARTITION: "heals"}


class Rules(NamedTuple):
    """Rules in place of the protocol's, if they are not None; `indexers` is of Autobase, the others of timelines."""

    tie_break: str | None = None  # one of `logs.TIE_BREAKS`
    max_previous: int | None = None  # the most causes of an event
    batch: int | None = None  # the number of arrivals that share a script
    indexers: int | None = None  # the number of indexers of a base that vote


def replay_log(
    kind: str, batches: Iterator[pa.RecordBatch], model: Model, replicas: int, rules: Rules
) -> dict[str, Any]:
    """Replay the lines of a log, of `LINE_SCHEMA`; docs/reference/schemas/whatif.schema.json describes the answer.

    `withheld` may be the beginning of an author. Only deliveries by chance have as many replicas as `replicas` says.

    Raises:
        ValueError: The kind, rules, model and log do not fit together, or the log is too large.
    """
    _check(kind, model, rules)
    lines = [0]
    batches = _counted(batches, lines)
    if kind == AUTOBASE:
        items, nodes = bases.read_nodes(batches, rules.indexers)
    else:
        read = logs.read_messages if kind == SSB else logs.read_events
        items, events, numbers = logs.admit(read(batches, rules.max_previous), rules.tie_break)
    if not len(items.feed):
        raise ValueError("the log has no usable line; `tangles lint` gives the reasons")
    if model.withheld:
        model = model._replace(withheld=_author(items, model.withheld))
    replicas = REPLICAS.get(model.delivery, replicas)
    if len(items.feed) * replicas > ITEM_LIMIT:
        raise ValueError(f"{len(items.feed):,} items times {replicas} replicas exceed {ITEM_LIMIT:,}; lower --replicas")
    received = [deliver(items, model, replica) for replica in range(replicas)]
    found, counts = [], moments(received)
    for each, wanted in zip(received, counts, strict=True):
        if kind == AUTOBASE:
            found.append(bases.replay(nodes, each, wanted))
        else:
            found.append(timelines.replay(events, numbers[each.arrived], wanted, rules.batch or 1))
    is_timed = clock(items, model.delivery)[1]
    shown = ("delivery", "seed", PARAMETERS.get(model.delivery))
    return {
        "kind": kind,
        "lines": lines[0],
        "items": len(items.feed),
        "feeds": len(items.authors),
        "model": {name: value for name, value in model._asdict().items() if name in shown},
        "rules": rules._asdict(),
        "replicas": [sum_up(*each, is_timed) for each in zip(received, found, strict=True)],
        "moments": compare(counts, found),
    }


def _check(kind: str, model: Model, rules: Rules) -> None:
    """Refuse a kind, rules or a model that do not fit together."""
    if kind == PZP:
        raise ValueError("the sets of a pzp log are the same in any order of arrival; replay a log of another kind")
    for name, value in rules._asdict().items():
        if value is not None and (name == "indexers") != (kind == AUTOBASE):
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is not a rule of a log of the kind {kind}; leave it out")
    if (model.delivery == WITHHELD) != bool(model.withheld):
        raise ValueError("--withhold AUTHOR and --delivery withheld belong together; give both or neither")


def _counted(batches: Iterator[pa.RecordBatch], lines: list[int]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        lines[0] += len(batch)
        if lines[0] > LINE_LIMIT:
            raise ValueError(f"the log has more than {LINE_LIMIT:,} lines; replay a part of it")
        yield batch


def _author(items: Items, beginning: str) -> str:
    """Find the author whose id or its beginning is given."""
    found = [each for each in items.authors if each is not None and each.startswith(beginning)]
    if beginning not in found and len(found) != 1:
        raise ValueError(f"--withhold {beginning}: {len(found):,} authors begin with it; give the id of one author")
    return beginning if beginning in found else found[0]
