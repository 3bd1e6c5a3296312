"""The secrets of groups stay in staging: no form of them is in any other table or file, nor in what dbt prints."""

import json
import os
import subprocess
import sys
from base64 import b64decode, b64encode, urlsafe_b64encode
from hashlib import sha256
from itertools import count

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from conftest import ROOT
from fixtures.ssb.author import Author, box, to_line, to_uri
from group_kit import NULL, add, epoch_init, exclude, feed, fingerprint_of, place, root_init

PASSPHRASE = "correct horse battery staple"
SCHEMA = "secrets"
# One process for all commands, so that they share a catalog; whatever its JVM and its workers print is caught.
DRIVER = """
import json
import sys

from dbt.cli.main import dbtRunner

for command in json.load(sys.stdin):
    result = dbtRunner().invoke(command)
    if not result.success:
        sys.exit(f"failed: {command[0]}")
"""


class SecretLog:
    """Lines full of secrets.

    Attributes:
        lines: The lines.
        secrets: By name, the base64 of each.
        stored: Names of those that a message of `ssb_messages` has.
        ids: By name, message ids.
    """

    def __init__(self):
        """Start with no lines."""
        self.lines, self.secrets, self.stored, self.ids = [], {}, set(), {}
        self.author = Author.from_seed("secrets")
        self.clock = count(1_600_000_000_000)

    def key(self, name, is_stored=True):
        """Make a secret: 32 bytes whose spellings in the two alphabets of base64 differ."""
        for number in count():
            raw = sha256(f"{name} {number}".encode()).digest()
            spelt = b64encode(raw).decode()
            if {"+", "/"} < {*spelt}:
                break
        assert name not in self.secrets
        self.secrets[name] = spelt
        if is_stored:
            self.stored.add(name)
        return spelt

    def say(self, name, content):
        """Publish a content."""
        message = self.author.publish(content, next(self.clock))
        self.ids[name] = message["key"]
        self.lines.append(to_line(message))
        return message

    def place(self, root, *previous):
        """Make a place in a tangle, by names of messages; other strings are as they are."""
        root, *previous = (to_uri(self.ids[one]) if one in self.ids else one for one in (root, *previous))
        return place(root, *previous)


def other_alphabet(key):
    """Spell a secret in URL-safe base64."""
    return urlsafe_b64encode(b64decode(key)).decode()


def unpadded(key):
    """Spell a secret without padding."""
    return key.rstrip("=")


def in_hex(key):
    """Spell a secret in hexadecimal."""
    return b64decode(key).hex()


def spellings(key):
    """Spell a secret in all the ways that clients do."""
    return [key, unpadded(key), other_alphabet(key), unpadded(other_alphabet(key)), in_hex(key), in_hex(key).upper()]


def tell_of_places(log):
    """Secrets in all the places of messages, valid or not."""
    root_key = log.key("root")
    log.say("root", root_init(root_key))
    root = log.place("root", "root")
    key = log.key("epoch")
    log.say("epoch", epoch_init(key, root, root))
    log.say("add", add(key, root, log.place("epoch", "epoch"), [feed("a")], oldSecrets=[root_key, log.key("old")]))

    key = log.key("text")
    text = f"the key is {key}, " + ", ".join(spellings(key)) + "".join(f"x{each}y" for each in spellings(key))
    log.say("text", add(key, root, root, [feed("a")], text=text))
    for number, spelt in enumerate(spellings(log.key("named"))):
        content = {
            "type": "group/other",
            "deep": [{"deeper": {"secret": spelt, "b": [f"<{spelt}>", in_hex(log.secrets["named"])]}}],
        }
        log.say(f"named {number}", content)
    key = log.key("version 1")
    recps = ["%cloak.cloaked", log.author.feed_id]
    old = {"type": "group/add-member", "version": "v1", "groupKey": key, "root": log.ids["root"], "recps": recps}
    log.say("version 1", old)
    log.say(
        "version 1 init", {"type": "group/init", "version": "v1", "groupKey": log.key("version 1 init"), "name": "x"}
    )
    key = log.key("po-box")
    log.say("po-box", {"type": "group/po-box", "keys": {"poBoxId": "ssb:identity/po-box/x", "key": key, "scheme": "x"}})
    key = log.key("nested")
    log.say(
        "nested", {"type": "group/other", "a": {"b": [[{"c": key}, spellings(key)], {"d": {unpadded(key): [key]}}]}}
    )
    key = log.key("names")
    log.say("names", {"type": "group/other", "secret": key} | {spelt: {spelt: 1} for spelt in spellings(key)})
    key = log.key("type")
    log.say("type", {"type": f"group/{key}", "groupKey": key})
    key = log.key("type in base64url")
    log.say("type in base64url", {"type": f"group/{unpadded(other_alphabet(key))}", "groupKey": key})
    key = log.key("tangles")
    tangles = {
        key: NULL,
        in_hex(key): place(key, key, other_alphabet(key)),
        other_alphabet(key): 7,
        "members": place(other_alphabet(key), in_hex(key), f"%{key}.sha256"),
        "group": place(f"%{key}.sha256", f"ssb:message/classic/{other_alphabet(key)}"),
    }
    log.say("tangles", {"type": "group/add-member", "secret": key, "tangles": tangles})
    log.say(
        "legacy",
        {
            "type": "group/other",
            "secret": log.key("legacy"),
            "root": log.secrets["legacy"],
            "branch": [in_hex(log.secrets["legacy"])],
        },
    )

    # Valid messages whose other parts are secrets.
    key = log.key("free tangle")
    tangles = {
        "group": root,
        "members": log.place("root", "root", key, in_hex(key)),
        key: NULL,
        f"x{key}": place(key, key),
    }
    log.say("free tangle", add(key, root, root, [feed("free")], tangles=tangles))
    key = log.key("feeds")
    as_feeds = [f"ssb:feed/bendybutt-v1/{other_alphabet(key)}", key, f"@{key}.ed25519", in_hex(key)]
    log.say("feeds", exclude(root, root, [feed("a"), *as_feeds]))
    key = log.key("first feed")
    log.say("first feed", exclude(root, root, [f"ssb:feed/bendybutt-v1/{other_alphabet(key)}", key]))
    key = log.key("added")
    log.say("added", add(key, root, root, [f"ssb:feed/bendybutt-v1/{other_alphabet(key)}"]))
    key = log.key("previous")
    log.say("previous", epoch_init(key, root, log.place("root", "root", key, in_hex(key), other_alphabet(key))))
    key = log.key("ids")
    as_id = f"ssb:message/classic/{other_alphabet(key)}"
    recps = [f"ssb:identity/group/{other_alphabet(key)}", f"ssb:feed/bendybutt-v1/{other_alphabet(key)}"]
    log.say("ids", epoch_init(key, place(as_id, as_id), log.place("root", "root"), recps=recps))
    log.say("ids of epoch", epoch_init(key, place(as_id, as_id), place(as_id, as_id), recps=recps))
    log.say("ids of add", add(key, place(as_id, as_id), place(as_id, as_id), recps[1:], recps=recps))

    # What is hidden whatever it looks like.
    key, other = log.key("beside junk"), log.key("in junk")
    junk = [key, PASSPHRASE, 7, None, [other], {"a": other}, key]
    log.say("beside junk", add(key, root, root, [feed("a")], oldSecrets=junk))
    log.say("passphrase", root_init(PASSPHRASE))
    log.say("no string", {"type": "group/init", "secret": {PASSPHRASE: PASSPHRASE}, "groupKey": [[PASSPHRASE]]})
    log.say(
        "surrogate",
        root_init(log.key("surrogate"), text=f"\ud800{log.secrets['surrogate']}\udfff", oldSecrets=["\ud800"]),
    )


def tell_of_lines(log):
    """Secrets in lines that lose, break rules, or are no messages; in decrypted ones of all shapes."""

    def signed(content):
        return log.author.publish(content, next(log.clock), sequence=99)

    root = log.place("root", "root")
    key = log.key("bad signature")
    log.lines.append(to_line(signed(root_init(key))).replace(b'"v2"', b'"v1"'))
    key = log.key("bad signature of a good one")
    message = signed(add(key, root, root, [feed("a")]))
    message["value"]["timestamp"] += 1
    log.lines.append(to_line(message))

    sealed = log.author.publish(box(b"sealed"), next(log.clock))
    shown = add(log.key("decrypted"), root, root, [feed("new")], text=log.secrets["decrypted"])
    value = sealed["value"]
    meta = {"private": True, "originalContent": value["content"], "unbox": log.key("envelope", False)}
    log.lines.append(to_line(sealed | {"value": value | {"content": shown}, "meta": meta}))
    log.ids["decrypted"] = sealed["key"]
    sealed = log.author.publish(box(b"sealed again"), next(log.clock))
    value = sealed["value"]
    shown = root_init(log.key("decrypted before"), junk=in_hex(log.secrets["decrypted before"]))
    unboxed = {"content": shown, "cyphertext": value["content"], "private": True, "unbox": log.key("unbox", False)}
    log.lines.append(to_line(sealed | {"value": value | unboxed}))
    sealed = log.author.publish(box(b"sealed once more"), next(log.clock))
    value = sealed["value"]
    shown = {"type": "group/po-box", "keys": {"key": log.key("decrypted with meta")}}
    meta = {"private": True, "unbox": log.key("meta unbox", False), "original": {"content": value["content"]}}
    log.lines.append(to_line(sealed | {"value": value | {"content": shown, "meta": meta}}))

    # One message, said to hold other things: one of them counts.
    sealed = log.author.publish(box(b"who knows"), next(log.clock))
    log.ids["rivals"] = sealed["key"]
    for number in range(3):
        shown = add(log.key(f"rival {number}", False), root, root, [feed("rival")], text=f"{number}")
        meta = {"private": True, "originalContent": sealed["value"]["content"]}
        log.lines.append(to_line(sealed | {"value": sealed["value"] | {"content": shown}, "meta": meta}))
    log.lines.append(to_line(sealed))

    # Not stored at all.
    whole = to_line(signed(root_init(log.key("cut off", False))))
    log.lines += [whole[:-30], whole[: whole.index(b"tangles")], whole + b"}", b'"' + whole, b"[" + whole + b"]"]
    log.lines += [json.dumps(root_init(log.key("bare", False))).encode(), log.key("only", False).encode()]
    log.lines.append(b"x" * 3_000_000 + whole)
    key = log.key("said twice")
    before = log.key("said before", False)
    twice = to_line(signed(root_init(key))).replace(b'"secret":', b'"secret":"%b","secret":' % before.encode())
    log.lines.append(twice)

    # Stored with a reason, or not.
    key = log.key("too long")
    log.lines.append(to_line(signed(root_init(key, text=key * 300))))
    key = log.key("too deep", False)
    log.lines.append(
        to_line(signed(root_init(key, text="?"))).replace(b'"?"', b"[" * 3000 + b'"%b"' % key.encode() + b"]" * 3000)
    )
    key = log.key("other format", False)
    value = signed(root_init(key))["value"]
    log.lines.append(to_line({"key": "%x", "value": value | {"author": feed("other")}}))
    log.lines.append(to_line({"key": "%y", "value": dict(sorted(value.items()))}))
    log.lines.append(to_line({"value": value | {"extra": key}}))
    log.lines.append(to_line({"value": {"author": "@a", "content": root_init(key)}}))
    log.lines.append(to_line({"seq": 1, "value": {"key": "%z", "value": value, "timestamp": 1}}))
    # A link that is no link.
    key = log.key("in previous", False)
    log.lines.append(to_line(log.author.publish({"type": "post"}, 1, previous=root_init(key, text=in_hex(key)))))
    key = log.key("in an array of previous", False)
    log.lines.append(to_line(log.author.publish({"type": "post"}, 1, previous=["x", root_init(key)])))
    key = log.key("in an array of contents", False)
    log.lines.append(to_line(log.author.publish([[root_init(key)]], 1)))


@pytest.fixture(scope="module")
def log():
    """Write the lines."""
    log = SecretLog()
    tell_of_places(log)
    tell_of_lines(log)
    return log


def run_alone(folder, commands, log, schema, **environment):
    """Run dbt commands on a log in a process of its own; returns the folder with all that they left and printed."""
    options = ["--project-dir", str(ROOT), "--profiles-dir", str(ROOT), "--vars", json.dumps({"ssb_log": str(log)})]
    options += ["--target-path", str(folder / "target"), "--log-path", str(folder / "logs"), "--debug"]
    (folder / "run").mkdir()
    places = {"TANGLES_WAREHOUSE": str(folder / "warehouse"), "TANGLES_SCHEMA": schema}
    done = subprocess.run(  # with a usual umask, whatever the one of the tests is
        [sys.executable, "-c", DRIVER],
        input=json.dumps([command + options for command in commands]).encode(),
        cwd=folder / "run",
        env=os.environ | places | {"TANGLES_SHUFFLE_PARTITIONS": "4"} | environment,
        capture_output=True,
        umask=0o022,
    )
    (folder / "stdout").write_bytes(done.stdout)
    (folder / "stderr").write_bytes(done.stderr)
    assert done.returncode == 0, "see the end of this:\n" + done.stdout.decode()[-3000:] + done.stderr.decode()[-1000:]
    return folder


@pytest.fixture(scope="module")
def built(log, tmp_path_factory):
    """Build everything in a folder of its own, make the docs and show the messages; return the folder."""
    folder = tmp_path_factory.mktemp("secrets")
    log_path = tmp_path_factory.mktemp("secret_log") / "log.jsonl"
    log_path.write_bytes(b"\n".join(log.lines) + b"\n")
    everything = "select * from {{ ref('ssb_messages') }}"
    commands = [
        ["build", "--exclude", "test_type:unit", "resource_type:seed", "stg_pzp__lines+", "stg_autobase__lines+"],
        ["docs", "generate"],
        ["show", "--inline", everything, "--limit", "1000", "--output", "json"],
        ["show", "--select", "group_messages", "--limit", "1000"],
    ]
    return run_alone(folder, commands, log_path, SCHEMA)


def tables(built, of_staging):
    """Return the folders of tables."""
    found = sorted(path for path in (built / "warehouse" / f"{SCHEMA}.db").iterdir() if path.is_dir())
    return [path for path in found if path.name.startswith("stg_") == of_staging]


def read(path):
    """Read a table."""
    return ds.dataset(path, format="parquet").to_table()


def values(value):
    """List all strings and bytes in a value, names included, as bytes."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from values(name)
            yield from values(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from values(each)
    elif isinstance(value, bytes):
        yield value
    elif value is not None:
        yield str(value).encode()


def everything_in(path):
    """Return all that a table holds as one run of bytes."""
    rows = read(path).to_pylist()
    return b"\n".join(values(rows)) + json.dumps(rows, default=repr).encode()


def forms(key):
    """Return what a secret must not be found by: each spelling, halves of each, and what is made of them."""
    raw = b64decode(key)
    whole = {
        raw,
        *(spelt.encode() for spelt in (unpadded(key), unpadded(other_alphabet(key)), in_hex(key), in_hex(key).upper())),
    }
    # The last letters are those of the padding.
    whole |= {b64encode(each.encode())[:54] for each in (key, other_alphabet(key), in_hex(key), in_hex(key).upper())}
    return {half for each in whole for half in (each[: len(each) // 2], each[len(each) // 2 :])}


def found_in(log, data):
    """Return the names of the secrets that are somewhere in bytes."""
    found = {name for name, key in log.secrets.items() if any(form in data for form in forms(key))}
    return found | ({"passphrase"} if PASSPHRASE.encode() in data else set())


def test_the_search_finds_what_is_there(log, built):
    """All are in the log, in each form that was written there; keys of valid inits are in staging, as bytes."""
    written = b"\n".join(log.lines)
    assert found_in(log, written) == {*log.secrets, "passphrase"}
    assert all(spelt.encode() in written for name in ("text", "names") for spelt in spellings(log.secrets[name]))
    (lines,) = [path for path in tables(built, True) if path.name == "stg_ssb__lines"]
    valid = {"root", "epoch", "previous", "ids", "said twice", "other format"}
    assert found_in(log, everything_in(lines)) == valid
    keys = {row for row in read(lines)["epoch_key"].to_pylist() if row is not None}
    assert keys == {b64decode(log.secrets[name]) for name in valid}
    # Footers of parquet files are not packed.
    assert found_in(log, b"".join(path.read_bytes() for path in lines.iterdir()))


def test_no_table_has_a_secret(log, built):
    """Of every table but staging, all values."""
    others = tables(built, False)
    names = {path.name for path in others}
    assert {"ssb_messages", "ssb_rejects", "tangle_messages", "group_messages", "int_group_results"} <= names
    assert {"timeline_events", "feeds", "int_group_foreign_excludes", "group_findings"} <= names
    found = {path.name: found_in(log, everything_in(path)) for path in others}
    assert not any(found.values()), {name: secrets for name, secrets in found.items() if secrets}


def test_no_file_has_a_secret(log, built):
    """Nor has any file: of tables, of dbt's target folder and logs, of what was printed."""
    staging = tables(built, True)
    files = [
        path for path in built.rglob("*") if path.is_file() and not any(folder in path.parents for folder in staging)
    ]
    names = {path.name for path in files}
    assert {"manifest.json", "run_results.json", "catalog.json", "dbt.log", "stdout", "stderr"} <= names
    assert any(path.suffix == ".parquet" for path in files) and any("compiled" in path.parts for path in files)
    found = {str(path.relative_to(built)): found_in(log, path.read_bytes()) for path in files}
    assert not any(found.values()), {name: secrets for name, secrets in found.items() if secrets}
    # What was shown is there.
    assert fingerprint_of(log.secrets["epoch"]).encode() in (built / "stdout").read_bytes()


def test_tables_with_secrets_are_for_their_owner_alone(log, built):
    """And the steps between their contents, if there are any; the others are open as the umask says."""
    holding = [path for path in (*tables(built, True), *tables(built, False)) if found_in(log, everything_in(path))]
    assert [path.name for path in holding] == ["stg_ssb__lines"]
    for folder in (*holding, *(path.parent / ".steps" / path.name for path in holding)):
        for path in [folder, *folder.rglob("*")] if folder.exists() else []:
            assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert {path.stat().st_mode & 0o044 for path in tables(built, False)} == {0o044}


def test_fingerprints_are_there(log, built):
    """In place of each secret its fingerprint: in contents, and where epochs have their keys."""
    folder = built / "warehouse" / f"{SCHEMA}.db"
    contents = "\n".join(content for content in read(folder / "ssb_messages")["content"].to_pylist() if content)
    missing = {name for name in log.stored if fingerprint_of(log.secrets[name]) not in contents}
    # A copy of a secret that stands in something that is hidden as a whole.
    assert missing == {"in junk"}
    rivals = [name for name in log.secrets if name.startswith("rival")]
    assert sum(fingerprint_of(log.secrets[name]) in contents for name in rivals) == 1
    assert sha256(PASSPHRASE.encode()).hexdigest()[:16] in contents
    epochs = {row["epoch_id"]: row["key_fingerprint"] for row in read(folder / "group_epochs").to_pylist()}
    for name in ("root", "epoch", "ids"):
        assert epochs[log.ids[name]] == fingerprint_of(log.secrets[name])
    assert {log.ids["previous"], log.ids["ids of epoch"]}.isdisjoint(epochs)


def test_messages_are_judged_with_their_secrets(log, built):
    """Replacing secrets changes no verdict; where a secret stood for an id, the id is gone."""
    folder = built / "warehouse" / f"{SCHEMA}.db"
    rows = {row["message_id"]: row for row in read(folder / "group_messages").to_pylist()}
    verdicts = {
        **dict.fromkeys(("root", "epoch", "add", "text", "free tangle", "feeds", "first feed", "added", "ids")),
        **dict.fromkeys(("beside junk", "decrypted", "rivals")),
        **dict.fromkeys(("version 1", "version 1 init"), "bad_version"),
        **dict.fromkeys(("previous", "ids of epoch"), "unconnected_epoch"),
        "ids of add": "unknown_epoch",
        "tangles": "bad_version",
        "passphrase": "bad_secret",
        "no string": "bad_version",
        "surrogate": "unknown_key",
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
    """List the names of a column and of the fields in it."""
    yield name
    for number in range(data_type.num_fields if not isinstance(data_type, pa.Schema) else len(data_type)):
        inner = data_type.field(number)
        yield from column_names(inner.type, inner.name)


def test_no_column_is_for_keys(built):
    """Neither the key nor its place among the keys of a group has a column outside of staging."""
    for path in tables(built, False):
        names = {*column_names(read(path).schema)}
        assert not any("key_rank" in name or "epoch_key" in name for name in names), path.name
    (lines,) = [path for path in tables(built, True) if path.name == "stg_ssb__lines"]
    assert "epoch_key" in {*column_names(read(lines).schema)}
