"""Codes that say why something was refused, each with its meaning."""

from __future__ import annotations

import enum
from typing import TypeVar

Self = TypeVar("Self", bound="Reasons")


class Reasons(str, enum.Enum):
    """The base of enumerations of reasons: a member's value is its code in the tables.

    Attributes:
        description: What the code means, a sentence.
        rank: The member's place in its enumeration, from 1. Where several reasons apply, the first counts.
    """

    description: str
    rank: int

    def __new__(cls: type[Self], code: str, description: str) -> Self:
        """Make a member of its code and description."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.description = description
        member.rank = len(cls.__members__) + 1
        return member
