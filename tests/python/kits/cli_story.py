"""A small SSB log as tables: two feeds, and a thread in which some messages wait for a missing message.

root <- a1 <- a2            members
root <- gone <- b1 <- b2    gone is not in the log
"""

from datetime import datetime, timezone

from cli_kit import Warehouse


def sigil(name: str) -> str:
    """Make an id that begins with a name."""
    return f"%{name.ljust(43, 'A')}=.sha256"


ROOT, A1, A2, B1, B2, GONE, BAD = map(sigil, ("root", "a1", "a2", "b1", "b2", "gone", "bad"))
ALICE, BOB = "@alice.ed25519", "@bob.ed25519"


def message(id_: str, author: str, sequence: int, **columns) -> dict:
    """Make a row of `ssb_messages`, usable by default."""
    row = {"message_id": id_, "author": author, "sequence": sequence, "asserted_ms": 1.5e12, "tangle_claims": []}
    row |= {"content_type": "post", "content": '{"type":"post"}', "is_encrypted": False}
    return row | dict.fromkeys(("is_signature_valid", "is_usable", "is_key_consistent"), True) | columns


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
    row = {"tangle_name": "thread", "root_id": root, "root_status": "present", "depth": 2, "tips": [A2]}
    counts = {"candidate_count": 5, "member_count": 3, "set_aside_count": 2, "invalid_claim_count": 0, "edge_count": 2}
    return row | counts | columns


def missing(id_: str, **columns) -> dict:
    """Make a row of `tangle_missing` for the thread: by default b1 waits for a message that the log lacks."""
    row = {"tangle_name": "thread", "root_id": ROOT, "missing_id": id_, "is_in_log": False, "is_sealed": False}
    return row | {"waiting_count": 1, "blocked_count": 2, "unlocks": 2} | columns


def feed(author: str, length: int, latest: str) -> dict:
    """Make a row of `feeds` for a complete feed."""
    counts = dict.fromkeys(("message_count", "max_sequence", "verified_length"), length)
    return {"author": author, **counts, "status": "complete", "latest_message_id": latest}


def record(root: str, **columns) -> dict:
    """Make a row of `records` for a thread; by default no message has a fault."""
    lists = ("tips", "conflicting_fields", "left_out", "malformed_messages", "unresolved_merges")
    row = {"tangle_name": "thread", "root_id": root, "status": "reduced", "is_conflicted": False, "left_out_count": 0}
    return row | {name: [] for name in lists} | columns


def field(root: str, name: str, value: str | None, *set_by: str, conflict: dict[str, str] | None = None) -> dict:
    """Make a row of `record_fields` for a thread; `conflict` has the value of each tip."""
    row = {"tangle_name": "thread", "root_id": root, "field": name, "strategy": "overwrite", "value": value}
    values = [{"tip_id": tip, "message_id": tip, "value": each} for tip, each in (conflict or {}).items()]
    return row | {"is_conflict": bool(values), "set_by": [*set_by], "conflicting_values": values}


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
    messages = [message(*place, previous_id=before.get(place[0])) for place in chain]
    bad = message(BAD, BOB, 3, is_usable=False, is_signature_valid=False, check_error="bad_signature")
    warehouse.write("ssb_messages", *messages, bad, files=3)
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
    links = [edge(A1, ROOT, True), edge(A2, A1, True), edge(B1, GONE, False), edge(B2, B1, False)]
    warehouse.write("tangle_edges", *links, files=2)
    warehouse.write("tangles", tangle(ROOT))
    warehouse.write("tangle_next", {"tangle_name": "thread", "root_id": ROOT, "previous": [A2], "depth": 3})
    return warehouse.write("tangle_missing", missing(GONE)).write("tangle_writer_faults")


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
    return warehouse.write("tangle_missing").write("tangle_writer_faults")


def write_twins(root) -> Warehouse:
    """Write the tables for messages with both notations of a thread: each row of the thread twice."""
    warehouse = write(root)
    for table in ("tangle_messages", "tangle_edges", "tangles", "tangle_next", "tangle_missing"):
        rows = warehouse.rows(table)
        warehouse.write(table, *rows, *({**row, "tangle_name": "ssb:legacy_thread"} for row in rows))
    return warehouse


CAROL = "@carol.ed25519"
C1, C2, C2B, C3, C7, C8, C6, ELSEWHERE = map(sigil, ("c1", "c2", "c2b", "c3", "c7", "c8", "c6lost", "elsewhere"))


def write_feed(warehouse: Warehouse, author: str, places: list[tuple], *others: dict, **columns) -> Warehouse:
    """Write one feed: the id, sequence and previous id of each message, and its reason if it is not in the chain.

    `others` are messages of other feeds in their chains, and `columns` are those of the row of `feeds`.
    """
    warehouse.write("ssb_messages", *others, *(message(id_, author, n, previous_id=on) for id_, n, on, _ in places))
    in_feed = [(id_, author, n, reason is None, reason) for id_, n, _, reason in places]
    in_feed += [(each["message_id"], each["author"], each["sequence"], True, None) for each in others]
    warehouse.fill("feed_messages", "message_id author sequence in_chain reason", *in_feed)
    chain = [id_ for id_, *_, reason in places if reason is None]
    counts = {
        "message_count": len(places),
        "max_sequence": max(n for _, n, *_ in places),
        "verified_length": len(chain),
    }
    return warehouse.write("feeds", {"author": author, "latest_message_id": chain[-1]} | counts | columns)


def write_broken_feed(warehouse: Warehouse) -> Warehouse:
    """Write a feed that is forked at 2 and has a hole from 4 to 6: c1 <- c2 <- c3, c1 <- c2b, missing c6 <- c7 <- c8.

    A second message with sequence 8 follows a message of another author.
    """
    places = [(C1, 1, None, None), (C2, 2, C1, "forked"), (C2B, 2, C1, "forked")]
    links = [(C3, 3, C2), (C7, 7, C6), (C8, 8, C7), (ELSEWHERE, 8, A1)]
    places += [(*link, "after_forked") for link in links]
    columns = {"status": "forked", "fork_sequence": 2, "gap_sequence": 4}
    return write_feed(warehouse, CAROL, places, message(A1, ALICE, 2), **columns)
