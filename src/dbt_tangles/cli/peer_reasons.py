"""Explains differences between a peer's statement and the tables, for `tangles check`."""

from collections.abc import Callable, Sequence
from typing import Any

from dbt_tangles.cli import messages
from dbt_tangles.cli.claims import claims_of
from dbt_tangles.cli.page import quantity
from dbt_tangles.cli.peer_answers import only_in_one
from dbt_tangles.cli.tables import Tables
from dbt_tangles.cli.why_feed import state

#: The most ids of a list that are explained.
MOST = 3


def explain(tables: Tables, kind: str, key: tuple[str, ...], differ: dict[str, dict]) -> list[str]:
    """Explain a difference.

    Args:
        tables: The warehouse's tables.
        kind: The kind of statement, a key of `peer_answers.KINDS`.
        key: The values of the subject's keys.
        differ: The differing values of the peer and of the tables, by key.

    Returns:
        Sentences; an empty list if the tables hold no explanation.
    """
    return [text for text in _EXPLAIN[kind](tables, key, differ) if text]


def _only(differ: dict[str, dict], name: str) -> tuple[list[str], list[str]]:
    """Return the first entries of the peer's list only and of the tables' list only."""
    both = differ.get(name) or {"peer": [], "tables": []}
    only_peer, only_ours = only_in_one(both["peer"], both["tables"])
    return only_peer[:MOST], only_ours[:MOST]


def _parting(differ: dict[str, dict], name: str) -> list[str]:
    """Return the entries of the peer's order only; without any, the entry at the first place that differs."""
    both = differ.get(name) or {"peer": [], "tables": []}
    only, _ = _only(differ, name)
    return only or [a for a, b in zip(both["peer"], both["tables"] or [], strict=False) if a != b][:1]


def _message(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    row = tables.row("select check_error, is_signature_valid from {ssb_messages} where message_id = $id", id=key[0])
    if row and row["check_error"]:
        return [f"{row['check_error']}: {messages.ssb(row['check_error'])}"]
    if row is None:
        return _claims(tables, key[0])
    if row["is_signature_valid"] is None:
        return ["the build did not check signatures (verify_signatures: false)"]
    return ["it is well-formed and signed by its author"]


def _claims(tables: Tables, id_: str) -> list[str]:
    return [claim["words"] for claim in claims_of(tables, [id_], ["message"]).get(id_, [])[:MOST]]


def _not_there(tables: Tables, id_: str) -> str:
    """Describe an id that is not in the log, with the lines that claim it."""
    return "; ".join([f"{id_} is not in the log", *_claims(tables, id_)])


def _feed(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    row = tables.row(
        """select verified_length, max_sequence, status, gap_sequence, fork_sequence from {feeds}
        where author = $id""",
        id=key[0],
    )
    said = [state(row)] if row else []
    at = differ.get("sequence", {}).get("peer")
    if row and at is not None and at > row["max_sequence"]:
        said.append(f"this log ends at {row['max_sequence']:,}")
    if row and at is not None and 0 <= at < row["verified_length"]:
        next_one = tables.row(
            "select message_id from {feed_messages} where author = $id and sequence = $next and in_chain",
            id=key[0],
            next=at + 1,
        )
        said += [f"the peer lacks {next_one['message_id']} or rejects it"] if next_one else []
    id_ = differ.get("id", {}).get("peer")
    if id_ is not None:
        place = tables.row(
            """select author, f.sequence, reason from {ssb_messages} left join {feed_messages} as f
            using (message_id, author) where message_id = $id""",
            id=id_,
        )
        if place is None:
            said.append(_not_there(tables, id_))
        elif place["author"] != key[0]:
            said.append(f"{id_} belongs to another author, {place['author']}")
        elif place["sequence"] is not None:
            reason = f", {place['reason']}: {messages.OFF_CHAIN.get(place['reason'], '')}" if place["reason"] else ""
            said.append(f"{id_} has sequence {place['sequence']:,} in these tables{reason}")
    return said


def _tangle(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    root, name = key
    where = {"name": name, "root": root}
    only_peer, only_ours = _only(differ, "previous")
    said = [_in_tangle(tables, where, id_) for id_ in only_peer]
    said += [f"{id_} is a member that no other member follows" for id_ in only_ours]
    if "members" in differ:
        rows = tables.rows(
            """select set_aside_reason as reason, count(*) as n from {tangle_messages}
            where tangle_name = $name and root_id = $root and not is_member group by 1 order by 2 desc, 1""",
            **where,
        )
        said += [
            f"{row['n']:,} set aside: {row['reason']}. {messages.SET_ASIDE.get(row['reason'], '')}" for row in rows
        ]
        missing = tables.rows(
            f"""select missing_id, if(is_sealed, 'is decrypted', 'arrives') as happens, unlocks from {{tangle_missing}}
            where tangle_name = $name and root_id = $root and unlocks > 0 and (is_sealed or not is_in_log)
            order by unlocks desc, missing_id limit {MOST}""",
            **where,
        )
        said += [
            f"once {row['missing_id']} {row['happens']}, "
            + quantity(row["unlocks"], "{becomes a member|become members}")
            for row in missing
        ]
    return said


def _in_tangle(tables: Tables, where: dict, id_: str) -> str:
    row = tables.row(
        """select is_member, set_aside_reason from {tangle_messages}
        where tangle_name = $name and root_id = $root and message_id = $id""",
        id=id_,
        **where,
    )
    if row is None:
        known = tables.row("select check_error from {ssb_messages} where message_id = $id", id=id_)
        if known is None:
            return _not_there(tables, id_)
        return (
            f"{id_} is not verified: {known['check_error']}"
            if known["check_error"]
            else f"{id_} does not claim this tangle"
        )
    if not row["is_member"]:
        reason = row["set_aside_reason"]
        return f"{id_} is set aside: {reason}. {messages.SET_ASIDE.get(reason, '')}"
    after = tables.row(
        """select min(message_id) as id from {tangle_edges}
        where tangle_name = $name and root_id = $root and previous_id = $id and is_member_edge""",
        id=id_,
        **where,
    )
    return f"{id_} is followed by {after['id']}" if after and after["id"] else ""


def _epoch(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    only_peer, only_ours = _only(differ, "members")
    rows = {
        row["feed_id"]: row
        for row in tables.rows(
            """select feed_id, is_excluded, is_missing, added_by, excluded_by from {group_members}
            where epoch_id = $id and feed_id in (select unnest($feeds))""",
            id=key[0],
            feeds=[*only_peer, *only_ours],
        )
    }
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


def _group(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    rows = tables.rows(
        """select epoch_id, is_tip, is_preferred, preference, is_decided_by_peers from {group_epochs}
        where group_id = $id and (is_preferred or epoch_id = $peer)""",
        id=key[0],
        peer=differ["preferred"]["peer"],
    )
    said = [f"the rule {row['preference']} selects the preferred epoch" for row in rows if row["is_preferred"]]
    theirs = [row for row in rows if not row["is_preferred"]]
    if not theirs:
        return [*said, f"{differ['preferred']['peer']} is not an epoch of the group"]
    return said + [f"{row['epoch_id']} is not a tip" for row in theirs if not row["is_tip"]]


def _set(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    only_peer, only_ours = _only(differ, "items")
    where = {"set": key[0]}
    were = {
        row["item"]
        for row in tables.rows(
            "select item from {set_next_items} where set_id = $set and item in (select unnest($items))",
            items=only_peer,
            **where,
        )
    }
    said = [f"{x} is deleted" if x in were else f"{x} is not added by any valid message" for x in only_peer]
    added = tables.rows(
        "select item, added_by from {set_items} where set_id = $set and item in (select unnest($items))",
        items=only_ours,
        **where,
    )
    said += [f"{row['item']} is added by {row['added_by']}" for row in added]
    by_id = {
        row["message_id"]: row
        for row in tables.rows(
            """select message_id, is_valid, reject_reason, is_tip from {set_messages}
            where set_id = $set and message_id in (select unnest($ids))""",
            ids=_parting(differ, "prev"),
            **where,
        )
    }
    for id_ in _parting(differ, "prev"):
        row = by_id.get(id_)
        if row is None:
            said.append(f"{id_} is not a message of the set in these tables")
        elif not row["is_valid"]:
            verdict = "undecided" if row["reject_reason"] in messages.UNDECIDED else "not valid"
            said.append(f"{id_} is {verdict}: {row['reject_reason']}. {messages.pzp(row['reject_reason'])}")
        elif not row["is_tip"]:
            said.append(f"{id_} is not a tip: another valid message follows it")
    return said + _not_in_set(tables, key[0])


def _not_in_set(tables: Tables, set_id: str) -> list[str]:
    """Count the invalid messages of a set, and the undecided ones with the account messages that they await."""
    row = tables.row(
        """select count_if(reject_reason not in (select unnest($undecided))) as refused,
            count_if(reject_reason in (select unnest($undecided))) as undecided,
            flatten(list(awaited_ids)) as awaited
        from {set_messages} where set_id = $set and not is_valid and not is_held""",
        set=set_id,
        undecided=sorted(messages.UNDECIDED),
    ) or {"refused": 0, "undecided": 0}
    n, undecided = row["refused"], row["undecided"]
    said = [quantity(n, "message{ of the set is|s of the set are} not valid")] if n else []
    if undecided:
        awaited = ", ".join(sorted(set(row["awaited"] or []))[:MOST])
        said.append(
            quantity(undecided, "message{ of the set awaits|s of the set await} messages of the account: ") + awaited
        )
    return said


def _base(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    where = {"base": key[0]}
    said = []
    if "length" in differ:
        rows = tables.rows(
            """select reason, sum(line_count)::bigint as n from {autobase_rejects} where base_id = $base
            group by reason order by n desc, reason""",
            **where,
        )
        said += [
            f"{quantity(row['n'], 'line{|s} rejected')}: {row['reason']}. {messages.autobase(row['reason'])}"
            for row in rows
        ]
    if "confirmed" in differ:
        row = tables.row(
            """select v.node_id, u.contender from {autobase_views} as v left join {autobase_unsettled} as u
            using (base_id, node_id)
            where v.base_id = $base and v.observer = 'all' and not v.is_confirmed order by v.position limit 1""",
            **where,
        )
        if row:
            beside = f", because {row['contender']} competes with it" if row["contender"] else ""
            said.append(f"the first node that is not settled is {row['node_id']}{beside}")
        else:
            said.append("all nodes are settled")
    return said


def _view(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    return _places(
        tables,
        differ,
        """select position, is_confirmed as is_settled from {autobase_views}
        where base_id = $base and observer = $observer and node_id = $id""",
        {"base": key[0], "observer": key[1]},
        "select min(reason) as reason from {autobase_rejects} where base_id = $base and node_id = $id",
        {"base": key[0]},
        messages.autobase,
    )


def _timeline(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    timeline = {"timeline": key[0]}
    return _places(
        tables,
        differ,
        "select position, rank from {timeline_events} where timeline_id = $timeline and event_id = $id",
        timeline,
        "select min(reason) as reason from {timeline_rejects} where timeline_id = $timeline and event_id = $id",
        timeline,
        messages.event,
    )


def _places(
    tables: Tables,
    differ: dict,
    places: str,
    of_places: dict[str, str],
    rejects: str,
    of_rejects: dict[str, str],
    meaning: Callable[[str], str],
) -> list[str]:
    """Describe the nodes or events at which two orders differ: their places in the tables, or their reject reasons."""
    return [
        _place(tables.row(places, **of_places, id=id_), tables.row(rejects, **of_rejects, id=id_), id_, meaning)
        for id_ in _parting(differ, "order")
    ]


def _place(row: dict | None, refused: dict | None, id_: str, meaning: Callable[[str], str]) -> str:
    if row:
        more = f", rank {row['rank']:,}" if "rank" in row else ", settled" if row["is_settled"] else ", not settled"
        return f"{id_} is at place {row['position']:,} in these tables{more}"
    reason = refused and refused["reason"]
    return f"{id_} is rejected: {reason}. {meaning(reason)}" if reason else f"{id_} is not in the tables"


def _tangle_by_columns(tables: Tables, key: tuple[str, ...], differ: dict) -> list[str]:
    previous = {"previous": differ["tips"]} if "tips" in differ else {}
    return _tangle(tables, key, {**differ, **previous})


_EXPLAIN: dict[str, Callable[[Tables, Sequence[str], dict[str, Any]], list[str]]] = {
    "message": _message,
    "feed": _feed,
    "root": _tangle,
    "epoch": _epoch,
    "group": _group,
    "set": _set,
    "base": _base,
    "view": _view,
    "timeline": _timeline,
    "tangle_name": _tangle_by_columns,
    "set_id": _set,
    "base_id": _view,
    "timeline_id": _timeline,
}
