"""What an example of an SSB log states: the tangles and the private groups that it must come to.

The tables are of words; seeds/make_fixtures.py says how to read them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from ssb_stage import Stage

WORKED_EXAMPLES, PRIVATE_GROUPS = "worked_examples.jsonl", "private_groups.jsonl"


@dataclass
class Tangle:
    """What one tangle must come to; the module's text says how to read it."""

    name: str
    root: str
    rows: str
    depth: int
    width: int
    authors: int
    members: int
    edge_count: int
    forks: int
    merges: int
    misordered: int
    tips: str
    edges: str = ""
    ancestors: str = ""
    set_aside: int = 0


@dataclass
class Example:
    """One worked example: how it is published and what it must come to."""

    name: str
    publish: Callable[[Stage], None]
    feeds: str
    tangles: list[Tangle] = field(default_factory=list)
    ids_in_order: str = ""  # letters whose ids must sort this way: makes `position` certain where depths are equal
    fingerprints_in_order: str = ""  # epochs whose keys' fingerprints must sort this way, which is not that of the keys
    epochs: str = ""
    people: str = ""
    group_messages: str = ""
    findings: str = ""
    file: str = WORKED_EXAMPLES


def lone(name: str, root: str) -> Tangle:
    """Return a tangle that has nothing but its root."""
    rows = f"""
        message  previous  depth  position  thread  asserted  marks
        {root}   -         0      0         0       0         root tip
    """
    return Tangle(name, root, rows, 0, 1, 1, 1, 0, 0, 0, 0, tips=f"{root}: {root}")


def stage_of(example: Example) -> Stage:
    """Publish an example, with the first keys whose ids and fingerprints sort as it asks for."""
    for salt in itertools.count():
        stage = Stage(example.name, salt)
        example.publish(stage)
        ids = [stage.messages[letter].key for letter in example.ids_in_order.split()]
        fingerprints = [stage.fingerprints[letter] for letter in example.fingerprints_in_order.split()]
        if ids == sorted(ids) and fingerprints == sorted(fingerprints):
            return stage
    raise AssertionError("unreachable")


def pairs(text: str) -> list[tuple[str, list[str]]]:
    """Read `A: x y; B: z`."""
    parts = (part.split(":") for part in text.split(";") if part.strip())
    return [(name.strip(), rest.split()) for name, rest in parts]


def flag(value: bool) -> str:
    """Write a boolean as seeds have it."""
    return "true" if value else "false"


def listed(cell: str) -> str:
    """Write a list of a table of words as seeds have it."""
    return cell.replace(",", " ")
