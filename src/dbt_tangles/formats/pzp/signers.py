"""Key authority: whether a key signs for an account at given account tips (pzp-db 1.0.4).

An account is a tangle of messages: its root adds a first key, later messages add and delete keys. A message in a feed
names the account and its `accountTips`, the latest messages of the account that its writer knew. These and all their
ancestors are the part of the account that the message sees; its replay in order yields the keys that sign.

Most accounts are small; a few are the subject of questions at thousands of different tips. One replay therefore
answers a block of them, each a bit of an integer: for each message the questions that see it, and for each key those
in which it signs, may add and may delete.

Source: pzp-db 1.0.4. The peer uses its current state of the account: any key added by some message of the account is
valid for every message, at any tips, and deletions have no effect. The peer's verdict can change when more of the
account arrives. Here a message is judged at its own tips, and a key deleted before them no longer signs. Messages after
or beside the tips are irrelevant; only ancestors of the tips count.

The keys at given tips are known once the log has those tips and all their ancestors, each with its data. A missing
message may add or delete any key, so it leaves the question open: unknown differs from refused.
"""

from collections import defaultdict
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from dbt_tangles.columns.collation import collation_key
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.kernel_runtime.row_schema import Int64

#: Maximum number of awaited ids per question among the ancestors of its tips; it keeps the list shorter than the
#: message.
MOST_GAPS = 16
#: The questions at different tips that one replay answers. It bounds the memory: a bit for each of them and message.
QUESTIONS_AT_ONCE = 4096


class AccountRow(NamedTuple):
    """A message of an account, a foreign id, or (without `message_id`) a question. Null means false, or an empty list.

    A foreign id is in the log, but not as a message of the account: it is never awaited.
    """

    account_id: str
    message_id: str | None  # Of messages, unique in the account
    is_root: bool | None  # At most one in an account
    depth: Int64 | None  # As declared; ignored for the root
    prev: list[str] | None  # Ignored for the root
    signers: list[str] | None  # The keys with a valid signature: copies of a message may differ in them
    key_action: str | None  # "add" or "del"; other values change no key
    key: str | None
    is_signing_key: bool | None  # This and the next two: the powers that an addition grants
    may_add_keys: bool | None
    may_delete_keys: bool | None
    is_erased: bool | None  # All copies lack the data
    is_foreign: bool | None
    account_tips: list[str] | None  # Of questions
    sigkey: str | None


class KeyAuthority(NamedTuple):
    """The answer to a question."""

    account_id: str
    account_tips: list[str] | None
    sigkey: str | None
    is_key_authorised: bool | None  # Null if the account has no root here, or while a message is awaited
    awaited_ids: list[str] | None  # By code point: all awaited tips, the first `MOST_GAPS` ancestors; null for none


class _Account(NamedTuple):
    """The messages of an account in replay order: by depth (the root's is 0), then id (see `collation`)."""

    messages: list[AccountRow]
    place: dict[str, int]  # The number of each id
    earlier: list[list[int]]  # The earlier messages that each one lists
    gaps: list[list[str]]  # The awaited parts of each message: listed ids, and its own id if it is erased


@kernel(keys=["account_id"], reads=AccountRow, writes=KeyAuthority, order=[])
def key_authority(rows: list[AccountRow]) -> Iterator[KeyAuthority]:
    """Decide whether keys signed for an account, as it was at given tips.

    An id listed in `prev` counts as a link only if its message is present and earlier in replay order. A question sees
    those of its tips that are present, and all their ancestors. Without tips, or with foreign tips alone, it sees all
    messages of the account.

    The seen messages are replayed in order. The root's addition always counts; a later addition counts if a signer of
    the message may add keys at that point, and a deletion if a signer may delete keys. An addition gives the key the
    named powers and keeps earlier ones; a deletion removes all.

    A question is undecided while a message is awaited: a tip that is neither present nor foreign, such a `prev` of a
    message that the question sees by its tips, or a message seen by its tips with erased data. A question that sees all
    messages awaits only the data of the root.

    Time is (messages + links + signers) * different tips / 64 for each account, with about a microsecond for each block
    of `QUESTIONS_AT_ONCE`.

    Yields:
        One row per question.
    """
    foreign = {row.message_id for row in rows if row.is_foreign}
    account = _arrange([row for row in rows if row.message_id is not None and not row.is_foreign], foreign)
    has_root = any(message.is_root for message in account.messages)
    by_tips = defaultdict(list)
    for row in rows:
        if row.message_id is None:
            by_tips[frozenset(tip for tip in row.account_tips or () if tip in account.place)].append(row)
    tips = list(by_tips)
    for first in range(0, len(tips), QUESTIONS_AT_ONCE):
        block = tips[first : first + QUESTIONS_AT_ONCE]
        seen = _find_seen(account, block)
        signs, lacking = _replay(account, seen), _find_lacking(account, seen, block)
        for lane, known in enumerate(block):
            for question in by_tips[known]:
                lost = [tip for tip in question.account_tips or () if tip not in account.place and tip not in foreign]
                awaited = sorted({*lost, *lacking[lane]} - {None}) if has_root else []
                answer = bool(signs.get(question.sigkey, 0) >> lane & 1) if has_root and not awaited else None
                yield KeyAuthority(*attrgetter(*KeyAuthority._fields[:3])(question), answer, awaited or None)


def _arrange(messages: list[AccountRow], foreign: set[str | None]) -> _Account:
    """Order the messages of an account, and resolve their links."""
    messages.sort(key=lambda row: (0 if row.is_root else row.depth, collation_key(row.message_id)))
    place = {message.message_id: number for number, message in enumerate(messages)}
    earlier, gaps = [], []
    for number, message in enumerate(messages):
        listed = [prev for prev in message.prev or () if prev is not None]
        earlier.append([place[prev] for prev in listed if place.get(prev, number) < number])
        lost = [] if message.is_root else [prev for prev in listed if prev not in place and prev not in foreign]
        gaps.append(lost + [message.message_id] * bool(message.is_erased))
    return _Account(messages, place, earlier, gaps)


def _find_seen(account: _Account, block: list[frozenset[str]]) -> list[int]:
    """Find the questions that see each message, as bits; without tips they see all messages."""
    seen = [sum(1 << lane for lane, tips in enumerate(block) if not tips)] * len(account.messages)
    for lane, tips in enumerate(block):
        for tip in tips:
            seen[account.place[tip]] |= 1 << lane
    for number in reversed(range(len(seen))):
        for prev in account.earlier[number]:
            seen[prev] |= seen[number]
    return seen


def _replay(account: _Account, seen: list[int]) -> dict[str | None, int]:
    """Apply the messages to the questions that see them; return those in which each key signs."""
    signing: defaultdict[str | None, int] = defaultdict(int)
    adding, deleting = signing.copy(), signing.copy()
    for message, lanes in zip(account.messages, seen, strict=True):
        needed = {"add": adding, "del": deleting}.get(message.key_action or "")
        if needed is None or message.key is None:
            continue
        if not message.is_root:
            allowed = 0
            for signer in message.signers or ():
                allowed |= needed.get(signer, 0)
            lanes &= allowed
        grants = message.is_signing_key, message.may_add_keys, message.may_delete_keys
        for keys, is_granted in zip((signing, adding, deleting), grants, strict=True):
            if message.key_action == "del":
                keys[message.key] &= ~lanes
            elif is_granted:
                keys[message.key] |= lanes
    return signing


def _find_lacking(account: _Account, seen: list[int], block: list[frozenset[str]]) -> list[list[str]]:
    """List, for each question, the first distinct gaps of the messages that it sees, in replay order."""
    lacking: list[list[str]] = [[] for _ in block]
    by_tips = sum(1 << lane for lane, tips in enumerate(block) if tips)
    has_room = (1 << len(block)) - 1
    listed: defaultdict[str, int] = defaultdict(int)
    for message, gaps, lanes in zip(account.messages, account.gaps, seen, strict=True):
        for gap in gaps:
            new = lanes & has_room & ~listed[gap] & (-1 if message.is_root else by_tips)
            listed[gap] |= new
            while new:
                lane = new.bit_length() - 1
                new ^= 1 << lane
                lacking[lane].append(gap)
                if len(lacking[lane]) == MOST_GAPS:
                    has_room ^= 1 << lane
    return lacking
