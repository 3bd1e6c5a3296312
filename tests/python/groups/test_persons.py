"""Persons of feeds: the ends of their links."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.algorithms.private_group.persons import find_persons


def persons(announced: str, given_links: str = "") -> dict[str, tuple[str | None, str]]:
    """Return the person and the source of each feed, from links `feed>person` separated by spaces."""
    rows = [
        {"log": "ssb", "person_source": source, **dict(zip(("feed", "person"), link.split(">"), strict=True))}
        for source, links in (("announcement", announced), ("identities", given_links))
        for link in links.split()
    ]
    table = pa.Table.from_pylist(rows, find_persons.reads)
    found = [row for batch in find_persons(table.to_batches(2)) for row in batch.to_pylist()]
    assert len({row["feed"] for row in found}) == len(found)
    return {row["feed"]: (row["person"], row["person_source"]) for row in found}


def test_links_of_the_user_replace_those_of_the_log():
    found = persons("main>R main>S app>main R>T", "main>alice")
    assert found["main"] == ("alice", "identities")
    assert found["app"] == ("alice", "announcement")
    # The log still says more about a person whom the user names by a feed, unless the user ends the search there.
    assert persons("R>T", "main>R")["main"] == ("T", "identities")
    assert persons("R>T", "main>R R>R") == {"main": ("R", "identities"), "R": ("R", "identities")}
    assert persons("", "main>alice main>bob")["main"] == (None, "identities")
    assert persons("", "main>main main>bob")["main"] == (None, "identities")


@given(st.lists(st.tuples(*[st.sampled_from("abcdefg")] * 2), max_size=12))
def test_persons_agree_with_a_search(pairs):
    links = {pair for pair in pairs if pair[0] != pair[1]}

    def ends(feed: str, path: tuple = ()) -> set:
        above = {person for other, person in links if other == feed}
        if feed in path:
            return {None}
        return set().union(*(ends(person, (*path, feed)) for person in above)) if above else {feed}

    expected = {}
    for feed, _ in links:
        found = ends(feed)
        expected[feed] = (None if len(found) > 1 else found.pop(), "announcement")
    assert persons(" ".join(map(">".join, sorted(links)))) == expected
