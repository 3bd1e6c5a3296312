"""Private groups, really signed, and what peers make of them, worked out by hand: one small group for each rule.

Sources: the JSON schemas of the private group specification for what a message may be; ssb-tribes2, `lib/epochs.js`,
for who belongs to an epoch, who is missing from it and which epoch is preferred; ssb-group-exclusion-spec, section 4,
for what that should be.

How to read `writes` (lists in a cell are separated by commas), a line per message, published a minute apart:

* `kind`: `init` starts a group, `epoch` an epoch of it.
* `epoch`: which one an add or exclude speaks of.
* `who`: the people who are added or excluded; for an epoch who starts it.
* `group`: what the message lists in the group tangle.
* `links`: what it lists in the other tangle that it extends: of epochs, or of the members of `epoch`.
* `how`: what is odd about it, from `TWISTS`, how the exporter shows it, from `SHAPES`, or `lost`: it is not in the log.

`keys` has the first byte of an epoch's secret, where it matters which of two is less. Base64, which the messages have
them in, sorts the other way round, and so do the messages' ids and the keys' fingerprints: another tie-break than that
of the peers would show.
"""

from __future__ import annotations

from base64 import b64encode

from seed_files import read_words
from ssb_example import PRIVATE_GROUPS, Example, listed, pairs
from ssb_stage import NO_LINKS, Group, Shape, Stage, Twist, closed, opened_by_db, opened_by_db2

CLASSIC_FEED = "@" + b64encode(bytes(32)).decode() + ".ed25519"
JUNK = "nobody at all"


# ---------------------------------------------------------------------------------------------------------------------
# Twists: what is odd about a message


def _with_all_it_may_have(group: Group, content: dict) -> None:
    content["oldSecrets"] = [group.secret("left"), group.secret("right")]
    content["text"] = "welcome"
    content["tangles"]["notes"] = NO_LINKS


def _with_junk_among_the_excludes(group: Group, content: dict) -> None:
    group.stage.others["nobody"] = JUNK
    content["excludes"] += [5, JUNK]


TWISTS: dict[str, Twist] = {
    "with all it may have": _with_all_it_may_have,
    "of version v1": lambda group, content: content.update(version="v1"),
    "its secret is short": lambda group, content: content.update(secret=b64encode(bytes(31)).decode()),
    "with a key of its own": lambda group, content: content.update(secret=group.secret("another")),
    "with a text": lambda group, content: content.update(text="why not"),
    "its text is a number": lambda group, content: content.update(text=7),
    "its old secrets are a text": lambda group, content: content.update(oldSecrets="none"),
    "its root is a sigil": lambda group, content: content.update(root=group.sigil("init_0")),
    "its creator is a classic feed": lambda group, content: content.update(creator=CLASSIC_FEED),
    "to seventeen": lambda group, content: content.update(recps=[group.group_id] + content["recps"][1:] * 16),
    "to one too many": lambda group, content: content["recps"].append(group.stage.root_feed("Alice")),
    "to a classic feed": lambda group, content: content["recps"].append(CLASSIC_FEED),
    "without its members tangle": lambda group, content: content["tangles"].pop("members"),
    "with another tangle": lambda group, content: content["tangles"].update(notes=NO_LINKS),
    "its group is a sigil": lambda group, content: content["tangles"]["group"].update(root=group.sigil("init_0")),
    "its epochs are sigils": lambda group, content: content["tangles"]["epoch"].update(
        previous=[group.sigil("init_0")]
    ),
    "its members tangle has begun": lambda group, content: content["tangles"].update(
        members=group.entry("init_0", "add_0")
    ),
    "lists nothing": lambda group, content: content["tangles"]["members"].update(previous=[]),
    "lists a number of members": lambda group, content: content["tangles"]["members"]["previous"].append(7),
    "lists a number of epochs": lambda group, content: content["tangles"]["epoch"]["previous"].append(7),
    "lists a number in the group": lambda group, content: content["tangles"]["group"]["previous"].append(7),
    "with junk among the excludes": _with_junk_among_the_excludes,
    "in the group of init_0": lambda group, content: content["tangles"].update(group=group.entry("init_0", "init_0")),
    "in the group of other": lambda group, content: content["tangles"].update(group=group.entry("other", "other")),
}

SHAPES: dict[str, Shape] = {
    "stays encrypted": closed,
    "decrypted by ssb-db2": opened_by_db2,
    "decrypted by ssb-db": opened_by_db,
}


# ---------------------------------------------------------------------------------------------------------------------
# Examples


def example(name: str, writes: str, keys: str = "", **stated: str) -> Example:
    """Return an example of private groups."""

    def publish(stage: Stage) -> None:
        group = Group(stage, dict(pairs(keys)))
        for minute, row in enumerate(read_words(writes)):
            _publish(group, row, minute * 60)

    return Example(name, publish, file=PRIVATE_GROUPS, **stated)


def _publish(group: Group, row: dict[str, str], at: float) -> None:
    who, links = listed(row["who"]), listed(row["links"])
    more = {"group": listed(row["group"])}
    if row["how"] in TWISTS:
        more["twist"] = TWISTS[row["how"]]
    elif row["how"] in SHAPES:
        more["shape"] = SHAPES[row["how"]]
    elif row["how"] == "lost":
        more["in_log"] = False
    elif row["how"]:
        raise ValueError(f"{row['message']}: nothing is like this: {row['how']}")
    where = (row["message"], row["by"], at)
    if row["kind"] == "init":
        del more["group"]
        group.init(*where, **more)
    elif row["kind"] == "epoch":
        group.next_epoch(*where, epoch=links, creator=who, **more)
    elif row["kind"] == "add":
        group.add(*where, who=who, epoch=row["epoch"], members=links, **more)
    else:
        group.exclude(*where, who=who, epoch=row["epoch"], members=links, **more)


# Bob is excluded, added again to the next epoch, and left out of the one after it, because of the old exclude. Dave,
# too, was excluded after his last add, and rightly left out. The last epoch leaves Bob out again, which is no news.
READD_DROPPED = example(
    "group_readd_dropped",
    writes="""
        message  by     kind     epoch   who                   group   links   how
        init_0   alice  init     -       -                     -       -       -
        add_0    alice  add      init_0  Alice,Bob,Carol,Dave  init_0  init_0  -
        out_0    alice  exclude  init_0  Bob                   add_0   add_0   -
        init_1   alice  epoch    -       Alice                 out_0   init_0  -
        add_1    alice  add      init_1  Alice,Carol,Dave      init_1  init_1  -
        back_1   alice  add      init_1  Bob                   add_1   add_1   -
        out_1    carol  exclude  init_1  Dave                  back_1  back_1  -
        init_2   carol  epoch    -       Carol                 out_1   init_1  -
        add_2    carol  add      init_2  Alice,Carol           init_2  init_2  -
        init_3   carol  epoch    -       Carol                 add_2   init_2  -
        add_3    carol  add      init_3  Alice,Carol           init_3  init_3  -
    """,
    feeds="alice: init_0 add_0 out_0 init_1 add_1 back_1; carol: out_1 init_2 add_2 init_3 add_3",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      4      1         0        0         1     single_tip  -
        init_0  init_1  init_0    1      4      1         0        1         1     single_tip  -
        init_0  init_2  init_1    2      2      0         0        0         1     single_tip  -
        init_0  init_3  init_2    3      2      0         0        0         1     single_tip  tip preferred
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     out_0        member
        init_0  init_0  Carol   add_0     -            member
        init_0  init_0  Dave    add_0     -            member
        init_0  init_1  Alice   add_1     -            member
        init_0  init_1  Bob     back_1    -            member returned
        init_0  init_1  Carol   add_1     -            member
        init_0  init_1  Dave    add_1     out_1        member
        init_0  init_2  Alice   add_2     -            member
        init_0  init_2  Carol   add_2     -            member
        init_0  init_3  Alice   add_3     -            member
        init_0  init_3  Carol   add_3     -            member
    """,
    group_messages="""
        message  kind        reason  group   epoch   people                unchecked  marks
        init_0   root_init   -       init_0  init_0  -                     0          connected
        add_0    add         -       init_0  init_0  Alice,Bob,Carol,Dave  0          connected
        out_0    exclude     -       init_0  init_0  Bob                   0          connected
        init_1   epoch_init  -       init_0  init_1  -                     0          connected
        add_1    add         -       init_0  init_1  Alice,Carol,Dave      0          connected
        back_1   add         -       init_0  init_1  Bob                   0          connected
        out_1    exclude     -       init_0  init_1  Dave                  0          connected
        init_2   epoch_init  -       init_0  init_2  -                     0          connected
        add_2    add         -       init_0  init_2  Alice,Carol           0          connected
        init_3   epoch_init  -       init_0  init_3  -                     0          connected
        add_3    add         -       init_0  init_3  Alice,Carol           0          connected
    """,
    findings="""
        finding                   group   epoch   person  messages
        dropped_after_return      init_0  init_2  Bob     out_0,back_1,init_2
        returned_though_excluded  init_0  init_1  Bob     back_1
    """,
)

# Two exclude different people at once and start an epoch each. Both excludes lie in the one members tangle of the epoch
# before, so each branch is charged with the other's as well, and returns whom the other excluded.
FORK_CHARGED = example(
    "group_fork_charged",
    keys="left: f9; right: 01",
    writes="""
        message  by     kind     epoch   who                   group   links   how
        init_0   alice  init     -       -                     -       -       -
        add_0    alice  add      init_0  Alice,Bob,Carol,Dave  init_0  init_0  -
        out_l    alice  exclude  init_0  Carol                 add_0   add_0   -
        out_r    bob    exclude  init_0  Dave                  add_0   add_0   -
        left     alice  epoch    -       Alice                 out_l   init_0  -
        right    bob    epoch    -       Bob                   out_r   init_0  -
        add_l    alice  add      left    Alice,Bob,Dave        left    left    -
        add_r    bob    add      right   Alice,Bob,Carol       right   right   -
    """,
    feeds="alice: init_0 add_0 out_l left add_l; bob: out_r right add_r",
    ids_in_order="left right",
    fingerprints_in_order="left right",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      4      2         0        0         2     overlap     -
        init_0  left    init_0    1      3      0         0        1         2     overlap     tip
        init_0  right   init_0    1      3      0         0        1         2     overlap     tip preferred
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     -            member
        init_0  init_0  Carol   add_0     out_l        member
        init_0  init_0  Dave    add_0     out_r        member
        init_0  left    Alice   add_l     -            member
        init_0  left    Bob     add_l     -            member
        init_0  left    Dave    add_l     -            member returned
        init_0  right   Alice   add_r     -            member
        init_0  right   Bob     add_r     -            member
        init_0  right   Carol   add_r     -            member returned
    """,
    group_messages="""
        message  kind        reason  group   epoch   people                unchecked  marks
        init_0   root_init   -       init_0  init_0  -                     0          connected
        add_0    add         -       init_0  init_0  Alice,Bob,Carol,Dave  0          connected
        out_l    exclude     -       init_0  init_0  Carol                 0          connected
        out_r    exclude     -       init_0  init_0  Dave                  0          connected
        left     epoch_init  -       init_0  left    -                     0          connected
        right    epoch_init  -       init_0  right   -                     0          connected
        add_l    add         -       init_0  left    Alice,Bob,Dave        0          connected
        add_r    add         -       init_0  right   Alice,Bob,Carol       0          connected
    """,
    findings="""
        finding                   group   epoch  person  messages
        foreign_exclude           init_0  left   -       out_r
        foreign_exclude           init_0  right  -       out_l
        returned_though_excluded  init_0  left   Dave    add_l
        returned_though_excluded  init_0  right  Carol   add_r
    """,
)

# Two react to one exclude, each with an epoch, and with the same people in it: the lesser key wins.
SAME_MEMBERS = example(
    "group_same_members",
    keys="left: 01; right: f9",
    writes="""
        message  by     kind     epoch   who              group   links   how
        init_0   alice  init     -       -                -       -       -
        add_0    alice  add      init_0  Alice,Bob,Carol  init_0  init_0  -
        out_0    alice  exclude  init_0  Carol            add_0   add_0   -
        left     alice  epoch    -       Alice            out_0   init_0  -
        right    bob    epoch    -       Bob              out_0   init_0  -
        add_l    alice  add      left    Alice,Bob        left    left    -
        add_r    bob    add      right   Bob,Alice        right   right   -
    """,
    feeds="alice: init_0 add_0 out_0 left add_l; bob: right add_r",
    ids_in_order="right left",
    fingerprints_in_order="right left",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference    marks
        init_0  init_0  -         0      3      1         0        0         2     same_members  -
        init_0  left    init_0    1      2      0         0        0         2     same_members  tip preferred
        init_0  right   init_0    1      2      0         0        0         2     same_members  tip
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     -            member
        init_0  init_0  Carol   add_0     out_0        member
        init_0  left    Alice   add_l     -            member
        init_0  left    Bob     add_l     -            member
        init_0  right   Alice   add_r     -            member
        init_0  right   Bob     add_r     -            member
    """,
    group_messages="""
        message  kind        reason  group   epoch   people           unchecked  marks
        init_0   root_init   -       init_0  init_0  -                0          connected
        add_0    add         -       init_0  init_0  Alice,Bob,Carol  0          connected
        out_0    exclude     -       init_0  init_0  Carol            0          connected
        left     epoch_init  -       init_0  left    -                0          connected
        right    epoch_init  -       init_0  right   -                0          connected
        add_l    add         -       init_0  left    Alice,Bob        0          connected
        add_r    add         -       init_0  right   Bob,Alice        0          connected
    """,
)

# The people of one branch are some of those of the other. It wins although its key is the greater one.
SUBSET = example(
    "group_subset",
    keys="left: f9; right: 01",
    writes="""
        message  by     kind   epoch   who              group   links   how
        init_0   alice  init   -       -                -       -       -
        add_0    alice  add    init_0  Alice,Bob,Carol  init_0  init_0  -
        left     alice  epoch  -       Alice            add_0   init_0  -
        right    bob    epoch  -       Bob              add_0   init_0  -
        add_l    alice  add    left    Alice,Bob        left    left    -
        add_r    bob    add    right   Alice,Bob,Carol  right   right   -
    """,
    feeds="alice: init_0 add_0 left add_l; bob: right add_r",
    ids_in_order="right left",
    fingerprints_in_order="right left",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      3      0         0        0         2     subset      -
        init_0  left    init_0    1      2      0         1        0         2     subset      tip preferred
        init_0  right   init_0    1      3      0         0        0         2     subset      tip
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     -            member
        init_0  init_0  Carol   add_0     -            member
        init_0  left    Alice   add_l     -            member
        init_0  left    Bob     add_l     -            member
        init_0  left    Carol   -         -            missing
        init_0  right   Alice   add_r     -            member
        init_0  right   Bob     add_r     -            member
        init_0  right   Carol   add_r     -            member
    """,
    group_messages="""
        message  kind        reason  group   epoch   people           unchecked  marks
        init_0   root_init   -       init_0  init_0  -                0          connected
        add_0    add         -       init_0  init_0  Alice,Bob,Carol  0          connected
        left     epoch_init  -       init_0  left    -                0          connected
        right    epoch_init  -       init_0  right   -                0          connected
        add_l    add         -       init_0  left    Alice,Bob        0          connected
        add_r    add         -       init_0  right   Alice,Bob,Carol  0          connected
    """,
)

# The branches share nobody: peers give up. The rule takes the lesser key.
DISJOINT = example(
    "group_disjoint",
    keys="left: f9; right: 01",
    writes="""
        message  by     kind   epoch   who                   group   links   how
        init_0   alice  init   -       -                     -       -       -
        add_0    alice  add    init_0  Alice,Bob,Carol,Dave  init_0  init_0  -
        left     alice  epoch  -       Alice                 add_0   init_0  -
        right    carol  epoch  -       Carol                 add_0   init_0  -
        add_l    alice  add    left    Alice,Bob             left    left    -
        add_r    carol  add    right   Carol,Dave            right   right   -
    """,
    feeds="alice: init_0 add_0 left add_l; carol: right add_r",
    ids_in_order="left right",
    fingerprints_in_order="left right",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      4      0         0        0         2     disjoint    no_answer
        init_0  left    init_0    1      2      0         2        0         2     disjoint    tip no_answer
        init_0  right   init_0    1      2      0         2        0         2     disjoint    tip preferred no_answer
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     -            member
        init_0  init_0  Carol   add_0     -            member
        init_0  init_0  Dave    add_0     -            member
        init_0  left    Alice   add_l     -            member
        init_0  left    Bob     add_l     -            member
        init_0  left    Carol   -         -            missing
        init_0  left    Dave    -         -            missing
        init_0  right   Alice   -         -            missing
        init_0  right   Bob     -         -            missing
        init_0  right   Carol   add_r     -            member
        init_0  right   Dave    add_r     -            member
    """,
    group_messages="""
        message  kind        reason  group   epoch   people                unchecked  marks
        init_0   root_init   -       init_0  init_0  -                     0          connected
        add_0    add         -       init_0  init_0  Alice,Bob,Carol,Dave  0          connected
        left     epoch_init  -       init_0  left    -                     0          connected
        right    epoch_init  -       init_0  right   -                     0          connected
        add_l    add         -       init_0  left    Alice,Bob             0          connected
        add_r    add         -       init_0  right   Carol,Dave            0          connected
    """,
    findings="""
        finding    group   epoch  person  messages
        no_answer  init_0  right  -       left,right
    """,
)

# Two by two the tips go in a circle: L wins against S by its key, S against R by its key, R against L as its subset.
# Peers give up. The rule drops L, which contains R, and takes the lesser key of the rest.
MANY_TIPS = example(
    "group_many_tips",
    keys="L: 01; S: d1; R: f9",
    writes="""
        message  by     kind   epoch   who                   group   links   how
        init_0   alice  init   -       -                     -       -       -
        add_0    alice  add    init_0  Alice,Bob,Carol,Dave  init_0  init_0  -
        L        alice  epoch  -       Alice                 add_0   init_0  -
        S        dave   epoch  -       Dave                  add_0   init_0  -
        R        bob    epoch  -       Bob                   add_0   init_0  -
        add_l    alice  add    L       Alice,Bob,Carol       L       L       -
        add_s    dave   add    S       Alice,Dave            S       S       -
        add_r    bob    add    R       Alice,Bob             R       R       -
    """,
    feeds="alice: init_0 add_0 L add_l; dave: S add_s; bob: R add_r",
    ids_in_order="L R S",
    fingerprints_in_order="R S",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      4      0         0        0         3     many_tips   no_answer
        init_0  L       init_0    1      3      0         1        0         3     many_tips   tip no_answer
        init_0  S       init_0    1      2      0         2        0         3     many_tips   tip preferred no_answer
        init_0  R       init_0    1      2      0         2        0         3     many_tips   tip no_answer
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     -            member
        init_0  init_0  Carol   add_0     -            member
        init_0  init_0  Dave    add_0     -            member
        init_0  L       Alice   add_l     -            member
        init_0  L       Bob     add_l     -            member
        init_0  L       Carol   add_l     -            member
        init_0  L       Dave    -         -            missing
        init_0  S       Alice   add_s     -            member
        init_0  S       Bob     -         -            missing
        init_0  S       Carol   -         -            missing
        init_0  S       Dave    add_s     -            member
        init_0  R       Alice   add_r     -            member
        init_0  R       Bob     add_r     -            member
        init_0  R       Carol   -         -            missing
        init_0  R       Dave    -         -            missing
    """,
    group_messages="""
        message  kind        reason  group   epoch   people                unchecked  marks
        init_0   root_init   -       init_0  init_0  -                     0          connected
        add_0    add         -       init_0  init_0  Alice,Bob,Carol,Dave  0          connected
        L        epoch_init  -       init_0  L       -                     0          connected
        S        epoch_init  -       init_0  S       -                     0          connected
        R        epoch_init  -       init_0  R       -                     0          connected
        add_l    add         -       init_0  L       Alice,Bob,Carol       0          connected
        add_s    add         -       init_0  S       Alice,Dave            0          connected
        add_r    add         -       init_0  R       Alice,Bob             0          connected
    """,
    findings="""
        finding    group   epoch  person  messages
        no_answer  init_0  S      -       L,R,S
    """,
)

# A fork that is merged: one epoch follows two (and lists one of them twice). It leaves out Carol, and Dave, who was new
# in one of them; it also excludes Carol, who was never added to it. Its add has all the keys that an add may have.
SINGLE_TIP = example(
    "group_single_tip",
    writes="""
        message  by     kind     epoch   who                   group        links             how
        init_0   alice  init     -       -                     -            -                 -
        add_0    alice  add      init_0  Alice,Bob,Carol       init_0       init_0            -
        left     alice  epoch    -       Alice                 add_0        init_0            -
        right    bob    epoch    -       Bob                   add_0        init_0            -
        add_l    alice  add      left    Alice,Bob,Carol       left         left              -
        add_r    bob    add      right   Alice,Bob,Carol,Dave  right        right             -
        merge    alice  epoch    -       Alice                 add_l,add_r  left,right,left   -
        add_m    alice  add      merge   Alice,Bob             merge        merge             with all it may have
        out_m    bob    exclude  merge   Carol                 add_m        add_m             -
    """,
    feeds="alice: init_0 add_0 left add_l merge add_m; bob: right add_r out_m",
    ids_in_order="right left",
    epochs="""
        group   epoch   previous    depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -           0      3      0         0        0         1     single_tip  -
        init_0  left    init_0      1      3      0         0        0         1     single_tip  -
        init_0  right   init_0      1      4      0         0        0         1     single_tip  -
        init_0  merge   left,right  2      2      1         2        0         1     single_tip  tip preferred
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     -            member
        init_0  init_0  Carol   add_0     -            member
        init_0  left    Alice   add_l     -            member
        init_0  left    Bob     add_l     -            member
        init_0  left    Carol   add_l     -            member
        init_0  right   Alice   add_r     -            member
        init_0  right   Bob     add_r     -            member
        init_0  right   Carol   add_r     -            member
        init_0  right   Dave    add_r     -            member
        init_0  merge   Alice   add_m     -            member
        init_0  merge   Bob     add_m     -            member
        init_0  merge   Carol   -         out_m        missing
        init_0  merge   Dave    -         -            missing
    """,
    group_messages="""
        message  kind        reason  group   epoch   people                unchecked  marks
        init_0   root_init   -       init_0  init_0  -                     0          connected
        add_0    add         -       init_0  init_0  Alice,Bob,Carol       0          connected
        left     epoch_init  -       init_0  left    -                     0          connected
        right    epoch_init  -       init_0  right   -                     0          connected
        add_l    add         -       init_0  left    Alice,Bob,Carol       0          connected
        add_r    add         -       init_0  right   Alice,Bob,Carol,Dave  0          connected
        merge    epoch_init  -       init_0  merge   -                     0          connected
        add_m    add         -       init_0  merge   Alice,Bob             0          connected
        out_m    exclude     -       init_0  merge   Carol                 0          connected
    """,
)

# Adds that follow one which is not in the log: peers count them, the members tangle does not hold them.
UNCONNECTED_ADD = example(
    "group_unconnected_add",
    writes="""
        message  by     kind  epoch   who          group   links        how
        init_0   alice  init  -       -            -       -            -
        add_0    alice  add   init_0  Alice        init_0  init_0       -
        lost     bob    add   init_0  Bob          add_0   add_0        lost
        after    carol  add   init_0  Carol,Alice  add_0   lost         -
        later    dave   add   init_0  Dave,Carol   after   after,add_0  -
    """,
    feeds="alice: init_0 add_0; carol: after; dave: later",
    ids_in_order="add_0 after later",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      3      0         0        0         1     single_tip  tip preferred
    """,
    people="""
        group   epoch   person  added_by     excluded_by  marks
        init_0  init_0  Alice   add_0,after  -            member
        init_0  init_0  Carol   after,later  -            -
        init_0  init_0  Dave    later        -            -
    """,
    group_messages="""
        message  kind       reason  group   epoch   people       unchecked  marks
        init_0   root_init  -       init_0  init_0  -            0          connected
        add_0    add        -       init_0  init_0  Alice        0          connected
        after    add        -       init_0  init_0  Carol,Alice  0          -
        later    add        -       init_0  init_0  Dave,Carol   0          -
    """,
    findings="""
        finding          group   epoch   person  messages
        unconnected_add  init_0  init_0  Carol   after,later
        unconnected_add  init_0  init_0  Dave    later
    """,
)

# What no peer counts. The epoch tangle's recipe knows nothing of schemas, so it holds inits that are no epochs; `child`
# follows such a one and breaks no rule itself. `lost` is an epoch that is not in the log.
INVALID = example(
    "group_invalid",
    writes="""
        message       by     kind     epoch    who        group    links    how
        init_0        alice  init     -        -          -        -        -
        add_0         alice  add      init_0   Alice,Bob  init_0   init_0   -
        old           alice  epoch    -        Alice      add_0    init_0   of version v1
        out_old       alice  exclude  old      Bob        add_0    old      -
        child         alice  epoch    -        Alice      add_0    old      -
        add_child     alice  add      child    Alice      add_0    child    -
        lost          erin   epoch    -        Erin       add_0    init_0   lost
        far           alice  epoch    -        Alice      add_0    lost     -
        add_lost      alice  add      lost     Alice      add_0    lost     -
        short         alice  epoch    -        Alice      add_0    init_0   its secret is short
        texted        alice  epoch    -        Alice      add_0    init_0   with a text
        three         alice  epoch    -        Alice      add_0    init_0   to one too many
        group_sigil   alice  epoch    -        Alice      add_0    init_0   its group is a sigil
        epoch_sigils  alice  epoch    -        Alice      add_0    init_0   its epochs are sigils
        begun         alice  epoch    -        Alice      add_0    init_0   its members tangle has begun
        old_secrets   alice  add      init_0   Carol      add_0    add_0    its old secrets are a text
        root_sigil    alice  add      init_0   Carol      add_0    add_0    its root is a sigil
        creator       alice  add      init_0   Carol      add_0    add_0    its creator is a classic feed
        number        alice  add      init_0   Carol      add_0    add_0    its text is a number
        seventeen     alice  add      init_0   Carol      add_0    add_0    to seventeen
        classic       alice  add      init_0   Carol      add_0    add_0    to a classic feed
        nowhere       alice  add      init_0   Carol      add_0    add_0    without its members tangle
        nobody        alice  exclude  init_0   -          add_0    add_0    -
        two           alice  exclude  init_0   Bob        add_0    add_0    to one too many
        noted         alice  exclude  init_0   Bob        add_0    add_0    with another tangle
        nothing       alice  exclude  init_0   Bob        add_0    add_0    lists nothing
        old_root      alice  init     -        -          -        -        of version v1
        orphan        alice  epoch    -        Alice      old_root old_root -
        texted_root   alice  init     -        -          -        -        with a text
    """,
    feeds="alice: init_0 add_0 old out_old child add_child far add_lost short texted three group_sigil epoch_sigils"
    " begun old_secrets root_sigil creator number seventeen classic nowhere nobody two noted nothing old_root orphan"
    " texted_root",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      2      0         0        0         1     single_tip  tip preferred
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     -            member
    """,
    group_messages="""
        message       kind        reason              group     epoch   people     unchecked  marks
        init_0        root_init   -                   init_0    init_0  -          0          connected
        add_0         add         -                   init_0    init_0  Alice,Bob  0          connected
        old           epoch_init  bad_version         -         -       -          0          connected
        out_old       exclude     unknown_epoch       -         old     Bob        0          connected
        child         epoch_init  unconnected_epoch   init_0    child   -          0          connected
        add_child     add         unknown_epoch       init_0    child   Alice      0          connected
        far           epoch_init  unconnected_epoch   init_0    far     -          0          -
        add_lost      add         unknown_epoch       -         lost    Alice      0          -
        short         epoch_init  bad_secret          -         -       -          0          connected
        texted        epoch_init  unknown_key         -         -       -          0          connected
        three         epoch_init  bad_recps_count     -         -       -          0          connected
        group_sigil   epoch_init  bad_group_tangle    -         -       -          0          connected
        epoch_sigils  epoch_init  bad_epoch_tangle    -         -       -          0          connected
        begun         epoch_init  bad_members_tangle  -         -       -          0          connected
        old_secrets   add         bad_old_secrets     -         -       -          0          connected
        root_sigil    add         bad_root            -         -       -          0          connected
        creator       add         bad_creator         -         -       -          0          connected
        number        add         bad_text            -         -       -          0          connected
        seventeen     add         bad_recps_count     -         -       -          0          connected
        classic       add         bad_recps           -         -       -          0          connected
        nowhere       add         bad_tangles         -         -       -          0          -
        nobody        exclude     bad_excludes        -         -       -          0          connected
        two           exclude     bad_recps_count     -         -       -          0          connected
        noted         exclude     unknown_tangle      -         -       -          0          connected
        nothing       exclude     bad_members_tangle  -         -       -          0          -
        old_root      root_init   bad_version         -         -       -          0          connected
        orphan        epoch_init  unconnected_epoch   old_root  orphan  -          0          connected
        texted_root   root_init   unknown_key         -         -       -          0          connected
    """,
    findings="""
        finding           group        epoch         person  messages
        init_not_counted  init_0       old           -       old
        init_not_counted  init_0       child         -       child
        init_not_counted  init_0       short         -       short
        init_not_counted  init_0       texted        -       texted
        init_not_counted  init_0       three         -       three
        init_not_counted  init_0       group_sigil   -       group_sigil
        init_not_counted  init_0       epoch_sigils  -       epoch_sigils
        init_not_counted  init_0       begun         -       begun
        init_not_counted  old_root     old_root      -       old_root
        init_not_counted  old_root     orphan        -       orphan
        init_not_counted  texted_root  texted_root   -       texted_root
    """,
)

# Only the first entry of a list has a pattern. Peers take what follows it as it is: whoever `nobody` may be is excluded
# (the number is left out here, for it cannot be a feed); Dave is added by a message that the members tangle cannot
# hold; junk_init is valid and can never be reached. init_2 does not follow out_1, but as its place in the group tangle
# is not known, that is no finding.
JUNK_ENTRIES = example(
    "group_junk",
    writes="""
        message    by     kind     epoch   who              group     links   how
        init_0     alice  init     -       -                -         -       -
        add_0      alice  add      init_0  Alice,Bob,Carol  init_0    init_0  -
        junk_out   alice  exclude  init_0  Bob              add_0     add_0   with junk among the excludes
        junk_add   alice  add      init_0  Dave             junk_out  add_0   lists a number of members
        junk_init  alice  epoch    -       Alice            junk_out  init_0  lists a number of epochs
        init_1     alice  epoch    -       Alice            junk_out  init_0  -
        add_1      alice  add      init_1  Alice,Carol      init_1    init_1  -
        out_1      alice  exclude  init_1  Carol            add_1     add_1   -
        init_2     alice  epoch    -       Alice            add_1     init_1  lists a number in the group
        add_2      alice  add      init_2  Alice            add_1     init_2  -
    """,
    feeds="alice: init_0 add_0 junk_out junk_add junk_init init_1 add_1 out_1 init_2 add_2",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      4      2         0        0         1     single_tip  -
        init_0  init_1  init_0    1      2      1         1        0         1     single_tip  -
        init_0  init_2  init_1    2      1      0         1        0         1     single_tip  tip preferred
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     junk_out     member
        init_0  init_0  Carol   add_0     -            member
        init_0  init_0  Dave    junk_add  -            -
        init_0  init_0  nobody  -         junk_out     -
        init_0  init_1  Alice   add_1     -            member
        init_0  init_1  Carol   add_1     out_1        member
        init_0  init_1  Dave    -         -            missing
        init_0  init_2  Alice   add_2     -            member
        init_0  init_2  Dave    -         -            missing
    """,
    group_messages="""
        message    kind        reason             group   epoch      people           unchecked  marks
        init_0     root_init   -                  init_0  init_0     -                0          connected
        add_0      add         -                  init_0  init_0     Alice,Bob,Carol  0          connected
        junk_out   exclude     -                  init_0  init_0     Bob,nobody       2          connected
        junk_add   add         -                  init_0  init_0     Dave             1          -
        junk_init  epoch_init  unconnected_epoch  init_0  junk_init  -                1          -
        init_1     epoch_init  -                  init_0  init_1     -                0          connected
        add_1      add         -                  init_0  init_1     Alice,Carol      0          connected
        out_1      exclude     -                  init_0  init_1     Carol            0          connected
        init_2     epoch_init  -                  init_0  init_2     -                1          connected
        add_2      add         -                  init_0  init_2     Alice            0          connected
    """,
    findings="""
        finding          group   epoch   person  messages
        unchecked_entry  init_0  init_0  -       junk_out
        unchecked_entry  init_0  init_0  -       junk_add
        unchecked_entry  init_0  init_2  -       init_2
        unconnected_add  init_0  init_0  Dave    junk_add
    """,
)

# What peers never compare: the key that an add hands out with the epoch's, the group tangle with the epoch's group, and
# one epoch's key with another's. With one key for both tips it is the message id that decides here.
FOREIGN = example(
    "group_foreign",
    keys="left: 55 shared; right: 55 shared",
    writes="""
        message    by     kind   epoch    who                   group      links      how
        init_0     alice  init   -        -                     -          -          -
        add_0      alice  add    init_0   Alice,Bob             init_0     init_0     -
        other      alice  init   -        -                     -          -          -
        add_o      alice  add    other    Zoe                   other      other      -
        wrong_key  alice  add    init_0   Carol                 add_0      add_0      with a key of its own
        elsewhere  alice  add    init_0   Dave                  wrong_key  wrong_key  in the group of other
        strange    alice  epoch  -        Zoe                   add_o      other      in the group of init_0
        add_s      alice  add    strange  Zoe                   add_o      strange    -
        left       alice  epoch  -        Alice                 wrong_key  init_0     -
        right      bob    epoch  -        Bob                   wrong_key  init_0     -
        add_l      alice  add    left     Alice,Bob,Carol,Dave  left       left       -
        add_r      bob    add    right    Alice,Bob,Carol,Dave  right      right      -
    """,
    feeds="alice: init_0 add_0 other add_o wrong_key elsewhere strange add_s left add_l; bob: right add_r",
    ids_in_order="left right",
    epochs="""
        group   epoch    previous  depth  added  excluded  missing  returned  tips  preference    marks
        init_0  init_0   -         0      4      0         0        0         2     same_members  -
        init_0  left     init_0    1      4      0         0        0         2     same_members  tip preferred
        init_0  right    init_0    1      4      0         0        0         2     same_members  tip
        other   other    -         0      1      0         0        0         1     single_tip    -
        other   strange  other     1      1      0         0        0         1     single_tip    tip preferred
    """,
    people="""
        group   epoch    person  added_by   excluded_by  marks
        init_0  init_0   Alice   add_0      -            member
        init_0  init_0   Bob     add_0      -            member
        init_0  init_0   Carol   wrong_key  -            member
        init_0  init_0   Dave    elsewhere  -            member
        init_0  left     Alice   add_l      -            member
        init_0  left     Bob     add_l      -            member
        init_0  left     Carol   add_l      -            member
        init_0  left     Dave    add_l      -            member
        init_0  right    Alice   add_r      -            member
        init_0  right    Bob     add_r      -            member
        init_0  right    Carol   add_r      -            member
        init_0  right    Dave    add_r      -            member
        other   other    Zoe     add_o      -            member
        other   strange  Zoe     add_s      -            member
    """,
    group_messages="""
        message    kind        reason  group   epoch    people                unchecked  marks
        init_0     root_init   -       init_0  init_0   -                     0          connected
        add_0      add         -       init_0  init_0   Alice,Bob             0          connected
        other      root_init   -       other   other    -                     0          connected
        add_o      add         -       other   other    Zoe                   0          connected
        wrong_key  add         -       init_0  init_0   Carol                 0          connected
        elsewhere  add         -       init_0  init_0   Dave                  0          connected
        strange    epoch_init  -       other   strange  -                     0          connected
        add_s      add         -       other   strange  Zoe                   0          connected
        left       epoch_init  -       init_0  left     -                     0          connected
        right      epoch_init  -       init_0  right    -                     0          connected
        add_l      add         -       init_0  left     Alice,Bob,Carol,Dave  0          connected
        add_r      add         -       init_0  right    Alice,Bob,Carol,Dave  0          connected
    """,
    findings="""
        finding        group   epoch    person  messages
        foreign_key    init_0  init_0   -       wrong_key
        foreign_group  init_0  init_0   -       elsewhere
        foreign_group  other   strange  -       strange
        same_key       init_0  -        -       left,right
    """,
)

# What stayed encrypted is in no table of groups, so that `after` hangs in the air; what an exporter decrypted is as
# good as any.
ENCRYPTED = example(
    "group_encrypted",
    writes="""
        message     by     kind     epoch   who        group   links   how
        init_0      alice  init     -       -          -       -       -
        add_0       alice  add      init_0  Alice,Bob  init_0  init_0  -
        closed      alice  add      init_0  Carol      add_0   add_0   stays encrypted
        after       alice  add      init_0  Dave       add_0   closed  -
        opened      alice  add      init_0  Erin       after   add_0   decrypted by ssb-db2
        opened_out  alice  exclude  init_0  Bob        opened  opened  decrypted by ssb-db
    """,
    feeds="alice: init_0 add_0 closed after opened opened_out",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      4      1         0        0         1     single_tip  tip preferred
    """,
    people="""
        group   epoch   person  added_by  excluded_by  marks
        init_0  init_0  Alice   add_0     -            member
        init_0  init_0  Bob     add_0     opened_out   member
        init_0  init_0  Dave    after     -            -
        init_0  init_0  Erin    opened    -            member
    """,
    group_messages="""
        message     kind       reason  group   epoch   people     unchecked  marks
        init_0      root_init  -       init_0  init_0  -          0          connected
        add_0       add        -       init_0  init_0  Alice,Bob  0          connected
        after       add        -       init_0  init_0  Dave       0          -
        opened      add        -       init_0  init_0  Erin       0          connected
        opened_out  exclude    -       init_0  init_0  Bob        0          connected
    """,
    findings="""
        finding          group   epoch   person  messages
        unconnected_add  init_0  init_0  Dave    after
    """,
)

# Carol is added by one while another excludes her; Dave is excluded, and then added again to the same epoch. Either way
# peers keep them in this epoch, and nobody expects them in the next.
EXCLUDED_WHILE_ADDED = example(
    "group_excluded_while_added",
    writes="""
        message  by     kind     epoch   who             group        links        how
        init_0   alice  init     -       -               -            -            -
        add_0    alice  add      init_0  Alice,Bob,Dave  init_0       init_0       -
        add_c    alice  add      init_0  Carol           add_0        add_0        -
        out_cd   bob    exclude  init_0  Carol,Dave      add_0        add_0        -
        again    alice  add      init_0  Dave            add_c,out_cd add_c,out_cd -
        init_1   alice  epoch    -       Alice           again        init_0       -
        add_1    alice  add      init_1  Alice,Bob       init_1       init_1       -
    """,
    feeds="alice: init_0 add_0 add_c again init_1 add_1; bob: out_cd",
    ids_in_order="add_0 again",
    epochs="""
        group   epoch   previous  depth  added  excluded  missing  returned  tips  preference  marks
        init_0  init_0  -         0      4      2         0        0         1     single_tip  -
        init_0  init_1  init_0    1      2      0         0        0         1     single_tip  tip preferred
    """,
    people="""
        group   epoch   person  added_by     excluded_by  marks
        init_0  init_0  Alice   add_0        -            member
        init_0  init_0  Bob     add_0        -            member
        init_0  init_0  Carol   add_c        out_cd       member
        init_0  init_0  Dave    add_0,again  out_cd       member
        init_0  init_1  Alice   add_1        -            member
        init_0  init_1  Bob     add_1        -            member
    """,
    group_messages="""
        message  kind        reason  group   epoch   people          unchecked  marks
        init_0   root_init   -       init_0  init_0  -               0          connected
        add_0    add         -       init_0  init_0  Alice,Bob,Dave  0          connected
        add_c    add         -       init_0  init_0  Carol           0          connected
        out_cd   exclude     -       init_0  init_0  Carol,Dave      0          connected
        again    add         -       init_0  init_0  Dave            0          connected
        init_1   epoch_init  -       init_0  init_1  -               0          connected
        add_1    add         -       init_0  init_1  Alice,Bob       0          connected
    """,
)

GROUP_EXAMPLES = [
    READD_DROPPED,
    FORK_CHARGED,
    SAME_MEMBERS,
    SUBSET,
    DISJOINT,
    MANY_TIPS,
    SINGLE_TIP,
    UNCONNECTED_ADD,
    INVALID,
    JUNK_ENTRIES,
    FOREIGN,
    ENCRYPTED,
    EXCLUDED_WHILE_ADDED,
]
