"""Judges whether the author of each message of a private group had the right to publish it.

A person may start an epoch, add, exclude and post as a member of the epoch at that time: the time of a message is all
that it follows in the tangles of the group. The verdict about an epoch comes from the last statements about the
person in that epoch that the message follows: if all of them are adds, the person is a member; the author of an init
is one from the init on. Without such statements, an exclude from an earlier epoch decides, and then whether an add that
the message does not follow names the person.

Source: private group specification, 3 and 4, and ssb-group-exclusion-spec, 4, for the epochs that a message belongs
to. The verdicts are this project's: peers check no authors.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from dbt_tangles.algorithms.private_group.acyclic_order import acyclic_order
from dbt_tangles.algorithms.private_group.epochs import epoch_levels
from dbt_tangles.columns.group_kinds import ADD, EPOCH_INIT, EXCLUDE, ROOT_INIT
from dbt_tangles.kernel_runtime.kernel import kernel

POST, ITSELF = "post", "itself"
#: The source of a feed without links that the group does not name, and that started an epoch: peers start each epoch on
#: a new feed, so it is a person of its own in that epoch, and unknown elsewhere.
_STARTER = "starter"
MEMBER, EXCLUDED, NOT_YET, NEVER, UNKNOWN = "member", "excluded", "not_yet", "never", "unknown_person"
REFUSED = {EXCLUDED, NOT_YET, NEVER}
_INITS = (ROOT_INIT, EPOCH_INIT)
MAX_LISTED = 100
#: The most bits of a group: (messages, links between them and named persons) * (inits, adds and excludes).
BIT_LIMIT = 2**30


class Act(NamedTuple):
    """A message of a group: a valid init, add or exclude, or another member of the group tangle."""

    group_id: str
    message_id: str
    kind: str  # `root_init`, `epoch_init`, `add`, `exclude` or `post`
    is_in_tangle: bool  # whether it is a member of the group tangle
    author: str
    person: str | None  # the author's, by links; null without links, and if these contradict each other
    person_source: str | None  # of these links
    epoch_id: str | None  # for an init its own id; for an add or exclude the epoch that it names
    previous_epochs: list[str | None] | None  # of an epoch init
    persons: list[str] | None  # that an add or exclude names; a feed without links is its own person
    previous: list[str | None] | None  # in all tangles of the group


class Authority(NamedTuple):
    """A verdict about a message. Lists have at most `MAX_LISTED` ids, sorted."""

    group_id: str
    message_id: str
    kind: str  # `post` also for an init, add or exclude that no peer counts
    author: str
    person: str | None
    person_source: str | None  # also `itself`
    epoch_ids: list[str] | None  # the epochs of which the author had to be a member, of one at least
    verdict: str | None  # null if the group is beyond the limit, or if the message follows itself
    evidence: list[str] | None  # the messages that decide
    is_refused: bool  # whether the message does not count because of the verdict


class _Finding(NamedTuple):
    """The columns of a verdict; null if there is none."""

    epoch_ids: list[str] | None
    verdict: str | None
    evidence: list[str] | None


class _Statements(NamedTuple):
    """The inits, adds and excludes of a group, numbered so that each follows lesser numbers. Sets of them are bits."""

    ids: list[str]
    numbers: dict[str, int]  # by id
    added: dict[tuple[str | None, str], int]  # by epoch and person; an init adds its author
    excluded: dict[tuple[str | None, str], int]  # by epoch and person
    excluded_ever: dict[str, int]  # by person
    epochs_until: dict[str, int]  # by epoch: its init, and those of all earlier epochs
    excludes_before: dict[str, int]  # by epoch: the excludes that name earlier epochs


@kernel(keys=["group_id"], reads=Act, writes=Authority, order=["message_id"])
def judge_authority(acts: Sequence[Act], is_rule: bool = False, bit_limit: int = BIT_LIMIT) -> Iterator[Authority]:
    """Judge the author of each message of a group.

    Args:
        acts: The messages of the group, by id.
        is_rule: Whether a message without authority does not count, so that it is no evidence for others either.
        bit_limit: A larger group has no verdicts.
    """
    inits = {act.message_id: act for act in acts if act.kind in _INITS}
    epochs = {*chain.from_iterable(epoch_levels(acts[0].group_id, inits))}
    if epochs:
        yield from _judge(_with_persons([_as_counted(act, epochs) for act in acts]), is_rule, bit_limit)


def _as_counted(act: Act, epochs: set[str]) -> Act:
    """Treat an init, add or exclude that peers do not count as a post."""
    return act if act.epoch_id in epochs else act._replace(kind=POST, epoch_id=None, persons=None)


def _with_persons(acts: Sequence[Act]) -> list[Act]:
    """Take a feed without links for a person of its own where the group names it, or where it starts an epoch."""
    sources = {act.author: _STARTER for act in acts if act.kind in _INITS}
    sources |= {person: ITSELF for act in acts for person in act.persons or ()}
    return [
        act._replace(person=act.author, person_source=sources[act.author])
        if act.person_source is None and act.author in sources
        else act
        for act in acts
    ]


def _judge(acts: Sequence[Act], is_rule: bool, bit_limit: int) -> Iterator[Authority]:
    order = _in_order(acts)
    statements = [act for act, _ in order if act.kind != POST]
    size = sum(1 + len(named) + len(act.persons or ()) for act, named in order)
    findings = {}
    if size * len(statements) <= bit_limit:
        findings = _Sweep(_number(statements), is_rule).findings(order)
    for act in acts:
        if act.kind != POST or act.is_in_tangle:
            found = findings.get(act.message_id, _Finding(None, None, None))
            is_refused = is_rule and act.kind != POST and found.verdict in REFUSED
            person, source = act.person, act.person_source
            if source == _STARTER:
                person, source = (person, ITSELF) if found.verdict == MEMBER else (None, None)
            yield Authority(act.group_id, act.message_id, act.kind, act.author, person, source, *found, is_refused)


def _in_order(acts: Sequence[Act]) -> list[tuple[Act, set[str]]]:
    """Sort messages, each with those that it names, after all of these; leave out those on or after a circle."""
    by_id, named = {act.message_id: act for act in acts}, {}
    for act in acts:
        # A message that names the root of a tangle knows it, even if the log lacks a message between them.
        others = {*(act.previous or ()), *(act.previous_epochs or ()), act.epoch_id, act.group_id}
        named[act.message_id] = (others & by_id.keys()) - {act.message_id}
    return [(by_id[message_id], named[message_id]) for message_id in acyclic_order(named)]


def _number(acts: Sequence[Act]) -> _Statements:
    """Number the statements, and find those about each epoch and person."""
    said = _Statements([], {}, defaultdict(int), defaultdict(int), defaultdict(int), {}, {})
    excludes_in: dict[str | None, int] = defaultdict(int)
    for number, act in enumerate(acts):
        said.ids.append(act.message_id)
        said.numbers[act.message_id] = number
        if act.kind in _INITS:
            said.epochs_until[act.message_id] = 1 << number
            for other in _previous(act):
                said.epochs_until[act.message_id] |= said.epochs_until[other]
        persons = [act.person] if act.kind in _INITS else act.persons or ()
        for person in filter(None, persons):
            about = said.excluded if act.kind == EXCLUDE else said.added
            about[act.epoch_id, person] |= 1 << number
            if act.kind == EXCLUDE:
                said.excluded_ever[person] |= 1 << number
                excludes_in[act.epoch_id] |= 1 << number
    for act in acts:
        if act.kind in _INITS:
            before = 0
            for other in _previous(act):
                before |= said.excludes_before[other] | excludes_in[other]
            said.excludes_before[act.message_id] = before
    return said


def _previous(act: Act) -> list[str]:
    return [*{*act.previous_epochs}] if act.kind == EPOCH_INIT else []


class _Sweep:
    """A sweep over the messages of a group, each after all that it follows."""

    def __init__(self, said: _Statements, is_rule: bool):
        self._said, self._is_rule = said, is_rule
        self._inits = sum(1 << said.numbers[epoch_id] for epoch_id in said.epochs_until)
        self._counted = 0  # the statements that count
        self._known: dict[str, int] = {}  # by message: those of them that it follows, or is
        self._previous: dict[str | None, list[str]] = {}  # by epoch

    def findings(self, order: Sequence[tuple[Act, set[str]]]) -> dict[str, _Finding]:
        """Find the epochs, the verdict and the evidence of each message, by id."""
        epochs: dict[str, list[str]] = {}
        found: dict[str, tuple[str | None, int]] = {}
        for act, named in order:
            followed = 0
            for other in named:
                followed |= self._known[other]
            epochs[act.message_id] = self._epochs_of(act, followed)
            found[act.message_id] = self._verdict(act, epochs[act.message_id], followed)
            own = self._own_bit(act, found[act.message_id][0], followed)
            self._counted |= own
            self._known[act.message_id] = followed | own
        for act, _ in order:
            verdict, evidence = found[act.message_id]
            if verdict is None:
                for epoch_id in epochs[act.message_id]:
                    evidence |= self._said.added.get((epoch_id, act.person), 0) & self._counted
                if act.kind == ADD:  # an outsider's own add is no sign of membership
                    evidence &= ~(1 << self._said.numbers[act.message_id])
                found[act.message_id] = NOT_YET if evidence else NEVER, evidence
        return {
            message_id: _Finding(
                sorted(epochs[message_id])[:MAX_LISTED], verdict, sorted(self._ids(evidence))[:MAX_LISTED]
            )
            for message_id, (verdict, evidence) in found.items()
        }

    def _epochs_of(self, act: Act, followed: int) -> list[str]:
        """List the epochs of which the author has to be a member: one is enough."""
        if act.kind in _INITS:
            self._previous[act.message_id] = _previous(act)
            return _previous(act) or [act.message_id]
        if act.kind == ADD:  # it is published in an earlier epoch
            return [act.epoch_id, *self._previous[act.epoch_id]]
        if act.kind == EXCLUDE:
            return [act.epoch_id]
        return self._ids(self._last(followed & self._inits, self._said.epochs_until))

    def _verdict(self, act: Act, epochs: Sequence[str], followed: int) -> tuple[str | None, int]:
        """Return the best verdict of some epochs by the statements that a message follows, and these statements."""
        if act.kind == ROOT_INIT:
            return MEMBER, 1 << self._said.numbers[act.message_id]
        if act.person is None:
            return UNKNOWN, 0
        evidence = {MEMBER: 0, EXCLUDED: 0}
        for epoch_id in epochs:
            added = self._said.added.get((epoch_id, act.person), 0)
            excluded = self._said.excluded.get((epoch_id, act.person), 0)
            last = self._last(followed & (added | excluded), self._known)
            if act.kind == ADD and epoch_id == act.epoch_id and last & excluded:
                return EXCLUDED, last & excluded  # a member of an earlier epoch alone may add, but not after this
            if not last:
                earlier = self._said.excluded_ever.get(act.person, 0) & self._said.excludes_before[epoch_id]
                last = excluded = self._last(followed & earlier, self._known)
            evidence[EXCLUDED if last & excluded else MEMBER] |= last & excluded or last
        default = UNKNOWN if act.person_source == _STARTER else None
        return next(((verdict, bits) for verdict, bits in evidence.items() if bits), (default, 0))

    def _own_bit(self, act: Act, verdict: str | None, followed: int) -> int:
        """Return the bit of a statement that counts, else 0: a refused init takes all statements of its epoch along."""
        is_refused = self._is_rule and verdict not in (MEMBER, UNKNOWN)
        if act.kind == POST or is_refused:
            return 0
        needed = _previous(act) if act.kind in _INITS else [act.epoch_id]
        is_complete = all(followed >> self._said.numbers[epoch_id] & 1 for epoch_id in needed)
        return 1 << self._said.numbers[act.message_id] if is_complete else 0

    def _last(self, found: int, until: dict[str, int]) -> int:
        """Keep the statements that no other of them follows; `until` has those that each follows, or is."""
        last = 0
        while found:
            number = found.bit_length() - 1
            last |= 1 << number
            found &= ~until[self._said.ids[number]]
        return last

    def _ids(self, bits: int) -> list[str]:
        ids = []
        while bits:
            ids.append(self._said.ids[bits.bit_length() - 1])
            bits ^= 1 << bits.bit_length() - 1
        return ids
