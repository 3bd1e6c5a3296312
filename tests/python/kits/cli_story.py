"""A small SSB log as tables: two feeds, and a thread in which some messages wait for a missing message.

root <- a1 <- a2            members
root <- gone <- b1 <- b2    gone is not in the log
"""

from datetime import datetime, timezone

import pyarrow.parquet as pq

from cli_kit import Warehouse


def sigil(name: str) -> str:
    """Make an id that begins with a name."""
    return f"%{name.ljust(43, 'A')}=.sha256"


ROOT, A1, A2, B1, B2, GONE, BAD = map(sigil, ("root", "a1", "a2", "b1", "b2", "gone", "bad"))
ALICE, BOB = "@alice.ed25519", "@bob.ed25519"


def message(id_: str, author: str, sequence: int, **columns) -> dict:
    """Make a row of `ssb_messages`, usable by default."""
    row = {
        "message_id": id_,
        "author": author,
        "sequence": sequence,
        "content_type": "post",
        "content": '{"type":"post"}',
        "asserted_ms": 1.5e12,
        "line_count": 1,
        "is_encrypted": False,
        "is_signature_valid": True,
        "is_usable": True,
        "is_key_consistent": True,
        "tangle_claims": [],
    }
    return row | columns


def candidate(id_: str, author: str, depth: int | None, **columns) -> dict:
    """Make a row of `tangle_messages` in the thread; it is a member if it has a depth."""
    row = {"tangle_name": "thread", "root_id": ROOT, "message_id": id_, "author": author, "depth": depth}
    row |= {"is_member": depth is not None, "position": depth, "is_root": id_ == ROOT}
    return row | dict.fromkeys(("is_tip", "is_fork", "is_merge"), False) | columns


def edge(id_: str, previous: str, is_member: bool) -> dict:
    """Make a row of `tangle_edges` in the thread."""
    names = {"tangle_name": "thread", "root_id": ROOT, "message_id": id_, "previous_id": previous}
    return names | {"is_member_edge": is_member, "is_redundant": False}


def tangle(root: str, **columns) -> dict:
    """Make a row of `tangles` for the thread of the story, or one like it."""
    row = {
        "tangle_name": "thread",
        "root_id": root,
        "root_status": "present",
        "depth": 2,
        "tips": [A2],
        "edge_count": 2,
    }
    counts = {"candidate_count": 5, "member_count": 3, "set_aside_count": 2, "invalid_claim_count": 0}
    return row | counts | columns


def feed(author: str, length: int, latest: str) -> dict:
    """Make a row of `feeds` for a complete feed."""
    counts = dict.fromkeys(("message_count", "max_sequence", "verified_length"), length)
    return {"author": author, **counts, "status": "complete", "latest_message_id": latest}


def run(run_id: str, hour: int, status: str = "success", **columns) -> dict:
    """Make a row of `runs`."""
    started = datetime(2026, 1, 1, hour, tzinfo=timezone.utc)
    row = {"run_id": run_id, "started_at": started, "status": status, "project_version": "1", "tables": []}
    row |= {"finished_at": None if status == "running" else started.replace(minute=1), "is_full": True}
    return row | {"inputs": [], "vars": [("edit_batch_size", "1")]} | columns


def write(root) -> Warehouse:
    """Write the tables."""
    warehouse = Warehouse(root)
    chain = [(ROOT, ALICE, 1), (A1, ALICE, 2), (A2, ALICE, 3), (B1, BOB, 1), (B2, BOB, 2)]
    before = {A1: ROOT, A2: A1, B2: B1}
    bad = message(BAD, BOB, 3, is_usable=False, is_signature_valid=False, check_error="bad_signature")
    warehouse.write(
        "ssb_messages", *(message(*place, previous_id=before.get(place[0])) for place in chain), bad, files=3
    )
    warehouse.fill("feed_messages", "message_id author sequence", *chain, in_chain=True)
    warehouse.write("feeds", feed(ALICE, 3, A2), feed(BOB, 2, B2))
    warehouse.fill("feed_next", "author sequence previous_id", (ALICE, 4, A2), (BOB, 3, B2), status="complete")
    aside = {"blocked_by": [GONE]}
    warehouse.write(
        "tangle_messages",
        candidate(ROOT, ALICE, 0),
        candidate(A1, ALICE, 1),
        candidate(A2, ALICE, 2, is_tip=True),
        candidate(B1, BOB, None, set_aside_reason="missing_previous", **aside),
        candidate(B2, BOB, None, set_aside_reason="previous_set_aside", **aside),
        files=2,
    )
    warehouse.write(
        "tangle_edges",
        edge(A1, ROOT, True),
        edge(A2, A1, True),
        edge(B1, GONE, False),
        edge(B2, B1, False),
        files=2,
    )
    warehouse.write("tangles", tangle(ROOT))
    warehouse.write("tangle_next", {"tangle_name": "thread", "root_id": ROOT, "previous": [A2], "depth": 3})
    waiting = {"is_in_log": False, "is_sealed": False, "waiting_count": 1, "blocked_count": 2, "unlocks": 2}
    warehouse.write("tangle_missing", {"tangle_name": "thread", "root_id": ROOT, "missing_id": GONE, **waiting})
    warehouse.write("tangle_writer_faults")
    return warehouse


DIAMOND = tuple(map(sigil, "abcde"))


def write_diamond(root) -> Warehouse:
    """Write the thread A to E of the documents: C and D follow B and do not know each other; E follows both."""
    a, b, c, d, e = DIAMOND
    warehouse = Warehouse(root)
    rows = [candidate(id_, ALICE, depth) for id_, depth in ((a, 0), (b, 1), (c, 2), (d, 2), (e, 3))]
    for row in rows:
        row |= {"root_id": a, "is_root": row["message_id"] == a, "concurrent_count": int(row["message_id"] in (c, d))}
    rows[3]["tie_broken_with"] = c
    warehouse.write("tangle_messages", *rows)
    links = [(b, a), (c, b), (d, b), (e, c), (e, d)]
    warehouse.write("tangle_edges", *({**edge(*link, True), "root_id": a} for link in links))
    warehouse.write("tangles", tangle(a, member_count=5, set_aside_count=0, depth=3, tips=[e]))
    warehouse.write("ssb_messages", *(message(id_, ALICE, n) for n, id_ in enumerate(DIAMOND, start=1)))
    for table in ("tangle_missing", "tangle_writer_faults"):
        warehouse.write(table)
    return warehouse


def write_twins(root) -> Warehouse:
    """Write the tables for messages with both notations of a thread: each row of the thread twice."""
    warehouse = write(root)
    for table in ("tangle_messages", "tangle_edges", "tangles", "tangle_next", "tangle_missing"):
        rows = pq.read_table(warehouse.folder / table).to_pylist()
        warehouse.write(table, *rows, *({**row, "tangle_name": "ssb:legacy_thread"} for row in rows))
    return warehouse


CAROL = "@carol.ed25519"
C1, C2, C2B, C3, C7, C8, C6, ELSEWHERE = map(sigil, ("c1", "c2", "c2b", "c3", "c7", "c8", "c6lost", "elsewhere"))


def write_broken_feed(warehouse: Warehouse) -> Warehouse:
    """Write a feed that is forked at 2 and has a hole from 4 to 6: c1 <- c2 <- c3, c1 <- c2b, missing c6 <- c7 <- c8.

    A second message with sequence 8 follows a message of another author.
    """
    links = {C1: (1, None), C2: (2, C1), C2B: (2, C1), C3: (3, C2), C7: (7, C6), C8: (8, C7), ELSEWHERE: (8, A1)}
    reasons = dict.fromkeys((C2, C2B), "forked") | dict.fromkeys((C3, C7, C8, ELSEWHERE), "after_forked")
    rows = [message(id_, CAROL, n, previous_id=before) for id_, (n, before) in links.items()]
    warehouse.write("ssb_messages", message(A1, ALICE, 2), *rows)
    places = [(id_, CAROL, n, n == 1, reasons.get(id_)) for id_, (n, _) in links.items()]
    columns = "message_id author sequence in_chain reason"
    warehouse.fill("feed_messages", columns, (A1, ALICE, 2, True, None), *places)
    counts = {"message_count": 7, "max_sequence": 8, "verified_length": 1, "fork_sequence": 2, "gap_sequence": 4}
    return warehouse.write("feeds", {"author": CAROL, **counts, "status": "forked", "latest_message_id": C1})
