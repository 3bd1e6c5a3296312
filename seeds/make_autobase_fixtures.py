"""Write the seeds below `seeds/autobase/`: the logs of small bases, and what each must come to.

Source: the Autobase design document, whose figures are published here as logs; the rules that it leaves open are those
of autobase 7.28.1, one small base for each. What a base must come to stands beside it: stated by the document, answered
by peers that run autobase, or worked out by hand. Nothing of that is computed.

    python seeds/make_autobase_fixtures.py           # write the seeds
    python seeds/make_autobase_fixtures.py --check   # exit 1 where the seeds differ from what would be written

How to read a base (lists in a cell are separated by commas):

* A node is named as in the document: the letter of its writer, and its place in the writer's log, from 0. Its value is
  its name.
* `nodes`: a line of the log each. `batch` is how many nodes of the batch are left, itself included, if not 1; `how` is
  `ack`, or `loud` for another spelling of the same; the last column is why the node is set aside.
* `views`: what each observer sees, and how much of that, from its beginning, is confirmed. An observer who sees nothing
  has no line.
* `quorums`: where each degree over a node is reached, and through whom; `1-8` are the degrees from 1 to 8.
* `rows`: a line per node that is not set aside: whether it is a head, and how many indexers are or follow it.
* `design`: the views that the document states, as far as it does. `+` is behind a node that it says is settled, `-`
  behind one that it says is not.
"""

from __future__ import annotations

import hashlib
import json
import sys
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import seed_files
from seed_files import read_words

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "seeds" / "autobase"

EXAMPLES_FILE, MALFORMED_FILE = "examples.jsonl", "malformed.jsonl"

OK, INCOMPLETE, EMPTY = "ok", "incomplete", "empty"


@dataclass
class Example:
    """One base; the module's text says how to read it.

    `keys` are the letters in the order of the writers' keys, where that is not theirs. `others` are more lines of the
    base itself: how it is spelled, and why it is refused.
    """

    name: str
    nodes: str
    views: str = ""
    rows: str = ""
    quorums: str = ""
    design: str = ""
    indexers: str = "a b c"
    relayed: str = ""
    start: dict[str, int] = field(default_factory=dict)
    keys: str = "abcdef"
    others: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    is_known: bool = True  # whether there is a line of the base itself
    majority: int = 2
    confirmed: int = 0
    count: int = 0
    heads: int = 0
    lag: int = 0
    status: str = OK

    def key(self, letter: str) -> str:
        """Return a writer's key."""
        return "abcdef"[self.keys.index(letter)] * 64


# ---------------------------------------------------------------------------------------------------------------------
# The document's examples

# Linearisation: one after another. Three are settled, each by those of two further writers.
LINEAR = Example(
    "linear",
    nodes="""
        node  heads
        a0    -
        b0    a0
        c0    b0
        a1    c0
        b1    a1
    """,
    views="""
        observer  confirmed  order
        all       3          a0 b0 c0 a1 b1
        a         2          a0 b0 c0 a1
        b         3          a0 b0 c0 a1 b1
        c         1          a0 b0 c0
    """,
    rows="""
        node  head   votes
        a0    false  3
        b0    false  3
        c0    false  3
        a1    false  2
        b1    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
        a0    2       c0  b c
        a0    3       a1  a c
        a0    4       b1  a b
        b0    1       c0  b c
        b0    2       a1  a c
        b0    3       b1  a b
        c0    1       a1  a c
        c0    2       b1  a b
        a1    1       b1  a b
    """,
    design="""
        observer  order
        all       a0 b0 c0 a1 b1
    """,
    count=5,
    confirmed=3,
    heads=1,
    lag=2,
)

# Two begin side by side, and a third joins them: the keys decide. Nothing is settled, because nobody who could speak
# for either of the two has seen only that.
BRANCH = Example(
    "branch",
    nodes="""
        node  heads
        a0    -
        b0    -
        c0    a0,b0
        a1    c0
    """,
    views="""
        observer  confirmed  order
        all       0          a0 b0 c0 a1
        a         0          a0 b0 c0 a1
        b         0          b0
        c         0          a0 b0 c0
    """,
    rows="""
        node  head   votes
        a0    false  2
        b0    false  3
        c0    false  2
        a1    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       c0  a c
        a0    2       a1  a c
        b0    1       c0  b c
        b0    2       a1  a c
        c0    1       a1  a c
    """,
    design="""
        observer  order
        all       a0 b0 c0 a1
    """,
    count=4,
    heads=1,
    lag=4,
)

# The other of the document's two linearisations: only the keys of a and b are swapped.
BRANCH_KEYS_SWAPPED = Example(
    "branch_keys_swapped",
    keys="bacdef",
    nodes=BRANCH.nodes,
    views="""
        observer  confirmed  order
        all       0          b0 a0 c0 a1
        a         0          b0 a0 c0 a1
        b         0          b0
        c         0          b0 a0 c0
    """,
    rows=BRANCH.rows,
    quorums=BRANCH.quorums,
    design="""
        observer  order
        all       b0 a0 c0 a1
    """,
    count=4,
    heads=1,
    lag=4,
)

# The keys decide again and again. c's view, in Consistency, is not how the whole one begins.
#
# Quorums over c0: a1 and b0 are equally deep and each reaches degree 1, and so are b1 and c1, for degree 2. The lesser
# key is first.
RECURSIVE = Example(
    "recursive",
    nodes="""
        node  heads
        a0    -
        c0    -
        b0    a0,c0
        a1    a0,c0
        c1    b0
        b1    b0,a1
        b2    c1,b1
    """,
    views="""
        observer  confirmed  order
        all       0          a0 c0 a1 b0 b1 c1 b2
        a         0          a0 c0 a1
        b         0          a0 c0 a1 b0 b1 c1 b2
        c         0          a0 c0 b0 c1
    """,
    rows="""
        node  head   votes
        a0    false  3
        c0    false  3
        b0    false  2
        a1    false  2
        c1    false  2
        b1    false  1
        b2    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
        a0    2       c1  b c
        a0    3       b2  b c
        c0    1       a1  a c
        c0    2       b1  a b
        c0    3       b2  b c
        b0    1       c1  b c
        b0    2       b2  b c
        a1    1       b1  a b
        c1    1       b2  b c
    """,
    design="""
        observer  order
        all       a0 c0 a1 b0 b1 c1 b2
        c         a0 c0 b0 c1
    """,
    count=7,
    heads=1,
    lag=7,
)

# Quorums: the degrees over a0. What has a double quorum, and no contender, is settled; of the others the document says
# nothing. Peers settle b0 as well.
QUORUM_CHAIN = Example(
    "quorum_chain",
    nodes="""
        node  heads
        a0    -
        b0    a0
        c0    b0
        a1    c0
    """,
    views="""
        observer  confirmed  order
        all       2          a0 b0 c0 a1
        a         2          a0 b0 c0 a1
        b         0          a0 b0
        c         1          a0 b0 c0
    """,
    rows="""
        node  head   votes
        a0    false  3
        b0    false  3
        c0    false  2
        a1    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
        a0    2       c0  b c
        a0    3       a1  a c
        b0    1       c0  b c
        b0    2       a1  a c
        c0    1       a1  a c
    """,
    design="""
        observer  order
        all       a0+ b0 c0 a1
    """,
    count=4,
    confirmed=2,
    heads=1,
    lag=2,
)

# Condition for Consistency: a0 and c0 have a quorum each, c has a part in both, and b and c see different beginnings.
CONFLICT = Example(
    "conflict",
    nodes="""
        node  heads
        a0    -
        c0    -
        c1    a0,c0
        b0    c0
    """,
    views="""
        observer  confirmed  order
        all       0          a0 c0 b0 c1
        a         0          a0
        b         0          c0 b0
        c         0          a0 c0 c1
    """,
    rows="""
        node  head   votes
        a0    false  2
        c0    false  2
        c1    true   1
        b0    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       c1  a c
        c0    1       b0  b c
    """,
    design="""
        observer  order
        a         a0-
        b         c0- b0-
        c         a0- c0- c1-
    """,
    count=4,
    heads=2,
    lag=4,
)

# Higher Quorums: a is silent. The double quorum over c0 settles c0; whether also b0, up to which all can then be
# ordered, the document leaves open. Peers do not settle it.
HIGHER_QUORUMS = Example(
    "higher_quorums",
    nodes="""
        node  heads
        c0    -
        b0    c0
        c1    b0
    """,
    views="""
        observer  confirmed  order
        all       1          c0 b0 c1
        b         0          c0 b0
        c         1          c0 b0 c1
    """,
    rows="""
        node  head   votes
        c0    false  2
        b0    false  2
        c1    true   1
    """,
    quorums="""
        node  degree  at  writers
        c0    1       b0  b c
        c0    2       c1  b c
        b0    1       c1  b c
    """,
    design="""
        observer  order
        all       c0+ b0 c1
    """,
    count=3,
    confirmed=1,
    heads=1,
    lag=2,
)

# Consistent Ordering: a has settled a0, by a1, of which b and c do not know. They cannot but put it before b0 as well:
# so the keys would have it anyway.
CONSISTENT_ORDERING = Example(
    "consistent_ordering",
    nodes="""
        node  heads
        a0    -
        b0    -
        c0    a0
        a1    c0
        c1    b0,c0
        b1    c1
    """,
    views="""
        observer  confirmed  order
        all       1          a0 b0 c0 a1 c1 b1
        a         1          a0 c0 a1
        b         0          a0 b0 c0 c1 b1
        c         0          a0 b0 c0 c1
    """,
    rows="""
        node  head   votes
        a0    false  3
        b0    false  2
        c0    false  3
        a1    true   1
        c1    false  2
        b1    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       c0  a c
        a0    2       a1  a c
        b0    1       c1  b c
        b0    2       b1  b c
        c0    1       a1  a c
        c1    1       b1  b c
    """,
    design="""
        observer  order
        all       a0
        a         a0+ c0 a1
        b         a0
        c         a0
    """,
    count=6,
    confirmed=1,
    heads=2,
    lag=5,
)

# The same where the keys would have b0 first, and b and c have gone on. With c2 they settle c1, and below it a0 comes
# before b0 in spite of the keys. b, who has not seen c2, still has b0 first; of its order before that the document says
# the contrary, or nothing.
CONSISTENT_ORDERING_KEYS_SWAPPED = Example(
    "consistent_ordering_keys_swapped",
    keys="bacdef",
    nodes="""
        node  heads
        a0    -
        b0    -
        c0    a0
        a1    c0
        c1    b0,c0
        b1    c1
        c2    b1
    """,
    views="""
        observer  confirmed  order
        all       4          a0 b0 c0 c1 b1 a1 c2
        a         1          a0 c0 a1
        b         0          b0 a0 c0 c1 b1
        c         4          a0 b0 c0 c1 b1 c2
    """,
    rows="""
        node  head   votes
        a0    false  3
        b0    false  2
        c0    false  3
        a1    true   1
        c1    false  2
        b1    false  2
        c2    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       c0  a c
        a0    2       a1  a c
        a0    3       c2  b c
        b0    1       c1  b c
        b0    2       b1  b c
        b0    3       c2  b c
        c0    1       a1  a c
        c0    2       c2  b c
        c1    1       b1  b c
        c1    2       c2  b c
        b1    1       c2  b c
    """,
    design="""
        observer  order
        all       a0
        a         a0+ c0 a1
        c         a0+
    """,
    count=7,
    confirmed=4,
    heads=2,
    lag=3,
)

# ---------------------------------------------------------------------------------------------------------------------
# Rules

# Non-indexing Writer: c is the server, a and d are clients. What c has seen is settled in the order that c gave it, and
# every degree is reached at once.
ONE_INDEXER = Example(
    "one_indexer",
    indexers="c",
    nodes="""
        node  heads
        a0    -
        d0    -
        c0    a0,d0
        a1    c0
        d1    c0
        c1    a1
    """,
    views="""
        observer  confirmed  order
        all       5          a0 d0 c0 a1 c1 d1
        a         3          a0 d0 c0 a1
        c         5          a0 d0 c0 a1 c1
        d         3          a0 d0 c0 d1
    """,
    rows="""
        node  head   votes
        a0    false  1
        d0    false  1
        c0    false  1
        a1    false  1
        d1    true   0
        c1    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1-8     c0  c
        d0    1-8     c0  c
        c0    1-8     c0  c
        a1    1-8     c1  c
        c1    1-8     c1  c
    """,
    majority=1,
    count=6,
    confirmed=5,
    heads=2,
    lag=1,
)

# One ack settles what nobody is beside.
TWO_INDEXERS = Example(
    "two_indexers",
    indexers="a b",
    nodes="""
        node  heads  how
        a0    -      -
        b0    a0     ack
    """,
    views="""
        observer  confirmed  order
        all       1          a0 b0
        a         0          a0
        b         1          a0 b0
    """,
    rows="""
        node  head   votes
        a0    false  2
        b0    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
    """,
    count=2,
    confirmed=1,
    heads=1,
    lag=1,
)

NO_INDEXERS = Example(
    "no_indexers",
    indexers="",
    nodes="""
        node  heads
        a0    -
        b0    -
        a1    b0
    """,
    views="""
        observer  confirmed  order
        all       0          a0 b0 a1
        a         0          a0 b0 a1
        b         0          b0
    """,
    rows="""
        node  head   votes
        a0    false  0
        b0    false  0
        a1    true   0
    """,
    majority=1,
    count=3,
    heads=1,
    lag=3,
)

# Nodes without a value are votes like others, and have their place.
ACKS = Example(
    "acks",
    nodes="""
        node  heads  how
        a0    -      -
        b0    a0     ack
        a1    b0     ack
    """,
    views="""
        observer  confirmed  order
        all       1          a0 b0 a1
        a         1          a0 b0 a1
        b         0          a0 b0
    """,
    rows="""
        node  head   votes
        a0    false  2
        b0    false  2
        a1    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
        a0    2       a1  a b
        b0    1       a1  a b
    """,
    count=3,
    confirmed=1,
    heads=1,
    lag=2,
)

# What settles the first of a batch settles all of it.
BATCH = Example(
    "batch",
    nodes="""
        node  heads  batch
        a0    -      3
        a1    a0     2
        a2    a1     1
        b0    a2     1
        c0    b0     1
    """,
    views="""
        observer  confirmed  order
        all       3          a0 a1 a2 b0 c0
        a         0          a0 a1 a2
        b         0          a0 a1 a2 b0
        c         3          a0 a1 a2 b0 c0
    """,
    rows="""
        node  head   votes
        a0    false  3
        a1    false  3
        a2    false  3
        b0    false  2
        c0    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
        a0    2       c0  b c
        a1    1       b0  a b
        a1    2       c0  b c
        a2    1       b0  a b
        a2    2       c0  b c
        b0    1       c0  b c
    """,
    count=5,
    confirmed=3,
    heads=1,
    lag=2,
)

# Relayed Writer: f is relayed. a0 is settled; b0, through which f0 comes in, is not. Nobody follows f1, which is no
# head for that. f itself, who has seen nobody's settled node above its own, does not see them either.
RELAYED_WAITING = Example(
    "relayed_waiting",
    indexers="a b",
    relayed="f",
    nodes="""
        node  heads
        a0    -
        f0    a0
        b0    f0
        f1    -
    """,
    views="""
        observer  confirmed  order
        all       1          a0 b0
        a         0          a0
        b         1          a0 b0
        f         0          a0
    """,
    rows="""
        node  head   votes
        a0    false  2
        f0    false  1
        b0    true   1
        f1    false  0
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
    """,
    count=4,
    confirmed=1,
    heads=1,
    lag=3,
)

# The same once a has acked b0: now f0 is in, before b0.
RELAYED_CONFIRMED = Example(
    "relayed_confirmed",
    indexers="a b",
    relayed="f",
    nodes="""
        node  heads  how
        a0    -      -
        f0    a0     -
        b0    f0     -
        f1    -      -
        a1    b0     ack
    """,
    views="""
        observer  confirmed  order
        all       3          a0 f0 b0 a1
        a         3          a0 f0 b0 a1
        b         1          a0 b0
        f         0          a0
    """,
    rows="""
        node  head   votes
        a0    false  2
        f0    false  2
        b0    false  2
        f1    false  0
        a1    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
        a0    2       a1  a b
        f0    1       a1  a b
        b0    1       a1  a b
    """,
    count=5,
    confirmed=3,
    heads=1,
    lag=2,
)

# After a change of the indexers: logs go on from what was settled before, and heads down there count nothing. d does
# not index and has a start as well.
RESTART = Example(
    "restart",
    start={"a": 2, "b": 1, "c": 1, "d": 3},
    nodes="""
        node  heads
        a2    b0,c0
        b1    a2
        c1    b1
        d3    b1,d2
    """,
    views="""
        observer  confirmed  order
        all       1          a2 b1 c1 d3
        a         0          a2
        b         0          a2 b1
        c         1          a2 b1 c1
        d         0          a2 b1 d3
    """,
    rows="""
        node  head   votes
        a2    false  3
        b1    false  2
        c1    true   1
        d3    true   0
    """,
    quorums="""
        node  degree  at  writers
        a2    1       b1  a b
        a2    2       c1  b c
        b1    1       c1  b c
    """,
    count=4,
    confirmed=1,
    heads=2,
    lag=3,
)

NO_NODES = Example("no_nodes", nodes="", status=EMPTY)

# ---------------------------------------------------------------------------------------------------------------------
# Broken input

# b1 and d0 never came.
HOLE = Example(
    "hole",
    nodes="""
        node  heads  reason
        a0    -      -
        b0    a0     -
        a1    b0     -
        b2    a1     hole
        b3    -      previous_set_aside
        c0    b3     previous_set_aside
        d1    a0     hole
    """,
    views="""
        observer  confirmed  order
        all       1          a0 b0 a1
        a         1          a0 b0 a1
        b         0          a0 b0
    """,
    rows="""
        node  head   votes
        a0    false  2
        b0    false  2
        a1    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
        a0    2       a1  a b
        b0    1       a1  a b
    """,
    count=3,
    confirmed=1,
    heads=1,
    lag=2,
    status=INCOMPLETE,
)

# b4 is not there, and of e there is nothing at all.
MISSING_HEAD = Example(
    "missing_head",
    nodes="""
        node  heads  reason
        a0    -      -
        b0    a0     -
        a1    b4     missing_head
        a2    b0     previous_set_aside
        c0    b0,e0  unknown_writer
        d0    c0     previous_set_aside
    """,
    views="""
        observer  confirmed  order
        all       0          a0 b0
        a         0          a0
        b         0          a0 b0
    """,
    rows="""
        node  head   votes
        a0    false  2
        b0    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
    """,
    count=2,
    heads=1,
    lag=2,
    status=INCOMPLETE,
)

CYCLE = Example(
    "cycle",
    nodes="""
        node  heads  reason
        a0    -      -
        c0    a0     -
        b0    a1     cycle
        a1    b0     cycle
        b1    c0     previous_set_aside
        c1    b0     previous_set_aside
    """,
    views="""
        observer  confirmed  order
        all       0          a0 c0
        a         0          a0
        c         0          a0 c0
    """,
    rows="""
        node  head   votes
        a0    false  2
        c0    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       c0  a c
    """,
    count=2,
    heads=1,
    lag=2,
    status=INCOMPLETE,
)

# b says two things about what it follows, d about what it has to say.
EQUIVOCATION = Example(
    "equivocation",
    nodes="""
        node  heads  how  reason
        a0    -      -    -
        c0    a0     -    -
        b0    a0     -    equivocation
        b0    -      -    equivocation
        b1    -      -    previous_set_aside
        c1    b0     -    previous_set_aside
        d0    a0     -    equivocation
        d0    a0     ack  equivocation
    """,
    views=CYCLE.views,
    rows=CYCLE.rows,
    quorums=CYCLE.quorums,
    count=2,
    heads=1,
    lag=2,
    status=INCOMPLETE,
)

# Behind a node with two more to come there is one with none.
BATCH_COUNTDOWN = Example(
    "batch_countdown",
    nodes="""
        node  heads  batch  reason
        a0    -      3      -
        a1    -      1      bad_batch
        a2    -      1      previous_set_aside
        c0    -      1      -
    """,
    views="""
        observer  confirmed  order
        all       0          a0 c0
        a         0          a0
        c         0          c0
    """,
    rows="""
        node  head  votes
        a0    true  1
        c0    true  1
    """,
    count=2,
    heads=2,
    lag=2,
    status=INCOMPLETE,
)

BATCH_MIDDLE = Example(
    "batch_middle",
    nodes="""
        node  heads  batch  reason
        a0    -      3      -
        a1    -      2      -
        a2    -      1      -
        b0    a1     1      bad_batch
        b1    a2     1      previous_set_aside
        c0    a2     1      -
    """,
    views="""
        observer  confirmed  order
        all       0          a0 a1 a2 c0
        a         0          a0 a1 a2
        c         0          a0 a1 a2 c0
    """,
    rows="""
        node  head   votes
        a0    false  2
        a1    false  2
        a2    false  2
        c0    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       c0  a c
        a1    1       c0  a c
        a2    1       c0  a c
    """,
    count=4,
    heads=1,
    lag=4,
    status=INCOMPLETE,
)

UNKNOWN_BASE = Example(
    "unknown_base",
    is_known=False,
    nodes="""
        node  heads  reason
        a0    -      unknown_base
        b0    a0     unknown_base
    """,
)

# The base comes three times: the second time it says the same, the third time something else.
CONFLICTING_BASE = Example(
    "conflicting_base",
    indexers="a b",
    others=[
        ({"relayed": [], "indexers": ["B" * 64, "a" * 64, "b" * 64], "start": None}, ""),
        ({"indexers": ["a" * 64, "c" * 64]}, "conflicting_base"),
    ],
    nodes="""
        node  heads
        a0    -
        b0    a0
        c0    a0
    """,
    views="""
        observer  confirmed  order
        all       1          a0 b0 c0
        a         0          a0
        b         1          a0 b0
        c         0          a0 c0
    """,
    rows="""
        node  head   votes
        a0    false  2
        b0    true   1
        c0    true   0
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
    """,
    count=3,
    confirmed=1,
    heads=2,
    lag=2,
)

# a's log was settled up to a1, which is here all the same.
BEFORE_START = Example(
    "before_start",
    indexers="a b",
    start={"a": 2},
    nodes="""
        node  heads  reason
        a0    -      before_start
        a1    -      before_start
        b0    a1     -
        a2    b0     -
    """,
    views="""
        observer  confirmed  order
        all       1          b0 a2
        a         1          b0 a2
        b         0          b0
    """,
    rows="""
        node  head   votes
        b0    false  2
        a2    true   1
    """,
    quorums="""
        node  degree  at  writers
        b0    1       a2  a b
    """,
    count=2,
    confirmed=1,
    heads=1,
    lag=1,
    status=OK,
)

# A node may come more than once, and in another spelling; what is wrong with it is wrong with all its lines.
REPEATED = Example(
    "repeated",
    nodes="""
        node  heads  how   reason
        a0    -      -     -
        a0    -      loud  -
        b0    a0     -     -
        b0    a0     -     -
        b1    -      -     -
        b1    -      loud  -
        c0    a7,b0  -     missing_head
        c0    a7,b0  loud  missing_head
        c1    -      -     previous_set_aside
        c1    -      -     previous_set_aside
    """,
    views="""
        observer  confirmed  order
        all       0          a0 b0 b1
        a         0          a0
        b         0          a0 b0 b1
    """,
    rows="""
        node  head   votes
        a0    false  2
        b0    false  1
        b1    true   1
    """,
    quorums="""
        node  degree  at  writers
        a0    1       b0  a b
    """,
    count=3,
    heads=1,
    lag=3,
    status=INCOMPLETE,
)

EXAMPLES = [
    LINEAR,
    BRANCH,
    BRANCH_KEYS_SWAPPED,
    RECURSIVE,
    QUORUM_CHAIN,
    CONFLICT,
    HIGHER_QUORUMS,
    CONSISTENT_ORDERING,
    CONSISTENT_ORDERING_KEYS_SWAPPED,
    ONE_INDEXER,
    TWO_INDEXERS,
    NO_INDEXERS,
    ACKS,
    BATCH,
    RELAYED_WAITING,
    RELAYED_CONFIRMED,
    RESTART,
    NO_NODES,
    HOLE,
    MISSING_HEAD,
    CYCLE,
    EQUIVOCATION,
    BATCH_COUNTDOWN,
    BATCH_MIDDLE,
    UNKNOWN_BASE,
    CONFLICTING_BASE,
    BEFORE_START,
    REPEATED,
]

# ---------------------------------------------------------------------------------------------------------------------
# Lines that are neither

A, B = "a" * 64, "b" * 64
BASE = {"base": "linear", "indexers": [A, B]}
NODE = {"base": "linear", "writer": A, "length": 3, "heads": [[B, 2]], "batch": 1, "value": "a2"}


def _but(document: dict[str, Any], **fields: Any) -> bytes:
    """Return a line with other fields; those that are None go."""
    return json.dumps({k: v for k, v in (document | fields).items() if v is not None}).encode()


# They name a base from above, whose tables must not change.
MALFORMED: list[tuple[bytes, str]] = [
    (b"\xff\xfe", "invalid_utf8"),
    (b'{"base":"\xe9"}', "invalid_utf8"),
    (b"", "malformed_json"),
    (b" \t", "malformed_json"),
    (b"\0", "malformed_json"),
    (b"a line of something else", "malformed_json"),
    (_but(NODE)[:-1], "malformed_json"),
    (b"null", "not_an_object"),
    (b"[]", "not_an_object"),
    (b'"linear"', "not_an_object"),
    (b"{}", "no_base"),
    (_but(NODE, base=None), "no_base"),
    (_but(NODE, base=""), "no_base"),
    (_but(BASE, base=7), "no_base"),
    (_but(BASE, base="\ud800"), "no_base"),
    (b'{"base":"linear"}', "neither"),
    (_but(BASE, indexers=None, relayed=[A]), "neither"),
    (_but(BASE, indexers=A), "bad_indexers"),
    (_but(BASE, indexers=[A, None]), "bad_indexers"),
    (_but(BASE, indexers=[A, B[1:]]), "bad_indexers"),
    (_but(BASE, relayed={}), "bad_relayed"),
    (_but(BASE, relayed=["c"]), "bad_relayed"),
    (_but(BASE, relayed=["c" * 64, B.upper()]), "bad_roles"),
    (_but(BASE, start=[A]), "bad_start"),
    (_but(BASE, start={"a": 1}), "bad_start"),
    (_but(BASE, start={A: -1}), "bad_start"),
    (_but(BASE, start={A: 1, A.upper(): 1}), "bad_start"),
    (_but(NODE, writer=None), "bad_writer"),
    (_but(NODE, writer=7), "bad_writer"),
    (_but(NODE, writer="g" * 64), "bad_writer"),
    (_but(NODE, length=None), "bad_length"),
    (_but(NODE, length=0), "bad_length"),
    (_but(NODE, length=3.0), "bad_length"),
    (_but(NODE, length=True), "bad_length"),
    (_but(NODE, length=2**31), "bad_length"),
    (_but(NODE, heads=None), "bad_heads"),
    (_but(NODE, heads={B: 2}), "bad_heads"),
    (_but(NODE, heads=[B, 2]), "bad_heads"),
    (_but(NODE, heads=[[B, 0]]), "bad_heads"),
    (_but(NODE, heads=[[B, 2], [B, 1]]), "bad_heads"),
    (_but(NODE, heads=[[A, 3]]), "bad_heads"),
    (_but(NODE, batch=0), "bad_batch"),
    (_but(NODE, batch="1"), "bad_batch"),
]

# ---------------------------------------------------------------------------------------------------------------------
# Reading the tables above, and writing the seeds


def _list(cell: str) -> list[str]:
    return cell.split(",") if cell else []


def _link(example: Example, node: str) -> list:
    return [example.key(node[0]), int(node[1:]) + 1]


def _base_lines(example: Example) -> list[tuple[bytes, str]]:
    if not example.is_known:
        return []
    base: dict[str, Any] = {"indexers": [example.key(letter) for letter in example.indexers.split()]}
    if example.relayed:
        base["relayed"] = [example.key(letter) for letter in example.relayed.split()]
    if example.start:
        base["start"] = {example.key(letter): length for letter, length in example.start.items()}
    return [(json.dumps({"base": example.name} | b).encode(), reason) for b, reason in [(base, ""), *example.others]]


def _node_lines(example: Example) -> list[tuple[bytes, str]]:
    lines = []
    for row in read_words(example.nodes):
        name, how = row["node"], row.get("how")
        writer, length = _link(example, name)
        line = {"base": example.name, "writer": writer, "length": length}
        line["heads"] = [_link(example, head) for head in _list(row["heads"])]
        line |= {"batch": int(row.get("batch") or 1), "value": None if how == "ack" else name}
        if how == "loud":
            # Capitals, the heads backwards and the writer's own node among them, no batch, and more than is asked for.
            own = [[writer.upper(), length - 1]] if length > 1 else []
            loud = {"value": name, "seen": True, "heads": own + line["heads"][::-1]}
            line = loud | {"length": length, "writer": writer.upper(), "base": example.name}
        lines.append((json.dumps(line).encode(), row.get("reason", "")))
    return lines


def _letters(example: Example) -> list[str]:
    named = {row["node"][0] for row in read_words(example.nodes)}
    return sorted(named.union(example.indexers.split(), example.relayed.split(), example.start))


def _role(example: Example, node: str) -> str:
    if node[0] in example.indexers.split():
        return "indexing"
    return "relayed" if node[0] in example.relayed.split() else "non_indexing"


def _flag(value: bool) -> str:
    return "true" if value else "false"


HEADERS = {
    "autobase_fixture_log": "source_file line raw_base64",
    "autobase_fixture_writers": "example letter writer",
    "expected_autobase_views": "example observer position node is_confirmed is_ack",
    "expected_autobase_views_design": "example observer position node is_confirmed",
    "expected_autobase_quorums": "example node degree reached_at writers",
    "expected_autobase_nodes": "example node role is_head votes",
    "expected_autobase_bases": "example indexer_count majority node_count confirmed_length head_count lag status",
    "expected_autobase_rejects": "source_file line reason",
}


def _fill(example: Example, tables: dict[str, list[list]]) -> None:
    """Add what an example must come to."""
    name = example.name
    tables["autobase_fixture_writers"] += [[name, letter, example.key(letter)] for letter in _letters(example)]
    if not example.is_known:
        return
    acks = {row["node"] for row in read_words(example.nodes) if row.get("how") == "ack"}
    for view in read_words(example.views):
        for position, node in enumerate(view["order"].split()):
            flags = [_flag(position < int(view["confirmed"])), _flag(node in acks)]
            tables["expected_autobase_views"].append([name, view["observer"], position, node, *flags])
    for view in read_words(example.design):
        for position, word in enumerate(view["order"].split()):
            stated = {"+": "true", "-": "false"}.get(word[-1], "")
            tables["expected_autobase_views_design"].append(
                [name, view["observer"], position, word.rstrip("+-"), stated]
            )
    for row in read_words(example.quorums):
        first, _, last = row["degree"].partition("-")
        for degree in range(int(first), int(last or first) + 1):
            tables["expected_autobase_quorums"].append([name, row["node"], degree, row["at"], row["writers"]])
    for row in read_words(example.rows):
        role = _role(example, row["node"])
        tables["expected_autobase_nodes"].append([name, row["node"], role, row["head"], row["votes"]])
    numbers = [len(example.indexers.split()), example.majority, example.count, example.confirmed, example.heads]
    tables["expected_autobase_bases"].append([name, *numbers, example.lag, example.status])


def make_tables() -> dict[str, list[list]]:
    """Return the rows of each seed, by its name."""
    tables: dict[str, list[list]] = {name: [] for name in HEADERS}
    lines = [line for example in EXAMPLES for line in _base_lines(example) + _node_lines(example)]
    # It is not by its place that a line means anything.
    lines.sort(key=lambda line: hashlib.sha256(line[0]).digest())
    for file, found in {EXAMPLES_FILE: lines, MALFORMED_FILE: MALFORMED}.items():
        for number, (line, reason) in enumerate(found, start=1):
            tables["autobase_fixture_log"].append([file, number, b64encode(line).decode()])
            if reason:
                tables["expected_autobase_rejects"].append([file, number, reason])
    for example in EXAMPLES:
        _fill(example, tables)
    return tables


def main(argv: list[str] | None = None) -> int:
    """Write the seeds, or compare them with what is there."""
    return seed_files.main(SEEDS, HEADERS, make_tables, argv)


if __name__ == "__main__":
    sys.exit(main())
