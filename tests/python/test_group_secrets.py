"""Secrets of groups stay in staging tables, and a network's key is absent from all tables, files and output."""

from base64 import b64decode, b64encode
from collections import Counter
from hashlib import sha256

import pyarrow as pa
import pytest

from fixtures.ssb.author import Author
from group_kit import feed, fingerprint_of
from leaks import everything_in, forms, read, run_alone, spellings
from secret_stories import NETWORK_KEY, PASSPHRASE, secret_log

pytestmark = pytest.mark.long

SCHEMA = "secrets"
SPELT = b64encode(NETWORK_KEY).decode()


@pytest.fixture(scope="module")
def log():
    return secret_log()


@pytest.fixture(scope="module")
def built(log, tmp_path_factory):
    """Build everything in a separate folder, generate the docs and show the messages; return the folder."""
    folder = tmp_path_factory.mktemp("secrets")
    log_path = tmp_path_factory.mktemp("secret_log") / "log.jsonl"
    log_path.write_bytes(b"\n".join(log.lines) + b"\n")
    everything = "select * from {{ ref('ssb_messages') }}"
    commands = [
        ["build", "--exclude", "test_type:unit", "resource_type:seed"],
        ["docs", "generate"],
        ["show", "--inline", everything, "--limit", "1000", "--output", "json"],
        ["show", "--select", "group_messages", "--limit", "1000"],
    ]
    return run_alone(folder, commands, log_path, SCHEMA, TANGLES_SSB_HMAC_KEY=SPELT)


def tables(built, of_staging):
    """Return the folders of the staging tables, or of all other tables."""
    found = sorted(path for path in (built / "warehouse" / f"{SCHEMA}.db").iterdir() if path.name[0] != ".")
    return [path for path in found if path.name.startswith("stg_") == of_staging]


def found_in(log, data):
    """Return the names of the secrets that these bytes contain."""
    found = {name for name, key in log.secrets.items() if any(form in data for form in forms(key))}
    return found | ({"passphrase"} if PASSPHRASE.encode() in data else set())


def test_search_finds_every_secret_of_the_log(log, built):
    """The search finds all secrets in the log, in each written form, and keys of valid inits as bytes in staging."""
    written = b"\n".join(log.lines)
    assert found_in(log, written) == {*log.secrets, "passphrase"}
    assert all(spelt.encode() in written for name in ("text", "names") for spelt in spellings(log.secrets[name]))
    (lines,) = [path for path in tables(built, True) if path.name == "stg_ssb__lines"]
    valid = {"root", "epoch", "previous", "ids", "said twice", "other format"}
    assert found_in(log, everything_in(lines)) == valid
    keys = {row for row in read(lines)["epoch_key"].to_pylist() if row is not None}
    assert keys == {b64decode(log.secrets[name]) for name in valid}
    # Footers of parquet files are not compressed.
    assert found_in(log, b"".join(path.read_bytes() for path in lines.iterdir()))


def test_no_table_has_a_secret(log, built):
    others = tables(built, False)
    names = {path.name for path in others}
    assert {"ssb_messages", "ssb_rejects", "tangle_messages", "group_messages", "int_group_results"} <= names
    assert {"timeline_events", "feeds", "int_group_foreign_excludes", "group_findings"} <= names
    found = {path.name: found_in(log, everything_in(path)) for path in others}
    assert not any(found.values()), {name: secrets for name, secrets in found.items() if secrets}


def test_no_file_has_a_secret(log, built):
    """Files of tables, dbt's target folder, logs and output are free of secrets."""
    staging = tables(built, True)
    files = [
        path for path in built.rglob("*") if path.is_file() and not any(folder in path.parents for folder in staging)
    ]
    names = {path.name for path in files}
    assert {"manifest.json", "run_results.json", "catalog.json", "dbt.log", "stdout", "stderr"} <= names
    assert any(path.suffix == ".parquet" for path in files) and any("compiled" in path.parts for path in files)
    found = {str(path.relative_to(built)): found_in(log, path.read_bytes()) for path in files}
    assert not any(found.values()), {name: secrets for name, secrets in found.items() if secrets}
    # The output contains the fingerprint, so the search had output to read.
    assert fingerprint_of(log.secrets["epoch"]).encode() in (built / "stdout").read_bytes()


def test_only_the_owner_can_read_tables_with_secrets(log, built):
    holding = [path for path in (*tables(built, True), *tables(built, False)) if found_in(log, everything_in(path))]
    assert [path.name for path in holding] == ["stg_ssb__lines"]
    for folder in holding:
        for path in [folder, *folder.rglob("*")]:
            assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert {path.stat().st_mode & 0o044 for path in tables(built, False)} == {0o044}


def test_fingerprints_replace_secrets(log, built):
    """Contents and the key columns of epochs have the fingerprint in place of each secret."""
    folder = built / "warehouse" / f"{SCHEMA}.db"
    contents = "\n".join(content for content in read(folder / "ssb_messages")["content"].to_pylist() if content)
    missing = {name for name in log.stored if fingerprint_of(log.secrets[name]) not in contents}
    # This copy of a secret is within a value that is redacted as a whole.
    assert missing == {"in junk"}
    rivals = [name for name in log.secrets if name.startswith("rival")]
    assert sum(fingerprint_of(log.secrets[name]) in contents for name in rivals) == 1
    assert sha256(PASSPHRASE.encode()).hexdigest()[:16] in contents
    epochs = {row["epoch_id"]: row["key_fingerprint"] for row in read(folder / "group_epochs").to_pylist()}
    for name in ("root", "epoch", "ids"):
        assert epochs[log.ids[name]] == fingerprint_of(log.secrets[name])
    assert {log.ids["previous"], log.ids["ids of epoch"]}.isdisjoint(epochs)


def test_redaction_keeps_all_verdicts(log, built):
    """Messages get the same verdicts as with their secrets; a fingerprint replaces an id that contains a secret."""
    folder = built / "warehouse" / f"{SCHEMA}.db"
    rows = {row["message_id"]: row for row in read(folder / "group_messages").to_pylist()}
    verdicts = {
        **dict.fromkeys(("root", "epoch", "add", "text", "free tangle", "feeds", "added", "ids")),
        **dict.fromkeys(("beside junk", "decrypted", "rivals")),
        "version 1": "bad_version",
        **dict.fromkeys(("previous", "ids of epoch"), "unconnected_epoch"),
        "ids of add": "unknown_epoch",
        "tangles": "bad_version",
        "passphrase": "bad_secret",
        "no string": "bad_version",
    }
    assert {name: rows[log.ids[name]]["set_aside_reason"] for name in verdicts} == verdicts
    print_of = fingerprint_of(log.secrets["feeds"])
    feeds = rows[log.ids["feeds"]]["feeds"]
    assert feeds == [feed("a"), f"ssb:feed/bendybutt-v1/{print_of}", print_of, f"@{print_of}.ed25519"]
    ids = rows[log.ids["ids"]]
    print_of = fingerprint_of(log.secrets["ids"])
    assert ids["author_root"] == f"ssb:feed/bendybutt-v1/{print_of}"
    assert (ids["group_uri"], ids["group_root"]) == (f"ssb:identity/group/{print_of}", f"%{print_of}.sha256")
    people = {(row["epoch_id"], row["feed_id"]): row for row in read(folder / "group_members").to_pylist()}
    root = log.ids["root"]
    assert people[root, feed("free")]["is_added"] and not people[root, feed("free")]["is_member"]
    assert people[root, feed("new")]["is_member"]


def column_names(data_type, name=""):
    """Yield the names of a column and of its nested fields."""
    yield name
    for number in range(data_type.num_fields if not isinstance(data_type, pa.Schema) else len(data_type)):
        inner = data_type.field(number)
        yield from column_names(inner.type, inner.name)


def test_keys_have_columns_in_staging_only(built):
    """Outside staging, tables lack columns for the key and for its rank among the keys of a group."""
    for path in tables(built, False):
        names = {*column_names(read(path).schema)}
        assert not any("key_rank" in name or "epoch_key" in name for name in names), path.name
    (lines,) = [path for path in tables(built, True) if path.name == "stg_ssb__lines"]
    assert "epoch_key" in {*column_names(read(lines).schema)}


def leaks(folder) -> list[str]:
    """Return the files below a folder that contain a part of the key in any spelling."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if any(form in path.read_bytes() for form in forms(SPELT))]


def test_only_messages_of_the_network_are_usable(log, built):
    """Only signatures with the network's key are valid, so the build used the key."""
    folder = built / "warehouse" / f"{SCHEMA}.db"
    authors = Counter(row["author"] for row in read(folder / "ssb_messages").to_pylist() if row["is_usable"])
    assert authors[Author.from_seed("member").feed_id] == 2
    assert authors.keys() == {Author.from_seed(name).feed_id for name in ("member", "secrets")}
    refused = {row["line"]: row["reason"] for row in read(folder / "ssb_rejects").to_pylist()}
    last = len(log.lines)
    assert {line: refused.get(line) for line in range(last - 3, last + 1)} == {
        **dict.fromkeys((last - 3, last - 2)),
        **dict.fromkeys((last - 1, last), "bad_signature"),
    }


def test_no_file_has_the_network_key(built, tmp_path):
    (tmp_path / "with_the_key").write_bytes(b"..." + NETWORK_KEY.hex().encode() + b"...")
    assert leaks(tmp_path) == ["with_the_key"]
    names = {path.name for path in built.rglob("*")}
    assert {"manifest.json", "partial_parse.msgpack", "run_results.json", "catalog.json", "dbt.log", "stdout"} <= names
    assert leaks(built) == []
    found = [*tables(built, True), *tables(built, False)]
    assert {"stg_ssb__lines", "ssb_messages"} <= {path.name for path in found}
    assert [path.name for path in found if any(form in everything_in(path) for form in forms(SPELT))] == []
