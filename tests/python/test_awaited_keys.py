"""Messages of pzp whose account is incomplete in the log: their keys are undecided instead of refused."""

import pytest

from fixtures.pzp.author import Account, Device, to_line
from set_builds import Feed, HostileLog

SELECTED = ("--select", "+set_messages", "+sets", "+pzp_messages")


class Story:
    """A set and the messages of its account, in a first log and a later log.

    Attributes:
        first: The lines of the first log.
        late: The lines of the later log.
        feed: The set.
        expected: By name, with the first log: whether the key is authorised, the reject reason, the awaited messages.
        at_last: The same with both logs.
    """

    def __init__(self):
        self.laptop, self.phone, self.tablet = map(Device.from_name, ("laptop", "phone", "tablet"))
        self.account = Account(self.laptop, "in part")
        self.with_phone = self.account.add(self.phone)
        self.with_tablet = self.account.add(self.tablet)
        self.spoilt = self.account.delete(self.phone)
        self.erased = self.account.add(self.phone)
        self.feed = Feed(HostileLog(None), "set", self.account.id, self.laptop)
        self.first, self.late = [to_line(self.feed.moot)], []
        self.expected, self.at_last = {}, {}
        self._write_account()
        self._write_set()

    def _write_account(self):
        messages = self.account.messages
        self.first += [to_line(messages[one]) for one in (self.account.id, self.with_tablet)]
        self.first.append(to_line(messages[self.spoilt] | {"sig": messages[self.erased]["sig"]}))
        self.first.append(to_line(messages[self.erased] | {"data": None}))
        self.late += [to_line(messages[one]) for one in (self.with_phone, self.spoilt, self.erased)]

    def _write_set(self):
        root, own = [self.account.id], (True, None, None)
        refused = (False, "unauthorised_key", None)
        self.say("known", self.laptop, root, expected=own)
        self.say("refused", self.phone, root, expected=refused, at_last=refused)
        self.await_("late", self.phone, [self.with_phone], [self.with_phone])
        self.await_("stranger", Device.from_name("stranger"), [self.with_phone], [self.with_phone], at_last=refused)
        self.await_("own key", self.laptop, [*root, self.with_phone], [self.with_phone])
        self.await_("before the tip", self.tablet, [self.with_tablet], [self.with_phone])
        self.await_("not usable", self.phone, [self.spoilt], [self.spoilt], at_last=refused)
        self.await_("erased", self.phone, [self.erased], [self.erased, self.spoilt])
        self.say("foreign", self.laptop, self.feed.named("known", "late"), expected=own)
        self.say("behind", self.laptop, root, "late", expected=(True, "undecided_prev", None))
        self.say("beside", self.laptop, root, "known, late", expected=own)
        self.say("other log", self.laptop, ["no id at all"], expected=(None, "unknown_account_tips", ["no id at all"]))
        self.at_last["other log"] = self.expected["other log"]

    def say(self, name, device, tips, after="R", *, expected, at_last=(True, None, None)):
        """Write a message of the set."""
        self.first.append(to_line(self.feed.sign(name, after, by=device, tips=sorted(tips))))
        self.expected[name], self.at_last[name] = expected, at_last

    def await_(self, name, device, tips, awaited, at_last=(True, None, None)):
        """Write a message that awaits others."""
        self.say(name, device, tips, expected=(None, "unknown_account_tips", sorted(awaited)), at_last=at_last)


def found(built, story):
    """Return the values of the tables for each message of the set, in the form of `Story.expected`."""
    keys = {row["message_id"]: (row["is_key_authorised"], row["awaited_ids"]) for row in built.rows("pzp_messages")}
    rows = {row["message_id"]: row for row in built.rows("set_messages")}
    answer = {}
    for name in story.expected:
        row = rows[story.feed.ids[name]]
        is_good, awaited = keys[story.feed.ids[name]]
        assert row["awaited_ids"] == awaited
        assert row["is_valid"] is (row["reject_reason"] is None) and not row["is_held"]
        answer[name] = (is_good, row["reject_reason"], awaited)
    return answer


def items(built):
    (row,) = built.rows("sets")
    return row["items"]


@pytest.fixture(scope="module")
def story():
    return Story()


@pytest.fixture(scope="module")
def builds(project, story):
    """Build the first log, then both logs; return the values of the first build, and the project."""
    grown = project("awaited_keys").given(pzp_log=story.first).run(*SELECTED)
    before = found(grown, story), items(grown)
    return before, grown.given(pzp_log=story.first + story.late).run(*SELECTED)


def test_keys_await_missing_account_tips(builds, story):
    (verdicts, present), _ = builds
    assert verdicts == story.expected
    assert sorted(present) == ["beside", "foreign", "known"]


def test_late_account_messages_decide_awaiting_keys(builds, story):
    _, grown = builds
    assert found(grown, story) == story.at_last
    valid = sorted(name for name, (_, reason, _) in story.at_last.items() if reason is None)
    assert sorted(items(grown)) == valid
