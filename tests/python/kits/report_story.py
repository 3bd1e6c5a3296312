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
    counts = {"member_count": 42, "candidate_count": 42, "set_aside_count": 0}
    warehouse.write("tangles", story.tangle(first, tips=[last], **counts))
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
    warehouse.fill(
        "set_messages",
        "message_id depth position is_valid is_root is_item_root is_tip purpose reject_reason",
        (SET, 0, 0, True, True, False, False, "goal", None),
        (ADD, 1, 1, True, False, False, False, "goal", None),
        (MORE, 2, 2, True, False, True, True, "goal", None),
        (LATE, None, None, False, False, False, False, None, "no_known_prev"),
        set_id=SET,
        is_held=False,
    )
    warehouse.fill(
        "set_links",
        "message_id other_id kind is_known",
        (ADD, SET, "prev", True),
        (MORE, ADD, "prev", True),
        (MORE, ADD, "supersedes", True),
        (LATE, LOST, "prev", False),
        set_id=SET,
    )
    warehouse.write("int_set_entries", {"set_id": SET, "message_id": LATE, "prev": [LOST]})
    item = {"set_id": SET, "item": "carol", "item_position": 0, "added_by": MORE, "kept_by": [MORE]}
    warehouse.write("set_items", item)
    keys = [(SET, None), (ADD, "key"), (MORE, "key"), (LATE, "key")]
    warehouse.fill("pzp_messages", "message_id sigkey", *keys, is_usable=True)


def _base(warehouse: Warehouse) -> None:
    of_base = {"base_id": "base"}
    counts = {"indexer_count": 2, "majority": 2, "node_count": 3, "confirmed_length": 1, "lag": 2}
    warehouse.write("autobase_bases", of_base | counts | {"status": "incomplete"})
    first, second, third = f"{A}:1", f"{B}:1", f"{A}:2"
    warehouse.fill(
        "autobase_nodes",
        "node_id writer depth is_head votes",
        (first, A, 0, False, 2),
        (second, B, 1, False, 1),
        (third, A, 2, True, 1),
        role="indexing",
        is_ack=False,
        **of_base,
    )
    views = [
        (observer, n, id_, n < settled)
        for observer, known, settled in (("all", 3, 1), (A, 3, 1), (B, 2, 0))
        for n, id_ in enumerate([first, second, third][:known])
    ]
    warehouse.fill("autobase_views", "observer position node_id is_confirmed", *views, **of_base)
    quorum = {"node_id": first, "reached_by": second, "writers": [A, B]}
    warehouse.fill("autobase_quorums", "degree", (1,), (2,), (3,), **quorum, **of_base)
    links = [(second, first, "head"), (third, second, "head"), (third, first, "previous")]
    warehouse.fill("autobase_links", "node_id head_id kind", *links, is_known=True, **of_base)
    reject = {"source_file": "log", "line": 9, "node_id": f"{B}:3", "reason": "hole"}
    warehouse.write("autobase_rejects", of_base | reject)
    warehouse.write("autobase_confirmations", of_base | {"observer": "all", "node_id": first, "confirmed_by": third})
    waits = {"reason": "needs_votes", "missing_writers": [A, B]}
    warehouse.fill("autobase_unsettled", "node_id", (second,), (third,), **waits, **of_base)


def _group(warehouse: Warehouse) -> None:
    preference = {"tip_count": 1, "preference": "single_tip", "is_decided_by_peers": True, "author": story.ALICE}
    warehouse.fill(
        "group_epochs",
        "epoch_id depth is_tip is_preferred previous_epochs added_count excluded_count missing_count",
        (GROUP, 0, False, False, [], 2, 1, 0),
        (NEXT, 1, True, True, [GROUP], 1, 0, 1),
        group_id=GROUP,
        **preference,
    )
    warehouse.fill(
        "group_members",
        "epoch_id feed_id is_added is_excluded is_missing is_member",
        (GROUP, story.ALICE, True, False, False, True),
        (GROUP, story.BOB, True, True, False, True),
        (NEXT, story.ALICE, True, False, False, True),
        (NEXT, "@carol", False, False, True, False),
        group_id=GROUP,
        is_returned=False,
    )
    finding = {"group_id": GROUP, "finding": "no_answer", "epoch_id": NEXT, "message_ids": [NEXT], "message_count": 1}
    warehouse.write("group_findings", finding)


def _timeline(warehouse: Warehouse) -> None:
    room = {"timeline_id": "room"}
    counts = {"event_count": 4, "author_count": 1, "rank_count": 4, "edit_count": 5, "edits_per_event": 1.25}
    warehouse.write("timeline_stats", room | counts)
    events = [(id_, n, n, n, n == 3, n == 2, n, n + 1) for n, id_ in enumerate(EVENTS)]
    warehouse.fill(
        "timeline_events",
        "event_id position rank latest_rank is_tip is_tie_broken arrival line",
        *events,
        author="ann",
        source_file="events.jsonl",
        missing_causes=[],
        cyclic_causes=[],
        **room,
    )
    warehouse.fill(
        "timeline_edits",
        "batch step op event_id from_position to_position",
        (1, 1, "ins", "two", None, 0),
        (2, 1, "ins", "four", None, 1),
        (3, 1, "ins", "three", None, 0),
        (4, 1, "ins", "one", None, 0),
        (4, 2, "mov", "three", 1, 2),
        **room,
    )
    warehouse.write("timeline_links", room | {"event_id": "two", "cause_id": "one", "kind": "given", "is_known": True})
