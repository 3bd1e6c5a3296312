"""Base58 of a column equals base58 of each string."""

from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.formats.pzp import base58
from fixtures.pzp.author import base58_of

ALPHABET = base58.ALPHABET.decode()


def decode(text, size):
    if text is None or not set(text) <= set(ALPHABET):
        return None
    number = 0
    for letter in text:
        number = number * 58 + ALPHABET.index(letter)
    raw = b"\0" * (len(text) - len(text.lstrip("1"))) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    return raw if len(raw) == size else None


def sizes():
    return st.sampled_from([32, 64])


def raws(size):
    ends = st.builds(
        lambda zeros, tail: (b"\0" * zeros + tail)[:size].ljust(size, b"\xff"), st.integers(0, size), st.binary()
    )
    return st.binary(min_size=size, max_size=size) | ends


@given(st.data(), sizes())
def test_round_trip(data, size):
    column = data.draw(st.lists(st.none() | raws(size), max_size=20))
    texts = base58.encode(column, size)
    texts.validate(full=True)
    assert texts.to_pylist() == [None if raw is None else base58_of(raw) for raw in column]
    assert base58.decode(texts.to_pylist(), size) == column


@given(st.data(), sizes())
def test_any_text(data, size):
    letters = st.text(ALPHABET, max_size=100) | st.text("1z", min_size=size - 5, max_size=92)
    texts = data.draw(
        st.lists(st.none() | letters | st.text(max_size=5) | st.text("0OIl1a é", min_size=40), max_size=20)
    )
    assert base58.decode(texts, size) == [decode(text, size) for text in texts]
