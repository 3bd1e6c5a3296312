"""The lemmas of docs/explanation/convergence.md, proved by the SMT solver Z3 for graphs of any size.

Each lemma about all events of an acyclic graph is proved by strong induction over a number that grows along every link
(an acyclic graph has one, for example the place in a topological order). The solver proves the induction step: it finds
the negation of the step unsatisfiable. The induction principle itself is not part of first-order logic and is assumed.

`test_the_solver_refutes_and_the_axioms_are_consistent` is the failing side: it drops a premise, and the proof fails.
"""

import pytest
import z3

Event = z3.DeclareSort("Event")
v, c, a, b = z3.Consts("v c a b", Event)
number = z3.Function("number", Event, z3.IntSort())  # grows along links
name = z3.Function("name", Event, z3.IntSort())  # names compare like numbers
link = z3.Function("link", Event, Event, z3.BoolSort())  # link(c, v): v lists c, and both have arrived

UNIQUE_NAMES = z3.ForAll([a, b], z3.Implies(name(a) == name(b), a == b))
ACYCLIC = z3.ForAll([c, v], z3.Implies(link(c, v), number(c) < number(v)))


def ranks(suffix: str, links: z3.FuncDeclRef = link) -> tuple[z3.FuncDeclRef, z3.BoolRef]:
    """Declare ranks, and state that they satisfy the equation of lemma 1 at every event.

    The equation `rank(v) = 1 + max(rank(c) for links c to v)`, and 0 without a link, is stated without a maximum: the
    rank exceeds that of each cause by one at least, and that of some cause by one exactly.
    """
    rank = z3.Function(f"rank_{suffix}", Event, z3.IntSort())
    has_cause = z3.Exists([c], links(c, v))
    exceeds_all = z3.ForAll([c], z3.Implies(links(c, v), rank(v) >= rank(c) + 1))
    exceeds_one = z3.Exists([c], z3.And(links(c, v), rank(v) == rank(c) + 1))
    return rank, z3.ForAll([v], z3.If(has_cause, z3.And(exceeds_all, exceeds_one), rank(v) == 0))


def is_before(rank: z3.FuncDeclRef, x: z3.ExprRef, y: z3.ExprRef) -> z3.BoolRef:
    """State that x stands before y in the order by rank, then name."""
    return z3.Or(rank(x) < rank(y), z3.And(rank(x) == rank(y), name(x) < name(y)))


def find_counterexample(*axioms: z3.BoolRef, lemma: z3.BoolRef, timeout_ms: int = 60_000) -> z3.CheckSatResult:
    """Search a model of the axioms in which the lemma is false."""
    solver = z3.Solver()
    solver.set("timeout", timeout_ms)
    solver.add(*axioms, z3.Not(lemma))
    return solver.check()


def holds_below(claim, x: z3.ExprRef) -> z3.BoolRef:
    return z3.ForAll([a], z3.Implies(number(a) < number(x), claim(a)))


def test_lemma_1_the_equations_have_one_solution():
    first, first_equations = ranks("first")
    second, second_equations = ranks("second")

    def agree(x):
        return first(x) == second(x)

    step = z3.ForAll([b], z3.Implies(holds_below(agree, b), agree(b)))
    assert find_counterexample(ACYCLIC, first_equations, second_equations, lemma=step) == z3.unsat


def test_lemma_2_causes_come_first():
    rank, equations = ranks("any")
    lemma = z3.ForAll([a, b], z3.Implies(link(a, b), is_before(rank, a, b)))
    assert find_counterexample(ACYCLIC, equations, lemma=lemma) == z3.unsat


def test_lemma_3_ranks_only_rise():
    """The links of the smaller set are links of the larger set; events outside of the smaller set have none in it."""
    fewer = z3.Function("fewer", Event, Event, z3.BoolSort())
    is_part = z3.ForAll([c, v], z3.Implies(fewer(c, v), link(c, v)))
    before, equations_before = ranks("before", fewer)
    after, equations_after = ranks("after")

    def rises(x):
        return after(x) >= before(x)

    at_least_zero = z3.ForAll([a], after(a) >= 0)
    step = z3.ForAll([b], z3.Implies(holds_below(rises, b), rises(b)))
    axioms = ACYCLIC, is_part, equations_before, equations_after
    assert find_counterexample(*axioms, at_least_zero, lemma=step) == z3.unsat

    def is_positive(x):
        return after(x) >= 0

    positive = z3.ForAll([b], z3.Implies(holds_below(is_positive, b), is_positive(b)))
    assert find_counterexample(ACYCLIC, equations_after, lemma=positive) == z3.unsat


@pytest.mark.parametrize("law", ["irreflexive", "asymmetric", "transitive", "total"])
def test_the_order_is_a_strict_total_order(law):
    rank, _ = ranks("any")
    x, y, z = z3.Consts("x y z", Event)
    laws = {
        "irreflexive": z3.ForAll([x], z3.Not(is_before(rank, x, x))),
        "asymmetric": z3.ForAll([x, y], z3.Implies(is_before(rank, x, y), z3.Not(is_before(rank, y, x)))),
        "transitive": z3.ForAll(
            [x, y, z],
            z3.Implies(z3.And(is_before(rank, x, y), is_before(rank, y, z)), is_before(rank, x, z)),
        ),
        "total": z3.ForAll([x, y], z3.Or(x == y, is_before(rank, x, y), is_before(rank, y, x))),
    }
    assert find_counterexample(UNIQUE_NAMES, lemma=laws[law]) == z3.unsat


def test_theorem_two_replicas_agree():
    """Equal ranks (lemma 1) put every two events in the same order on both replicas."""
    mine, theirs = ranks("mine")[0], ranks("theirs")[0]
    same = z3.ForAll([v], mine(v) == theirs(v))
    lemma = z3.ForAll([a, b], is_before(mine, a, b) == is_before(theirs, a, b))
    assert find_counterexample(same, lemma=lemma) == z3.unsat


def test_section_3_causes_are_final_when_an_event_is_visited():
    """A cause within the old set stands before its effect in the old order, so its turn comes first."""
    old, equations = ranks("old")
    visited_before = z3.ForAll([c, v], z3.Implies(link(c, v), is_before(old, c, v)))
    assert find_counterexample(ACYCLIC, equations, lemma=visited_before) == z3.unsat


def test_section_3_causes_of_the_arrival_keep_their_ranks():
    """Let `e` arrive. An event whose causes neither changed nor include `e` has its old rank."""
    e = z3.Const("e", Event)
    new, new_equations = ranks("new")
    within = z3.Function("within", Event, Event, z3.BoolSort())
    old_links = z3.ForAll([c, v], within(c, v) == z3.And(link(c, v), c != e, v != e))
    old, old_equations = ranks("old", within)
    unaffected = z3.Function("unaffected", Event, z3.BoolSort())
    closed = z3.ForAll([c, v], z3.Implies(z3.And(link(c, v), unaffected(v)), z3.And(unaffected(c), c != e)))

    def keeps(x):
        return z3.Implies(z3.And(unaffected(x), x != e), new(x) == old(x))

    step = z3.ForAll([b], z3.Implies(holds_below(keeps, b), keeps(b)))
    assert find_counterexample(ACYCLIC, old_links, closed, old_equations, new_equations, lemma=step) == z3.unsat


def raised(rank: z3.FuncDeclRef, x: z3.ExprRef, to: z3.ArithRef) -> tuple[z3.FuncDeclRef, z3.BoolRef]:
    """Declare the ranks after one event was raised, and state that all others stay."""
    later = z3.Function(f"{rank.name()}_raised", Event, z3.IntSort())
    return later, z3.ForAll([a], later(a) == z3.If(a == x, to, rank(a)))


def test_section_4_no_step_of_raising_exceeds_the_final_ranks():
    """A step takes any link whose effect is not above its cause, and raises the effect to one more than its cause."""
    final, equations = ranks("final")
    rank = z3.Function("rank", Event, z3.IntSort())
    x, y = z3.Consts("x y", Event)
    later, step = raised(rank, y, rank(x) + 1)
    within = z3.ForAll([a], rank(a) <= final(a))
    premises = equations, within, link(x, y), rank(y) <= rank(x), step
    lemma = z3.And(z3.ForAll([a], later(a) <= final(a)), z3.ForAll([a], later(a) >= rank(a)), later(y) > rank(y))
    assert find_counterexample(*premises, lemma=lemma) == z3.unsat
    # Raising by two can exceed the final rank.
    later, step = raised(rank, y, rank(x) + 2)
    lemma = z3.ForAll([a], later(a) <= final(a))
    premises = ACYCLIC, equations, within, link(x, y), rank(y) <= rank(x), step
    assert find_counterexample(*premises, lemma=lemma, timeout_ms=3_000) != z3.unsat


def test_section_4_ranks_that_no_step_can_raise_are_final():
    """Ranks between 0 and the final ranks, with every effect above its causes, are the final ranks."""
    final, equations = ranks("final")
    rank = z3.Function("rank", Event, z3.IntSort())
    within = z3.ForAll([a], z3.And(rank(a) >= 0, rank(a) <= final(a)))
    is_settled = z3.ForAll([c, v], z3.Implies(link(c, v), rank(v) > rank(c)))

    def is_final(x):
        return rank(x) == final(x)

    step = z3.ForAll([b], z3.Implies(holds_below(is_final, b), is_final(b)))
    assert find_counterexample(ACYCLIC, equations, within, is_settled, lemma=step) == z3.unsat
    assert find_counterexample(ACYCLIC, equations, within, lemma=step, timeout_ms=3_000) != z3.unsat


def test_the_solver_refutes_and_the_axioms_are_consistent():
    """Names that repeat refute totality. Lemma 1 needs acyclic links, and no contradiction follows from the axioms."""
    rank, equations = ranks("any")
    x, y = z3.Consts("x y", Event)
    total = z3.ForAll([x, y], z3.Or(x == y, is_before(rank, x, y), is_before(rank, y, x)))
    assert find_counterexample(lemma=total) == z3.sat
    other, other_equations = ranks("other")
    agree = z3.ForAll([b], z3.Implies(holds_below(lambda e: rank(e) == other(e), b), rank(b) == other(b)))
    assert find_counterexample(equations, other_equations, lemma=agree, timeout_ms=3_000) != z3.unsat
    contradiction = z3.BoolVal(False)
    assert find_counterexample(ACYCLIC, UNIQUE_NAMES, equations, lemma=contradiction, timeout_ms=3_000) != z3.unsat
