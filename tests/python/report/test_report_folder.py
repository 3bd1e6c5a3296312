"""Pages of a report stay offline, and texts of a log stay within its data."""

import hashlib
import re
from importlib import resources

import cli_story as story
from dbt_tangles.report.folder import Folder, as_script, clean
from report_kit import EVIL, hostile_row, make

ASSETS = resources.files("dbt_tangles.report") / "assets"


def test_the_notice_lists_every_bundled_file():
    lines = (ASSETS / "vendor" / "NOTICE").read_text().splitlines()
    listed = {line.split()[0]: line.split()[1:] for line in lines if re.match(r"d3-\S+\.js ", line)}
    there = {path.name: path for path in (ASSETS / "vendor").iterdir() if path.name != "NOTICE"}
    assert listed.keys() == there.keys()
    for name, (package, licence, digest) in listed.items():
        assert re.fullmatch(r"d3-[a-z-]+@\d+\.\d+\.\d+", package)
        assert licence == ("BSD-3-Clause" if name == "d3-ease.js" else "ISC")
        assert hashlib.sha256(there[name].read_bytes()).hexdigest() == digest
        assert package.partition("@")[2] in there[name].read_text()[:120]
    assert sum(len(path.read_bytes()) for path in there.values()) < 160_000


def test_the_policy_of_the_page_forbids_requests():
    page = (ASSETS / "index.html").read_text()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';") and "unsafe" not in policy
    assert not re.search(r"<script>|<script [^>]*>[^<]|style=|\son\w+=", page)
    for own in [page, *(path.read_text() for path in ASSETS.iterdir() if path.is_file())]:
        assert set(re.findall(r"https?://[^\s\"']+", own)) <= {"http://www.w3.org/2000/svg"}
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", own)
    for name in re.findall(r'(?:src|href)="assets/([^"]+)"', page):
        assert (ASSETS / name).is_file()


def test_one_file_has_all_scripts(tmp_path):
    """The page loads one script, which has the code of all scripts in their order, and the notice beside it."""
    out = make(story.write(tmp_path / "wh"), "--limit", "0")
    listed = re.findall(r'<script src="assets/([^"]+)">', (ASSETS / "index.html").read_text())
    code = (out / "assets" / "report.js").read_text()
    places = [code.index((ASSETS / name).read_text()) for name in listed]
    assert places == sorted(places) and len(places) > 40 and code.startswith('"use strict";')
    assert {path.name for path in (ASSETS.glob("**/*.js"))} == {name.rpartition("/")[2] for name in listed}
    assert re.findall(r'src="([^"]+)"', (out / "index.html").read_text()) == ["assets/report.js"]
    assert (out / "assets" / "NOTICE").read_text() == (ASSETS / "vendor" / "NOTICE").read_text()


def test_scripts_hold_data_only():
    text = as_script("x-1", {EVIL: [EVIL, 1.5, float("nan"), None, True, (1, 2)]})
    assert text.isascii() and text.count("\n") == 1 and not re.search(r"[<>&]", text)
    assert r"\\u202e" in text and "null,null,true,[1,2]" in text


def test_clean():
    assert clean("a" * 1_000_000) == "a" * 400 + "… (1,000,000 characters)"
    assert clean("\ud800\u202e\x00") == r"\ud800\u202e\x00"


def files(out) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_an_old_report_stays_until_the_new_one_is_complete(tmp_path, monkeypatch):
    warehouse = story.write(tmp_path / "wh")
    out = make(warehouse)
    before = files(out)
    write = Folder.write
    during = []

    def fail(folder, name, value):
        write(folder, name, value)
        during.append({name: text for name, text in files(out).items() if not name.startswith(".")})
        if name == "index":
            raise OSError("no space left")

    for error in (fail, _interrupted):
        monkeypatch.setattr(Folder, "write", error)
        result = warehouse.ask("report", "--out", str(out), "--limit", "0")
        assert result.exit_code != 0 and files(out) == before
    assert len(during) > 1 and all(each == before for each in during)
    monkeypatch.setattr(Folder, "write", write)
    make(warehouse, "--limit", "0")
    assert files(out).keys() < before.keys() and (out / "data" / "index.js").is_file()


def _interrupted(*_):
    raise KeyboardInterrupt


def test_a_report_that_fails_leaves_no_folder(tmp_path, monkeypatch):
    warehouse = story.write(tmp_path / "wh")
    monkeypatch.setattr(Folder, "write", _interrupted)
    assert warehouse.ask("report", "--out", str(tmp_path / "new" / "report")).exit_code != 0
    assert not (tmp_path / "new" / "report").exists()


def test_leftovers_of_a_killed_report_are_removed(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    out = make(warehouse)
    (out / ".new-killed" / "data").mkdir(parents=True)
    make(warehouse)
    assert {path.name for path in out.iterdir()} == {"assets", "data", "index.html", "tangles-report.txt"}


def test_hostile_log(tmp_path):
    warehouse = story.write(tmp_path / "wh")
    huge = "<" * 200_000
    for table in ("ssb_messages", "tangle_messages", "tangles", "tangle_edges", "tangle_missing", "feeds"):
        rows = [hostile_row(table, **_COLUMNS.get(table, {}))]
        rows.append({name: huge if value == EVIL else value for name, value in rows[0].items()})
        warehouse.write(table, *rows)
    out = make(warehouse)
    for path in (out / "data").iterdir():
        text = path.read_text(encoding="ascii")
        assert re.fullmatch(r"[a-z]+(-\d+)?(-why|-read)?\.js", path.name) and not re.search(r"[<>&]", text)
        assert "\\u202e" not in text.replace("\\\\u202e", "") and len(text) < 100_000


_COLUMNS = {
    "ssb_messages": {"sequence": 1, "is_usable": True, "tangle_claims": []},
    "tangle_messages": {"is_member": False, "is_root": False, "is_tip": False, "is_fork": False, "is_merge": False},
    "tangles": {"candidate_count": 1, "member_count": 0, "set_aside_count": 1, "invalid_claim_count": 0, "depth": 0},
    "tangle_edges": {"is_member_edge": False, "is_redundant": False},
    "tangle_missing": {"is_in_log": False, "is_sealed": False, "waiting_count": 1, "blocked_count": 1, "unlocks": 1},
    "feeds": {"message_count": 1, "max_sequence": 1, "verified_length": 0},
}
