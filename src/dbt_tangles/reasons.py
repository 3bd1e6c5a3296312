"""Base class of the enumerations of reject reasons: each code with its description and rank."""

from __future__ import annotations

import enum
from typing import TypeVar

Self = TypeVar("Self", bound="Reasons")


class Reasons(str, enum.Enum):
    """Base of enumerations of reasons: a member's value is its code in the tables.

    Attributes:
        description: The meaning of the code, a sentence.
        rank: The member's position in its enumeration, from 1. If several reasons apply, the first counts.
    """

    description: str
    rank: int

    def __new__(cls: type[Self], code: str, description: str) -> Self:
        """Create a member from its code and description."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.description = description
        member.rank = len(cls.__members__) + 1
        return member
