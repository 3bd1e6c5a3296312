"""The network's key comes from the environment, and is in nothing that a run leaves or prints."""

from base64 import b64encode
from hashlib import sha256

import pyarrow.dataset as ds
import pytest

from dbt_projects import with_vars
from dbt_tangles.ssb.options import hmac_key
from fixtures.ssb.author import Author, to_line
from test_group_secrets import everything_in, forms, run_alone

NAME = "TANGLES_SSB_HMAC_KEY"
KEY = sha256(b"the key of a network").digest()
SPELT = b64encode(KEY).decode()
WRONG = ["not-a-key", "A" * 43 + "=\n", SPELT[:-1], SPELT[:-2] + "B=", SPELT.replace("=", "=="), f" {SPELT}"]


def leaks(folder) -> list[str]:
    """Files below a folder that hold a part of the key in any spelling."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if any(form in path.read_bytes() for form in forms(SPELT))]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build in a process of its own, make the docs, and return the folder with all that it left and printed."""
    folder = tmp_path_factory.mktemp("hmac")
    log = tmp_path_factory.mktemp("hmac_log") / "log.jsonl"
    member = Author.from_seed("member", hmac_key=KEY)
    lines = [member.publish({"type": "post", "text": text}, 1) for text in ("a", "\ud800 é")]
    lines += [Author.from_seed("public").publish({"type": "post", "text": "b"}, 1)]
    lines += [Author.from_seed("member", hmac_key=b"K" * 32).publish({"type": "post", "text": "c"}, 1)]
    log.write_bytes(b"".join(to_line(line) + b"\n" for line in lines))
    select = ["--select", "+ssb_messages", "+ssb_rejects", "--exclude", "test_type:unit"]
    commands = [["build", *select], ["docs", "generate", *select]]
    return run_alone(folder, commands, log, "hmac", **{NAME: SPELT})


def test_the_networks_messages_are_usable_and_no_others(built):
    """So the key was there."""
    tables = built / "warehouse" / "hmac.db"
    messages = ds.dataset(tables / "ssb_messages").to_table().to_pylist()
    assert [row["author"] for row in messages if row["is_usable"]] == [Author.from_seed("member").feed_id] * 2
    assert [row["reason"] for row in ds.dataset(tables / "ssb_rejects").to_table().to_pylist()] == ["bad_signature"] * 2


def test_the_key_is_nowhere(built, tmp_path):
    """In no file, nor, packed, in any table."""
    (tmp_path / "with_the_key").write_bytes(b"..." + KEY.hex().encode() + b"...")
    assert leaks(tmp_path) == ["with_the_key"]
    names = {path.name for path in built.rglob("*")}
    assert {"manifest.json", "partial_parse.msgpack", "run_results.json", "catalog.json", "dbt.log", "stdout"} <= names
    assert leaks(built) == []
    tables = [path for path in (built / "warehouse" / "hmac.db").iterdir() if path.is_dir()]
    assert {"stg_ssb__lines", "ssb_messages"} <= {path.name for path in tables}
    assert [path.name for path in tables if any(form in everything_in(path) for form in forms(SPELT))] == []


@pytest.mark.parametrize("value", [WRONG[0], WRONG[-1]])
def test_a_wrong_key_is_refused_before_anything_runs(value, project, monkeypatch):
    """By the name of the variable; its value is not shown, and not written either."""
    monkeypatch.setenv(NAME, value)
    schema = f"wrong_key_{WRONG.index(value)}"
    wrong = project(schema)
    result = wrong.invoke("run")
    assert not result.success
    said = str(result.exception) + "".join(r.message for r in result.result or [])
    assert f"{NAME} must be 32 bytes as canonical base64" in said
    assert not [path for path in (wrong.warehouse / f"{schema}.db").glob("*") if any(path.iterdir())]
    written = [path for part in ("target", "logs") for path in (wrong.warehouse / part / schema).rglob("*")]
    assert len(written) > 3
    found = [path.name for path in written if path.is_file() and value.strip().encode() in path.read_bytes()]
    assert value.strip() not in said and not found


@pytest.mark.parametrize("value", WRONG)
def test_the_model_refuses_a_wrong_key_too(value):
    """Where no hook runs before it."""
    with pytest.raises(ValueError, match=NAME) as error:
        hmac_key({NAME: value})
    assert value.strip() not in str(error.value)


def test_a_key_is_32_bytes_and_absent_or_empty_is_none():
    """Absent, empty, right."""
    assert (hmac_key({}), hmac_key({NAME: ""}), hmac_key({NAME: SPELT})) == (None, None, KEY)


@pytest.mark.parametrize("way", ["--vars", "dbt_project.yml"])
def test_the_old_var_is_refused_with_advice(way, project, tmp_path):
    """Whoever still sets it learns what to set, and that the key is out."""
    if way == "--vars":
        wrong = project("old_var_given", ssb_hmac_key=SPELT)
    else:
        wrong = project("old_var", with_vars(tmp_path / "p", ssb_hmac_key=SPELT))
    result = wrong.invoke("run")
    assert not result.success
    said = str(result.exception)
    assert "var 'ssb_hmac_key' is not taken" in said and NAME in said
    assert "delete them" in said and "change the key" in said
    assert SPELT not in said
