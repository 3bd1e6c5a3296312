"""Logs of mutated lines through dbt: the build succeeds, each line is a message or a reject, line order is irrelevant.

The check outside of Spark states the result of a line alone. The other lines of the log then make it either a usable
row or a reject with a documented reason.
"""

from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from conftest import ROOT
from dbt_tangles.formats.autobase import verify_lines as autobase
from dbt_tangles.formats.events import verify_lines as events
from dbt_tangles.formats.pzp import verify_lines as pzp
from dbt_tangles.formats.ssb import verify_lines as ssb
from dbt_tangles.ingest.line_checks import DIGEST, PLACE
from dbt_tangles.reasons import FileFault, Framing, meanings
from every_command import Warehouse
from log_files import contents, scatter, write
from log_lines import batch_of
from mutations import KINDS, mutated

#: Commands run on the tables of logs with so many lines.
QUESTIONS = {1_000: 10, 2_500: 200, 20_000: 200}
SEED = 12
# These tables describe the runs.
OF_RUNS = {"runs", "run_changes"}
TABLES = sorted(model.stem for model in (ROOT / "models" / "marts").rglob("*.sql") if model.stem not in OF_RUNS)
# The limits are low, so that tables of clocks and other tables with limits have rows, too.
OPTIONS = {"verify_signatures": False, "ancestor_limit": 6, "clock_limit": 10**6, "max_previous": 100}
REJECTS = {"ssb": "ssb_rejects", "pzp": "pzp_rejects", "autobase": "autobase_rejects", "event": "timeline_rejects"}


class Logs:
    """A file of `count` lines for each log."""

    def __init__(self, folder: Path, count: int, is_verified: bool):
        self.folder = folder
        self.count = count
        self.is_verified = is_verified
        self.lines = {kind: mutated(kind, count, SEED, is_verified) for kind in KINDS}

    def write(self) -> dict[str, str]:
        """Write the files and return the vars."""
        return {f"{kind}_log": write(self.folder / f"{kind}.jsonl", lines) for kind, lines in self.lines.items()}

    def scatter(self, folder: Path) -> dict[str, str]:
        """Write the lines in another order into several files, and return the vars."""
        for kind, lines in self.lines.items():
            (folder / kind).mkdir()
            scatter(folder / kind, lines)
        return {f"{kind}_log": str(folder / kind) for kind in self.lines}

    def checked(self, kind: str) -> dict[int, dict]:
        """Return the check's row of each line alone, by number."""
        return dict(enumerate(check(kind, self.lines[kind], self.is_verified), 1))

    def rejected(self, built, kind: str) -> dict[int, dict]:
        """Return the rows of a log's rejects, by line."""
        rows = [row for row in built.rows(REJECTS[kind]) if row["source_file"].endswith(f"{self.folder}/{kind}.jsonl")]
        found = {row["line"]: row for row in rows}
        assert len(found) == len(rows)
        return found


def check(kind: str, lines: list[bytes], is_verified: bool) -> list[dict]:
    """Run lines through a log's check: a row for each, without its place."""
    verify_batches = {
        "ssb": partial(ssb.verify_batches, options=ssb.VerifyOptions(verify_signatures=is_verified)),
        "pzp": partial(pzp.verify_batches, options=pzp.VerifyOptions(verify_signatures=is_verified)),
        "autobase": autobase.verify_batches,
        "event": events.verify_batches,
    }[kind]
    table = pa.Table.from_batches(verify_batches(iter([batch_of(lines)])))
    table.validate(full=True)
    rows = table.drop_columns([field.name for field in (*PLACE, DIGEST)]).to_pylist()
    assert len(rows) == len(lines)
    return rows


def reason_of(kind: str, row: dict) -> str | None:
    """Return the reason for which the check refuses a line, or None."""
    if kind == "event":
        return row["detail"] and "malformed"
    return row["check_error" if kind == "ssb" else "reject_reason"]


def check_lines(logs: Logs, built, kind: str) -> None:
    """Every line of a log is either a reject or a part of a usable row."""
    checked, rejected = logs.checked(kind), logs.rejected(built, kind)
    assert rejected.keys() <= checked.keys()
    refused = {at: reason for at, row in checked.items() if (reason := reason_of(kind, row))}
    # A row may stand for many equal lines of a file.
    joined = refused.keys() - rejected.keys()
    assert {at: rejected[at]["reason"] for at in refused.keys() - joined} == {
        at: reason for at, reason in refused.items() if at not in joined
    }
    counts = Counter({row["reason"]: 0 for row in rejected.values()})
    for row in rejected.values():
        counts[row["reason"]] += row["line_count"] - 1
    assert +counts == Counter(refused[at] for at in joined)
    used = [row for at, row in checked.items() if at not in rejected and at not in joined]
    if kind in ("ssb", "pzp"):
        rows = built.rows(f"{kind}_messages", ["message_id", "line_count", "is_usable"])
        usable = {row["message_id"]: row["line_count"] for row in rows if row["is_usable"]}
        assert Counter(row["message_id"] for row in used) == usable
    elif kind == "autobase":
        nodes = Counter((row["base_id"], f"{row['writer']}:{row['length']}") for row in used if row["kind"] == "node")
        members = {(row["base_id"], row["node_id"]) for row in built.rows("autobase_nodes")}
        counts = built.rows("int_autobase_nodes", ["base_id", "node_id", "line_count"])
        of_members = {(row["base_id"], row["node_id"]): row["line_count"] for row in counts}
        assert nodes == {at: of_members[at] for at in members}
        bases = {row["base_id"] for row in used if row["kind"] == "base"}
        assert bases == {row["base_id"] for row in built.rows("autobase_bases")}
    else:
        pairs = Counter((row["timeline_id"], row["event_id"]) for row in used)
        rows = built.rows("timeline_events", ["timeline_id", "event_id"])
        members = sum(row["is_member"] for row in built.rows("tangle_messages", ["is_member"]))
        messages = sum(row["is_usable"] for row in built.rows("ssb_messages", ["is_usable"]))
        assert not pairs - Counter((row["timeline_id"], row["event_id"]) for row in rows)
        assert len(rows) == len(used) + members + messages


@pytest.mark.parametrize("is_verified", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_line_alone_and_among_others(kind, is_verified):
    lines = mutated(kind, 600, SEED, is_verified)
    assert lines == mutated(kind, 600, SEED, is_verified) != mutated(kind, 600, SEED + 1, is_verified)
    assert not any(b"\n" in line for line in lines)
    rows = check(kind, lines, is_verified)
    assert 0.5 < sum(reason_of(kind, row) is None for row in rows) / len(rows) < 0.95
    for line, row in zip(lines, rows, strict=True):
        assert repr(check(kind, [line], is_verified)) == repr([row])


@pytest.fixture(scope="module", params=[pytest.param(20_000, marks=pytest.mark.long)])
def signed(request, project, tmp_path_factory):
    """Build four large logs at once."""
    logs = Logs(tmp_path_factory.mktemp("mutations"), request.param, True)
    return logs, project("mutations", **logs.write()).build()


@pytest.fixture(scope="module", params=[1_000, pytest.param(2_500, marks=pytest.mark.long)])
def claimed(request, project, tmp_path_factory):
    """Build four smaller logs with unverified ids, so that more of the mutated lines are accepted."""
    logs = Logs(tmp_path_factory.mktemp("claims"), request.param, False)
    built = project(f"claims_{request.param}", partitions=2, **OPTIONS, **logs.write())
    return logs, built.run() if request.param == 1_000 else built.build()


@pytest.fixture(scope="module")
def shuffled(claimed, project, tmp_path_factory):
    """Build the same lines in another order, in several files and other partitions, on the other engine."""
    logs, _ = claimed
    options = OPTIONS | {"tangle_engine": "kernel"} | logs.scatter(tmp_path_factory.mktemp("scattered"))
    return project(f"scattered_{logs.count}", partitions=3, **options).run()


@pytest.mark.parametrize("kind", KINDS)
def test_every_line_of_large_logs(kind, signed):
    check_lines(*signed, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_every_line_of_claims(kind, claimed):
    check_lines(*claimed, kind)


def check_reasons(built) -> dict[str, set[str]]:
    """Compare the occurring reasons with those that have a meaning, and return the former by kind of log."""
    found = {kind: {row["reason"] for row in built.rows(table, ["reason"])} for kind, table in REJECTS.items()}
    assert all(found[kind] <= meanings(f"{table}.reason").keys() for kind, table in REJECTS.items())
    for column in ("group_messages.set_aside_reason", "set_messages.reject_reason"):
        table, name = column.split(".")
        assert {row[name] for row in built.rows(table)} - {None} <= meanings(column).keys()
    return found


def test_every_reason_is_documented(signed):
    of_any_log = {reason.value for reason in (*Framing, *FileFault)}
    for kind, found in check_reasons(signed[1]).items():
        own = meanings(f"{REJECTS[kind]}.reason").keys() - of_any_log
        assert len(found & own) > 0.6 * len(own)


def test_every_reason_is_documented_of_claims(claimed):
    assert check_reasons(claimed[1])


@pytest.mark.long
@pytest.mark.parametrize("table", TABLES)
def test_order_files_and_partitions(table, claimed, shuffled):
    expected = contents(claimed[1], table)
    assert expected
    assert contents(shuffled, table) == expected


def ask_everything(logs: Logs, built, out: Path) -> None:
    """Run each command; it must answer without an internal error."""
    asked = Warehouse(built, out)
    for words in (["status"], ["check"], ["report", "--limit", "3"]):
        assert asked.ask(words).exit_code == 0

    @settings(max_examples=QUESTIONS[logs.count], deadline=None, suppress_health_check=list(HealthCheck))
    @given(asked.questions())
    def ask(question):
        asked.ask(*question)

    ask()


def test_every_command(signed, tmp_path):
    """Every command answers, also about ids that occur both with and without a tangle."""
    _, built = signed
    rows = built.rows("tangle_messages", ["tangle_name", "message_id"])
    named = {row["message_id"] for row in rows if row["tangle_name"] is not None}
    hostile = [row["message_id"] for row in rows if row["tangle_name"] is None and row["message_id"] in named]
    assert hostile
    asked = Warehouse(built, tmp_path / "report")
    assert all(asked.ask(["why", "--", id_]).exit_code == 0 for id_ in hostile[:20])
    ask_everything(*signed, tmp_path / "report")


@pytest.mark.long
def test_every_command_of_claims(claimed, tmp_path):
    ask_everything(*claimed, tmp_path / "report")
