"""Worked examples of the source documents that the fixtures do not have, under their names there."""

from graph_oracle import answers_of, clocks_of, order, thread

FORM_C = {"A": None, "B": ["A"], "C": ["B"], "D": ["B"], "E": ["C", "D"]}


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


def test_thread_form_d_falls_back_on_ids():
    """Form (d), equal or missing times: by id. A message without any time comes after those with one."""
    assert order(answers_of(thread(FORM_C)), "thread_position") == ["A", "B", "C", "D", "E"]
    answers = answers_of(thread(FORM_C, received_ms={"D": 1e15}))
    assert order(answers, "thread_position") == ["A", "B", "D", "C", "E"]
