"""Finds the person of each feed by following links: each link names the metafeed, or the person, of a feed.

The links that the user gives for a feed replace those of the log. A feed whose links lead to two persons, or in a
circle, has no person.

Source: metafeed specification (ssb-meta-feeds-spec), `metafeed/announce`, `metafeed/add/existing`,
`metafeed/add/derived`.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dbt_tangles.algorithms.private_group.acyclic_order import acyclic_order
from dbt_tangles.kernel_runtime.kernel import kernel


class Link(NamedTuple):
    """A link from a feed to its person, or to the metafeed above it."""

    log: str  # one text for all links
    feed: str
    person: str  # the feed itself ends the search
    person_source: str  # `IDENTITIES` or `ANNOUNCEMENT`


class FeedPerson(NamedTuple):
    """A feed with links."""

    feed: str
    person: str | None  # null if the links lead to two persons, or in a circle
    person_source: str  # of the feed's own links


IDENTITIES, ANNOUNCEMENT = "identities", "announcement"


@kernel(keys=["log"], reads=Link, writes=FeedPerson, order=["feed"])
def find_persons(links: Sequence[Link]) -> Iterator[FeedPerson]:
    """Find the person of each feed that has links."""
    given: dict[str, dict[str, set[str]]] = {IDENTITIES: defaultdict(set), ANNOUNCEMENT: defaultdict(set)}
    for link in links:
        given[link.person_source][link.feed].add(link.person)
    above = given[ANNOUNCEMENT] | given[IDENTITIES]
    roots = _find_roots(above)
    for feed in above:
        person = roots[feed][0] if len(roots.get(feed, ())) == 1 else None
        yield FeedPerson(feed, person, IDENTITIES if feed in given[IDENTITIES] else ANNOUNCEMENT)


def _find_roots(above: dict[str, set[str]]) -> dict[str, list[str]]:
    """Find the ends of the links of each feed, at most two; feeds on or below a circle are left out."""
    roots: dict[str, list[str]] = {}
    for feed in acyclic_order({feed: persons - {feed} for feed, persons in above.items()}):
        found = {root for person in above.get(feed, [feed]) for root in ([feed] if person == feed else roots[person])}
        roots[feed] = sorted(found)[:2]
    return roots
