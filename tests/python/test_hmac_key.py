"""The network's key comes from the environment alone; `test_group_secrets` searches all outputs of a run for it."""

from base64 import b64encode

import pytest

from conftest import refusal
from dbt_projects import with_vars
from dbt_tangles.formats.ssb.options import hmac_key
from secret_stories import NETWORK_KEY

NAME = "TANGLES_SSB_HMAC_KEY"
SPELT = b64encode(NETWORK_KEY).decode()
WRONG = ["not-a-key", "A" * 43 + "=\n", SPELT[:-1], SPELT[:-2] + "B=", SPELT.replace("=", "=="), f" {SPELT}"]


@pytest.mark.parametrize("value", [pytest.param(WRONG[0], marks=pytest.mark.long), WRONG[-1]])
def test_a_wrong_key_is_refused_before_anything_runs(value, project, monkeypatch):
    """The error names the variable. The value is neither shown nor written."""
    monkeypatch.setenv(NAME, value)
    schema = f"wrong_key_{WRONG.index(value)}"
    wrong = project(schema)
    said = refusal(wrong.invoke("run"))
    assert f"{NAME} is not 32 bytes as canonical base64" in said
    assert not [path for path in (wrong.warehouse / f"{schema}.db").glob("*") if any(path.iterdir())]
    written = [path for part in ("target", "logs") for path in (wrong.warehouse / part / schema).rglob("*")]
    assert len(written) > 3
    found = [path.name for path in written if path.is_file() and value.strip().encode() in path.read_bytes()]
    assert value.strip() not in said and not found


@pytest.mark.parametrize("value", WRONG)
def test_the_model_refuses_a_wrong_key_too(value):
    with pytest.raises(ValueError, match=NAME) as error:
        hmac_key({NAME: value})
    assert value.strip() not in str(error.value)


def test_a_key_is_32_bytes_and_absent_or_empty_is_none():
    assert (hmac_key({}), hmac_key({NAME: ""}), hmac_key({NAME: SPELT})) == (None, None, NETWORK_KEY)


@pytest.mark.parametrize("way", ["--vars", "dbt_project.yml"])
def test_the_old_var_is_refused_with_advice(way, project, manifest, tmp_path):
    """The error says which variable replaces it, and that the key has been exposed."""
    if way == "--vars":
        wrong = project("old_var_given", ssb_hmac_key=SPELT)
    else:
        wrong = project("old_var", with_vars(tmp_path / "p", ssb_hmac_key=SPELT))
    said = refusal(wrong.invoke("run", manifest=manifest))
    assert "var 'ssb_hmac_key' is not taken" in said and NAME in said
    assert "delete them" in said and "change the key" in said
    assert SPELT not in said
