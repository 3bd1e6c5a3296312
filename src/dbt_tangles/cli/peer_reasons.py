"""Explains differences between a peer's statement and the tables, for `tangles check`."""

from collections.abc import Callable
from pathlib import Path

from dbt_tangles.cli import messages
from dbt_tangles.cli.page import quantity
from dbt_tangles.cli.peer_answers import only_in_one
from dbt_tangles.cli.tables import Tables
from dbt_tangles.queries import sections
from dbt_tangles.why.claims import claims_of
from dbt_tangles.why.feed import state

_SQL = sections(Path(__file__).with_name("check.sql"))
#: The most ids of a list that are explained.
MOST = 3
#: By key, the differing values of the peer and of the tables.
Differ = dict[str, dict]


def explain(tables: Tables, kind: str, key: tuple[str, ...], differ: Differ) -> list[str]:
    """Explain a difference.

    Args:
        tables: The warehouse's tables.
        kind: The kind of statement, a key of `peer_answers.KINDS`.
        key: The values of the subject's keys.
        differ: The differing values.

    Returns:
        Sentences; an empty list if the tables hold no explanation.
    """
    return [text for text in _EXPLAIN[kind](tables, key, differ) if text]


def _only(differ: Differ, name: str) -> tuple[list[str], list[str]]:
    """Return the first entries of the peer's list only and of the tables' list only."""
    both = differ.get(name) or {"peer": [], "tables": []}
    only_peer, only_ours = only_in_one(both["peer"], both["tables"])
    return only_peer[:MOST], only_ours[:MOST]


def _parting(differ: Differ, name: str) -> list[str]:
    """Return the entries of the peer's order only; without any, the entry at the first place that differs."""
    both = differ.get(name) or {"peer": [], "tables": []}
    only, _ = _only(differ, name)
    return only or [a for a, b in zip(both["peer"], both["tables"] or [], strict=False) if a != b][:1]


def _said(reason: str, meanings: Callable[[str], str]) -> str:
    return f"{reason}. {meanings(reason)}"


def _set_aside(reason: str) -> str:
    return messages.SET_ASIDE.get(reason, "")


def _message(tables: Tables, key: tuple[str, ...], differ: Differ) -> list[str]:
    row = tables.row(_SQL["message_state"], id=key[0])
    if row is None:
        return _claims(tables, key[0])
    if row["check_error"]:
        return [f"{row['check_error']}: {messages.ssb(row['check_error'])}"]
    if row["is_signature_valid"] is None:
        return ["the build did not check signatures (verify_signatures: false)"]
    return ["it is well-formed and signed by its author"]


def _claims(tables: Tables, id_: str) -> list[str]:
    return [claim["words"] for claim in claims_of(tables, [id_], ["message"]).get(id_, [])[:MOST]]


def _not_there(tables: Tables, id_: str) -> str:
    """Describe an id that is not in the log, with the lines that claim it."""
    return "; ".join([f"{id_} is not in the log", *_claims(tables, id_)])


def _feed(tables: Tables, key: tuple[str, ...], differ: Differ) -> list[str]:
    said, row = [], tables.row(_SQL["feed_state"], id=key[0])
    at = differ.get("sequence", {}).get("peer")
    if row:
        said.append(state(row))
        if at is not None and at > row["max_sequence"]:
            said.append(f"this log ends at {row['max_sequence']:,}")
        if at is not None and 0 <= at < row["verified_length"]:
            following = tables.row(_SQL["feed_following"], id=key[0], next=at + 1)
            said += [f"the peer lacks {following['message_id']} or rejects it"] if following else []
    if (id_ := differ.get("id", {}).get("peer")) is not None:
        place = tables.row(_SQL["feed_place"], id=id_)
        if place is None:
            said.append(_not_there(tables, id_))
        elif place["author"] != key[0]:
            said.append(f"{id_} belongs to another author, {place['author']}")
        elif place["sequence"] is not None:
            reason = f", {place['reason']}: {messages.OFF_CHAIN.get(place['reason'], '')}" if place["reason"] else ""
            said.append(f"{id_} has sequence {place['sequence']:,} in these tables{reason}")
    return said


def _tangle(tables: Tables, key: tuple[str, ...], differ: Differ) -> list[str]:
    where = {"name": key[1], "root": key[0]}
    only_peer, only_ours = _only(differ, "tips" if "tips" in differ else "previous")
    said = [_in_tangle(tables, where, id_) for id_ in only_peer]
    said += [f"{id_} is a member that no other member follows" for id_ in only_ours]
    if "members" in differ:
        for row in tables.rows(_SQL["tangle_aside"], **where):
            said.append(f"{row['n']:,} set aside: {_said(row['reason'], _set_aside)}")
        for row in tables.rows(_SQL["tangle_missing_ids"], **where):
            gained = quantity(row["unlocks"], "{becomes a member|become members}")
            said.append(f"once {row['missing_id']} {row['happens']}, {gained}")
    return said


def _in_tangle(tables: Tables, where: dict, id_: str) -> str:
    row = tables.row(_SQL["tangle_place"], id=id_, **where)
    if row is None:
        known = tables.row(_SQL["message_state"], id=id_)
        if known is None:
            return _not_there(tables, id_)
        error = known["check_error"]
        return f"{id_} is not verified: {error}" if error else f"{id_} does not claim this tangle"
    if not row["is_member"]:
        return f"{id_} is set aside: {_said(row['set_aside_reason'], _set_aside)}"
    after = tables.row(_SQL["tangle_follower"], id=id_, **where)
    return f"{id_} is followed by {after['id']}" if after and after["id"] else ""


def _epoch(tables: Tables, key: tuple[str, ...], differ: Differ) -> list[str]:
    only_peer, only_ours = _only(differ, "members")
    rows = {row["feed_id"]: row for row in tables.rows(_SQL["epoch_feeds"], id=key[0], feeds=[*only_peer, *only_ours])}
    said = []
    for feed in only_peer:
        row = rows.get(feed)
        if row is None:
            said.append(f"{feed} is not added by any counted message")
        elif row["is_excluded"]:
            said.append(f"{feed} is excluded by {', '.join((row['excluded_by'] or [])[:MOST])}")
        elif row["is_missing"]:
            said.append(f"{feed} is missing: it belongs to the epoch, but no message adds it")
    return said + [f"{feed} is added by {', '.join((rows[feed]['added_by'] or [])[:MOST])}" for feed in only_ours]


def _group(tables: Tables, key: tuple[str, ...], differ: Differ) -> list[str]:
    peer = differ["preferred"]["peer"]
    rows = tables.rows(_SQL["group_epochs_of"], id=key[0], peer=peer)
    said = [f"the rule {row['preference']} selects the preferred epoch" for row in rows if row["is_preferred"]]
    theirs = [row for row in rows if not row["is_preferred"]]
    if not theirs:
        return [*said, f"{peer} is not an epoch of the group"]
    return said + [f"{row['epoch_id']} is not a tip" for row in theirs if not row["is_tip"]]


def _set(tables: Tables, key: tuple[str, ...], differ: Differ) -> list[str]:
    only_peer, only_ours = _only(differ, "items")
    were = {row["item"] for row in tables.rows(_SQL["set_deleted"], items=only_peer, set=key[0])}
    said = [f"{x} is deleted" if x in were else f"{x} is not added by any valid message" for x in only_peer]
    added = tables.rows(_SQL["set_added"], items=only_ours, set=key[0])
    said += [f"{row['item']} is added by {row['added_by']}" for row in added]
    asked = _parting(differ, "prev")
    by_id = {row["message_id"]: row for row in tables.rows(_SQL["set_tips"], ids=asked, set=key[0])}
    for id_ in asked:
        row = by_id.get(id_)
        if row is None:
            said.append(f"{id_} is not a message of the set in these tables")
        elif not row["is_valid"]:
            verdict = "undecided" if row["reject_reason"] in messages.UNDECIDED else "not valid"
            said.append(f"{id_} is {verdict}: {_said(row['reject_reason'], messages.pzp)}")
        elif not row["is_tip"]:
            said.append(f"{id_} is not a tip: another valid message follows it")
    return said + _not_in_set(tables, key[0])


def _not_in_set(tables: Tables, set_id: str) -> list[str]:
    """Count the invalid messages of a set, and the undecided ones with the account messages that they await."""
    row = tables.row(_SQL["set_not_valid"], set=set_id, undecided=sorted(messages.UNDECIDED))
    said = []
    if row and row["refused"]:
        said.append(quantity(row["refused"], "message{ of the set is|s of the set are} not valid"))
    if row and row["undecided"]:
        awaits = quantity(row["undecided"], "message{ of the set awaits|s of the set await} messages of the account: ")
        said.append(awaits + ", ".join(sorted(set(row["awaited"] or []))[:MOST]))
    return said


def _base(tables: Tables, key: tuple[str, ...], differ: Differ) -> list[str]:
    said = []
    if "length" in differ:
        for row in tables.rows(_SQL["base_rejects"], base=key[0]):
            said.append(f"{quantity(row['n'], 'line{|s} rejected')}: {_said(row['reason'], messages.autobase)}")
    if "confirmed" in differ:
        row = tables.row(_SQL["base_unsettled"], base=key[0])
        beside = f", because {row['contender']} competes with it" if row and row["contender"] else ""
        said.append(
            f"the first node that is not settled is {row['node_id']}{beside}" if row else "all nodes are settled"
        )
    return said


def _view(tables: Tables, key: tuple[str, ...], differ: Differ) -> list[str]:
    return _places(tables, differ, "view", messages.autobase, {"base": key[0]}, {"observer": key[1]})


def _timeline(tables: Tables, key: tuple[str, ...], differ: Differ) -> list[str]:
    return _places(tables, differ, "timeline", messages.event, {"timeline": key[0]}, {})


def _places(
    tables: Tables, differ: Differ, kind: str, meanings: Callable[[str], str], scope: dict, observer: dict
) -> list[str]:
    """Describe the nodes or events at which two orders differ: their places in the tables, or their reject reasons."""
    said = []
    for id_ in _parting(differ, "order"):
        row = tables.row(_SQL[f"{kind}_place"], id=id_, **scope, **observer)
        refused = tables.row(_SQL[f"{kind}_reject"], id=id_, **scope)
        if row:
            more = f"rank {row['rank']:,}" if "rank" in row else "settled" if row["is_settled"] else "not settled"
            said.append(f"{id_} is at place {row['position']:,} in these tables, {more}")
        elif refused and refused["reason"]:
            said.append(f"{id_} is rejected: {_said(refused['reason'], meanings)}")
        else:
            said.append(f"{id_} is not in the tables")
    return said


_EXPLAIN: dict[str, Callable[[Tables, tuple[str, ...], Differ], list[str]]] = {
    "message": _message,
    "feed": _feed,
    "root": _tangle,
    "epoch": _epoch,
    "group": _group,
    "set": _set,
    "base": _base,
    "view": _view,
    "timeline": _timeline,
    "tangle_name": _tangle,
    "set_id": _set,
    "base_id": _view,
    "timeline_id": _timeline,
}
