"""`tangles whatif`: kinds of logs, deliveries and rules, the forms of its answer, and its errors."""

import json
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from answer_schemas import validate
from cli_kit import HOSTILE, assert_harmless
from dbt_tangles.cli import whatif as command
from dbt_tangles.cli.cli import main
from dbt_tangles.whatif import answer, deliveries, logs
from fixtures.ssb.author import Author, to_line

GARDEN = [
    {"timeline": "garden", "event": "plan", "after": [], "arrival": 1, "author": "ann"},
    {"timeline": "garden", "event": "harvest", "after": ["seeds", "water"], "arrival": 2, "author": "bob"},
    {"timeline": "garden", "event": "seeds", "after": ["plan"], "arrival": 3, "author": "ann"},
    {"timeline": "garden", "event": "water", "after": ["plan"], "arrival": 4, "author": "cas"},
]
WRITERS = ("a" * 64, "b" * 64)
BASE = [
    {"base": "base", "indexers": WRITERS},
    {"base": "base", "writer": WRITERS[1], "length": 1, "heads": []},
    {"base": "base", "writer": WRITERS[0], "length": 1, "heads": []},
    {"base": "base", "writer": WRITERS[0], "length": 2, "heads": [[WRITERS[1], 1]]},
    {"base": "base", "writer": WRITERS[1], "length": 3, "heads": []},  # set aside: there is no 2
]


def run(*words, text: str | None = None):
    return CliRunner().invoke(main, ["whatif", *map(str, words)], input=text)


def ask(*words) -> dict:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return validate(json.loads(result.stdout))


def write(path, documents):
    path.write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    return path


@pytest.fixture
def garden(tmp_path):
    return write(tmp_path / "garden.jsonl", GARDEN)


@pytest.fixture
def base(tmp_path):
    return write(tmp_path / "base.jsonl", BASE)


@pytest.fixture
def feeds(tmp_path):
    """Two feeds: the second message of the first feed is received a minute late, after the answer to it."""
    ann, bob = Author.from_seed("ann"), Author.from_seed("bob")
    root = ann.publish({"type": "post", "text": "0"}, 0, 0)
    late = ann.publish(
        {"type": "post", "tangles": {"t": {"root": root["key"], "previous": [root["key"]]}}}, 1_000, 61_000
    )
    reply = bob.publish(
        {"type": "post", "tangles": {"t": {"root": root["key"], "previous": [late["key"]]}}}, 2_000, 2_000
    )
    path = tmp_path / "feeds.jsonl"
    path.write_bytes(b"\n".join([to_line(late), to_line(reply), b"{}", to_line(root), to_line(root)]) + b"\n")
    return path


def test_choices_are_those_of_the_modules():
    assert command.TIE_BREAKS == logs.TIE_BREAKS
    names = [getattr(deliveries, name.upper()) for name in command.DELIVERIES]
    assert tuple(names) == command.DELIVERIES


def test_text(garden):
    result = run(garden, "--delivery", "received")
    assert result.exit_code == 0 and result.stdout.splitlines() == [
        "4 lines, 4 items, 3 feeds",
        "  delivery: received, seed: 1",
        "           changes  per item  median, 95 %, most  not at the end  moved later  unsettled"
        "  settled after (arrivals)",
        "replica 1        5      1.25             1, 2, 2               2            1          0"
        "                   0, 1, 1",
    ]
    *_, last = run(garden, "--seed", 3, "--replicas", 3).stdout.splitlines()
    assert last.startswith("disagreement: ") and last.endswith("of neighbours are in another order")


def test_messages(feeds):
    """The root is received at 0 s, the reply at 2 s and the message that it follows at 61 s."""
    found = ask(feeds, "--delivery", "received")
    assert (found["kind"], found["lines"], found["items"], found["feeds"]) == ("ssb", 5, 3, 2)
    [replica] = found["replicas"]
    assert replica["changes"] == 3 and replica["inserted_inside"] == 1
    assert replica["settled_after_s"] == {"median": 0, "p95": 0, "max": 0}
    delayed = ask(feeds, "--delivery", "delays", "--delay", 0)["replicas"]
    assert [each["inserted_inside"] for each in delayed] == [0, 0]  # as published


def test_nodes(base):
    found = ask(base, "--delivery", "received")
    assert (found["kind"], found["lines"], found["items"], found["feeds"]) == ("autobase", 5, 3, 2)
    [replica] = found["replicas"]
    assert replica["rebases"] == 1 and replica["changes"] == 1
    # a:1 is settled at once, before b:1, which is undone; a:2 then settles b:1.
    alone = ask(base, "--delivery", "received", "--indexers", 1)["replicas"][0]
    assert alone["unsettled"] == 0 and alone["rebases"] == 1 and alone["settled_after"]["max"] == 2


@pytest.mark.parametrize("delivery", command.DELIVERIES)
def test_deliveries(garden, feeds, base, delivery):
    for log in (garden, feeds, base):
        author = json.loads(log.read_text().splitlines()[1])
        author = author.get("author") or author.get("writer") or author["value"]["author"]
        more = ["--withhold", author[:20]] if delivery == "withheld" else []
        found = ask(log, "--delivery", delivery, *more)
        assert found["model"].get("withheld") == (author if more else None) and found == ask(
            log, "--delivery", delivery, *more
        )
        assert found["moments"][-1]["received"] == [found["items"]] * len(found["replicas"])
        assert not found["moments"][-1]["disagreement"]


def test_rules(garden):
    assert ask(garden, "--max-previous", 1)["items"] == 3
    assert {ask(garden, "--batch", 4)["replicas"][0]["changes"]} == {4}
    # The harvest is inserted behind the plan, so it never moves.
    assert ask(garden, "--tie-break", "reversed", "--delivery", "received")["replicas"][0]["moved"] == 0


def test_picture(garden, tmp_path):
    assert run(garden, "--svg", tmp_path / "picture.svg", "--replicas", 3).exit_code == 0
    root = ET.parse(tmp_path / "picture.svg").getroot()
    paths = root.findall("{http://www.w3.org/2000/svg}path")
    assert len([path for path in paths if path.get("class") is None]) == 3 + 3 + 1
    assert "plan" not in (tmp_path / "picture.svg").read_text()


def test_standard_input(garden):
    result = run("-", text=garden.read_text())
    assert result.exit_code == 0 and result.stdout.startswith("4 lines, 4 items")


PZP = {"metadata": {}, "msg": {}}


@pytest.mark.parametrize(
    ("documents", "words", "fault"),
    [
        (GARDEN, ["--indexers", "2"], "--indexers is not a rule of a log of the kind events; leave it out"),
        (BASE, ["--max-previous", "2"], "--max-previous is not a rule of a log of the kind autobase"),
        (GARDEN, ["--delivery", "withheld"], "--withhold AUTHOR and --delivery withheld belong together"),
        (GARDEN, ["--withhold", "ann"], "--withhold AUTHOR and --delivery withheld belong together"),
        (GARDEN, ["--withhold", "x", "--delivery", "withheld"], "--withhold x: 0 authors begin with it"),
        (GARDEN, ["--delay", "5"], "--delay is of the delivery delays, and not of shuffled; leave it out"),
        (GARDEN, ["--heals", "1", "--delivery", "delays"], "--heals is of the delivery partition, and not of delays"),
        (GARDEN, ["--replicas", "3", "--delivery", "received"], "--replicas is of the delivery shuffled or delays"),
        (BASE, ["--indexers", "3"], "--indexers 3: bases have at most 2 indexers; lower it"),
        (GARDEN, ["--svg", "picture.png"], "give the file a name that ends in .svg"),
        (GARDEN, ["--svg", "/nowhere/picture.svg"], "cannot be written"),
        ([{**GARDEN[0], "arrival": "x"}], [], "the log has no usable line; `tangles lint` gives the reasons"),
        ([BASE[0]], [], "the log has no usable line"),
        ([PZP], [], "the same in any order of arrival; replay a log of another kind"),
        ([{}], [], "name the kind with --kind"),
    ],
)
def test_errors(tmp_path, documents, words, fault):
    result = run(write(tmp_path / "log.jsonl", documents), *words)
    assert result.exit_code == 2 and fault in result.stderr and result.stdout == "", result.output


def test_logs_of_several_kinds(garden, base):
    result = run(garden, base)
    assert result.exit_code == 2 and "the logs are of several kinds, events and autobase; name" in result.stderr


def test_bounds(garden, monkeypatch):
    monkeypatch.setattr(answer, "LINE_LIMIT", 3)
    assert "the log has more than 3 lines; replay a part of it" in run(garden).stderr
    monkeypatch.setattr(answer, "LINE_LIMIT", 4)
    monkeypatch.setattr(answer, "ITEM_LIMIT", 7)
    assert "4 items times 2 replicas exceed 7; lower --replicas" in run(garden).stderr
    assert run(garden, "--replicas", 1).exit_code == 0


def test_hostile_names(tmp_path):
    names = [f"{HOSTILE}{number}" for number in range(3)]
    events = [
        {"timeline": HOSTILE, "event": name, "after": names[:number], "arrival": number, "author": HOSTILE}
        for number, name in enumerate(names)
    ]
    log = write(tmp_path / "log.jsonl", events)
    words = ("--delivery", "withheld", "--withhold", HOSTILE)
    for more in ([], ["--json"]):
        result = run(log, *words, *more)
        assert result.exit_code == 0
        assert_harmless(result)
    failed = run(log, "--delivery", "withheld", "--withhold", f"{HOSTILE}x")
    assert failed.exit_code == 2
    assert_harmless(failed)
