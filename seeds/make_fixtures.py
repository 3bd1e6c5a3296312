"""Write the seeds below `seeds/ssb/`: worked examples, really signed, and what each must come to.

Two documents work examples out: "Tangles" (of the private groups' specification) and the SSB improvement proposal of
the same name. Each example is published here with keys of its own, and beside it stands, worked out by hand, what it
must come to: a table per tangle, and what peers make of private groups. seeds/group_examples.py has more of the latter.
Nothing of that is computed by the project, whose answers are compared with it.

    python seeds/make_fixtures.py           # write the seeds
    python seeds/make_fixtures.py --check   # exit 1 where the seeds differ from what would be written

How to read the expectations:

* `feeds`: who published what, in the order of the feed. `alice: A X M`.
* `rows`: a line per candidate. Under `previous` the letters that the message lists. `position` is by depth, then id;
  `thread` by causality, then min(asserted, received); `asserted` by the author's timestamp alone. The marks are `root`,
  `tip`, `fork`, `merge`, or the reason for which a message is set aside.
* `edges`: `C>A!` is a redundant edge, which another path implies.
* `ancestors`: `M: X1 B2` says that X is one step and B at most two steps before M.
* `tips`: `Y: X Y` says that once Y had been received (after those before it) X and Y were the tips.

Of private groups (lists in a cell are separated by commas):

* `epochs`: a line per epoch. `added` to `returned` count people; `tips` and `preference` are the group's. The marks are
  `tip`, `preferred`, and `no_answer` where peers give up and the rule alone decides.
* `people`: a line per epoch and person that is added to it, excluded in it or missing from it. The marks are `member`,
  `missing`, `returned`. Of several adds the one with the least id comes first.
* `group_messages`: a line per message of a group's types that is in the log and can be read. `reason` is why peers do
  not count it. The mark is `connected`.
* `findings`: a line per finding, with the messages that show it.
"""

from __future__ import annotations

import sys
from base64 import b64encode
from pathlib import Path

import group_seeds
import seed_files
from group_examples import GROUP_EXAMPLES
from seed_files import read_words
from ssb_example import PRIVATE_GROUPS, WORKED_EXAMPLES, Example, Tangle, flag, listed, lone, pairs, stage_of
from ssb_stage import NO_LINKS, Group, Stage

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "seeds" / "ssb"
DAMAGED = ROOT / "tests" / "data" / "ssb" / "small.jsonl"

# ---------------------------------------------------------------------------------------------------------------------
# Examples


def _thread(
    stage: Stage, letter: str, by: str, asserted: float, received: float | None = None, previous: str = ""
) -> None:
    """Publish a post of the thread that starts with A; `previous` holds letters."""
    ids = {name: message.key for name, message in stage.messages.items()}
    entry = {"root": ids["A"], "previous": [ids[p] for p in previous.split()]} if previous else NO_LINKS
    said = f"{letter}, after {' and '.join(previous.split())}" if previous else f"{letter}, the first of its thread"
    stage.publish(letter, by, {"type": "post", "text": said, "tangles": {"thread": entry}}, asserted, received)


def feed_abcd(stage: Stage) -> None:
    """Both documents: a classic feed is a chain.

    One of them shows d as `sequence: 3, previous: d`, a slip: no message can hold its own id. The other has the row as
    it must be, sequence 4 after c.
    """
    for step, letter in enumerate("abcd"):
        stage.publish(letter, "alice", {"type": "post", "text": f"{letter}, a message of a feed"}, step * 60)


FEED_ABCD = Example("feed_abcd", feed_abcd, feeds="alice: a b c d")


def multi_author(stage: Stage) -> None:
    """Both documents: X and Y are published without knowledge of one another, M knows both."""

    def write(letter: str, by: str, at: float, previous: str = "") -> None:
        ids = {name: message.key for name, message in stage.messages.items()}
        entry = {"root": ids["A"], "previous": [ids[p] for p in previous.split()]} if previous else NO_LINKS
        stage.publish(letter, by, {"type": "record/edit", "field": letter, "tangles": {"record": entry}}, at)

    write("A", "alice", 0)
    write("B", "bob", 60, "A")
    write("X", "alice", 120, "B")
    write("Y", "bob", 180, "B")
    write("M", "alice", 240, "X Y")


MULTI_AUTHOR = Example(
    "multi_author",
    multi_author,
    feeds="alice: A X M; bob: B Y",
    ids_in_order="Y X",
    tangles=[
        Tangle(
            "record",
            "A",
            """
            message  previous  depth  position  thread  asserted  marks
            A        -         0      0         0       0         root
            B        A         1      1         1       1         fork
            X        B         2      3         2       2         -
            Y        B         2      2         3       3         -
            M        X,Y       3      4         4       4         tip merge
            """,
            edges="B>A X>B Y>B M>X M>Y",
            ancestors="B: A1; X: B1 A2; Y: B1 A2; M: X1 Y1 B2 A3",
            tips="A: A; B: B; X: X; Y: X Y; M: M",
            depth=3,
            width=2,
            authors=2,
            members=5,
            edge_count=5,
            forks=1,
            merges=1,
            misordered=0,
        )
    ],
)


def thread_a(stage: Stage) -> None:
    """The proposal's origin story, (a): by timestamps alone B is before A, which it answers: B's clock is slow."""
    _thread(stage, "A", "alice", 0)
    _thread(stage, "B", "bob", -600, 62, "A")
    _thread(stage, "C", "carol", 120, previous="B")
    _thread(stage, "D", "dave", 180, previous="B")
    _thread(stage, "E", "alice", 240, previous="C D")


THREAD_A = Example(
    "thread_a",
    thread_a,
    feeds="alice: A E; bob: B; carol: C; dave: D",
    ids_in_order="D C",
    tangles=[
        Tangle(
            "thread",
            "A",
            """
            message  previous  depth  position  thread  asserted  marks
            A        -         0      0         0       1         root
            B        A         1      1         1       0         fork
            C        B         2      3         2       2         -
            D        B         2      2         3       3         -
            E        C,D       3      4         4       4         tip merge
            """,
            edges="B>A C>B D>B E>C E>D",
            ancestors="B: A1; C: B1 A2; D: B1 A2; E: C1 D1 B2 A3",
            tips="A: A; B: B; C: C; D: C D; E: E",
            depth=3,
            width=2,
            authors=4,
            members=5,
            edge_count=5,
            forks=1,
            merges=1,
            misordered=1,
        )
    ],
)


def thread_b(stage: Stage) -> None:
    """The origin story, (b): each message lists all that its author knew of. D did not know of C."""
    _thread(stage, "A", "alice", 0)
    _thread(stage, "B", "bob", 60, previous="A")
    _thread(stage, "C", "carol", 120, previous="A B")
    _thread(stage, "D", "dave", 180, previous="A B")
    _thread(stage, "E", "alice", 240, previous="A B C D")


THREAD_B = Example(
    "thread_b",
    thread_b,
    feeds="alice: A E; bob: B; carol: C; dave: D",
    ids_in_order="C D",
    tangles=[
        Tangle(
            "thread",
            "A",
            """
            message  previous  depth  position  thread  asserted  marks
            A        -         0      0         0       0         root fork
            B        A         1      1         1       1         fork
            C        A,B       2      2         2       2         merge
            D        A,B       2      3         3       3         merge
            E        A,B,C,D   3      4         4       4         tip merge
            """,
            edges="B>A C>A! C>B D>A! D>B E>A! E>B! E>C E>D",
            ancestors="B: A1; C: B1 A2; D: B1 A2; E: C1 D1 B2 A3",
            tips="A: A; B: B; C: C; D: C D; E: E",
            depth=3,
            width=2,
            authors=4,
            members=5,
            edge_count=9,
            forks=2,
            merges=3,
            misordered=0,
        )
    ],
)


def thread_c(stage: Stage) -> None:
    """The origin story, (c): each message lists only the tips. The rest follows: C is after B and A, E after all."""
    _thread(stage, "A", "alice", 0)
    _thread(stage, "B", "bob", 60, previous="A")
    _thread(stage, "C", "carol", 120, previous="B")
    _thread(stage, "D", "dave", 180, previous="B")
    _thread(stage, "E", "alice", 240, previous="C D")


THREAD_C = Example(
    "thread_c",
    thread_c,
    feeds="alice: A E; bob: B; carol: C; dave: D",
    ids_in_order="D C",
    tangles=[
        Tangle(
            "thread",
            "A",
            """
            message  previous  depth  position  thread  asserted  marks
            A        -         0      0         0       0         root
            B        A         1      1         1       1         fork
            C        B         2      3         2       2         -
            D        B         2      2         3       3         -
            E        C,D       3      4         4       4         tip merge
            """,
            edges="B>A C>B D>B E>C E>D",
            ancestors="B: A1; C: B1 A2; D: B1 A2; E: C1 D1 B2 A3",
            tips="A: A; B: B; C: C; D: C D; E: E",
            depth=3,
            width=2,
            authors=4,
            members=5,
            edge_count=5,
            forks=1,
            merges=1,
            misordered=0,
        )
    ],
)


def thread_d(stage: Stage) -> None:
    """The origin story, (d): ties are broken by min(asserted, received).

    The diagram's dotted arrow runs from C to D, and as each of its arrows runs from the later to the earlier message, D
    comes first. D's clock is a day ahead: by asserted timestamps alone C would come first. (The document's snippet of
    code subtracts the other way round, newest first, while its diagrams read oldest first; the diagrams are followed.)
    """
    _thread(stage, "A", "alice", 0)
    _thread(stage, "B", "bob", 60, previous="A")
    _thread(stage, "C", "carol", 400, previous="B")
    _thread(stage, "D", "dave", 86_400, 302, previous="B")
    _thread(stage, "E", "alice", 500, previous="C D")


THREAD_D = Example(
    "thread_d",
    thread_d,
    feeds="alice: A E; bob: B; carol: C; dave: D",
    ids_in_order="C D",
    tangles=[
        Tangle(
            "thread",
            "A",
            """
            message  previous  depth  position  thread  asserted  marks
            A        -         0      0         0       0         root
            B        A         1      1         1       1         fork
            C        B         2      2         3       2         -
            D        B         2      3         2       4         -
            E        C,D       3      4         4       3         tip merge
            """,
            edges="B>A C>B D>B E>C E>D",
            ancestors="B: A1; C: B1 A2; D: B1 A2; E: C1 D1 B2 A3",
            tips="A: A; B: B; D: D; C: C D; E: E",
            depth=3,
            width=2,
            authors=4,
            members=5,
            edge_count=5,
            forks=1,
            merges=1,
            misordered=1,
        )
    ],
)


def thread_d_mirrored(stage: Stage) -> None:
    """Form (d) the other way round: C, asserted early, comes first, although it was received last, after E even."""
    _thread(stage, "A", "alice", 0)
    _thread(stage, "B", "bob", 60, previous="A")
    _thread(stage, "C", "carol", 250, 900, previous="B")
    _thread(stage, "D", "dave", 86_400, 302, previous="B")
    _thread(stage, "E", "alice", 500, previous="C D")


THREAD_D_MIRRORED = Example(
    "thread_d_mirrored",
    thread_d_mirrored,
    feeds="alice: A E; bob: B; carol: C; dave: D",
    ids_in_order="D C",
    tangles=[
        Tangle(
            "thread",
            "A",
            """
            message  previous  depth  position  thread  asserted  marks
            A        -         0      0         0       0         root
            B        A         1      1         1       1         fork
            C        B         2      3         2       2         -
            D        B         2      2         3       4         -
            E        C,D       3      4         4       3         tip merge
            """,
            edges="B>A C>B D>B E>C E>D",
            ancestors="B: A1; C: B1 A2; D: B1 A2; E: C1 D1 B2 A3",
            tips="A: A; B: B; D: D; E: D; C: E",  # until C is here, E has to wait
            depth=3,
            width=2,
            authors=4,
            members=5,
            edge_count=5,
            forks=1,
            merges=1,
            misordered=1,
        )
    ],
)


def thread_f(stage: Stage) -> None:
    """The proposal's section 3: a new message F has to list E alone, and follows all five."""
    thread_c(stage)
    _thread(stage, "F", "bob", 300, previous="E")


THREAD_F = Example(
    "thread_f",
    thread_f,
    feeds="alice: A E; bob: B F; carol: C; dave: D",
    ids_in_order="C D",
    tangles=[
        Tangle(
            "thread",
            "A",
            """
            message  previous  depth  position  thread  asserted  marks
            A        -         0      0         0       0         root
            B        A         1      1         1       1         fork
            C        B         2      2         2       2         -
            D        B         2      3         3       3         -
            E        C,D       3      4         4       4         merge
            F        E         4      5         5       5         tip
            """,
            edges="B>A C>B D>B E>C E>D F>E",
            ancestors="B: A1; C: B1 A2; D: B1 A2; E: C1 D1 B2 A3; F: E1 C2 D2 B3 A4",
            tips="A: A; B: B; C: C; D: C D; E: E; F: F",
            depth=4,
            width=2,
            authors=4,
            members=6,
            edge_count=6,
            forks=1,
            merges=1,
            misordered=0,
        )
    ],
)


def group_members(stage: Stage) -> None:
    """The members tangle's diagram: a group, Alice added, then Bob and Carol, on a feed of additions."""
    group = Group(stage)
    group.init("init_0", "epoch_0", 0)
    group.add("add_0_0", "additions", 60, who="Alice", epoch="init_0", group="init_0", members="init_0")
    group.add("add_0_1", "additions", 120, who="Bob Carol", epoch="init_0", group="add_0_0", members="add_0_0")


GROUP_MEMBERS_CHAIN = dict(
    rows="""
        message  previous  depth  position  thread  asserted  marks
        init_0   -         0      0         0       0         root
        add_0_0  init_0    1      1         1       1         -
        add_0_1  add_0_0   2      2         2       2         tip
    """,
    edges="add_0_0>init_0 add_0_1>add_0_0",
    ancestors="add_0_0: init_0 1; add_0_1: add_0_0 1 init_0 2",
    tips="init_0: init_0; add_0_0: add_0_0; add_0_1: add_0_1",
    depth=2,
    width=1,
    authors=2,
    members=3,
    edge_count=2,
    forks=0,
    merges=0,
    misordered=0,
)

GROUP_MEMBERS = Example(
    "group_members",
    group_members,
    feeds="epoch_0: init_0; additions: add_0_0 add_0_1",
    tangles=[
        Tangle("members", "init_0", **GROUP_MEMBERS_CHAIN),
        Tangle("group", "init_0", **GROUP_MEMBERS_CHAIN),
        lone("epoch", "init_0"),
    ],
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference   marks
        init_0  init_0  -         0      3      0         0        0         1     single_tip   tip preferred
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0_0   -            member
        init_0  init_0  Bob     add_0_1   -            member
        init_0  init_0  Carol   add_0_1   -            member
    """,
    group_messages="""
        message  kind       reason  group   epoch   people     unchecked  marks
        init_0   root_init  -       init_0  init_0  -          0          connected
        add_0_0  add        -       init_0  init_0  Alice      0          connected
        add_0_1  add        -       init_0  init_0  Bob,Carol  0          connected
    """,
)


def group_epochs(stage: Stage) -> None:
    """The epoch tangle's diagram: a second epoch after the first."""
    group = Group(stage)
    group.init("init_0", "epoch_0", 0)
    group.next_epoch("init_1", "epoch_1", 60, group="init_0", epoch="init_0", creator="Alice")


GROUP_EPOCHS_CHAIN = dict(
    rows="""
        message  previous  depth  position  thread  asserted  marks
        init_0   -         0      0         0       0         root
        init_1   init_0    1      1         1       1         tip
    """,
    edges="init_1>init_0",
    ancestors="init_1: init_0 1",
    tips="init_0: init_0; init_1: init_1",
    depth=1,
    width=1,
    authors=2,
    members=2,
    edge_count=1,
    forks=0,
    merges=0,
    misordered=0,
)

GROUP_EPOCHS = Example(
    "group_epochs",
    group_epochs,
    feeds="epoch_0: init_0; epoch_1: init_1",
    tangles=[
        Tangle("epoch", "init_0", **GROUP_EPOCHS_CHAIN),
        Tangle("group", "init_0", **GROUP_EPOCHS_CHAIN),
        lone("members", "init_0"),
        lone("members", "init_1"),
    ],
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference   marks
        init_0  init_0  -         0      0      0         0        0         1     single_tip   -
        init_0  init_1  init_0    1      0      0         0        0         1     single_tip   tip preferred
    """,
    group_messages="""
        message  kind        reason  group   epoch   people  unchecked  marks
        init_0   root_init   -       init_0  init_0  -       0          connected
        init_1   epoch_init  -       init_0  init_1  -       0          connected
    """,
)


def group_all(stage: Stage) -> None:
    """The diagram of all the tangles together: C is excluded, and the next epoch has A and B."""
    group = Group(stage)
    group.init("init_0", "epoch_0", 0)
    group.add("add_0_0", "additions", 60, who="A", epoch="init_0", group="init_0", members="init_0")
    group.add("add_0_1", "additions", 120, who="B C", epoch="init_0", group="add_0_0", members="add_0_0")
    group.exclude("remove_0_2", "epoch_0", 180, who="C", epoch="init_0", group="add_0_1", members="add_0_1")
    group.next_epoch("init_1", "epoch_1", 240, group="remove_0_2", epoch="init_0", creator="A")
    group.add("add_1_0", "epoch_0", 300, who="A B", epoch="init_1", group="init_1", members="init_1")


GROUP_ALL = Example(
    "group_all",
    group_all,
    feeds="epoch_0: init_0 remove_0_2 add_1_0; additions: add_0_0 add_0_1; epoch_1: init_1",
    tangles=[
        Tangle("epoch", "init_0", **GROUP_EPOCHS_CHAIN),
        Tangle(
            "members",
            "init_0",
            """
            message     previous  depth  position  thread  asserted  marks
            init_0      -         0      0         0       0         root
            add_0_0     init_0    1      1         1       1         -
            add_0_1     add_0_0   2      2         2       2         -
            remove_0_2  add_0_1   3      3         3       3         tip
            """,
            edges="add_0_0>init_0 add_0_1>add_0_0 remove_0_2>add_0_1",
            ancestors="add_0_0: init_0 1; add_0_1: add_0_0 1 init_0 2; remove_0_2: add_0_1 1 add_0_0 2 init_0 3",
            tips="init_0: init_0; add_0_0: add_0_0; add_0_1: add_0_1; remove_0_2: remove_0_2",
            depth=3,
            width=1,
            authors=2,
            members=4,
            edge_count=3,
            forks=0,
            merges=0,
            misordered=0,
        ),
        Tangle(
            "members",
            "init_1",
            """
            message  previous  depth  position  thread  asserted  marks
            init_1   -         0      0         0       0         root
            add_1_0  init_1    1      1         1       1         tip
            """,
            edges="add_1_0>init_1",
            ancestors="add_1_0: init_1 1",
            tips="init_1: init_1; add_1_0: add_1_0",
            depth=1,
            width=1,
            authors=2,
            members=2,
            edge_count=1,
            forks=0,
            merges=0,
            misordered=0,
        ),
        Tangle(
            "group",
            "init_0",
            """
            message     previous    depth  position  thread  asserted  marks
            init_0      -           0      0         0       0         root
            add_0_0     init_0      1      1         1       1         -
            add_0_1     add_0_0     2      2         2       2         -
            remove_0_2  add_0_1     3      3         3       3         -
            init_1      remove_0_2  4      4         4       4         -
            add_1_0     init_1      5      5         5       5         tip
            """,
            edges="add_0_0>init_0 add_0_1>add_0_0 remove_0_2>add_0_1 init_1>remove_0_2 add_1_0>init_1",
            ancestors="add_0_0: init_0 1; add_0_1: add_0_0 1 init_0 2; remove_0_2: add_0_1 1 add_0_0 2 init_0 3;"
            "init_1: remove_0_2 1 add_0_1 2 add_0_0 3 init_0 4;"
            "add_1_0: init_1 1 remove_0_2 2 add_0_1 3 add_0_0 4 init_0 5",
            tips="init_0: init_0; add_0_0: add_0_0; add_0_1: add_0_1; remove_0_2: remove_0_2; init_1: init_1;"
            "add_1_0: add_1_0",
            depth=5,
            width=1,
            authors=3,
            members=6,
            edge_count=5,
            forks=0,
            merges=0,
            misordered=0,
        ),
    ],
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference   marks
        init_0  init_0  -         0      3      1         0        0         1     single_tip   -
        init_0  init_1  init_0    1      2      0         0        0         1     single_tip   tip preferred
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  A       add_0_0   -            member
        init_0  init_0  B       add_0_1   -            member
        init_0  init_0  C       add_0_1   remove_0_2   member
        init_0  init_1  A       add_1_0   -            member
        init_0  init_1  B       add_1_0   -            member
    """,
    group_messages="""
        message     kind        reason  group   epoch   people  unchecked  marks
        init_0      root_init   -       init_0  init_0  -       0          connected
        add_0_0     add         -       init_0  init_0  A       0          connected
        add_0_1     add         -       init_0  init_0  B,C     0          connected
        remove_0_2  exclude     -       init_0  init_0  C       0          connected
        init_1      epoch_init  -       init_0  init_1  -       0          connected
        add_1_0     add         -       init_0  init_1  A,B     0          connected
    """,
)


def init_in_three_tangles(stage: Stage) -> None:
    """One group/init in three tangles: after W and X in the group, after B among epochs, first among members."""
    group = Group(stage)
    group.init("A", "alice_0", 0)
    group.next_epoch("B", "alice_1", 60, group="A", epoch="A", creator="Alice")
    group.post("W", "alice_1", 120, group="B")
    group.post("X", "bob_1", 180, group="B")
    group.next_epoch("init", "alice_2", 240, group="W X", epoch="B", creator="Alice")


INIT_IN_THREE_TANGLES = Example(
    "init_in_three_tangles",
    init_in_three_tangles,
    feeds="alice_0: A; alice_1: B W; bob_1: X; alice_2: init",
    ids_in_order="X W",
    tangles=[
        Tangle(
            "group",
            "A",
            """
            message  previous  depth  position  thread  asserted  marks
            A        -         0      0         0       0         root
            B        A         1      1         1       1         fork
            W        B         2      3         2       2         -
            X        B         2      2         3       3         -
            init     W,X       3      4         4       4         tip merge
            """,
            edges="B>A W>B X>B init>W init>X",
            ancestors="B: A1; W: B1 A2; X: B1 A2; init: W1 X1 B2 A3",
            tips="A: A; B: B; W: W; X: W X; init: init",
            depth=3,
            width=2,
            authors=4,
            members=5,
            edge_count=5,
            forks=1,
            merges=1,
            misordered=0,
        ),
        Tangle(
            "epoch",
            "A",
            """
            message  previous  depth  position  thread  asserted  marks
            A        -         0      0         0       0         root
            B        A         1      1         1       1         -
            init     B         2      2         2       2         tip
            """,
            edges="B>A init>B",
            ancestors="B: A1; init: B1 A2",
            tips="A: A; B: B; init: init",
            depth=2,
            width=1,
            authors=3,
            members=3,
            edge_count=2,
            forks=0,
            merges=0,
            misordered=0,
        ),
        lone("members", "A"),
        lone("members", "B"),
        lone("members", "init"),
    ],
    epochs="""
        group  epoch  previous  depth  added  excluded  missing  returned  tips  preference   marks
        A      A      -         0      0      0         0        0         1     single_tip   -
        A      B      A         1      0      0         0        0         1     single_tip   -
        A      init   B         2      0      0         0        0         1     single_tip   tip preferred
    """,
    group_messages="""
        message  kind        reason  group  epoch  people  unchecked  marks
        A        root_init   -       A      A      -       0          connected
        B        epoch_init  -       A      B      -       0          connected
        init     epoch_init  -       A      init   -       0          connected
    """,
)


def _of_sha256_uris(group: Group, content: dict) -> None:
    for entry in content["tangles"].values():
        entry["root"] = entry["root"].replace("/classic/", "/sha256/")
        entry["previous"] = [uri.replace("/classic/", "/sha256/") for uri in entry["previous"]]


def group_set_aside(stage: Stage) -> None:
    """The recipe's other outcomes: set aside until what is listed is there, and left out for a type of the wrong kind.

    `lost` was published but never reached this log. Messages are received in an order that is not theirs. The post has
    its links in the other form of URI, which peers would refuse in the messages that make up the group.
    """
    group = Group(stage)
    group.init("init", "epoch_0", 0)
    group.add("add", "alice", 60, who="Alice", epoch="init", group="init", members="init", received=400)
    group.add("lost", "erin", 90, who="Erin", epoch="init", group="init", members="init", in_log=False)
    group.add("late", "bob", 120, who="Bob", epoch="init", group="add", members="add lost", received=300)
    group.add("after", "carol", 180, who="Carol", epoch="init", group="late", members="late", received=200)
    group.post("note", "dave", 500, group="after", epoch="init", twist=_of_sha256_uris)


GROUP_SET_ASIDE = Example(
    "group_set_aside",
    group_set_aside,
    feeds="epoch_0: init; alice: add; bob: late; carol: after; dave: note",
    tangles=[
        Tangle(
            "members",
            "init",
            """
            message  previous  depth  position  thread  asserted  marks
            init     -         0      0         0       0         root
            add      init      1      1         1       1         tip
            late     add,lost  -      -         -       -         missing_previous
            after    late      -      -         -       -         previous_set_aside
            """,
            edges="add>init",
            ancestors="add: init 1",
            tips="init: init; after: init; late: init; add: add",
            depth=1,
            width=1,
            authors=2,
            members=2,
            edge_count=1,
            forks=0,
            merges=0,
            misordered=0,
            set_aside=2,
        ),
        Tangle(
            "epoch",
            "init",
            """
            message  previous  depth  position  thread  asserted  marks
            init     -         0      0         0       0         root tip
            note     init      -      -         -       -         wrong_type
            """,
            tips="init: init; note: init",
            depth=0,
            width=1,
            authors=1,
            members=1,
            edge_count=0,
            forks=0,
            merges=0,
            misordered=0,
            set_aside=0,
        ),
        Tangle(
            "group",
            "init",
            """
            message  previous  depth  position  thread  asserted  marks
            init     -         0      0         0       0         root
            add      init      1      1         1       1         -
            late     add       2      2         2       2         -
            after    late      3      3         3       3         -
            note     after     4      4         4       4         tip
            """,
            edges="add>init late>add after>late note>after",
            ancestors="add: init 1; late: add 1 init 2; after: late 1 add 2 init 3; note: after 1 late 2 add 3 init 4",
            tips="init: init; after: init; late: init; add: after; note: note",
            depth=4,
            width=1,
            authors=5,
            members=5,
            edge_count=4,
            forks=0,
            merges=0,
            misordered=0,
        ),
    ],
    epochs="""
        group  epoch  previous  depth  added  excluded  missing  returned  tips  preference   marks
        init   init   -         0      3      0         0        0         1     single_tip   tip preferred
    """,
    people="""
        group  epoch  person  added_by  excluded_by  marks
        init   init   Alice   add       -            member
        init   init   Bob     late      -            -
        init   init   Carol   after     -            -
    """,
    group_messages="""
        message  kind       reason  group  epoch  people  unchecked  marks
        init     root_init  -       init   init   -       0          connected
        add      add        -       init   init   Alice   0          connected
        late     add        -       init   init   Bob     0          -
        after    add        -       init   init   Carol   0          -
    """,
    findings="""
        finding          group  epoch  person  messages
        unconnected_add  init   init   Bob     late
        unconnected_add  init   init   Carol   after
    """,
)

EXAMPLES = [
    FEED_ABCD,
    MULTI_AUTHOR,
    THREAD_A,
    THREAD_B,
    THREAD_C,
    THREAD_D,
    THREAD_D_MIRRORED,
    THREAD_F,
    GROUP_MEMBERS,
    GROUP_EPOCHS,
    GROUP_ALL,
    INIT_IN_THREE_TANGLES,
    GROUP_SET_ASIDE,
    *GROUP_EXAMPLES,
]


# ---------------------------------------------------------------------------------------------------------------------
# Reading the tables above, and writing the seeds


def _distances(words: list[str]) -> list[tuple[str, int]]:
    """Read `X1 B2`, and `init_0 1` where the name itself ends with a digit."""
    found = []
    for word in words:
        if word.isdigit():
            found[-1] = (found[-1][0], int(word))
        elif word[-1].isdigit() and len(word) == 2:
            found.append((word[0], int(word[1])))
        else:
            found.append((word, -1))
    return found


def _log_rows(stages: list[Stage]) -> list[list]:
    files: dict[str, list[bytes]] = {WORKED_EXAMPLES: [], "damaged.jsonl": [], PRIVATE_GROUPS: []}
    files["damaged.jsonl"] = DAMAGED.read_bytes().removesuffix(b"\n").split(b"\n")
    for example, stage in zip(EXAMPLES, stages, strict=True):
        received = sorted(stage.messages.values(), key=lambda m: m.received)
        files[example.file] += [m.line for m in received if m.in_log]
    return [
        [name, number, b64encode(line).decode()]
        for name, lines in files.items()
        for number, line in enumerate(lines, start=1)
    ]


def _tangle_rows(example: Example, tables: dict[str, list[list]]) -> None:
    for tangle in example.tangles:
        where = [example.name, tangle.name, tangle.root]
        for row in read_words(tangle.rows):
            marks = row["marks"].split()
            reason = " ".join(m for m in marks if m not in {"root", "tip", "fork", "merge"})
            flags = [flag(mark in marks) for mark in ("root", "tip", "fork", "merge")]
            places = [row["position"], row["thread"], row["asserted"]]
            tables["expected_tangle_messages"].append(
                [
                    *where,
                    row["message"],
                    flag(not reason),
                    reason,
                    row["depth"],
                    *flags,
                    *places,
                    listed(row["previous"]),
                ]
            )
        for edge in tangle.edges.split():
            message, previous = edge.removesuffix("!").split(">")
            tables["expected_tangle_edges"].append([*where, message, previous, flag(edge.endswith("!"))])
        for message, words in pairs(tangle.ancestors):
            for ancestor, distance in _distances(words):
                tables["expected_tangle_ancestors"].append([*where, message, ancestor, distance])
        steps = pairs(tangle.tips)
        for step, (message, tips) in enumerate(steps, start=1):
            for tip in tips:
                tables["expected_tangle_tips"].append([*where, step, message, flag(step == len(steps)), tip])
        counts = [tangle.members, tangle.set_aside, tangle.edge_count, tangle.authors]
        shape = [tangle.depth, tangle.width, tangle.forks, tangle.merges]
        tables["expected_tangles"].append(
            [*where, "present", *counts, *shape, " ".join(steps[-1][1]), tangle.misordered],
        )


def _feed_rows(example: Example, tables: dict[str, list[list]]) -> None:
    for author, letters in pairs(example.feeds):
        count = len(letters)
        tables["expected_feeds"].append(
            [example.name, author, count, count, count, "", "", "complete", letters[-1]],
        )
        for sequence, (letter, previous) in enumerate(zip(letters, ["", *letters], strict=False), start=1):
            tables["expected_feed_messages"].append([example.name, author, letter, sequence, previous, "true", ""])


TANGLE = "example tangle_name root"

HEADERS = {
    "ssb_fixture_log": "source_file line raw_base64",
    "ssb_fixture_letters": "example letter message_id is_in_log",
    "ssb_fixture_feeds": "example name feed_id",
    "expected_feeds": "example author message_count max_sequence verified_length fork_sequence gap_sequence status"
    " latest",
    "expected_feed_messages": "example author message sequence previous in_chain reason",
    "expected_tangle_messages": f"{TANGLE} message is_member set_aside_reason depth is_root is_tip is_fork is_merge"
    " position thread_position asserted_position previous",
    "expected_tangle_edges": f"{TANGLE} message previous is_redundant",
    "expected_tangle_ancestors": f"{TANGLE} message ancestor distance",
    "expected_tangle_tips": f"{TANGLE} step received is_final tip",
    "expected_tangles": f"{TANGLE} root_status member_count set_aside_count edge_count author_count depth width"
    " fork_count merge_count tips misordered_pairs",
    **group_seeds.HEADERS,
}


def make_tables() -> dict[str, list[list]]:
    """Return the rows of each seed, by its name."""
    tables: dict[str, list[list]] = {name: [] for name in HEADERS}
    stages = [stage_of(example) for example in EXAMPLES]
    tables["ssb_fixture_log"] = _log_rows(stages)
    for example, stage in zip(EXAMPLES, stages, strict=True):
        for message in stage.messages.values():
            tables["ssb_fixture_letters"].append([stage.example, message.letter, message.key, flag(message.in_log)])
        feeds = {name: author.feed_id for name, author in stage.authors.items()}
        for name, feed_id in (feeds | stage.others).items():
            tables["ssb_fixture_feeds"].append([stage.example, name, feed_id])
        _feed_rows(example, tables)
        _tangle_rows(example, tables)
        for name, rows in group_seeds.rows_of(example).items():
            tables[name] += rows
    return tables


def main(argv: list[str] | None = None) -> int:
    """Write the seeds, or compare them with what is there."""
    return seed_files.main(SEEDS, HEADERS, make_tables, argv)


if __name__ == "__main__":
    sys.exit(main())
