"""Lines, keys and tables for the tests of pzp messages."""

import json
from functools import partial

import pyarrow as pa

from dbt_tangles.algorithms.set import INPUT_SCHEMA
from dbt_tangles.algorithms.set.validity import validity
from dbt_tangles.formats.json.framing import Framing
from dbt_tangles.formats.pzp.rules import Reason
from dbt_tangles.formats.pzp.verify_lines import OUTPUT_SCHEMA, VerifyOptions, verify_batches
from log_files import read_cases
from log_lines import verified

RANKS = {reason.value: reason.rank for reason in (*Framing, *Reason)}
# The peer's words, and our reason with the same meaning.
ERRORS = [
    ("contains duplicates", "prev_duplicate"),
    ("alphabetically sorted", "prev_unsorted"),
    ("all prev are locally unknown", "no_known_prev"),
    ("largest prev depth plus one", "depth_gap"),
    ("should have been lower", "prev_not_lower"),
    ("is a URI", "prev_uri"),
    ("prev item", "prev_not_string"),
    ("should have been an array", "bad_prev"),
    ("positive integer", "bad_depth"),
    ("feed domain", "other_domain"),
    ("feed account", "other_account"),
    ('cannot be "self"', "account_self"),
    ("should have been one of", "unauthorised_key"),
    ("must have metadata.tangles", "no_tangle"),
    ("metadata.v=4", "wrong_version"),
    ('decoded "sigkey"', "bad_sigkey"),
    ("must not be an array", "bad_data"),
    ("must be an object or a string", "bad_data"),
    ("unsigned integer", "bad_data_size"),
    ("metadata.dataHash", "data_hash_mismatch"),
    ("metadata.dataSize", "data_size_mismatch"),
    ("contains characters other", "bad_domain"),
    ("sig is invalid", "bad_signature"),
]


def cases(kind):
    return read_cases(f"sets/pzp_{kind}.jsonl.gz")


def reason_of(error):
    return next(reason for words, reason in ERRORS if words in error)


def check(lines, lengths=None, **options):
    """Run lines through the kernel; the rows satisfy the constraints of their columns."""
    rows = verified(partial(verify_batches, options=VerifyOptions(**options)), OUTPUT_SCHEMA, lines, lengths)
    for row in rows:
        assert row["is_usable"] is (row["reject_reason"] is None) is (row["reject_rank"] == 0)
        assert row["reject_rank"] == RANKS.get(row["reject_reason"], 0)
        if row["is_usable"]:
            assert None not in (row["message_id"], row["account"] or row["is_moot"], row["data_kind"])
            assert row["is_signature_valid"] is (True if options == {} and not row["is_moot"] else None)
        for tangle in row["tangles"]:
            assert tangle["depth"] is None or 0 < tangle["depth"] < 2**53
        assert (row["add"] is None) == (row["del"] is None)
    return rows


def line_of(message, **envelope):
    return json.dumps({**envelope, "msg": message} if envelope else message).encode()


def candidates(rows, authorised=None):
    """Make the table that `validity` derives from checked rows: best line of an id first, one row a tangle."""

    def rank(row):
        return row["reject_rank"] != 0, -row["reject_rank"], row["data_kind"] in (None, "null")

    best, entries = {}, []
    for row in sorted((row for row in rows if row["message_id"] is not None), key=rank):
        best.setdefault(row["message_id"], row)
    for row in best.values():
        places = [{"root_id": row["message_id"], "depth": None, "prev": None, "defect": None}] if row["is_moot"] else []
        for place in places or row["tangles"]:
            is_authorised = None if authorised is None or row["account"] == "any" else row["sigkey"] in authorised
            entries.append({**row, **place, "set_id": place["root_id"], "is_key_authorised": is_authorised})
    named = {*INPUT_SCHEMA.names} - {"add", "del", "supersedes", "awaited_ids"}
    rows = [{name: value for name, value in entry.items() if name in named} for entry in entries]
    return pa.Table.from_pylist(rows, INPUT_SCHEMA)


def judge(rows, authorised=None):
    """Return the validity of checked rows: {(root, id): (is_valid, reason, is_held)}."""
    table = candidates(rows, authorised)
    if not table.num_rows:
        return {}
    answers = validity(table)
    answers.validate(full=True)
    return {
        (place["set_id"], place["message_id"]): (answer["is_valid"], answer["reject_reason"], answer["is_held"])
        for place, answer in zip(table.to_pylist(), answers.to_pylist(), strict=True)
    }
