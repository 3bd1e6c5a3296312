"""The worked examples of the source documents, under their names there."""

from graph_oracle import answers_of, clocks_of, order, pairs_of, thread

# The thread A to E: the messages that each author knew when writing.
FORM_B = {"A": None, "B": ["A"], "C": ["A", "B"], "D": ["A", "B"], "E": ["A", "B", "C", "D"]}
FORM_C = {"A": None, "B": ["A"], "C": ["B"], "D": ["B"], "E": ["C", "D"]}
ANCESTORS = {"A": set(), "B": {"A"}, "C": {"A", "B"}, "D": {"A", "B"}, "E": {"A", "B", "C", "D"}}


def test_feed_is_a_chain():
    """Classic feed: a, b, c, d, each linking to the one before."""
    feed = thread({"a": None, "b": ["a"], "c": ["b"], "d": ["c"]})
    answers = answers_of(feed)
    assert [answers[id_]["depth"] for id_ in "abcd"] == [0, 1, 2, 3]
    assert order(answers, "position") == order(answers, "thread_position") == list("abcd")
    assert [id_ for id_ in answers if answers[id_]["child_count"] == 0] == ["d"]


def test_feed_stops_where_a_message_is_gone():
    """Classic feed without c: the previous of d is missing."""
    answers = answers_of(thread({"a": None, "b": ["a"], "d": ["c"]}))
    assert [answers[id_]["set_aside_reason"] for id_ in "abd"] == [None, None, "missing_previous"]


def test_multi_author_tangle_forks_and_merges():
    """Multi-author tangle: A, B, then X and Y concurrently, then M, which knows both."""
    answers = answers_of(thread({"A": None, "B": ["A"], "X": ["B"], "Y": ["B"], "M": ["X", "Y"]}))
    assert {id_: out["depth"] for id_, out in answers.items()} == {"A": 0, "B": 1, "X": 2, "Y": 2, "M": 3}
    assert order(answers, "position") == ["A", "B", "X", "Y", "M"]
    assert {id_: out["child_count"] for id_, out in answers.items()} == {"A": 1, "B": 2, "X": 1, "Y": 1, "M": 0}
    assert all(out["redundant_previous"] == [] for out in answers.values())


def test_multi_author_clocks():
    """Multi-author tangle: the clock of M has Alice (A, X, M) and Bob (B, Y)."""
    wrote = {"A": ("alice", 1), "B": ("bob", 1), "X": ("alice", 2), "Y": ("bob", 2), "M": ("alice", 3)}
    rows = thread(
        {"A": None, "B": ["A"], "X": ["B"], "Y": ["B"], "M": ["X", "Y"]},
        author={id_: by for id_, (by, _) in wrote.items()},
        sequence={id_: at for id_, (_, at) in wrote.items()},
    )
    expected = {("B", "alice", 1), ("M", "alice", 2), ("M", "bob", 2)}
    expected |= {(id_, *clock) for id_ in "XY" for clock in (("alice", 1), ("bob", 1))}
    assert clocks_of(rows) == expected


def test_recipe_sets_aside_until_the_graph_contains_all_previous():
    """Recipe, step b: a candidate waits for each of its previous, in any order of arrival."""
    links = {"M": ["X", "Y"], "Y": ["B"], "X": ["B"], "B": ["A"], "A": None}
    assert order(answers_of(thread(links)), "position") == ["A", "B", "X", "Y", "M"]
    del links["Y"]
    answers = answers_of(thread(links))
    assert order(answers, "position") == ["A", "B", "X"]
    assert answers["M"]["set_aside_reason"] == "missing_previous"


def test_thread_form_a_asserted_times_cannot_put_a_reply_first():
    """Form (a): B asserts a time before A. Sorting by time gives B A C D E; the links correct that."""
    asserted = {"B": 1.0, "A": 2.0, "C": 3.0, "D": 4.0, "E": 5.0}
    assert sorted(asserted, key=asserted.get) == ["B", "A", "C", "D", "E"]
    assert order(answers_of(thread(FORM_C, asserted_ms=asserted)), "thread_position") == ["A", "B", "C", "D", "E"]


def test_thread_form_b_lists_more_than_it_needs():
    """Form (b): each message lists all messages it knew; the redundant ones are those that form (c) omits."""
    answers = answers_of(thread(FORM_B))
    for id_, previous in FORM_B.items():
        needed = [p for p in previous or [] if p not in answers[id_]["redundant_previous"]]
        assert needed == (FORM_C[id_] or [])
    assert answers["E"]["redundant_previous"] == ["A", "B"]


def test_thread_forms_b_and_c_have_the_same_ancestors():
    """Form (c): the immediate previous imply all of them, at the same distances."""
    by_b, by_c = pairs_of(thread(FORM_B)), pairs_of(thread(FORM_C))
    assert by_b == by_c
    assert {id_: {a for m, a, _ in by_c if m == id_} for id_ in FORM_C} == ANCESTORS
    assert ("E", "A", 3) in by_c
    levels_b, levels_c = answers_of(thread(FORM_B)), answers_of(thread(FORM_C))
    assert {i: o["depth"] for i, o in levels_b.items()} == {i: o["depth"] for i, o in levels_c.items()}


def test_thread_form_d_breaks_ties_by_the_earlier_time():
    """Form (d): the earlier of asserted and received decides between C and D, so a time in the future has no effect."""
    asserted = {"A": 1.0, "B": 2.0, "C": 900.0, "D": 40.0, "E": 50.0}
    received = {"A": 1.0, "B": 2.0, "C": 30.0, "D": 45.0, "E": 51.0}
    answers = answers_of(thread(FORM_C, asserted_ms=asserted, received_ms=received))
    assert order(answers, "thread_position") == ["A", "B", "C", "D", "E"]
    received["C"] = 41.0
    answers = answers_of(thread(FORM_C, asserted_ms=asserted, received_ms=received))
    assert order(answers, "thread_position") == ["A", "B", "D", "C", "E"]


def test_thread_form_d_falls_back_on_ids():
    """Form (d), equal or missing times: by id. A message without any time comes after those with one."""
    assert order(answers_of(thread(FORM_C)), "thread_position") == ["A", "B", "C", "D", "E"]
    answers = answers_of(thread(FORM_C, received_ms={"D": 1e15}))
    assert order(answers, "thread_position") == ["A", "B", "D", "C", "E"]


def test_publishing_after_the_thread():
    """Publishing: a new message need list only the tips, here E."""
    answers = answers_of(thread(FORM_C))
    assert [id_ for id_ in answers if answers[id_]["child_count"] == 0] == ["E"]
    answers = answers_of(thread(FORM_C | {"F": ["E"]}))
    assert order(answers, "position")[-1] == "F"
    assert {a for m, a, _ in pairs_of(thread(FORM_C | {"F": ["E"]})) if m == "F"} == set("ABCDE")
