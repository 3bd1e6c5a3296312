"""Which keys sign for an account, as the writer of a message knew the account.

An account is a tangle of messages: its root brings a first key, later messages add keys and delete keys. A message in
a feed names the account and its `accountTips`, the messages of the account its writer knew. These and all they follow
are what the message sees of the account; replayed in order, they say which keys sign.

Most accounts are small, and a few are asked about at thousands of different tips. So 64 different questions share a
word, one bit each: a sweep over the account's messages from late to early finds for every message which questions see
it, and one replay from early to late keeps for every key in which questions it signs, may add and may delete.

Source: pzp-db 1.0.4. The peer looks at the account as it has it at that moment: any key that some message of the
account adds is good for every message, whatever tips that names, and deletions change nothing. There the answer may
become another when more of the account arrives. Here a message is judged at its own tips, and a key that was deleted
before them no longer signs, so that what arrives beside or after them does not count; only what they lead to does.
Where a part of that is not in the log, the answer is not known (see `awaited`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import flags, starts
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_ids, number_nodes
from dbt_tangles.algorithms.graph.links import link, look_up
from dbt_tangles.algorithms.graph.strings import Lists, Strings, lists_of, strings_of
from dbt_tangles.formats.pzp.awaited import MOST_GAPS, collect_gaps, find_gaps, find_missing, list_awaited
from dbt_tangles.formats.pzp.collation import collation_keys
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
#: Ids that are no messages of an account, although a tip or a `prev` names them as such.
FOREIGN_SCHEMA = pa.schema([("account_id", pa.string()), ("message_id", pa.string())])

_NOTHING, _ADD, _DELETE = 0, 1, 2
# What a key can do; the columns of `grants` and `held`.
_SIGNS, _MAY_ADD, _MAY_DELETE = 0, 1, 2
_POWERS = 3
_LANES = 64
_UNKNOWN = -1
_ONE = np.uint64(1)


class Places(NamedTuple):
    """The rows of many accounts, numbered by account: first its messages in replay order, then the questions about it.

    Attributes:
        nodes: The numbered rows. Messages ascend by depth, then id; questions by row.
        message_end: int64[accounts], one more than the last message of each.
        root: int32[accounts], the message that is an account's root, or -1.
        is_message: bool[nodes].
    """

    nodes: Nodes
    message_end: np.ndarray
    root: np.ndarray
    is_message: np.ndarray


class Changes(NamedTuple):
    """What messages do to keys. Keys are codes: equal for equal keys, in whatever account, and -1 for none.

    Attributes:
        action: int8[nodes]: nothing, add or delete.
        key: int32[nodes], what is added or deleted.
        grants: bool[nodes, 3]: whether an addition lets the key sign, add keys, delete keys.
        signer_start: int64[nodes], where in `signer` the signers of each message begin.
        signer_end: int64[nodes].
        signer: int32[...].
    """

    action: np.ndarray
    key: np.ndarray
    grants: np.ndarray
    signer_start: np.ndarray
    signer_end: np.ndarray
    signer: np.ndarray


class Lanes(NamedTuple):
    """The questions, those of an account that name the same known tips together in one lane.

    Attributes:
        start: int64[accounts + 1]; the lanes of account a are start[a] to start[a + 1] - 1.
        question_start: int64[lanes + 1], into `question`.
        question: int32[questions], nodes.
        tip_start: int64[lanes], where in `tip` the tips of each lane begin.
        tip_end: int64[lanes]; a lane without tips sees the whole account.
        tip: int32[...], messages.
    """

    start: np.ndarray
    question_start: np.ndarray
    question: np.ndarray
    tip_start: np.ndarray
    tip_end: np.ndarray
    tip: np.ndarray


def key_authority(table: pa.Table, foreign: pa.Table | None = None) -> pa.Table:
    """Say of keys whether they signed for an account, as it was at some tips.

    The messages of an account are ordered by depth (the root's is 0), then id (see `collation`). What a message lists
    in `prev` leads somewhere only if it is there, and earlier in that order. A question sees those of its tips that
    are there, and all they lead to; where it names no tip, or foreign ones alone, it sees all messages of the account.

    What it sees is replayed in order. The root's addition counts, whoever signed it; a later one counts if a signer of
    the message may add keys at that point, and a deletion if one may delete keys. An addition gives the key the powers
    it names, and takes none away; a deletion takes all.

    A question has no answer while a message is awaited: a tip that is neither there nor foreign, such a `prev` of a
    message that the question sees by its tips, or a message it sees so whose data was erased. A question that sees all
    messages awaits the data of the root alone.

    Takes (messages + links + signers) * different tips / 64 steps for each account, and memory in proportion to the
    table.

    Args:
        table: One row per message of an account tangle, and one per question, in any order, whole accounts only
            (`SIGNERS_INPUT_SCHEMA`; more columns are passed over; null is false, and an empty list):
            `account_id`;
            `message_id`, unique in its account; null makes the row a question. Of messages:
            `is_root`; `depth` as declared, ignored for the root; `prev` list<string>, ignored for the root;
            `signers` list<string>, the keys with a valid signature: copies of one message may have different ones;
            `key_action` "add" or "del" (all else changes nothing) and its `key`;
            `is_signing_key`, `may_add_keys`, `may_delete_keys`: what an addition grants;
            `is_erased`: whether no copy has the data. Of questions:
            `account_tips` list<string> and `sigkey`.
        foreign: Ids that the log has, but not as messages of the account (`FOREIGN_SCHEMA`): they are never awaited.

    Returns:
        One row per row of the input, in its order (`SIGNERS_OUTPUT_SCHEMA`). Of a question:
            `is_key_authorised`, whether `sigkey` signs for the account at its tips; null where the account has no root
            here, and while a message is awaited;
            `awaited_ids` list<string>, the awaited messages, ascending by code point: all of its tips, and of what
            these lead to the first `MOST_GAPS`; null where none is awaited. Of a message both are null.

    Raises:
        ValueError: An account_id is null, a message is in an account twice, a depth is missing, or an account has two
            roots.
        OverflowError: There are more than 2^31 - 1 rows, keys or listed ids.
    """
    ids = strings_of(table["message_id"])
    places = _number(table, ids)
    changes, sigkey, code_count = _changes(table, places)
    links = link(places.nodes, ids, lists_of(table["prev"]), places.is_message, ~places.is_message)
    tips = lists_of(table["account_tips"])
    # A question has no id, so nothing finds it.
    found = look_up(places.nodes, ids, tips, np.ones(len(places.is_message), np.bool_), places.is_message)
    lanes = _lanes(places, tips, found)
    foreign = FOREIGN_SCHEMA.empty_table() if foreign is None else foreign
    gaps, gap_ids = find_gaps(table, foreign, places, ids, links)
    answers, gap_end, gap = _answers(places, links, changes, lanes, gaps, sigkey, code_count)
    has_root = np.repeat(places.root >= 0, np.diff(places.nodes.graph_start))
    named = find_missing(table, foreign, places, tips, found, ~places.is_message & has_root)
    awaited = list_awaited(places, lanes, named, gap_end, gap, gap_ids)
    by_row = np.empty_like(answers)
    by_row[places.nodes.row] = answers
    is_open = (by_row == _UNKNOWN) | awaited.is_valid().to_numpy(zero_copy_only=False)
    return pa.table([pa.array(by_row == 1, mask=is_open), awaited], schema=SIGNERS_OUTPUT_SCHEMA)


def _number(table: pa.Table, ids: Strings) -> Places:
    """Put the messages of each account in order, and the questions behind them."""
    if table["account_id"].null_count:
        raise ValueError("an account_id is null")
    account, account_count = group_rows(strings_of(table["account_id"]))
    message_row = np.flatnonzero(ids.valid)
    keys = strings_of(collation_keys(table["message_id"].drop_null()))
    by_id = number_nodes(account[message_row], account_count, keys)
    numbers = number_ids(by_id, keys)
    twice = np.flatnonzero(numbers[1:] == numbers[:-1])
    if len(twice):
        at = int(message_row[by_id.row[twice[0]]])
        raise ValueError(f"message {table['message_id'][at]} is in account {table['account_id'][at]} twice")

    is_root = flags(table, "is_root") & ids.valid
    known = table["depth"].is_valid().to_numpy() | is_root | ~ids.valid
    if not known.all():
        raise ValueError(f"message {table['message_id'][int(np.argmin(known))]} has no depth")
    depth = np.where(is_root, 0, table["depth"].cast(pa.int64()).fill_null(0).to_numpy())
    row = message_row[by_id.row]
    row = np.concatenate([row[np.argsort(depth[row], kind="stable")], np.flatnonzero(~ids.valid)])
    row = row[np.argsort(account[row], kind="stable")].astype(np.int32)

    start = starts(np.bincount(account, minlength=account_count))
    roots = np.flatnonzero(is_root[row])
    root = np.full(account_count, np.int32(-1))
    root[account[row[roots]]] = roots
    if len(roots) > (root >= 0).sum():
        counts = np.bincount(account[row[roots]])
        at = int(row[roots[np.argmax(counts[account[row[roots]]] > 1)]])
        raise ValueError(f"account {table['account_id'][at]} has two roots")
    message_end = start[:-1] + np.bincount(account[message_row], minlength=account_count)
    return Places(Nodes(start, row), message_end, root, ids.valid[row])


def _changes(table: pa.Table, places: Places) -> tuple[Changes, np.ndarray, int]:
    """Lay open what messages do to keys; also int32[nodes], the sigkey of each question, and one more than any code."""
    rows = len(table)
    signers = table["signers"]
    chunks = [*table["key"].chunks, *table["sigkey"].chunks, *(chunk.flatten() for chunk in signers.chunks)]
    strings = strings_of(pa.chunked_array([chunk.cast(pa.large_string()) for chunk in chunks], pa.large_string()))
    codes, count = group_rows(strings)
    codes[~strings.valid] = -1
    key, sigkey, signer = codes[:rows], codes[rows : 2 * rows], codes[2 * rows :]

    row = places.nodes.row
    action = np.full(rows, np.int8(_NOTHING))
    for name, code in (("add", _ADD), ("del", _DELETE)):
        action[pc.equal(table["key_action"], name).fill_null(False).to_numpy()] = code
    action[key < 0] = _NOTHING
    grants = np.empty((rows, _POWERS), np.bool_)
    for power, name in ((_SIGNS, "is_signing_key"), (_MAY_ADD, "may_add_keys"), (_MAY_DELETE, "may_delete_keys")):
        grants[:, power] = flags(table, name)[row]
    ends = lists_of(signers).starts
    return Changes(action[row], key[row], grants, ends[row], ends[row + 1], signer), sigkey[row], count


def _lanes(places: Places, tips: Lists, found: np.ndarray) -> Lanes:
    """Bring together the questions about an account that name the same tips, of those that were found."""
    nodes = places.nodes
    question = np.flatnonzero(~places.is_message)
    row = nodes.row[question]
    account = np.repeat(np.arange(len(places.root)), np.diff(nodes.graph_start))[question]
    start, words = _known_tips(account, tips.starts[row], tips.starts[row + 1], found)
    data = words.view(np.uint8)
    data.flags.writeable = False
    # Lanes are numbered as they appear, hence by account.
    lane, lane_count = group_rows(Strings(start * words.itemsize, data, np.ones(len(question), np.bool_)))
    by_lane = np.argsort(lane, kind="stable")
    question_start = starts(np.bincount(lane, minlength=lane_count))
    first = by_lane[question_start[:-1]]
    lanes_of_account = np.bincount(account[first], minlength=len(places.root))
    return Lanes(
        starts(lanes_of_account),
        question_start,
        question[by_lane].astype(np.int32),
        start[first] + 1,
        start[first + 1],
        words,
    )


@compiled
def _known_tips(account, list_start, list_end, found):
    """Write each question as words: int64[questions + 1] into int32[...], its account and those tips that are there."""
    questions = len(account)
    start = np.zeros(questions + 1, np.int64)
    words = np.empty(questions + len(found), np.int32)
    count = 0
    for q in range(questions):
        words[count] = account[q]
        count += 1
        for item in range(list_start[q], list_end[q]):
            if found[item] >= 0:
                words[count] = found[item]
                count += 1
        start[q + 1] = count
    return start, words[:count].copy()


@compiled
def _answers(places, links, changes, lanes, gaps, sigkey, code_count):
    """Answer all questions, those of up to 64 lanes of an account at a time.

    Args:
        places: The rows.
        links: The edges from each message to what it lists.
        changes: What messages do.
        lanes: The questions.
        gaps: What messages lack.
        sigkey: int32[nodes], of a question the key it asks about, or -1.
        code_count: One more than any code of a key.

    Returns:
        int8[nodes]: 0 or 1 of a question, -1 of a message and where the account has no root; and what each lane lacks,
        int64[lanes], where that ends in int32[...].
    """
    start, message_end, root = places.nodes.graph_start, places.message_end, places.root
    action, key = changes.action, changes.key
    lane_start, question_start, question = lanes.start, lanes.question_start, lanes.question
    answers = np.full(len(action), np.int8(_UNKNOWN))
    gap_end, gap, gap_count = np.zeros(len(lanes.tip_start), np.int64), np.empty(0, np.int32), 0
    largest = 0
    for a in range(len(root)):
        largest = max(largest, message_end[a] - start[a])
    # Bit by bit: which lanes see a message; in which lanes a key signs, may add, may delete.
    seen = np.zeros(largest, np.uint64)
    held = np.zeros((code_count, _POWERS), np.uint64)
    lacking, counts = np.empty((_LANES, MOST_GAPS), np.int32), np.empty(_LANES, np.int64)
    for a in range(len(root)):
        begin, end = start[a], message_end[a]
        for first_lane in range(lane_start[a], lane_start[a + 1], _LANES):
            end_lane = min(first_lane + _LANES, lane_start[a + 1])
            counts[:] = 0
            if root[a] >= 0:
                by_tips = _see(begin, end, first_lane, end_lane, lanes, links, seen)
                _replay(begin, end, root[a], changes, seen, held)
                for lane in range(first_lane, end_lane):
                    for i in range(question_start[lane], question_start[lane + 1]):
                        q = question[i]
                        signs = np.uint64(0)
                        if sigkey[q] >= 0:
                            signs = held[sigkey[q], _SIGNS]
                        answers[q] = signs >> np.uint64(lane - first_lane) & _ONE
                collect_gaps(begin, end, root[a], by_tips, seen, gaps, lacking, counts)
                seen[: end - begin] = 0
                for m in range(begin, end):
                    if action[m] != _NOTHING:
                        held[key[m], :] = 0
            for lane in range(first_lane, end_lane):
                count = counts[lane - first_lane]
                if gap_count + count > len(gap):
                    more = np.empty(2 * (gap_count + count), np.int32)
                    more[:gap_count] = gap[:gap_count]
                    gap = more
                gap[gap_count : gap_count + count] = lacking[lane - first_lane, :count]
                gap_count += count
                gap_end[lane] = gap_count
    return answers, gap_end, gap[:gap_count].copy()


@inner
def _see(begin, end, first_lane, end_lane, lanes, links, seen):
    """Note which of some lanes see each message; return those that see what their tips lead to, and not all."""
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
    """Let the lanes that see a message see what it lists. Links that lead to no earlier message lead nowhere."""
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
        if action[m] == _NOTHING or not lanes:
            continue
        needed = _MAY_ADD if action[m] == _ADD else _MAY_DELETE
        # Before the root no key has any power, so there is nothing that the root could delete.
        if m != root:
            allowed = np.uint64(0)
            for s in range(changes.signer_start[m], changes.signer_end[m]):
                if signer[s] >= 0:
                    allowed |= held[signer[s], needed]
            lanes &= allowed
        for power in range(_POWERS):
            if action[m] == _DELETE:
                held[key[m], power] &= ~lanes
            elif grants[m, power]:
                held[key[m], power] |= lanes
