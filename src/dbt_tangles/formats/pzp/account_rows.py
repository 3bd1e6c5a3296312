"""The rows about accounts, numbered for `signers`: messages in replay order, their key changes, and the questions."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.graph.arrays import flags, starts
from dbt_tangles.algorithms.graph.dense_ids import Nodes, group_rows, number_ids, number_nodes
from dbt_tangles.algorithms.graph.strings import Lists, Strings, lists_of, strings_of
from dbt_tangles.formats.pzp.collation import collation_keys
from dbt_tangles.kernel_runtime.compiled import compiled

#: The codes of key changes.
UNCHANGED, ADD, DELETE = 0, 1, 2
#: The powers of a key: the columns of `Changes.grants`.
SIGNS, MAY_ADD, MAY_DELETE = 0, 1, 2
POWERS = 3


class Places(NamedTuple):
    """The rows of many accounts, by account: first its messages in replay order, then the questions about it."""

    nodes: Nodes  # The numbered rows. Messages ascend by depth, then id; questions by row
    message_end: np.ndarray  # int64[accounts], one more than the last message of each
    root: np.ndarray  # int32[accounts], the root of each account, or -1
    is_message: np.ndarray  # bool[nodes]


class Changes(NamedTuple):
    """The key changes that messages make. Keys are codes: equal for equal keys of all accounts, -1 if absent."""

    action: np.ndarray  # int8[nodes]: unchanged, add or delete
    key: np.ndarray  # int32[nodes], the key added or deleted
    grants: np.ndarray  # bool[nodes, 3]: whether an addition lets the key sign, add keys, delete keys
    signer_start: np.ndarray  # int64[nodes], start of the signers of each message in `signer`
    signer_end: np.ndarray  # int64[nodes]
    signer: np.ndarray  # int32[...]


class Lanes(NamedTuple):
    """The questions, grouped into lanes: questions about an account that name the same known tips share a lane."""

    start: np.ndarray  # int64[accounts + 1]; the lanes of account a are start[a] to start[a + 1] - 1
    question_start: np.ndarray  # int64[lanes + 1], into `question`
    question: np.ndarray  # int32[questions], nodes
    tip_start: np.ndarray  # int64[lanes], start of the tips of each lane in `tip`
    tip_end: np.ndarray  # int64[lanes]; a lane without tips sees the whole account
    tip: np.ndarray  # int32[...], messages


def number_rows(table: pa.Table, ids: Strings) -> Places:
    """Number the messages of each account in replay order, followed by the questions."""
    if table["account_id"].null_count:
        raise ValueError("an account_id is null: give every message and question an account")
    account, account_count = group_rows(strings_of(table["account_id"]))
    message_row = np.flatnonzero(ids.valid)
    keys = strings_of(collation_keys(table["message_id"].drop_null()))
    by_id = number_nodes(account[message_row], account_count, keys)
    numbers = number_ids(by_id, keys)
    twice = np.flatnonzero(numbers[1:] == numbers[:-1])
    if len(twice):
        at = int(message_row[by_id.row[twice[0]]])
        raise ValueError(
            f"message {table['message_id'][at]} is in account {table['account_id'][at]} twice: pass one row per message"
        )

    is_root = flags(table, "is_root") & ids.valid
    known = table["depth"].is_valid().to_numpy() | is_root | ~ids.valid
    if not known.all():
        raise ValueError(f"message {table['message_id'][int(np.argmin(known))]} has no depth: only a root may lack one")
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
        raise ValueError(f"account {table['account_id'][at]} has two roots: mark one row as is_root")
    message_end = start[:-1] + np.bincount(account[message_row], minlength=account_count)
    return Places(Nodes(start, row), message_end, root, ids.valid[row])


def encode_changes(table: pa.Table, places: Places) -> tuple[Changes, np.ndarray, int]:
    """Encode the key changes; also return int32[nodes], the sigkey of each question, and the number of key codes."""
    rows = len(table)
    signers = table["signers"]
    chunks = [*table["key"].chunks, *table["sigkey"].chunks, *(chunk.flatten() for chunk in signers.chunks)]
    strings = strings_of(pa.chunked_array([chunk.cast(pa.large_string()) for chunk in chunks], pa.large_string()))
    codes, count = group_rows(strings)
    codes[~strings.valid] = -1
    key, sigkey, signer = codes[:rows], codes[rows : 2 * rows], codes[2 * rows :]

    row = places.nodes.row
    action = np.full(rows, np.int8(UNCHANGED))
    for name, code in (("add", ADD), ("del", DELETE)):
        action[pc.equal(table["key_action"], name).fill_null(False).to_numpy()] = code
    action[key < 0] = UNCHANGED
    grants = np.empty((rows, POWERS), np.bool_)
    for power, name in ((SIGNS, "is_signing_key"), (MAY_ADD, "may_add_keys"), (MAY_DELETE, "may_delete_keys")):
        grants[:, power] = flags(table, name)[row]
    ends = lists_of(signers).starts
    return Changes(action[row], key[row], grants, ends[row], ends[row + 1], signer), sigkey[row], count


def group_questions(places: Places, tips: Lists, found: np.ndarray) -> Lanes:
    """Group the questions about an account that name the same tips, counting only tips that are present."""
    nodes = places.nodes
    question = np.flatnonzero(~places.is_message)
    row = nodes.row[question]
    account = np.repeat(np.arange(len(places.root)), np.diff(nodes.graph_start))[question]
    start, words = _known_tips(account, tips.starts[row], tips.starts[row + 1], found)
    data = words.view(np.uint8)
    data.flags.writeable = False
    # Lanes are numbered by first appearance, hence by account.
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
    """Encode each question as words: int64[questions + 1] into int32[...], its account and its present tips."""
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
