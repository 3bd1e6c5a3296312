"""The signing keys of an account, by the rules for sets: short, slow, and independent of the kernel."""

import pyarrow as pa

from dbt_tangles.formats.pzp.signers import MOST_GAPS, key_authority

BLANK = dict.fromkeys(key_authority.reads.names)
#: Ids that are in the log but are no account: they are ignored.
FOREIGN = ("?", "??", "")


def root(key="k0", account="A", message=None, **fields):
    """Build the root of an account, which gives its key all powers."""
    powers = {"is_signing_key": True, "may_add_keys": True, "may_delete_keys": True}
    fields = {"key_action": "add", "key": key, "signers": [key], "depth": 0} | powers | fields
    return BLANK | {"account_id": account, "message_id": message or account, "is_root": True} | fields


def add(message, key, signers, prev=("A",), depth=1, powers="s", account="A", **fields):
    """Build a message that adds a key; `powers` of the letters s, a, d."""
    granted = {"is_signing_key": "s" in powers, "may_add_keys": "a" in powers, "may_delete_keys": "d" in powers}
    return delete(message, key, signers, prev, depth, account, **({"key_action": "add"} | granted | fields))


def delete(message, key, signers, prev=("A",), depth=1, account="A", **fields):
    """Build a message that deletes a key."""
    place = {"account_id": account, "message_id": message, "is_root": False, "depth": depth, "prev": list(prev)}
    return BLANK | place | {"signers": list(signers), "key_action": "del", "key": key} | fields


def question(sigkey, tips, account="A"):
    return BLANK | {"account_id": account, "sigkey": sigkey, "account_tips": tips}


def table_of(rows):
    """Build a table of rows, and of the foreign ids of every account."""
    accounts = dict.fromkeys(row["account_id"] for row in rows)
    foreign = [BLANK | {"account_id": a, "message_id": m, "is_foreign": True} for a in accounts for m in FOREIGN]
    return pa.Table.from_pylist([*rows, *foreign], key_authority.reads)


def name_of(asked):
    """Return the columns that name a question."""
    tips = asked["account_tips"]
    return asked["account_id"], tips if tips is None else tuple(tips), asked["sigkey"]


def verdicts_of(rows):
    """Return the kernel's result for each row: the answer, and the awaited ids; both are null for a message."""
    found = pa.Table.from_batches(key_authority(table_of(rows)), key_authority.writes).to_pylist()
    answers = {name_of(answer): (answer["is_key_authorised"], answer["awaited_ids"]) for answer in found}
    assert len(found) == sum(row["message_id"] is None for row in rows)
    return [answers[name_of(row)] if row["message_id"] is None else (None, None) for row in rows]


def ask(messages, *questions):
    """Return the kernel's answer to each question about some messages."""
    return [answer for answer, _ in verdicts_of([*messages, *questions])[len(messages) :]]


def expected_of(rows):
    return [(None, None) if row["message_id"] is not None else answer(rows, row) for row in rows]


def answer(rows, asked):
    mine = [row for row in rows if row["account_id"] == asked["account_id"] and row["message_id"] is not None]
    mine.sort(key=place)
    if not any(row["is_root"] for row in mine):
        return None, None
    messages = {row["message_id"]: row for row in mine}
    tips = set(asked["account_tips"] or []) - {None}
    visible = seen_at(messages, tips)
    lacking = []
    for row in mine:
        if row["message_id"] in visible and (row["is_root"] or tips & messages.keys()):
            lacking += lacks(row, messages)
    ids = {tip for tip in tips if is_missing(tip, messages)} | set([*dict.fromkeys(lacking)][:MOST_GAPS])
    if ids:
        return None, sorted(ids)
    return asked["sigkey"] in signing_keys([row for row in mine if row["message_id"] in visible]), None


def is_missing(name, messages):
    """Say whether an id is neither a message of the account nor foreign."""
    return name is not None and name not in messages and name not in FOREIGN


def lacks(row, messages):
    """Return the missing parts of a message: its previous messages, then its data."""
    listed = [] if row["is_root"] else row["prev"] or []
    return [prev for prev in listed if is_missing(prev, messages)] + [row["message_id"]] * bool(row["is_erased"])


def place(row):
    """Return the sort key of a message: depth; then id, letters without case first, then lower before upper."""
    name = row["message_id"]
    return (0 if row["is_root"] else row["depth"], name.lower(), name.swapcase())


def seen_at(messages, tips):
    """Return the ids of all ancestors of some tips."""
    known = [tip for tip in tips if tip in messages]
    if not known:
        return set(messages)
    seen = set()
    todo = known
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            listed = messages[name]["prev"] or []
            todo += [prev for prev in listed if prev in messages and place(messages[prev]) < place(messages[name])]
    return seen


def signing_keys(messages):
    """Replay messages that are in order."""
    signing, adding, deleting = set(), set(), set()
    for row in messages:
        signers = set(row["signers"] or []) - {None}
        key = row["key"]
        if key is None:
            continue
        if row["key_action"] == "add" and (row["is_root"] or signers & adding):
            if row["is_signing_key"]:
                signing.add(key)
            if row["may_add_keys"]:
                adding.add(key)
            if row["may_delete_keys"]:
                deleting.add(key)
        elif row["key_action"] == "del" and signers & deleting:
            for keys in (signing, adding, deleting):
                keys.discard(key)
    return signing
