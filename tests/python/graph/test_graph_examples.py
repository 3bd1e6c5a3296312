"""A worked example of the source documents that the fixtures do not have, under its name there."""

from graph_oracle import answers_of, order, thread

FORM_C = {"A": None, "B": ["A"], "C": ["B"], "D": ["B"], "E": ["C", "D"]}


def test_thread_form_d_falls_back_on_ids():
    """Form (d), equal or missing times: by id. A message without any time comes after those with one."""
    assert order(answers_of(thread(FORM_C)), "thread_position") == ["A", "B", "C", "D", "E"]
    answers = answers_of(thread(FORM_C, received_ms={"D": 1e15}))
    assert order(answers, "thread_position") == ["A", "B", "D", "C", "E"]
