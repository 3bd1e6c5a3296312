"""Write the seeds below `seeds/pzp/`: logs of small sets, really signed, and what each must come to.

Source: pzp-set, protospec.md, whose one example is published here step by step; the rules that it leaves open are
those of pzp-set 1.0.1 and pzp-db 1.0.4, one small set for each. What a set must come to stands beside it, stated by the
document or worked out by hand: nothing of that is computed.

    python seeds/make_pzp_fixtures.py           # write the seeds
    python seeds/make_pzp_fixtures.py --check   # exit 1 where the seeds differ from what would be written

How to read an example (lists in a cell are separated by commas):

* `writes`: a line per message, in the order of writing; R is the set's root. `refused` is why the line is no usable
  message by itself. The last column has a twist, from `TWISTS` or `LATER`, or `lost`: the message is not in the log.
* `by`, where there is such a column: whose key signs. `laptop@1` says that the writer knew the account up to its
  message 1 (the root is 0), `phone@-` that it names no tips; else all of the account is known. `stranger` has a key
  that was never the account's, `other` an account of its own.
* `rows`: a line per message that names the set, in reduction order; what is not in the set comes last. The marks are
  `item_root`, `tip`, `held`, or why the message is not in the set.
* `items`: the items at the end, in order, and the message that put each there.
* `faults`: the items for which a message leaves something out of what it supersedes.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import seed_files
from seed_files import read_words

from dbt_tangles.pzp.author import Account, Device, Message, hash_of, id_of, moot_of, to_line
from dbt_tangles.pzp.rules import ANY, SELF

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "seeds" / "pzp"

FOLLOWS, BLOCKS = "set_v1__follows", "set_v1__blocks"
GROWTH, RULES, MALFORMED = "growth.jsonl", "rules.jsonl", "malformed.jsonl"

Ids = dict[tuple[str, str], str]
"""The id of each message by example and letter."""


# ---------------------------------------------------------------------------------------------------------------------
# Twists: what is odd about a message


@dataclass
class Draft:
    """A message before it is signed."""

    data: Any
    tangles: dict[str, Any]
    account: Any
    domain: str
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def entry(self) -> dict[str, Any]:
        """What the message says about the set."""
        return next(iter(self.tangles.values()))


def _name_self(draft: Draft) -> None:
    draft.account = SELF
    draft.metadata["accountTips"] = None


def _name_blocks(draft: Draft) -> None:
    root = id_of(moot_of(draft.account, BLOCKS, Device.from_name("anyone")))
    draft.tangles[root] = {"depth": 1, "prev": [root]}


TWISTS: dict[str, Callable[[Draft], None]] = {
    "data is an array": lambda draft: setattr(draft, "data", ["mallory"]),
    "of another domain": lambda draft: setattr(draft, "domain", BLOCKS),
    "of no set's domain": lambda draft: setattr(draft, "domain", "post"),
    "with a hyphen in its domain": lambda draft: setattr(draft, "domain", "set_v1__follow-ups"),
    "its account is a number": lambda draft: setattr(draft, "account", 7),
    "its account is self": _name_self,
    "its size is negative": lambda draft: draft.metadata.update(dataSize=-1),
    "its size is wrong": lambda draft: draft.metadata.update(dataSize=1),
    "its hash is of other data": lambda draft: draft.metadata.update(dataHash=hash_of({})),
    "prev is a string": lambda draft: draft.entry.update(prev=draft.entry["prev"][0]),
    "prev is a number": lambda draft: draft.entry.update(prev=[7]),
    "prev is a URI": lambda draft: draft.entry.update(prev=["pzp:message/v4/" + draft.entry["prev"][0]]),
    "prev is no id": lambda draft: draft.entry.update(prev=["nowhere"]),
    "prev the wrong way round": lambda draft: draft.entry["prev"].reverse(),
    "names the blocks as well": _name_blocks,
}

_STRANGER = Device.from_name("stranger")
LATER: dict[str, Callable[[Message], Message]] = {
    "erased": lambda message: message | {"data": None},
    "signed by nobody": lambda message: message | {"sig": "x"},
    "with a stranger's signature": lambda message: message | {"sig": _STRANGER.sign(message["metadata"], None)["sig"]},
    "its sigkey is no base58": lambda message: message | {"sigkey": "0" * 44},
    "signed by a stranger": lambda message: _STRANGER.sign(message["metadata"], message["data"]),
}


# ---------------------------------------------------------------------------------------------------------------------
# Examples


@dataclass
class Example:
    """One set; the module's text says how to read it.

    `count` is how many messages are in the set, its root and what is held included; `invalid` how many are not valid,
    what is held included. `required` is the least depth of an item root. `squeeze` is how far below the deepest message
    the oldest one lies that still stands behind an item.
    """

    name: str
    writes: str
    rows: str
    items: str
    count: int
    invalid: int
    depth: int | None
    required: int | None
    squeeze: int | None
    faults: str = ""
    file: str = RULES
    account: str = ""  # another example's, or `any`; else one of its own
    is_account_known: bool = True
    keys: str = ""  # what happens to the account: `+laptop -laptop`
    domain: str = FOLLOWS
    root_status: str = "present"
    root_twist: str = ""  # from LATER, or `lost`
    root_of: tuple[str, str] | None = None  # the message of another example that is named as the root
    data: dict[str, Callable[[Ids], Any]] = field(default_factory=dict)  # what no table of words can say
    copies: str = ""  # more lines of messages; the twist is from LATER, or `again`, `bare`, `another id`
    borrowed: str = ""  # an example of which a message names this set too
    ids_in_order: str = ""  # letters whose ids must sort this way, where depths are equal
    is_order_of_code_units_other: bool = False  # whether by code units they must not


# B and D say the same at one depth after the same message: they have ids of their own because laptop's writer knew more
# of the account.
GROWTH_WRITES = """
    message  by        depth  prev  add    del    supersedes
    A        phone@0   1      R     alice  -      -
    B        phone@0   2      A     bob    -      -
    C        phone@0   3      B     -      alice  A
    D        laptop@1  2      A     bob    -      -
    E        phone@1   4      C,D   carol  -      C
"""


def growth(
    step: int, rows: str, items: str, depth: int, required: int, squeeze: int, ids_in_order: str = ""
) -> Example:
    """Return a step of the document's example, which is grown by one message at a time."""
    head, *messages = GROWTH_WRITES.strip().splitlines()
    writes = "\n".join([head, *messages[:step]])
    return Example(
        f"growth_{step}",
        writes,
        rows,
        items,
        count=step + 1,
        invalid=0,
        depth=depth,
        required=required,
        squeeze=squeeze,
        file=GROWTH,
        keys="+laptop",
        ids_in_order=ids_in_order,
    )


# The item roots are what the document paints blue. It does not say in which order B and D count, which are concurrent
# and equally deep; here B's id is first.
GROWTH_1 = growth(
    1,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
    """,
    depth=1,
    required=1,
    squeeze=0,
)

GROWTH_2 = growth(
    2,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root
        B        2         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        bob    B
    """,
    depth=2,
    required=1,
    squeeze=1,
)

# C stands behind alice now, and B behind bob.
GROWTH_3 = growth(
    3,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root
        C        3         goal     item_root tip
    """,
    items="""
        item  by
        bob   B
    """,
    depth=3,
    required=2,
    squeeze=1,
)

GROWTH_4 = growth(
    4,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root
        D        3         goal     item_root tip
        C        4         goal     item_root tip
    """,
    items="""
        item  by
        bob   B
    """,
    depth=3,
    required=2,
    squeeze=1,
    ids_in_order="B D",
)

GROWTH_5 = growth(
    5,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root
        D        3         goal     item_root
        C        4         goal     -
        E        5         goal     item_root tip
    """,
    items="""
        item   by
        bob    B
        carol  E
    """,
    depth=4,
    required=2,
    squeeze=2,
    ids_in_order="B D",
)

# An item that is deleted and added again goes to the end.
ADDED_AGAIN = Example(
    "added_again",
    writes="""
        message  depth  prev  add    del    supersedes
        A        1      R     alice  -      -
        B        2      A     bob    -      -
        C        3      B     -      alice  A
        D        4      C     alice  -      C
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root
        C        3         goal     -
        D        4         goal     item_root tip
    """,
    items="""
        item   by
        bob    B
        alice  D
    """,
    count=5,
    invalid=0,
    depth=4,
    required=2,
    squeeze=2,
)

# Of one message the deletions come last: bob is out. An addition of what is there changes nothing: alice is A's still.
BOTH_WAYS = Example(
    "both_ways",
    writes="""
        message  depth  prev  add          del  supersedes
        A        1      R     alice        -    -
        B        2      A     bob          bob  -
        C        3      B     carol,alice  -    A,B
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         trail    -
        C        3         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        carol  C
    """,
    count=4,
    invalid=0,
    depth=3,
    required=3,
    squeeze=1,
)

# Neither additions nor deletions win, but what is deeper: C does not know that D adds alice once more.
DEEPER_DELETION = Example(
    "deeper_deletion",
    writes="""
        message  depth  prev  add    del    supersedes
        A        1      R     alice  -      -
        B        2      A     bob    -      -
        C        3      B     -      alice  A
        D        2      A     alice  -      A
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root
        D        3         goal     item_root tip
        C        4         goal     item_root tip
    """,
    items="""
        item  by
        bob   B
    """,
    count=5,
    invalid=0,
    depth=3,
    required=2,
    squeeze=1,
    ids_in_order="B D",
)

# The other way round. D does not know of B, so it does not have to supersede it.
DEEPER_ADDITION = Example(
    "deeper_addition",
    writes="""
        message  depth  prev  add    del    supersedes
        A        1      R     alice  -      -
        B        2      A     -      alice  A
        C        2      A     bob    -      -
        D        3      C     alice  -      A
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root tip
        C        3         goal     item_root
        D        4         goal     item_root tip
    """,
    items="""
        item   by
        bob    C
        alice  D
    """,
    count=5,
    invalid=0,
    depth=3,
    required=2,
    squeeze=1,
    ids_in_order="B C",
)

# Concurrent messages count in the order of their ids without regard to case. By code units it would be another.
COLLATION = Example(
    "collation",
    writes="""
        message  depth  prev  add    del  supersedes
        A        1      R     alice  -    -
        B        1      R     bob    -    -
        C        1      R     carol  -    -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root tip
        B        2         goal     item_root tip
        C        3         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        bob    B
        carol  C
    """,
    count=4,
    invalid=0,
    depth=1,
    required=1,
    squeeze=0,
    ids_in_order="A B C",
    is_order_of_code_units_other=True,
)

# B once added bob, deleted alice and superseded A. Without its data none of that is known, but it keeps its place.
ERASED = Example(
    "erased",
    writes="""
        message  depth  prev  add    del    supersedes  refused  twist
        A        1      R     alice  -      -           -        -
        B        2      A     bob    alice  A           -        erased
        C        3      B     carol  -      B           -        -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root
        B        2         goal     -
        C        3         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        carol  C
    """,
    count=4,
    invalid=0,
    depth=3,
    required=1,
    squeeze=2,
)

# Nothing that C follows is there, so it is held; D follows it. What C deletes is deleted, and D ought to have
# superseded it. That C follows A cannot be known: A is a tip, and stands behind alice.
MISSING_MIDDLE = Example(
    "missing_middle",
    writes="""
        message  depth  prev  add    del    supersedes  refused  twist
        A        1      R     alice  -      -           -        -
        B        2      A     bob    -      -           -        lost
        C        3      B     -      alice  -           -        -
        D        4      C     dave   -      -           -        -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root tip
        C        2         goal     held item_root
        D        3         goal     item_root tip
    """,
    items="""
        item  by
        dave  D
    """,
    faults="""
        message  item   rule    left_out
        D        alice  should  C
    """,
    count=4,
    invalid=1,
    depth=4,
    required=1,
    squeeze=3,
)

# Where one of several is not there the message is valid, and its depth cannot be checked.
ONE_UNKNOWN = Example(
    "one_unknown",
    writes="""
        message  depth  prev  add    del  supersedes  refused  twist
        A        1      R     alice  -    -           -        -
        B        2      A     bob    -    -           -        lost
        C        9      A,B   carol  -    -           -        -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root
        C        2         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        carol  C
    """,
    count=3,
    invalid=0,
    depth=9,
    required=1,
    squeeze=8,
)

# The number 7 is not the string "7", and each object is equal to itself only. What supersedes nothing that is earlier
# in the set, be it of another set or no id at all, does no harm.
JUNK = Example(
    "junk",
    writes="""
        message  depth  prev  add  del  supersedes
        A        1      R     -    -    -
        B        2      A     -    -    -
    """,
    data={
        "A": lambda ids: {
            "add": ["alice", 7, None, {"a": 1}, "alice", 7.0],
            "del": ["7", None, {"a": 1}],
            "supersedes": [7, None, {}],
        },
        "B": lambda ids: {
            "add": ["bob"],
            "del": [],
            "supersedes": ["no id", 7, None, {}, "1" * 44, ids["growth_1", "A"], ids["junk", "A"], ids["junk", "A"]],
        },
    },
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root tip
    """,
    items="""
        item     by
        alice    A
        7        A
        {"a":1}  A
        bob      B
    """,
    count=3,
    invalid=0,
    depth=2,
    required=2,
    squeeze=1,
)

# Data of other shapes add and delete nothing. They can supersede all the same, and what is not erased is an item root;
# the empty string is as good as erased. (The peer fails where there is no supersedes, as in D.)
ODD_DATA = Example(
    "odd_data",
    writes="""
        message  depth  prev  add    del  supersedes
        A        1      R     alice  -    -
        B        2      A     -      -    -
        C        3      B     -      -    -
        D        4      C     -      -    -
        E        5      D     dave   -    -
        F        6      E     -      -    -
    """,
    data={
        "B": lambda ids: "a note",
        "C": lambda ids: {"add": "bob", "del": ["alice"], "supersedes": [ids["odd_data", "A"]]},
        "D": lambda ids: {"add": ["carol"], "del": ["alice"]},
        "F": lambda ids: "",
    },
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root
        C        3         goal     item_root
        D        4         goal     item_root
        E        5         goal     item_root
        F        6         goal     tip
    """,
    items="""
        item   by
        alice  A
        dave   E
    """,
    count=7,
    invalid=0,
    depth=6,
    required=2,
    squeeze=5,
)

# A key signs for the account where the writer knew of it: laptop since message 1 of the account, tablet from message 2
# until message 3 deletes it. Who names no tips is judged by the whole account.
DEVICES = Example(
    "devices",
    keys="+laptop +tablet -tablet",
    writes="""
        message  by        depth  prev  add    del  supersedes
        A        phone@0   1      R     alice  -    -
        B        laptop@1  2      A     bob    -    -
        C        stranger  3      B     carol  -    -
        D        laptop@0  3      B     dave   -    -
        E        tablet@3  3      B     erin   -    -
        F        tablet@2  3      B     frank  -    -
        G        laptop@-  4      F     grace  -    -
        H        tablet@-  4      F     heidi  -    -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root
        B        2         goal     item_root
        F        3         goal     item_root
        G        4         goal     item_root tip
        C        -         -        unauthorised_key
        D        -         -        unauthorised_key
        E        -         -        unauthorised_key
        H        -         -        unauthorised_key
    """,
    items="""
        item   by
        alice  A
        bob    B
        frank  F
        grace  G
    """,
    count=5,
    invalid=4,
    depth=4,
    required=1,
    squeeze=3,
)

# Where the account's own messages are not in the log, no key can be held against a message.
UNKNOWN_ACCOUNT = Example(
    "unknown_account",
    is_account_known=False,
    writes="""
        message  by        depth  prev  add    del  supersedes
        A        phone     1      R     alice  -    -
        B        stranger  2      A     bob    -    -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root
        B        2         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        bob    B
    """,
    count=3,
    invalid=0,
    depth=2,
    required=1,
    squeeze=1,
)

# Everybody can write to a set of the account "any".
ANYONE = Example(
    "anyone",
    account=ANY,
    writes="""
        message  by        depth  prev  add    del  supersedes
        A        phone@-   1      R     alice  -    -
        B        stranger  2      A     bob    -    -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root
        B        2         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        bob    B
    """,
    count=3,
    invalid=0,
    depth=2,
    required=1,
    squeeze=1,
)

# Sound messages that do not belong in the set. E follows nothing but one of them, which is there: it is not held.
OUTSIDERS = Example(
    "outsiders",
    writes="""
        message  by     depth  prev  add    del  supersedes  refused  twist
        A        phone  1      R     alice  -    -           -        -
        B        other  2      A     bob    -    -           -        -
        C        phone  2      A     carol  -    -           -        of another domain
        D        phone  2      A     dave   -    -           -        of no set's domain
        E        phone  3      B     erin   -    -           -        -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root tip
        B        -         -        other_account
        C        -         -        other_domain
        D        -         -        other_domain
        E        -         -        no_known_prev
    """,
    items="""
        item   by
        alice  A
    """,
    count=2,
    invalid=4,
    depth=1,
    required=1,
    squeeze=0,
)

# One message for each rule that a message can break, named after it.
BROKEN = Example(
    "broken",
    writes="""
        message             depth  prev   add      del  supersedes  refused             twist
        A                   1      R      alice    -    -           -                   -
        B                   2      A      bob      -    -           -                   -
        bad_sigkey          3      B      mallory  -    -           bad_sigkey          its sigkey is no base58
        bad_data            3      B      mallory  -    -           bad_data            data is an array
        bad_data_size       3      B      mallory  -    -           bad_data_size       its size is negative
        data_hash_mismatch  3      B      mallory  -    -           data_hash_mismatch  its hash is of other data
        data_size_mismatch  3      B      mallory  -    -           data_size_mismatch  its size is wrong
        bad_domain          3      B      mallory  -    -           bad_domain          with a hyphen in its domain
        bad_account         3      B      mallory  -    -           bad_account         its account is a number
        account_self        3      B      mallory  -    -           -                   its account is self
        bad_prev            3      B      mallory  -    -           bad_prev            prev is a string
        bad_depth           0      B      mallory  -    -           bad_depth           -
        prev_not_lower      2      B      mallory  -    -           -                   -
        prev_not_string     3      B      mallory  -    -           prev_not_string     prev is a number
        prev_uri            3      B      mallory  -    -           prev_uri            prev is a URI
        prev_duplicate      3      B,B    mallory  -    -           prev_duplicate      -
        prev_unsorted       3      A,B    mallory  -    -           prev_unsorted       prev the wrong way round
        prev_empty          1      -      mallory  -    -           no_known_prev       -
        prev_no_id          3      B      mallory  -    -           -                   prev is no id
        depth_gap           4      A,B    mallory  -    -           -                   -
        bad_signature       3      B      victor   -    -           bad_signature       with a stranger's signature
        no_signature        3      B      trent    -    -           bad_signature       signed by nobody
        after_bad           4      bad_signature  mallory  -  -     -                   -
    """,
    rows="""
        message             position  purpose  marks
        R                   0         trail    -
        A                   1         goal     item_root
        B                   2         goal     item_root tip
        bad_sigkey          -         -        bad_sigkey
        bad_data            -         -        bad_data
        bad_data_size       -         -        bad_data_size
        data_hash_mismatch  -         -        data_hash_mismatch
        data_size_mismatch  -         -        data_size_mismatch
        bad_domain          -         -        bad_domain
        bad_account         -         -        bad_account
        account_self        -         -        account_self
        bad_prev            -         -        bad_prev
        bad_depth           -         -        bad_depth
        prev_not_lower      -         -        prev_not_lower
        prev_not_string     -         -        prev_not_string
        prev_uri            -         -        prev_uri
        prev_duplicate      -         -        prev_duplicate
        prev_unsorted       -         -        prev_unsorted
        prev_empty          -         -        no_known_prev
        prev_no_id          -         -        no_known_prev
        depth_gap           -         -        depth_gap
        bad_signature       -         -        bad_signature
        no_signature        -         -        bad_signature
        after_bad           -         -        no_known_prev
    """,
    items="""
        item   by
        alice  A
        bob    B
    """,
    count=3,
    invalid=21,
    depth=2,
    required=1,
    squeeze=1,
)

# Nobody looks at the signature of a root.
UNSIGNED_ROOT = Example(
    "unsigned_root",
    root_twist="signed by nobody",
    writes="""
        message  depth  prev  add    del  supersedes
        A        1      R     alice  -    -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
    """,
    count=2,
    invalid=0,
    depth=1,
    required=1,
    squeeze=0,
)

# Lines that say the same. Anybody can sign the metadata of a message, and anybody's copy has the message's id. Those of
# the account's own keys count before those of strangers, with data before without.
COPIES = Example(
    "copies",
    writes="""
        message  depth  prev  add    del  supersedes
        A        1      R     alice  -    -
        B        2      A     bob    -    -
        C        3      B     carol  -    -
    """,
    copies="""
        message  refused        twist
        R        -              signed by a stranger
        A        -              again
        A        -              bare
        A        -              another id
        A        -              signed by a stranger
        B        -              erased
        C        bad_signature  with a stranger's signature
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root
        B        2         goal     item_root
        C        3         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        bob    B
        carol  C
    """,
    count=4,
    invalid=0,
    depth=3,
    required=1,
    squeeze=2,
)

# Two sets of one account. B names both, and is of the domain of the first.
TWO_SETS = Example(
    "two_sets",
    writes="""
        message  depth  prev  add    del  supersedes  refused  twist
        A        1      R     alice  -    -           -        -
        B        2      A     bob    -    -           -        names the blocks as well
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root
        B        2         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        bob    B
    """,
    count=3,
    invalid=0,
    depth=2,
    required=1,
    squeeze=1,
)

SECOND_SET = Example(
    "second_set",
    account="two_sets",
    domain=BLOCKS,
    borrowed="two_sets",
    writes="""
        message  depth  prev  add    del  supersedes
        A        1      R     alice  -    -
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         goal     item_root tip
        B        -         -        other_domain
    """,
    items="""
        item   by
        alice  A
    """,
    count=2,
    invalid=1,
    depth=1,
    required=1,
    squeeze=0,
)

# Without its root a set has neither order nor items, and nothing of it may be given up.
MISSING_ROOT = Example(
    "missing_root",
    root_twist="lost",
    root_status="missing",
    writes="""
        message  depth  prev  add    del  supersedes
        A        1      R     alice  -    -
        B        2      A     bob    -    -
    """,
    rows="""
        message  position  purpose  marks
        A        -         -        missing_root
        B        -         -        missing_root
    """,
    items="",
    count=0,
    invalid=2,
    depth=None,
    required=0,
    squeeze=None,
)

UNUSABLE_ROOT = Example(
    "unusable_root",
    root_twist="its sigkey is no base58",
    root_status="unusable",
    writes="""
        message  depth  prev  add    del  supersedes
        A        1      R     alice  -    -
    """,
    rows="""
        message  position  purpose  marks
        R        -         -        bad_sigkey
        A        -         -        missing_root
    """,
    items="",
    count=0,
    invalid=2,
    depth=None,
    required=0,
    squeeze=None,
)

# What is named as a root has to be one.
NOT_A_FEED = Example(
    "not_a_feed",
    account="two_sets",
    root_of=("two_sets", "A"),
    root_status="unusable",
    writes="""
        message  depth  prev  add    del  supersedes
        X        1      R     alice  -    -
    """,
    rows="""
        message  position  purpose  marks
        R        -         -        not_a_feed
        X        -         -        not_a_feed
    """,
    items="",
    count=0,
    invalid=2,
    depth=None,
    required=0,
    squeeze=None,
)

# Nothing is required of a set in which nothing was ever said.
ROOT_ONLY = Example(
    "root_only",
    writes="",
    rows="""
        message  position  purpose  marks
        R        0         none     tip
    """,
    items="",
    count=1,
    invalid=0,
    depth=0,
    required=None,
    squeeze=None,
)

# F repeats all items and supersedes what it repeats; B and D are superseded before. The shortest path from F leads
# over C, which follows the root directly.
SQUEEZED = Example(
    "squeezed",
    writes="""
        message  depth  prev  add               del  supersedes
        A        1      R     alice             -    -
        B        2      A     bob               -    -
        C        3      B,R   carol             -    -
        D        4      C     -                 bob  B
        E        5      D     dave              -    D
        F        6      C,E   alice,carol,dave  -    A,C,E
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         ghost    -
        B        2         ghost    -
        C        3         trail    -
        D        4         ghost    -
        E        5         ghost    -
        F        6         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        carol  C
        dave   E
    """,
    count=7,
    invalid=0,
    depth=6,
    required=6,
    squeeze=2,
)

# Of equally deep ones the path takes the one whose id is first.
TRAIL_TIE = Example(
    "trail_tie",
    writes="""
        message  depth  prev  add        del  supersedes
        A        1      R     alice      -    -
        B        1      R     bob        -    -
        C        2      A,B   alice,bob  -    A,B
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         ghost    -
        C        3         goal     item_root tip
    """,
    items="""
        item   by
        alice  A
        bob    B
    """,
    count=4,
    invalid=0,
    depth=2,
    required=2,
    squeeze=0,
    ids_in_order="A B",
)

# B should point to A, and C to B, which is deeper than A. C adds something, so it is reminded of the deletion as well.
MUST = Example(
    "must",
    writes="""
        message  depth  prev  add    del    supersedes
        A        1      R     alice  -      -
        B        2      A     -      alice  -
        C        3      B     alice  -      A
        D        4      C     -      alice  C
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root
        C        3         goal     -
        D        4         goal     item_root tip
    """,
    items="",
    faults="""
        message  item   rule    left_out
        B        alice  must    A
        C        alice  must    B
        C        alice  should  B
    """,
    count=5,
    invalid=0,
    depth=4,
    required=2,
    squeeze=0,
)

# Two equally deep messages on alice, none of which D points to.
MUST_OF_TWO = Example(
    "must_of_two",
    keys="+laptop",
    writes="""
        message  by        depth  prev  add    del    supersedes
        A        phone@0   1      R     alice  -      -
        B        phone@0   2      A     -      alice  A
        C        laptop@1  2      A     -      alice  A
        D        phone@1   3      B,C   alice  -      A
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     item_root
        C        3         goal     item_root
        D        4         goal     item_root tip
    """,
    items="""
        item   by
        alice  D
    """,
    faults="""
        message  item   rule    left_out
        D        alice  must    B C
        D        alice  should  B C
    """,
    count=5,
    invalid=0,
    depth=3,
    required=2,
    squeeze=0,
    ids_in_order="B C",
)

# One of the two is enough for the first rule, and not for the second.
ONE_OF_TWO = Example(
    "one_of_two",
    keys="+laptop",
    writes="""
        message  by        depth  prev  add    del    supersedes
        A        phone@0   1      R     alice  -      -
        B        phone@0   2      A     -      alice  A
        C        laptop@1  2      A     -      alice  A
        D        phone@1   3      B,C   alice  -      B
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         goal     -
        C        3         goal     item_root
        D        4         goal     item_root tip
    """,
    items="""
        item   by
        alice  D
    """,
    faults="""
        message  item   rule    left_out
        D        alice  should  C
    """,
    count=5,
    invalid=0,
    depth=3,
    required=2,
    squeeze=0,
    ids_in_order="B C",
)

# Who adds anything points to the deletions it knows of (C and D do not point to B), unless they are superseded already,
# as they are for F. H deletes, so it need not; I points to H, and not to G.
SHOULD = Example(
    "should",
    writes="""
        message  depth  prev  add    del    supersedes
        A        1      R     alice  -      -
        B        2      A     -      alice  A
        C        3      B     bob    -      -
        D        4      C     carol  -      -
        E        5      D     dave   -      B
        F        6      E     erin   -      -
        G        7      F     -      bob    C
        H        8      G     -      erin   F
        I        9      H     frank  -      H
    """,
    rows="""
        message  position  purpose  marks
        R        0         trail    -
        A        1         trail    -
        B        2         trail    -
        C        3         trail    -
        D        4         goal     item_root
        E        5         goal     item_root
        F        6         goal     -
        G        7         goal     item_root
        H        8         goal     -
        I        9         goal     item_root tip
    """,
    items="""
        item   by
        carol  D
        dave   E
        frank  I
    """,
    faults="""
        message  item   rule    left_out
        C        alice  should  B
        D        alice  should  B
        I        bob    should  G
    """,
    count=10,
    invalid=0,
    depth=9,
    required=4,
    squeeze=7,
)

EXAMPLES = [
    GROWTH_1,
    GROWTH_2,
    GROWTH_3,
    GROWTH_4,
    GROWTH_5,
    ADDED_AGAIN,
    BOTH_WAYS,
    DEEPER_DELETION,
    DEEPER_ADDITION,
    COLLATION,
    ERASED,
    MISSING_MIDDLE,
    ONE_UNKNOWN,
    JUNK,
    ODD_DATA,
    DEVICES,
    UNKNOWN_ACCOUNT,
    ANYONE,
    OUTSIDERS,
    BROKEN,
    UNSIGNED_ROOT,
    COPIES,
    TWO_SETS,
    SECOND_SET,
    MISSING_ROOT,
    UNUSABLE_ROOT,
    NOT_A_FEED,
    ROOT_ONLY,
    SQUEEZED,
    TRAIL_TIE,
    MUST,
    MUST_OF_TWO,
    ONE_OF_TWO,
    SHOULD,
]


def malformed() -> list[tuple[bytes, str]]:
    """Return lines that are no messages, and why not."""
    device = Device.from_name("malformed")
    sound = device.write({"add": [], "del": [], "supersedes": []}, {}, ANY, "post")

    def without(name: str) -> dict[str, Any]:
        return {key: value for key, value in sound["metadata"].items() if key != name}

    def but(message: Message | None = None, **metadata: Any) -> bytes:
        return to_line(sound | {"metadata": sound["metadata"] | metadata} | (message or {}))

    document = {"content": sound["data"], "metadata": without("domain") | {"type": FOLLOWS}}
    return [
        (b"", "malformed_json"),
        (b"  \t", "malformed_json"),
        (b"\0", "malformed_json"),
        (b"a line of something else", "malformed_json"),
        (to_line(sound)[:-1], "malformed_json"),
        (to_line(sound) + b",", "malformed_json"),
        (b'{"metadata":{"v":NaN}}', "malformed_json"),
        (b"\xff\xfe", "invalid_utf8"),
        (b'{"id":"\xff","msg":{}}', "invalid_utf8"),
        (b"null", "not_a_message"),
        (b"[]", "not_a_message"),
        (b"4", "not_a_message"),
        (b'"metadata"', "not_a_message"),
        (b"{}", "not_a_message"),
        (b'{"id":"1","msg":null}', "not_a_message"),
        (b'{"id":"1","msg":{"data":null}}', "not_a_message"),
        (b'{"metadata":[],"data":null}', "not_a_message"),
        (b'{"metadata":null,"data":null}', "not_a_message"),
        (b'{"key":"%1.sha256","value":{"content":{"type":"post"}},"timestamp":1}', "not_a_message"),
        (b'{"metadata":{"v":1e999},"data":null}', "no_id"),
        (b'{"metadata":{"domain":"\\ud800"},"data":null}', "no_id"),
        (b'{"metadata":{},"data":null}', "missing_field"),
        (b'{"metadata":{"v":' + b"[" * 2000 + b"]" * 2000 + b'},"data":null}', "missing_field"),
        (to_line(document), "missing_field"),
        (to_line({key: value for key, value in sound.items() if key != "data"}), "missing_field"),
        *(
            (to_line(sound | {"metadata": without(name)}), "missing_field")
            for name in ("dataHash", "dataSize", "account", "accountTips", "tangles", "domain")
        ),
        (to_line(sound | {"metadata": without("v")}), "wrong_version"),
        (but(v=3), "wrong_version"),
        (but(v="4"), "wrong_version"),
        (but(v=True), "wrong_version"),
        (but({"sig": None}), "missing_signature"),
        (but({"sigkey": None}), "bad_sigkey"),
        (but({"sigkey": device.key + "1"}), "bad_sigkey"),
        (but({"data": 7}), "bad_data"),
        (but({"data": False}), "bad_data"),
        (but(dataSize="43"), "bad_data_size"),
        (but(dataHash=None), "data_hash_mismatch"),
        (but(domain="ab"), "bad_domain"),
        (but(account=None), "bad_account"),
        (but(account=SELF, accountTips=[]), "bad_account"),
        (but(), "no_tangle"),
        (but(tangles=[]), "no_tangle"),
        (but(tangles={"1": None}), "no_tangle"),
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Publishing


class Stage:
    """Where one example is published.

    Attributes:
        account: The example's account; None for "any".
        keys: What the names of its devices begin with.
        ids: The id of each message by letter; R is the set's root.
        lines: The lines for the log, and why each is refused.
    """

    def __init__(self, example: Example, salt: int, ids: Ids, owner: Stage | None):
        """Prepare keys and account, and publish.

        Args:
            example: What to publish.
            salt: Makes the keys, and with them all ids, different ones.
            ids: The messages of the examples before this one.
            owner: Where the account is at home, if not here.
        """
        self.example = example
        self.ids: dict[str, str] = {}
        self.lines: list[tuple[bytes, str]] = []
        self._messages: dict[str, Message] = {}
        self._earlier = ids
        self.keys = owner.keys if owner else f"{example.name}/{salt}"
        self.account = owner.account if owner else None
        if not owner and example.account != ANY:
            self.account = Account(self._device("phone"), self.keys)
            for change in example.keys.split():
                device = self._device(change[1:])
                self.account.add(device) if change.startswith("+") else self.account.delete(device)
            if example.is_account_known:
                self._publish_account(self.account)
        self._publish_root()
        rows = read_words(example.writes)
        if any(row.get("by") == "other" for row in rows):
            self._other = Account(Device.from_name(f"{self.keys}/other"), "other")
            self._publish_account(self._other)
        for row in rows:
            self._publish(row)
        for row in read_words(example.copies):
            self._copy(**row)

    def is_as_asked(self) -> bool:
        """Whether the ids sort as the example wants them to."""
        wanted = [self.ids[letter] for letter in self.example.ids_in_order.split()]
        is_other = sorted(wanted) != wanted
        return sorted(wanted, key=_collation_key) == wanted and (
            is_other or not self.example.is_order_of_code_units_other
        )

    def _device(self, name: str) -> Device:
        return _STRANGER if name == "stranger" else Device.from_name(f"{self.keys}/{name}")

    def _publish_account(self, account: Account) -> None:
        self.lines += [(_line(message, message_id), "") for message_id, message in account.messages.items()]

    def _publish_root(self) -> None:
        example = self.example
        if example.root_of:
            self.ids["R"] = self._earlier[example.root_of]
            return
        moot = moot_of(self.account.id if self.account else ANY, example.domain, self._device("phone"))
        self.ids["R"] = id_of(moot)
        if example.root_twist != "lost":
            moot = LATER[example.root_twist](moot) if example.root_twist else moot
            refused = next((row["marks"] for row in read_words(example.rows) if row["message"] == "R"), "")
            self._add("R", moot, refused if refused == "bad_sigkey" else "")

    def _writer(self, by: str) -> tuple[Device, str, list[str] | None]:
        """Return who signs, for which account, and at which tips of it."""
        name, _, known = by.partition("@")
        if name == "other":
            return self._device(name), self._other.id, self._other.tips
        device = self._device(name)
        if self.account is None:
            return device, ANY, None
        if known == "-":
            return device, self.account.id, None
        tips = [list(self.account.messages)[int(known)]] if known else self.account.tips
        return device, self.account.id, tips

    def _publish(self, row: dict[str, str]) -> None:
        letter, twist = row["message"], row.get("twist", "")
        device, account, tips = self._writer(row.get("by", "phone"))
        prev = sorted(self.ids[name] for name in _list(row["prev"]))
        data = {"add": _list(row["add"]), "del": _list(row["del"])}
        data["supersedes"] = [self.ids[name] for name in _list(row["supersedes"])]
        if letter in self.example.data:
            here = {(self.example.name, name): message_id for name, message_id in self.ids.items()}
            data = self.example.data[letter](self._earlier | here)
        tangles = {self.ids["R"]: {"depth": int(row["depth"]), "prev": prev}}
        draft = Draft(data, tangles, account, self.example.domain)
        if twist in TWISTS:
            TWISTS[twist](draft)
        message = device.write(draft.data, draft.tangles, draft.account, draft.domain, tips, **draft.metadata)
        self.ids[letter] = id_of(message)
        if twist in LATER:
            message = LATER[twist](message)
        elif twist and twist != "lost" and twist not in TWISTS:
            raise ValueError(f"{self.example.name}: nothing is known of the twist {twist!r}")
        if twist != "lost":
            self._add(letter, message, row.get("refused", ""))

    def _add(self, letter: str, message: Message, refused: str) -> None:
        self._messages[letter] = message
        self.lines.append((_line(message, self.ids[letter]), refused))

    def _copy(self, message: str, refused: str, twist: str) -> None:
        original, message_id = self._messages[message], self.ids[message]
        if twist == "again":
            line = _line(original, message_id)
        elif twist == "bare":
            line = to_line(original)
        elif twist == "another id":
            line = to_line(original, hash_of(message_id))
        else:
            line = _line(LATER[twist](original), message_id)
        self.lines.append((line, refused))


def _line(message: Message, message_id: str) -> bytes:
    """Return a line; every fourth or so is bare, as some exports are."""
    is_bare = hashlib.sha256(message_id.encode()).digest()[0] % 4 == 0
    return to_line(message, None if is_bare else message_id)


def _list(cell: str) -> list[str]:
    return cell.split(",") if cell else []


def _collation_key(message_id: str) -> tuple[str, str]:
    """Return what sorts as ids do: without regard to case, then lower before upper."""
    return message_id.lower(), message_id.swapcase()


def publish() -> list[Stage]:
    """Publish all examples, each with the first keys whose ids sort as it asks for."""
    stages: dict[str, Stage] = {}
    ids: Ids = {}
    for example in EXAMPLES:
        owner = stages.get(example.account)
        if owner and (example.ids_in_order or owner.example.keys):
            raise ValueError(f"{example.name}: keys of its own are needed for that")
        stages[example.name] = stage = next(
            stage for salt in itertools.count() if (stage := Stage(example, salt, ids, owner)).is_as_asked()
        )
        if len(set(stage.ids.values())) < len(stage.ids):
            raise ValueError(f"{example.name}: two letters stand for one message")
        ids |= {(example.name, letter): message_id for letter, message_id in stage.ids.items()}
    return list(stages.values())


# ---------------------------------------------------------------------------------------------------------------------
# Reading the tables above, and writing the seeds


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _cell(value: int | None) -> str:
    return "" if value is None else str(value)


def _set_rows(example: Example, tables: dict[str, list[list]]) -> None:
    item_roots, tips = [], []
    for row in read_words(example.rows):
        marks = row["marks"].split()
        [reason] = [mark for mark in marks if mark not in {"item_root", "tip", "held"}] or [""]
        is_held = "held" in marks
        validity = [_flag(not reason and not is_held), _flag(is_held), "no_known_prev" if is_held else reason]
        needed = [_flag("item_root" in marks), _flag("tip" in marks), row["purpose"]]
        tables["expected_set_messages"].append([example.name, row["message"], *validity, row["position"], *needed])
        item_roots += [row["message"]] * ("item_root" in marks)
        tips += [row["message"]] * ("tip" in marks)
    items = read_words(example.items)
    for position, row in enumerate(items):
        tables["expected_set_items"].append([example.name, row["item"], position, row["by"]])
    shape = [example.count, example.invalid, _cell(example.depth)]
    names = json.dumps([row["item"] for row in items])
    # No example is so deep that ghosts would be forgotten.
    ghosts = "" if example.required is None else 0
    needed = [_cell(example.required), ghosts, _cell(example.squeeze)]
    tables["expected_sets"].append(
        [example.name, example.root_status, *shape, names, " ".join(item_roots), *needed, " ".join(tips)]
    )
    for row in read_words(example.faults):
        place = [example.name, row["message"], row["item"]]
        tables["expected_set_writer_faults"].append([*place, row["rule"], row["left_out"]])


HEADERS = {
    "pzp_fixture_log": "source_file line raw_base64",
    "pzp_fixture_letters": "example letter message_id",
    "expected_set_messages": "example letter is_valid is_held reject_reason position is_item_root is_tip purpose",
    "expected_set_items": "example item item_position added_by",
    "expected_sets": "example root_status message_count invalid_count max_depth items item_roots min_required_depth"
    " min_ghost_depth squeeze_potential tips",
    "expected_set_writer_faults": "example letter item rule left_out",
    "expected_pzp_rejects": "source_file line reason",
}


def make_tables() -> dict[str, list[list]]:
    """Return the rows of each seed, by its name."""
    tables: dict[str, list[list]] = {name: [] for name in HEADERS}
    stages = publish()
    lines: dict[str, list[tuple[bytes, str]]] = {GROWTH: [], RULES: [], MALFORMED: malformed()}
    for stage in stages:
        example = stage.example
        lines[example.file] += stage.lines
        letters = dict(stage.ids)
        if example.borrowed:
            lender = next(other for other in stages if other.example.name == example.borrowed)
            named = [row["message"] for row in read_words(example.rows)]
            letters |= {letter: lender.ids[letter] for letter in named if letter not in letters}
        for letter, message_id in letters.items():
            tables["pzp_fixture_letters"].append([example.name, letter, message_id])
        _set_rows(example, tables)
    for file, found in lines.items():
        # It is not by its place that a line means anything.
        shuffled = found if file == MALFORMED else sorted(found, key=lambda line: hashlib.sha256(line[0]).digest())
        for number, (line, refused) in enumerate(shuffled, start=1):
            tables["pzp_fixture_log"].append([file, number, b64encode(line).decode()])
            if refused:
                tables["expected_pzp_rejects"].append([file, number, refused])
    return tables


def main(argv: list[str] | None = None) -> int:
    """Write the seeds, or compare them with what is there."""
    return seed_files.main(SEEDS, HEADERS, make_tables, argv)


if __name__ == "__main__":
    sys.exit(main())
