"""The table of reasons: each code that tells why a line, message or node was rejected or set aside, with its meaning.

The table is `reasons.csv`; the codes of an enumeration stand in the order of their checks. CONTRIBUTING.md lists the
steps to add a reason. Tests compare the table with the accepted values of the models' columns.
"""

import csv
import enum
from collections.abc import Iterator
from importlib.resources import files
from typing import TypeVar

Self = TypeVar("Self", bound="Reasons")


class Reasons(str, enum.Enum):
    """Base of enumerations of reasons: a member's value is its code in the tables, its name the code in capitals.

    Attributes:
        description: The meaning of the code, a sentence.
        example: A line or a state that has this reason.
        remedy: The advice for it.
        rank: The member's position in its enumeration, from 1. If several reasons apply, the first counts.
    """

    description: str
    example: str
    remedy: str
    rank: int

    def __new__(cls: type[Self], code: str, description: str, example: str, remedy: str) -> Self:
        """Create a member from a row of the table."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.description, member.example, member.remedy = description, example, remedy
        member.rank = len(cls.__members__) + 1
        return member


def _read() -> dict[str, type[Reasons]]:
    members: dict[str, list] = {}
    with files(__package__).joinpath("reasons.csv").open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            name, code, *texts = row.values()
            members.setdefault(name, []).append((code.upper(), (code, *texts)))
    return {name: Reasons(name, rows, module=__name__) for name, rows in members.items()}


#: The enumerations by name.
ENUMERATIONS = _read()
SsbReason = ENUMERATIONS["SsbReason"]  # Why a line contains no usable message
SsbLogReason = ENUMERATIONS["SsbLogReason"]  # Likewise, by other lines; models/marts/ssb/ssb_rejects.sql sets them
GroupReason = ENUMERATIONS["GroupReason"]  # Why a content of a group type is invalid
GroupLogReason = ENUMERATIONS["GroupLogReason"]  # Likewise, by other messages; models/marts/groups sets them
PzpReason = ENUMERATIONS["PzpReason"]  # Why a line or a message of a feed tangle is rejected, as a peer checks them
SetReason = ENUMERATIONS["SetReason"]  # Why a set does not read a message that its feed tangle accepts
AutobaseReason = ENUMERATIONS["AutobaseReason"]  # Why a line is neither a base nor a node
AutobaseLogReason = ENUMERATIONS["AutobaseLogReason"]  # Likewise, by other lines; models/intermediate/autobase
EventReason = ENUMERATIONS["EventReason"]  # Why a line gave no event; formats/events and models/**/timelines set them
TangleReason = ENUMERATIONS["TangleReason"]  # Why a message is not a member; int_tangle_claims and algorithms/graph
RecordReason = ENUMERATIONS["RecordReason"]  # Why a member does not count in its record; algorithms/record sets them
FeedReason = ENUMERATIONS["FeedReason"]  # Why a message is not in its chain; models/marts/feeds/feed_messages.sql
Framing = ENUMERATIONS["Framing"]  # Why a line is not one message
FileFault = ENUMERATIONS["FileFault"]  # Why a file was not read completely; `dbt_tangles.ingest` sets them

#: Column of reasons: the enumerations of its codes.
COLUMNS: dict[str, tuple[type[Reasons], ...]] = {
    "ssb_rejects.reason": (SsbReason, SsbLogReason, Framing, FileFault),
    "ssb_messages.check_error": (SsbReason,),
    "group_messages.set_aside_reason": (GroupReason, GroupLogReason),
    "pzp_rejects.reason": (PzpReason, Framing, FileFault),
    "pzp_messages.reject_reason": (PzpReason,),
    "set_messages.reject_reason": (PzpReason, SetReason),
    "autobase_rejects.reason": (AutobaseLogReason, AutobaseReason, Framing, FileFault),
    "timeline_rejects.reason": (EventReason, FileFault),
    "tangle_messages.set_aside_reason": (TangleReason,),
    "records.left_out": (RecordReason,),
    "feed_messages.reason": (FeedReason,),
}


def reasons_of(column: str) -> dict[str, Reasons]:
    """Return the reason behind each code of a column, such as `feed_messages.reason`."""
    found: dict[str, Reasons] = {}
    for enumeration in COLUMNS[column]:
        for reason in enumeration:
            found.setdefault(reason.value, reason)
    return found


def meanings(column: str) -> dict[str, str]:
    """Return the meaning of each code of a column."""
    return {code: reason.description for code, reason in reasons_of(column).items()}


def rows() -> Iterator[tuple[str, str, str, str]]:
    """Yield for each column of reasons and each of its codes: column, code, meaning, remedy."""
    for column in COLUMNS:
        for code, reason in reasons_of(column).items():
            yield column, code, reason.description, reason.remedy
