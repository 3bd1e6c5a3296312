"""Random logs of records: their messages fork, merge, conflict, and break the rules of fields and writers."""

import random

from fixtures.ssb.author import Author, to_line

REDUCER = {"title": "overwrite", "tags": "simple_set", "editors": "complex_set"}
TYPES = [
    {"tangle_name": "page", "writers": "root_field", "writers_field": "editors", "reducer": REDUCER},
    {"tangle_name": "diary", "writers": "root_author", "reducer": REDUCER},
    {"tangle_name": "wiki", "reducer": REDUCER},
]


def random_lines(messages: int, seed: int) -> list[bytes]:
    """Publish messages of about a sixth as many records, by four authors."""
    chosen = random.Random(seed)
    authors = [Author.from_seed(f"record stories {seed} {number}") for number in range(4)]
    roots: list[str] = []
    members: dict[str, list[str]] = {}
    tangles: dict[str, str] = {}
    lines = []
    for number in range(messages):
        author = chosen.choice(authors)
        if not roots or chosen.random() < 0.17:
            tangle, links = chosen.choice(["page", "diary", "wiki", "wiki"]), {"root": None, "previous": None}
        else:
            root = chosen.choice(roots)
            known = members[root][-4:]
            tangle = tangles[root]
            links = {"root": root, "previous": chosen.sample(known, chosen.randint(1, min(2, len(known))))}
        content = {"type": "page", "tangles": {tangle: links}, **random_fields(chosen, authors)}
        time = 1_700_000_000_000 + number
        message = author.publish(content, asserted_at=time, received_at=time)
        if links["root"] is None:
            roots.append(message["key"])
            tangles[message["key"]] = tangle
        members.setdefault(links["root"] or message["key"], []).append(message["key"])
        lines.append(to_line(message))
    return lines


def random_fields(chosen: random.Random, authors: list[Author]) -> dict:
    """Choose the fields that a message sets; one in thirty is malformed."""
    fields: dict = {}
    if chosen.random() < 0.5:
        fields["title"] = {"set": chosen.choice(["a", "b", None, {"x": 1}])}
    if chosen.random() < 0.4:
        fields["tags"] = {chosen.choice("xyz"): chosen.choice([1, 1, -1])}
    if chosen.random() < 0.5:
        named = chosen.sample(authors, 2)
        fields["editors"] = {each.feed_id: {str(chosen.randrange(9)): chosen.choice([1, 1, -1])} for each in named}
    if chosen.random() < 1 / 30:
        fields[chosen.choice([*REDUCER])] = chosen.choice(["text", [], {"a": 1.5}])
    return fields
