"""Messages that are published as `feed_next` and `group_next` propose extend the fixtures' feeds and groups."""

import hashlib
import json
from base64 import b64encode, urlsafe_b64encode
from itertools import count

import pytest

from fixtures.ssb import group_examples
from fixtures.ssb.author import Author, to_line, to_uri
from fixtures.ssb.example import stage_of
from fixtures.ssb.stage import MIDNIGHT

pytestmark = pytest.mark.both

TOMORROW = MIDNIGHT + 24 * 60 * 60 * 1000
SELECTED = ("--select", "+group_findings", "+feed_messages", "+tangle_messages", "--exclude", "resource_type:seed")


def made_up(kind, *names):
    digest = hashlib.sha256("/".join(names).encode()).digest()
    return f"ssb:{kind}/{urlsafe_b64encode(digest).decode()}"


def as_written(tangles):
    """Return tangles of `group_next` in the form of a content: by URI."""
    return {
        name: {
            "root": links["root"] and to_uri(links["root"]),
            "previous": links["previous"] and list(map(to_uri, links["previous"])),
        }
        for name, links in tangles
    }


class Next:
    """The published messages: their lines, and the place of each message."""

    def __init__(self, fixtures):
        """Publish the messages.

        They are an add to every epoch and an exclude from every tip. In every other group with one tip, an init upon
        the tip replaces the exclude; in groups whose tips have the same members, an init that merges the tips does.
        The three do not know of each other, and an exclude without a following init is a finding.
        """
        nexts = {(row["group_id"], row["epoch_id"], row["kind"]): row for row in fixtures.rows("group_next")}
        feeds = {row["author"]: row for row in fixtures.rows("feed_next")}
        epochs = fixtures.rows("group_epochs")
        self.lines, self.on_feeds, self.statements, self.inits = [], {}, {}, {}
        self.time = count(TOMORROW)
        self.groups = set()
        for number, example in enumerate(group_examples.EXAMPLES):
            stage = stage_of(example)
            in_log = {message.key: message.line for message in stage.messages.values() if message.in_log}
            self.lines += in_log.values()
            # An author without messages in the log lacks a feed to extend.
            for author in [author for author in stage.authors.values() if author.feed_id in feeds]:
                row = feeds[author.feed_id]
                post = {"type": "post", "text": "on and on"}
                place = {"sequence": row["sequence"], "previous": row["previous_id"]}
                self.on_feeds[self.publish(author, post, **place)] = row
            somebody = Author.from_seed(f"somebody/{example.name}")
            additions = Author.from_seed(f"additions/{example.name}")
            for epoch in epochs:
                if epoch["epoch_id"] not in in_log:
                    continue
                self.groups.add(epoch["group_id"])
                secret = json.loads(in_log[epoch["epoch_id"]])["value"]["content"]["secret"]
                kinds = ["add"]
                if epoch["is_tip"] and epoch["preference"] != "same_members":
                    kinds += ["init" if epoch["tip_count"] == 1 and number % 2 else "exclude"]
                elif epoch["is_preferred"]:
                    kinds += ["merge"]
                for kind in kinds:
                    upon = (None, "init") if kind == "merge" else (epoch["epoch_id"], kind)
                    row = nexts[(epoch["group_id"], *upon)]
                    # Tips with disjoint members stay disjoint; other relations of tips are kept by adding the same
                    # person.
                    newcomer = epoch["epoch_id"] if epoch["preference"] == "disjoint" else "newcomer"
                    content = self.content((example.name, newcomer), secret, row)
                    found = self.inits if row["kind"] == "init" else self.statements
                    found[self.publish(additions if kind == "add" else somebody, content)] = row

    def content(self, names, secret, row):
        """Return a content with its required fields."""
        kind = row["kind"]
        group, person = made_up("identity/group", names[0]), made_up("feed/bendybutt-v1", *names)
        content = {"type": "group/init", "version": "v2", "recps": [group, person]}
        if kind == "init":
            content["secret"] = b64encode(
                hashlib.sha256((row["epoch_id"] or row["group_id"]).encode()).digest()
            ).decode()
        elif kind == "add":
            content |= {"type": "group/add-member", "secret": secret, "creator": person}
            content["root"] = to_uri(row["group_id"])
        else:
            content = {"type": "group/exclude-member", "excludes": [person], "recps": [group]}
        return content | {"tangles": as_written(row["tangles"])}

    def publish(self, author, content, **place):
        """Publish a message, keep its line and return its id."""
        now = next(self.time)
        message = author.publish(content, now, now, **place)
        self.lines.append(to_line(message))
        return message["key"]


@pytest.fixture(scope="module")
def published(fixtures):
    return Next(fixtures)


@pytest.fixture(scope="module")
def built(published, project):
    """Build the groups of the fixtures and the messages published upon them."""
    return project("next").given(ssb_log=published.lines).run(*SELECTED)


def test_feeds_go_on(published, built):
    in_chain = {row["message_id"]: row["in_chain"] for row in built.rows("feed_messages")}
    feeds = {row["author"]: row for row in built.rows("feeds")}
    assert len(published.on_feeds) > 20
    for message, row in published.on_feeds.items():
        feed = feeds[row["author"]]
        assert in_chain[message] and feed["status"] == "complete"
        assert (feed["latest_message_id"], feed["verified_length"]) == (message, row["sequence"])


def test_groups_go_on(published, built):
    """Each message is a member of the tangles that it extends, peers count it, and the findings stay the same."""
    members = {
        (row["tangle_name"], row["root_id"], row["message_id"])
        for row in built.rows("tangle_messages")
        if row["is_member"]
    }
    counted = {row["message_id"]: row for row in built.rows("group_messages") if row["set_aside_reason"] is None}
    epochs = {row["epoch_id"]: row for row in built.rows("group_epochs")}
    assert [row for row in published.inits.values() if row["epoch_id"] is None]
    assert len(published.inits) > 2 and len(published.statements) > 30
    for message, row in (published.inits | published.statements).items():
        for name, links in row["tangles"]:
            assert (name, links["root"] or message, message) in members
        assert counted[message]["group_id"] == row["group_id"] and counted[message]["is_connected"]
        assert counted[message]["epoch_id"] == (message if row["kind"] == "init" else row["epoch_id"])
    for message, row in published.inits.items():
        assert epochs[message]["previous_epochs"] == dict(row["tangles"])["epoch"]["previous"]
        assert epochs[message]["is_tip"] and (row["epoch_id"] or epochs[message]["tip_count"] == 1)
    assert {row["group_id"] for row in epochs.values()} == published.groups


def test_appended_next_messages_leave_the_findings(published, built, fixtures):
    """The findings are those of the fixtures; only a post on a feed of additions says of adds that they are outside."""

    def findings(project):
        rows = [row for row in project.rows("group_findings") if row["group_id"] in published.groups]
        return sorted(repr(row) for row in rows if row["finding"] != "added_outside_additions")

    assert findings(built) == findings(fixtures)
