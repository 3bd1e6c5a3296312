"""Two replicas that exchange only the messages that `tangles send` lists end with the same tables."""

import json
import random

import pytest

from fixtures.ssb.author import Author, to_line
from log_files import contents, write

pytestmark = pytest.mark.long  # test_send.py has the answers of `tangles send` to single questions

MODELS = ("ssb_messages", "feeds", "feed_messages", "tangle_messages", "tangles", "tangle_missing")
WRITERS, MESSAGES = 5, 60


def publish() -> list[dict]:
    rng = random.Random(3)
    writers = [Author.from_seed(f"replica {n}") for n in range(WRITERS)]
    published: list[dict] = []
    for n in range(MESSAGES):
        content = {"type": "post", "text": str(n)}
        if published and rng.random() < 0.7:
            root, *previous = (message["key"] for message in [published[0], *rng.sample(published, min(2, n))])
            content["tangles"] = {"thread": {"root": root, "previous": previous or [root]}}
        elif not published:
            content["tangles"] = {"thread": {"root": None, "previous": None}}
        published.append(rng.choice(writers).publish(content, n))
    return published


class Replica:
    """A replica: a folder of logs, and its tables."""

    def __init__(self, project, name: str, folder, messages: list[dict]) -> None:
        self.folder, self.built = folder / name, project(f"replica_{name}", ssb_log=str(folder / name))
        self.folder.mkdir()
        self.messages: dict[str, dict] = {}
        self.take(messages)

    def take(self, messages: list[dict]) -> None:
        """Add messages to the log and build the tables."""
        self.messages |= {message["key"]: message for message in messages}
        write(self.folder / f"{len(self.messages)}.jsonl", list(map(to_line, messages)))
        self.built.run("--select", *(f"+{model}" for model in MODELS), "--exclude", "resource_type:seed")

    def ask(self, *words: str) -> str:
        """Run `tangles send` on the tables."""
        result = self.built.ask("send", *words)
        assert result.exit_code == 0, result.output
        return result.stdout

    def answer(self, known: str, *words: str) -> list[dict]:
        """Ask which messages a peer lacks, or which to ask it for, given only its own statement."""
        said = self.folder.parent / "said.json"
        said.write_text(known)
        return [json.loads(line) for line in self.ask("--to", str(said), *words, "--json").splitlines()]

    def send_to(self, peer: "Replica") -> list[dict]:
        """List the messages that the peer lacks, and check that it can apply each message in this order."""
        clock = peer.ask("--clock")
        held, sent = dict(json.loads(clock)["clock"]), self.answer(clock)
        for row in sent:
            value = self.messages[row["message_id"]]["value"]
            assert (row["author"], row["sequence"]) == (value["author"], value["sequence"])
            assert held.get(row["author"], 0) + 1 == row["sequence"]
            held[row["author"]] = row["sequence"]
        return [self.messages[row["message_id"]] for row in sent]

    def send_to_tips(self, peer: "Replica") -> set[str]:
        """List the messages that the peer lacks, given only the last messages of its feeds."""
        tips = [row["latest_message_id"] for row in peer.built.rows("feeds") if row["latest_message_id"]]
        return {row["message_id"] for row in self.answer(json.dumps({"tips": tips}))}

    def ranges_of(self, peer: "Replica") -> set[tuple[str, int]]:
        """List the author and sequence of each message to ask the peer for."""
        return {
            (each["author"], sequence)
            for each in self.answer(peer.ask("--clock"), "--ask")
            for sequence in range(each["from_sequence"], each["to_sequence"] + 1)
        }


@pytest.fixture(scope="module")
def replicas(project, tmp_path_factory) -> list[Replica]:
    """Each replica has other beginnings of the feeds; one has a message behind a gap, which the other fills."""
    published, folder = publish(), tmp_path_factory.mktemp("replicas")
    authors = sorted({message["value"]["author"] for message in published})
    have = [{author: 3 + 5 * ((n + side) % 2) for n, author in enumerate(authors)} for side in (0, 1)]
    logs = [[m for m in published if m["value"]["sequence"] <= clock[m["value"]["author"]]] for clock in have]
    behind = next(m for m in logs[1] if m not in logs[0] and m["value"]["sequence"] > have[0][m["value"]["author"]] + 1)
    return [Replica(project, "a", folder, [*logs[0], behind]), Replica(project, "b", folder, logs[1])]


def test_an_exchange_makes_replicas_equal(replicas):
    one, other = replicas
    assert contents(one.built, "feeds") != contents(other.built, "feeds")
    to_other, to_one = one.send_to(other), other.send_to(one)
    assert to_other and to_one
    # By tips, a replica that does not know a tip may send more, but only messages that the peer has.
    lacking, by_tips = {message["key"] for message in to_other}, one.send_to_tips(other)
    assert lacking <= by_tips and by_tips - lacking <= other.messages.keys()
    # The ranges that each asks for are the same messages.
    for sender, asker, sent in ((one, other, to_other), (other, one, to_one)):
        assert asker.ranges_of(sender) == {(m["value"]["author"], m["value"]["sequence"]) for m in sent}
    one.take(to_one)
    other.take(to_other)
    assert one.send_to(other) == [] == other.send_to(one)
    assert one.messages == other.messages
    for model in MODELS:
        rows = [contents(replica.built, model, "line_count") for replica in replicas]
        assert rows[0] == rows[1], model
