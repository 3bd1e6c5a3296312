"""Checks the hand-written tables of the committed fixtures against a literal reading of the lines."""

import gzip
import itertools
import json
from functools import cached_property, partial

import pytest

import autobase_oracle as oracle
import fixture_seeds
import rule_search
from autobase_oracle import Id, Node
from changes_oracle import changes
from conftest import DATA
from dbt_tangles.formats.autobase.verify_lines import OUTPUT_SCHEMA, Reason, verify_batches
from design_oracle import plain_order
from log_lines import verified
from unsettled_oracle import every_next, publish, reason_of

FILES = ("examples.jsonl", "malformed.jsonl")

expected = partial(fixture_seeds.expected, "autobase")
lines = partial(fixture_seeds.lines, "autobase")


CHECKED = {file: verified(verify_batches, OUTPUT_SCHEMA, lines(file)) for file in FILES}
EXAMPLES = [row["example"] for row in expected("autobase_bases")]
WITHOUT_BASE = {row["base_id"] for row in CHECKED[FILES[0]]} - set(EXAMPLES)
WRITERS = fixture_seeds.names("autobase", "writer")
LETTERS = {(row["example"], bytes.fromhex(row["id"])): row["name"] for row in WRITERS}

MAX_DEGREE = 8


def node_of(row):
    return Id(bytes.fromhex(row["writer"]), row["length"])


class Judged:
    """The results for one base, by a literal reading of its lines."""

    def __init__(self, name):
        rows = [row | {"line": at} for at, row in enumerate(CHECKED[FILES[0]], start=1) if row["base_id"] == name]
        self.name = name
        self.node_lines = [row for row in rows if row["kind"] == "node"]
        self.base_lines = [row for row in rows if row["kind"] == "base"]
        self.base = min(self.base_lines, key=self.said_of_base, default=None)
        self.said = {}
        for row in self.node_lines:
            heads = tuple(Id(bytes.fromhex(head["writer"]), head["length"]) for head in row["heads"])
            self.said.setdefault(node_of(row), set()).add((heads, row["batch"], row["value"]))
        if self.base:
            self.indexers = tuple(map(bytes.fromhex, self.base["indexers"]))
            self.relayed = set(map(bytes.fromhex, self.base["relayed"]))
            self.start = {bytes.fromhex(s["writer"]): s["length"] for s in self.base["start"] or []}

    def said_of_base(self, row):
        """Return the statements of a line about the base."""
        return row["indexers"], row["relayed"], [(s["writer"], s["length"]) for s in row["start"] or []]

    def is_before_start(self, i):
        """Say whether a node was settled before."""
        return i.length <= self.start.get(i.writer, 0)

    def links(self, i):
        """Return the previous nodes that a node states, without those settled before."""
        [(heads, _, _)] = self.said[i]
        links = {*heads, Id(i.writer, i.length - 1)}
        return {link for link in links if not self.is_before_start(link) and link.length > 0}

    def batch(self, i):
        """Return the stated number of nodes left in a batch."""
        return min(batch for _, batch, _ in self.said[i])

    def fault(self, i):
        """Return the reason to set a node aside on its own account."""
        if self.base is None:
            return "unknown_base"
        if self.is_before_start(i):
            return "before_start"
        if len(self.said[i]) > 1:
            return "equivocation"
        own = Id(i.writer, i.length - 1)
        lost = self.links(i) - self.said.keys()
        if own in lost:
            return "hole"
        if lost:
            return "unknown_writer" if {x.writer for x in lost} - {x.writer for x in self.said} else "missing_head"
        if any(self.batch(link) > 1 for link in self.links(i) - {own}):
            return "bad_batch"
        if own in self.links(i) and self.batch(own) > 1 and self.batch(i) != self.batch(own) - 1:
            return "bad_batch"
        return "cycle" if self.follows_itself(i) else None

    def follows_itself(self, i):
        """Say whether a node is its own ancestor."""
        seen, due = set(), [i]
        while due:
            x = due.pop()
            new = self.links(x) & self.said.keys() if len(self.said[x]) == 1 else set()
            due += new - seen
            seen |= new
        return i in seen

    @cached_property
    def reasons(self):
        """Return the reasons of nodes that are set aside."""
        found = {i: fault for i in self.said if (fault := self.fault(i))}
        while True:
            after = {i for i in self.said.keys() - found.keys() if self.links(i) & found.keys()}
            if not after:
                return found
            found |= dict.fromkeys(after, "previous_set_aside")

    @property
    def rejects(self):
        """Return the reasons of refused lines."""
        found = {row["line"]: self.reasons.get(node_of(row)) for row in self.node_lines}
        for row in self.base_lines:
            if self.said_of_base(row) != self.said_of_base(self.base):
                found[row["line"]] = "conflicting_base"
        return {line: reason for line, reason in found.items() if reason}

    @cached_property
    def known(self):
        """Return all usable nodes as a base of the oracle."""
        nodes = {}
        for i in self.said.keys() - self.reasons.keys():
            [(heads, batch, _)] = self.said[i]
            nodes[i] = Node(i, heads, batch, i.writer in self.relayed)
        floor = {key: self.start.get(key, 0) for key in self.indexers}
        return oracle.Base(self.indexers, nodes, floor)

    def name_of(self, i):
        """Return the name of a node in the document."""
        return f"{LETTERS[self.name, i.writer]}{i.length - 1}"

    def views(self, rule=oracle.order_of):
        """Return the view of each observer, and its confirmed length."""
        lasts = {LETTERS[self.name, i.writer]: i for i in sorted(self.known.nodes)}
        known = {letter: oracle.pasts_of(self.known, [lasts[letter]]) for letter in sorted(lasts)}
        for observer, ids in {"all": self.known.nodes, **known}.items():
            order, confirmed = rule(self.known.cut(ids))
            yield observer, order, confirmed

    def votes(self, x):
        """Return the indexers with a node that is or follows a node."""
        return {i.writer for i, past in self.known.past.items() if x in past} & set(self.indexers)

    def heads(self):
        """Return the nodes without followers, relayed ones left out."""
        followed = {p for i in self.known.nodes for p in self.known.previous(i)}
        return {i for i, node in self.known.nodes.items() if i not in followed and not node.is_relayed}

    def quorums(self):
        """Return the first node that knows each degree over each node, and the voters."""
        past = self.known.past
        depth = {}
        for i in sorted(past, key=lambda i: len(past[i])):
            depth[i] = max((depth[p] + 1 for p in self.known.previous(i)), default=0)
        majority = len(self.indexers) // 2 + 1
        for x in past:
            counted = {i for i in past if x in past[i]}
            for degree in range(1, MAX_DEGREE + 1):
                through = {i: {p.writer for p in past[i] & counted} & set(self.indexers) for i in past}
                counted = {i for i, writers in through.items() if len(writers) >= majority}
                if counted:
                    first = min(counted, key=lambda i: (depth[i], i))
                    yield x, degree, first, {LETTERS[self.name, key] for key in through[first]}


JUDGED = {name: Judged(name) for name in [*EXAMPLES, *WITHOUT_BASE]}


def test_lines_are_in_no_order():
    """Nodes come before their previous nodes, and before their bases."""
    for name, judged in JUDGED.items():
        if len(judged.node_lines) > 3:
            found = [judged.name_of(node_of(row)) for row in judged.node_lines]
            assert found != sorted(found, key=lambda node: (node[1:], node)), name
    place = {(row["base_id"], row["writer"], row["length"]): at for at, row in enumerate(CHECKED[FILES[0]])}
    links = [
        (at, place[row["base_id"], head["writer"], head["length"]])
        for at, row in enumerate(CHECKED[FILES[0]])
        for head in row["heads"] or []
        if (row["base_id"], head["writer"], head["length"]) in place
    ]
    assert 0.2 < sum(at < head for at, head in links) / len(links) < 0.8


@pytest.mark.parametrize("file", FILES)
def test_the_kernel_reads_the_lines_as_intended(file):
    found = {at: row["reject_reason"] for at, row in enumerate(CHECKED[file], start=1)}
    if file == "examples.jsonl":
        assert set(found.values()) == {None}
    else:
        assert found == {int(r["line"]): r["reason"] for r in expected("autobase_rejects", example=file)}
        assert set(found.values()) == {reason.value for reason in Reason} - {"too_long"}


def test_rejects_agree_with_the_lines():
    rejects = {int(r["line"]): r["reason"] for r in expected("autobase_rejects", example="examples.jsonl")}
    found = {line: reason for judged in JUDGED.values() for line, reason in judged.rejects.items()}
    assert found == rejects
    assert {name for name, judged in JUDGED.items() if judged.base is None} == WITHOUT_BASE == {"unknown_base"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_views_agree_with_the_oracle(name):
    judged = JUDGED[name]
    found = [
        (observer, position, judged.name_of(i), position < confirmed)
        for observer, order, confirmed in judged.views()
        for position, i in enumerate(order)
    ]
    stated = expected("autobase_views", example=name)
    assert [(r["observer"], int(r["position"]), r["node"], r["is_confirmed"] == "true") for r in stated] == found
    acks = {judged.name_of(i) for i, said in judged.said.items() if any(value is None for _, _, value in said)}
    assert {(r["node"], r["is_ack"]) for r in stated} == {
        (node, "true" if node in acks else "false") for _, _, node, _ in found
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_values_are_the_names(name):
    """The test of the model relies on this."""
    said = {JUDGED[name].name_of(i): values for i, values in JUDGED[name].said.items()}
    assert all(value in (None, json.dumps(node)) for node, values in said.items() for _, _, value in values)


@pytest.mark.parametrize("name", EXAMPLES)
def test_nodes_agree_with_the_lines(name):
    judged = JUDGED[name]
    roles = dict.fromkeys(judged.indexers, "indexing") | dict.fromkeys(judged.relayed, "relayed")
    heads = judged.heads()
    found = {
        judged.name_of(i): (roles.get(i.writer, "non_indexing"), i in heads, len(judged.votes(i)))
        for i in judged.known.nodes
    }
    stated = expected("autobase_nodes", example=name)
    assert len(stated) == len(found)
    assert {r["node"]: (r["role"], r["is_head"] == "true", int(r["votes"])) for r in stated} == found


@pytest.mark.parametrize("name", EXAMPLES)
def test_quorums_agree_with_the_lines(name):
    judged = JUDGED[name]
    found = [
        (judged.name_of(x), degree, judged.name_of(at), " ".join(sorted(writers)))
        for x, degree, at, writers in judged.quorums()
    ]
    stated = expected("autobase_quorums", example=name)
    assert sorted((r["node"], int(r["degree"]), r["reached_at"], r["writers"]) for r in stated) == sorted(found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_bases_agree_with_the_lines(name):
    judged = JUDGED[name]
    [stated] = expected("autobase_bases", example=name)
    confirmed = {observer: confirmed for observer, _, confirmed in judged.views()}["all"]
    nodes = len(judged.known.nodes)
    status = "incomplete" if set(judged.reasons.values()) - {"before_start"} else "ok" if nodes else "empty"
    numbers = [len(judged.indexers), len(judged.indexers) // 2 + 1, nodes, confirmed, len(judged.heads())]
    assert list(stated.values()) == [name, *map(str, [*numbers, nodes - confirmed]), status]


DOCUMENT = sorted({r["example"] for r in expected("autobase_views_design")})


@pytest.mark.parametrize("name", DOCUMENT)
def test_changes_agree_with_the_oracle(name):
    """Rebased views and settled nodes; for `all` at the first node of any writer."""
    judged = JUDGED[name]
    named = judged.name_of
    rebases, settled, first = [], [], {}
    found = changes(judged.known)
    for at in sorted(found, key=lambda at: (judged.known.depth[at], at)):
        if found[at].undone:
            rebases.append((named(at)[0], named(at), *map(str, found[at][:4])))
        for x, contender in found[at].settled:
            where = named(x), named(at), named(contender) if contender else ""
            settled.append((named(at)[0], *where))
            first.setdefault(x, ("all", *where))
    stated = [tuple(r.values())[1:] for r in expected("autobase_rebases", example=name)]
    assert sorted(stated) == sorted(rebases)
    stated = [tuple(r.values())[1:] for r in expected("autobase_confirmations", example=name)]
    assert sorted(stated) == sorted([*settled, *first.values()])


def positions_of(name, order):
    """Return the nodes of an order by position."""
    return dict(enumerate(map(JUDGED[name].name_of, order)))


@pytest.mark.parametrize("name", EXAMPLES)
def test_rule_differences_agree_with_both_oracles(name):
    known = JUDGED[name].known
    orders = [positions_of(name, rule(known)[0]) for rule in (oracle.order_of, plain_order)]
    stated = [{}, {}]
    for row in expected("autobase_rule_differences", example=name):
        for side, column in zip(stated, ("autobase_order", "design_order"), strict=True):
            side |= dict(enumerate(row[column].split(), start=int(row["position_from"])))
    differing = {at for one, other in (orders, orders[::-1]) for at in one if one[at] != other.get(at)}
    assert stated == [{at: node for at, node in order.items() if at in differing} for order in orders]


@pytest.mark.parametrize("name", EXAMPLES)
def test_reasons_for_unsettled_nodes_agree_with_sets(name):
    judged = JUDGED[name]
    order, confirmed = oracle.order_of(judged.known)
    settled = set(order[:confirmed])
    found = {}
    for x in judged.known.nodes.keys() - settled:
        reason, *others, missing = reason_of(judged.known, settled, x)
        letters = " ".join(sorted(LETTERS[name, key] for key in missing))
        found[judged.name_of(x)] = (reason, *(judged.name_of(i) if i else "" for i in others), letters)
    stated = expected("autobase_unsettled", example=name)
    assert {r["node"]: tuple(r.values())[2:6] for r in stated} == found
    assert len(stated) == len(found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_stated_next_nodes_settle_the_node_and_fewer_do_not(name):
    judged = JUDGED[name]
    stopped = {i.writer for i, reason in judged.reasons.items() if reason != "before_start"}
    keys = {r["name"]: bytes.fromhex(r["id"]) for r in WRITERS if r["example"] == name}

    def ids(names):
        return tuple(Id(keys[node[0]], int(node[1:]) + 1) for node in names.split(","))

    for row in expected("autobase_unsettled", example=name):
        ((x,), base), steps = (ids(row["node"]), judged.known), row["would_settle"].split()
        for step in steps:
            writer, _, heads = step.partition(":")
            assert keys[writer] not in stopped
            order, confirmed = oracle.order_of(base)
            assert x not in order[:confirmed]
            base = publish(base, keys[writer], ids(heads))
        order, confirmed = oracle.order_of(base)
        assert (x in order[:confirmed]) == bool(steps)
        shorter = [judged.known]
        for _ in range(min(len(steps) - 1, 2) if steps else 1):
            shorter = [one for each in shorter for one in every_next(each, sorted({*judged.indexers} - stopped))]
            answers = rule_search.answers(shorter, "autobase")
            assert not any(x in order[:confirmed] for order, confirmed in answers)


@pytest.mark.parametrize("name", DOCUMENT)
def test_next_nodes_agree_with_the_lines(name):
    judged = JUDGED[name]
    heads = " ".join(sorted(map(judged.name_of, judged.heads())))
    lengths = {LETTERS[name, key]: 1 + sum(i.writer == key for i in judged.known.nodes) for key in judged.indexers}
    stated = {r["writer"]: (int(r["length"]), r["heads"]) for r in expected("autobase_next", example=name)}
    assert stated == {letter: (length, heads) for letter, length in lengths.items()}


# The names of the document's examples in the vectors.
VECTORS = {
    "design-lin-1": "linear",
    "design-lin-2": "branch",
    "design-lin-2-keys-swapped": "branch_keys_swapped",
    "design-quorum-degrees": "quorum_chain",
    "design-double-quorum": "higher_quorums",
    "design-consistent-ordering-keys-swapped": "consistent_ordering_keys_swapped",
}


def vectors():
    with gzip.open(DATA / "autobase" / "design.jsonl.gz", "rt") as file:
        return {case["id"]: case for case in map(json.loads, file)}


def order_of(statement, example, observer):
    """Return an observer's nodes in order, with their columns."""
    rows = expected(statement, example=example, observer=observer)
    assert [int(row["position"]) for row in rows] == list(range(len(rows)))
    return [(row["node"], row["is_confirmed"]) for row in rows]


def test_real_peers_answered_as_stated():
    cases = vectors()
    assert cases.keys() == VECTORS.keys()
    for case_id, case in cases.items():
        example = VECTORS[case_id]
        names = {writer["key"]: writer["name"] for writer in case["writers"]}
        letters = {r["id"]: r["name"] for r in WRITERS if r["example"] == example}
        by_key = [[LETTERS[example, key] for key in sorted(map(bytes.fromhex, letters))], sorted(letters.values())]
        assert [names[key] for key in sorted(names)] == by_key[0]
        nodes = {
            (node["id"], tuple(sorted(f"{names[key]}{length - 1}" for key, length in node["heads"])))
            for node in case["nodes"]
        }
        judged = JUDGED[example]
        # The vectors list the writer's own previous node where it is the only known one.
        assert {node for node, _ in nodes} == {judged.name_of(i) for i in judged.known.nodes}
        for node, heads in nodes:
            [i] = [i for i in judged.known.nodes if judged.name_of(i) == node]
            own = {f"{node[0]}{i.length - 2}"} if i.length > 1 else set()
            assert set(heads) | own == {judged.name_of(p) for p in judged.known.previous(i)}
        for replica in case["replicas"]:
            observer = "all" if replica["name"] == "*" else replica["name"].partition("@")[0]
            found = order_of("autobase_views", example, observer)
            assert found == [
                (node, "true" if at < replica["confirmed"] else "false") for at, node in enumerate(replica["order"])
            ]


def test_every_statement_of_the_document_is_expected():
    docs = {VECTORS[case_id]: case["doc"] for case_id, case in vectors().items()}

    def design(example, observer="all"):
        return [node for node, _ in order_of("autobase_views_design", example, observer)]

    def quorums(example, **where):
        return {
            (r["node"], int(r["degree"])): (r["reached_at"], r["writers"].split())
            for r in expected("autobase_quorums", example=example, **where)
        }

    assert design("linear") == docs["linear"]["linearisation"]["*"]
    assert [design("branch"), design("branch_keys_swapped")] == docs["branch"]["linearisation_options"]
    for example in ("branch", "branch_keys_swapped"):
        assert design(example) == docs[example]["linearisation_by_key"]

    chain = quorums("quorum_chain", node="a0")
    assert {at: degree for (_, degree), (at, _) in chain.items()} == docs["quorum_chain"]["degree_over_a0_at"]
    for place, members in docs["quorum_chain"]["quorum_members"].items():
        at, degree = place.split(":")
        assert chain["a0", int(degree)] == (at, members)

    higher = quorums("higher_quorums")
    for degree, what in enumerate(["quorums", "double_quorums"], start=1):
        found = {node: members for (node, d), (_, members) in higher.items() if d == degree}
        assert found == docs["higher_quorums"][what]

    [[first, second]] = docs["consistent_ordering_keys_swapped"]["must_precede_when_confirmed"]
    for observer in ("all", "a", "b", "c"):
        assert design("consistent_ordering_keys_swapped", observer)[0] == first
        assert second not in design("consistent_ordering_keys_swapped", observer)


@pytest.mark.parametrize("name", DOCUMENT)
def test_views_by_the_design_rule_agree_with_the_document(name):
    judged = JUDGED[name]
    found = {
        (observer, str(position)): (judged.name_of(i), "true" if position < confirmed else "false")
        for observer, order, confirmed in judged.views(plain_order)
        for position, i in enumerate(order)
    }
    for row in expected("autobase_views_design", example=name):
        node, is_confirmed = found[row["observer"], row["position"]]
        assert node == row["node"]
        assert row["is_confirmed"] in ("", is_confirmed)


def test_peers_and_the_document_differ_only_in_these_examples():
    """Peers settle the nodes that the document states; they order the unsettled ones by key."""
    views = {(r["example"], r["observer"], r["position"]): r for r in expected("autobase_views")}
    rows = expected("autobase_views_design")
    parted = []
    for row in rows:
        peers = views[row["example"], row["observer"], row["position"]]
        if row["node"] != peers["node"]:
            parted.append((row["example"], row["observer"], row["node"], peers["node"], peers["is_confirmed"]))
        assert row["is_confirmed"] in ("", peers["is_confirmed"])
    assert parted == [("consistent_ordering_keys_swapped", "b", "a0", "b0", "false")]
    assert {row["is_confirmed"] for row in rows} == {"", "true", "false"}


def test_no_two_observers_contradict_each_other():
    for name in EXAMPLES:
        settled = [
            [r["node"] for r in rows if r["is_confirmed"] == "true"]
            for _, rows in itertools.groupby(expected("autobase_views", example=name), lambda r: r["observer"])
        ]
        longest = max(settled, key=len, default=[])
        assert all(one == longest[: len(one)] for one in settled)
