"""Key authority: whether a key signs for an account at given account tips (pzp-db 1.0.4).

An account is a tangle of messages: its root adds a first key, later messages add and delete keys. A message in a feed
names the account and its `accountTips`, the latest messages of the account that its writer knew. These and all their
ancestors are the part of the account that the message sees; its replay in order yields the keys that sign.

Most accounts are small; a few are the subject of questions at thousands of different tips. The kernel therefore packs
64 different questions into a word, one bit (lane) each. One sweep over the account's messages from late to early
computes the questions that see each message. One replay from early to late computes, for each key, the questions in
which it signs, may add and may delete.

Source: pzp-db 1.0.4. The peer uses its current state of the account: any key added by some message of the account is
valid for every message, at any tips, and deletions have no effect. The peer's verdict can change when more of the
account arrives. Here a message is judged at its own tips, and a key deleted before them no longer signs. Messages after
or beside the tips are irrelevant; only ancestors of the tips count. If an ancestor is missing in the log, the result is
unknown (see `awaited`).
"""

import numpy as np
import pyarrow as pa

from dbt_tangles.algorithms.graph.arrays import scatter
from dbt_tangles.algorithms.graph.links import link, look_up
from dbt_tangles.algorithms.graph.strings import lists_of, strings_of
from dbt_tangles.formats.pzp.account_rows import (
    ADD,
    DELETE,
    MAY_ADD,
    MAY_DELETE,
    POWERS,
    SIGNS,
    UNCHANGED,
    encode_changes,
    group_questions,
    number_rows,
)
from dbt_tangles.formats.pzp.awaited import MOST_GAPS, Lacking, collect_gaps, find_gaps, find_missing, list_awaited
from dbt_tangles.kernel_runtime.compiled import compiled, inner

SIGNERS_INPUT_SCHEMA = pa.schema(
    [
        ("account_id", pa.string()),
        ("message_id", pa.string()),
        ("is_root", pa.bool_()),
        ("depth", pa.int64()),
        ("prev", pa.list_(pa.string())),
        ("signers", pa.list_(pa.string())),
        ("key_action", pa.string()),
        ("key", pa.string()),
        ("is_signing_key", pa.bool_()),
        ("may_add_keys", pa.bool_()),
        ("may_delete_keys", pa.bool_()),
        ("is_erased", pa.bool_()),
        ("account_tips", pa.list_(pa.string())),
        ("sigkey", pa.string()),
    ]
)
SIGNERS_OUTPUT_SCHEMA = pa.schema([("is_key_authorised", pa.bool_()), ("awaited_ids", pa.list_(pa.string()))])
#: Ids that a tip or a `prev` lists, although they are not messages of the account.
FOREIGN_SCHEMA = pa.schema([("account_id", pa.string()), ("message_id", pa.string())])

_LANES = 64
_UNKNOWN = -1
_ONE = np.uint64(1)


def key_authority(table: pa.Table, foreign: pa.Table | None = None) -> pa.Table:
    """Decide whether keys signed for an account, as it was at given tips.

    The messages of an account are ordered by depth (the root's is 0), then id (see `collation`). An id listed in `prev`
    counts as an edge only if its message is present and earlier in that order. A question sees those of its tips that
    are present, and all their ancestors. Without tips, or with foreign tips alone, it sees all messages of the account.

    The seen messages are replayed in order. The root's addition always counts; a later addition counts if a signer of
    the message may add keys at that point, and a deletion if a signer may delete keys. An addition gives the key the
    named powers and keeps earlier ones; a deletion removes all.

    A question is undecided while a message is awaited: a tip that is neither present nor foreign, such a `prev` of a
    message that the question sees by its tips, or a message seen by its tips with erased data. A question that sees all
    messages awaits only the data of the root.

    Time is (messages + links + signers) * different tips / 64 for each account, and memory is linear in the table.

    Args:
        table: One row per message of an account tangle, and one per question, in any order, whole accounts only
            (`SIGNERS_INPUT_SCHEMA`; further columns are ignored; null means false or an empty list):
            `account_id`;
            `message_id`, unique in its account; null makes the row a question. Of messages:
            `is_root`; `depth` as declared, ignored for the root; `prev` list<string>, ignored for the root;
            `signers` list<string>, the keys with a valid signature: copies of a message may differ in them;
            `key_action` "add" or "del" (other values change no key) and its `key`;
            `is_signing_key`, `may_add_keys`, `may_delete_keys`: the powers that an addition grants;
            `is_erased`: whether all copies lack the data. Of questions:
            `account_tips` list<string> and `sigkey`.
        foreign: Ids that the log has, but not as messages of the account (`FOREIGN_SCHEMA`): they are never awaited.

    Returns:
        One row per row of the input, in its order (`SIGNERS_OUTPUT_SCHEMA`). Of a question:
            `is_key_authorised`, whether `sigkey` signs for the account at its tips; null if the account has no root
            here, or while a message is awaited;
            `awaited_ids` list<string>, the awaited messages, ascending by code point: all awaited tips, and the first
            `MOST_GAPS` awaited ancestors; null if the list would be empty. Of a message both are null.

    Raises:
        ValueError: An account_id is null, a message is in an account twice, a depth is missing, or an account has two
            roots.
        OverflowError: There are more than 2^31 - 1 rows, keys or listed ids.
    """
    ids = strings_of(table["message_id"])
    places = number_rows(table, ids)
    changes, sigkey, code_count = encode_changes(table, places)
    links = link(places.nodes, ids, lists_of(table["prev"]), places.is_message, ~places.is_message)
    tips = lists_of(table["account_tips"])
    # Questions have null ids, so a tip never resolves to a question.
    found = look_up(places.nodes, ids, tips, np.ones(len(places.is_message), np.bool_), places.is_message)
    lanes = group_questions(places, tips, found)
    foreign = FOREIGN_SCHEMA.empty_table() if foreign is None else foreign
    gaps, gap_ids = find_gaps(table, foreign, places, ids, links)
    answers, gap_end, gap = _answers(places, links, changes, lanes, gaps, sigkey, code_count)
    has_root = np.repeat(places.root >= 0, np.diff(places.nodes.graph_start))
    named = find_missing(table, foreign, places, tips, found, ~places.is_message & has_root)
    awaited = list_awaited(places, lanes, named, gap_end, gap, gap_ids)
    by_row = scatter(answers, places.nodes.row)
    is_open = (by_row == _UNKNOWN) | awaited.is_valid().to_numpy(zero_copy_only=False)
    return pa.table([pa.array(by_row == 1, mask=is_open), awaited], schema=SIGNERS_OUTPUT_SCHEMA)


@compiled
def _answers(places, links, changes, lanes, gaps, sigkey, code_count):
    """Decide all questions, up to 64 lanes of an account at a time.

    Args:
        places: The rows.
        links: The edges from each message to its `prev`.
        changes: The key changes.
        lanes: The questions.
        gaps: The gaps of messages.
        sigkey: int32[nodes], the key of each question, or -1.
        code_count: The number of key codes.

    Returns:
        int8[nodes]: 0 or 1 for a question, -1 for a message and for an account without root; and the gaps of each lane:
        int64[lanes], their ends in int32[...].
    """
    start, message_end, root = places.nodes.graph_start, places.message_end, places.root
    action, key = changes.action, changes.key
    lane_start, question_start, question = lanes.start, lanes.question_start, lanes.question
    answers = np.full(len(action), np.int8(_UNKNOWN))
    gap_end, gap, gap_count = np.zeros(len(lanes.tip_start), np.int64), np.empty(0, np.int32), 0
    largest = 0
    for a in range(len(root)):
        largest = max(largest, message_end[a] - start[a])
    # Bit sets of lanes: those that see a message; those in which a key signs, may add, may delete.
    seen = np.zeros(largest, np.uint64)
    held = np.zeros((code_count, POWERS), np.uint64)
    lacking = Lacking(np.empty((_LANES, MOST_GAPS), np.int32), np.empty(_LANES, np.int64))
    found, counts = lacking.code, lacking.count
    for a in range(len(root)):
        begin, end = start[a], message_end[a]
        for first_lane in range(lane_start[a], lane_start[a + 1], _LANES):
            end_lane = min(first_lane + _LANES, lane_start[a + 1])
            counts[:] = 0
            if root[a] >= 0:
                by_tips = _mark_seen(begin, end, first_lane, end_lane, lanes, links, seen)
                _replay(begin, end, root[a], changes, seen, held)
                for lane in range(first_lane, end_lane):
                    for i in range(question_start[lane], question_start[lane + 1]):
                        q = question[i]
                        signs = np.uint64(0)
                        if sigkey[q] >= 0:
                            signs = held[sigkey[q], SIGNS]
                        answers[q] = signs >> np.uint64(lane - first_lane) & _ONE
                collect_gaps(begin, end, root[a], by_tips, seen, gaps, lacking)
                seen[: end - begin] = 0
                for m in range(begin, end):
                    if action[m] != UNCHANGED:
                        held[key[m], :] = 0
            for lane in range(first_lane, end_lane):
                count = counts[lane - first_lane]
                if gap_count + count > len(gap):
                    more = np.empty(2 * (gap_count + count), np.int32)
                    more[:gap_count] = gap[:gap_count]
                    gap = more
                gap[gap_count : gap_count + count] = found[lane - first_lane, :count]
                gap_count += count
                gap_end[lane] = gap_count
    return answers, gap_end, gap[:gap_count].copy()


@inner
def _mark_seen(begin, end, first_lane, end_lane, lanes, links, seen):
    """Mark the messages that each lane sees; return the bit set of lanes with tips."""
    tip_start, tip_end, tip = lanes.tip_start, lanes.tip_end, lanes.tip
    by_tips = np.uint64(0)
    for lane in range(first_lane, end_lane):
        bit = _ONE << np.uint64(lane - first_lane)
        if tip_start[lane] == tip_end[lane]:
            for m in range(end - begin):
                seen[m] |= bit
        else:
            by_tips |= bit
        for t in range(tip_start[lane], tip_end[lane]):
            seen[tip[t] - begin] |= bit
    _spread_lanes(begin, end, links, seen)
    return by_tips


@inner
def _spread_lanes(begin, end, links, seen):
    """Propagate the lanes of each message to its `prev`, ignoring links to later messages."""
    start, previous = links.start, links.previous
    for m in range(end - 1, begin - 1, -1):
        lanes = seen[m - begin]
        if lanes:
            for e in range(start[m], start[m + 1]):
                if previous[e] < m:
                    seen[previous[e] - begin] |= lanes


@inner
def _replay(begin, end, root, changes, seen, held):
    """Apply the messages of an account in order, in the lanes that see them and in which a signer has the power."""
    action, key, grants, signer = changes.action, changes.key, changes.grants, changes.signer
    for m in range(begin, end):
        lanes = seen[m - begin]
        if action[m] == UNCHANGED or not lanes:
            continue
        needed = MAY_ADD if action[m] == ADD else MAY_DELETE
        # Before the root all keys lack powers, so a deletion by the root is without effect.
        if m != root:
            allowed = np.uint64(0)
            for s in range(changes.signer_start[m], changes.signer_end[m]):
                if signer[s] >= 0:
                    allowed |= held[signer[s], needed]
            lanes &= allowed
        for power in range(POWERS):
            if action[m] == DELETE:
                held[key[m], power] &= ~lanes
            elif grants[m, power]:
                held[key[m], power] |= lanes
