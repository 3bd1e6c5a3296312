"""A small warehouse with each kind of subject: the thread of `cli_story`, a set, a base, a group and a timeline."""

import cli_story as story
from cli_kit import Warehouse

SET, ADD, MORE, LATE, LOST = "setroot", "adds", "more", "late", "lost"
A, B = "a" * 64, "b" * 64
GROUP, NEXT = story.sigil("init"), story.sigil("next")
EVENTS = ["one", "two", "three", "four"]


def write(root) -> Warehouse:
    """Write the whole warehouse."""
    warehouse = story.write(root)
    thread = {"tangle_name": "thread", "root_id": story.ROOT, "root_status": "present", "member_count": 3}
    thread |= {"candidate_count": 5, "set_aside_count": 2, "invalid_claim_count": 0, "depth": 2, "tips": [story.A2]}
    warehouse.write("tangles", thread)
    _set(warehouse)
    _base(warehouse)
    _group(warehouse)
    _timeline(warehouse)
    return warehouse


def write_crowd(root) -> Warehouse:
    """A thread of a root and 40 replies by 40 authors at one depth, a merge of all, in 40 minutes."""
    warehouse = write(root)
    authors = [story.sigil(f"author{n}").replace("%", "@").replace(".sha256", ".ed25519") for n in range(40)]
    first, last = story.sigil("crowd"), story.sigil("last")
    replies = [story.sigil(f"reply{n}") for n in range(40)]
    rows = [(first, story.ALICE, 0), *((id_, author, 1) for id_, author in zip(replies, authors, strict=True))]
    rows.append((last, story.ALICE, 2))
    place = {"tangle_name": "thread", "root_id": first}
    warehouse.write(
        "tangle_messages",
        *(story.candidate(*row, received_ms=1.5e12 + 6e4 * n, **place) for n, row in enumerate(rows)),
    )
    edges = [(id_, first) for id_ in replies] + [(last, id_) for id_ in replies]
    warehouse.write("tangle_edges", *(story.edge(child, parent, True) | place for child, parent in edges))
    counts = {"member_count": 42, "candidate_count": 42, "set_aside_count": 0, "invalid_claim_count": 0}
    warehouse.write("tangles", {**place, "root_status": "present", "depth": 2, "tips": [last], **counts})
    return warehouse


def write_each_page(root) -> Warehouse:
    """Write the whole warehouse with texts, times, runs, records and rejected lines, so that a report has all pages."""
    warehouse = write(root)
    ids = {
        story.ROOT: story.ALICE,
        story.A1: story.ALICE,
        story.A2: story.ALICE,
        story.B1: story.BOB,
        story.B2: story.BOB,
    }
    times = {"received_ms": 1.7e12, "asserted_ms": 1.7e12}
    content = {"content": '{"type":"post","text":"A garden of forking paths"}', "content_type": "post"}
    messages = [story.message(*each, n, **content, **times) for n, each in enumerate(ids.items(), 1)]
    warehouse.write("ssb_messages", *messages)
    names = {
        story.ALICE: "Alice",
        story.BOB: "Bob with a name that is as long as the names of people may be, or longer",
    }
    said = {"first_words": "A garden of forking paths", "content_type": "post", "is_encrypted": False, "sequence": 1}
    warehouse.write(
        "messages",
        *({**said, "message_id": id_, "author": by, "author_name": names[by]} for id_, by in ids.items()),
    )
    lists = {name: [] for name in ("malformed_messages", "unresolved_merges")}
    record = {"tangle_name": "thread", "root_id": story.ROOT, "status": "reduced", "left_out_count": 0, **lists}
    warehouse.write(
        "records",
        record | {"is_conflicted": True, "conflicting_fields": ["title"], "tips": [story.A1, story.A2]},
        record | {"root_id": story.GONE, "is_conflicted": False, "conflicting_fields": [], "tips": []},
    )
    field = {"tangle_name": "thread", "root_id": story.ROOT, "strategy": "overwrite", "set_by": [story.A1]}
    values = [{"tip_id": id_, "message_id": id_, "value": f'"{id_[:3]}"'} for id_ in (story.A1, story.A2)]
    warehouse.write(
        "record_fields",
        field | {"field": "title", "is_conflict": True, "conflicting_values": values},
        field | {"field": "place", "is_conflict": False, "conflicting_values": [], "value": '"A long place"'},
    )
    rejects = [(9, "not_a_message"), (12, "malformed_json")]
    warehouse.write(
        "ssb_rejects", *({"source_file": "log.jsonl", "line": line, "reason": reason} for line, reason in rejects)
    )
    return warehouse.write("runs", story.run("r", 3, tables=["tangles.feeds"]))


def _set(warehouse: Warehouse) -> None:
    warehouse.write(
        "sets",
        {"set_id": SET, "domain": "follows", "root_status": "present", "message_count": 3, "invalid_count": 1}
        | {"items": ["carol"], "item_roots": [MORE], "tips": [MORE], "max_depth": 2},
    )
    names = {SET: (0, "is_root"), ADD: (1, None), MORE: (2, "is_item_root")}
    flags = dict.fromkeys(("is_valid", "is_held", "is_root", "is_item_root", "is_tip"), False)
    rows = [
        {
            "set_id": SET,
            "message_id": id_,
            "depth": depth,
            "position": depth,
            **flags,
            "is_valid": True,
            "is_tip": id_ == MORE,
            "purpose": "goal",
        }
        | ({flag: True} if flag else {})
        for id_, (depth, flag) in names.items()
    ]
    late = {"set_id": SET, "message_id": LATE, **flags, "reject_reason": "no_known_prev"}
    warehouse.write("set_messages", *rows, late)
    links = [
        (ADD, SET, "prev", True),
        (MORE, ADD, "prev", True),
        (MORE, ADD, "supersedes", True),
        (LATE, LOST, "prev", False),
    ]
    warehouse.write(
        "set_links",
        *({"set_id": SET, "message_id": m, "other_id": o, "kind": k, "is_known": known} for m, o, k, known in links),
    )
    warehouse.write("int_set_entries", {"set_id": SET, "message_id": LATE, "prev": [LOST]})
    item = {"set_id": SET, "item": "carol", "item_position": 0, "added_by": MORE, "kept_by": [MORE]}
    warehouse.write("set_items", item)
    messages = (
        {"message_id": id_, "sigkey": None if id_ == SET else "key", "is_usable": True} for id_ in (*names, LATE)
    )
    warehouse.write("pzp_messages", *messages)


def _base(warehouse: Warehouse) -> None:
    warehouse.write(
        "autobase_bases",
        {"base_id": "base", "indexer_count": 2, "majority": 2, "node_count": 3, "confirmed_length": 1, "lag": 2}
        | {"status": "incomplete"},
    )
    nodes = [(f"{A}:1", A, 0, 2), (f"{B}:1", B, 1, 1), (f"{A}:2", A, 2, 1)]
    warehouse.write(
        "autobase_nodes",
        *(
            {"base_id": "base", "node_id": id_, "writer": writer, "role": "indexing", "is_ack": False, "depth": depth}
            | {"is_head": depth == 2, "votes": votes}
            for id_, writer, depth, votes in nodes
        ),
    )
    order = [id_ for id_, *_ in nodes]
    warehouse.write(
        "autobase_views",
        *(
            {"base_id": "base", "observer": observer, "position": n, "node_id": id_, "is_confirmed": n < settled}
            for observer, known, settled in (("all", 3, 1), (A, 3, 1), (B, 2, 0))
            for n, id_ in enumerate(order[:known])
        ),
    )
    quorum = {"base_id": "base", "node_id": order[0], "reached_by": order[1], "writers": [A, B]}
    warehouse.write("autobase_quorums", *(quorum | {"degree": degree} for degree in (1, 2, 3)))
    links = [(order[1], order[0], "head"), (order[2], order[1], "head"), (order[2], order[0], "previous")]
    warehouse.write(
        "autobase_links",
        *({"base_id": "base", "node_id": n, "head_id": h, "kind": kind, "is_known": True} for n, h, kind in links),
    )
    reject = {"source_file": "log", "line": 9, "base_id": "base", "node_id": f"{B}:3", "reason": "hole"}
    warehouse.write("autobase_rejects", reject)
    warehouse.write(
        "autobase_confirmations",
        {"base_id": "base", "observer": "all", "node_id": order[0], "confirmed_by": order[2]},
    )
    waits = {"base_id": "base", "reason": "needs_votes", "missing_writers": [A, B]}
    warehouse.write("autobase_unsettled", *({**waits, "node_id": node} for node in order[1:]))


def _group(warehouse: Warehouse) -> None:
    epochs = [(GROUP, 0, False, [], 2, 1), (NEXT, 1, True, [GROUP], 1, 0)]
    warehouse.write(
        "group_epochs",
        *(
            {"group_id": GROUP, "epoch_id": id_, "depth": depth, "is_tip": is_tip, "is_preferred": is_tip}
            | {"previous_epochs": previous, "added_count": added, "excluded_count": excluded, "missing_count": depth}
            | {"tip_count": 1, "preference": "single_tip", "is_decided_by_peers": True, "author": story.ALICE}
            for id_, depth, is_tip, previous, added, excluded in epochs
        ),
    )
    members = [(GROUP, story.ALICE, True, False, False), (GROUP, story.BOB, True, True, False)]
    members += [(NEXT, story.ALICE, True, False, False), (NEXT, "@carol", False, False, True)]
    warehouse.write(
        "group_members",
        *(
            {"group_id": GROUP, "epoch_id": epoch, "feed_id": feed, "is_added": added, "is_excluded": excluded}
            | {"is_member": added, "is_missing": missing, "is_returned": False}
            for epoch, feed, added, excluded, missing in members
        ),
    )
    finding = {"group_id": GROUP, "finding": "no_answer", "epoch_id": NEXT, "message_ids": [NEXT], "message_count": 1}
    warehouse.write("group_findings", finding)


def _timeline(warehouse: Warehouse) -> None:
    warehouse.write(
        "timeline_stats",
        {
            "timeline_id": "room",
            "event_count": 4,
            "author_count": 1,
            "rank_count": 4,
            "edit_count": 5,
            "edits_per_event": 1.25,
        },
    )
    warehouse.write(
        "timeline_events",
        *(
            {
                "timeline_id": "room",
                "event_id": id_,
                "position": n,
                "rank": n,
                "latest_rank": n,
                "is_tip": n == 3,
                "is_tie_broken": n == 2,
                "arrival": n,
            }
            | {"author": "ann", "source_file": "events.jsonl", "line": n + 1, "missing_causes": [], "cyclic_causes": []}
            for n, id_ in enumerate(EVENTS)
        ),
    )
    edits = [(1, 1, "ins", "two", None, 0), (2, 1, "ins", "four", None, 1), (3, 1, "ins", "three", None, 0)]
    edits += [(4, 1, "ins", "one", None, 0), (4, 2, "mov", "three", 1, 2)]
    names = ("batch", "step", "op", "event_id", "from_position", "to_position")
    warehouse.write(
        "timeline_edits", *({"timeline_id": "room", **dict(zip(names, edit, strict=True))} for edit in edits)
    )
    warehouse.write(
        "timeline_links",
        {"timeline_id": "room", "event_id": "two", "cause_id": "one", "kind": "given", "is_known": True},
    )
