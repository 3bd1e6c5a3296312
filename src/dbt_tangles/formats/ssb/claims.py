"""Tangle claims of a message content (SSB improvement proposal "Tangles", "Tangle fields in messages").

A claim asserts membership of a tangle; the graph algorithms decide on membership.

Source: SSB improvement proposal "Tangles", "Tangle fields in messages"; ssb-threads and ssb-backlinks for the older
``root`` and ``branch``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from dbt_tangles.formats.ssb.ids import referenced_id

#: The names of tangles that are not keys of `content.tangles` begin so; such a key gets this prefix once more.
OWN_PREFIX = "ssb:"
#: The tangle of the older fields `root` and `branch`.
LEGACY_THREAD = f"{OWN_PREFIX}legacy_thread"
MALFORMED_TANGLE = "malformed_tangle"


class Claim(NamedTuple):
    """A tangle claim of a content; an entry of the column ``claims``."""

    tangle_name: str | None = None  # The tangle; absent if ``tangles`` is not an object
    root_id: str | None = None  # The root; absent for a root claim, and where the content gives no message id
    previous: list[str] | None = None  # The listed ids; absent for a root claim, and with a defect
    is_root: bool = False  # Whether the message claims to be the root of a tangle
    defect: str | None = None  # `MALFORMED_TANGLE`, if the fields are malformed


#: Returns the id that a reference gives, or None if it can be no id.
IdOf = Callable[[str], str | None]

_ABSENT: Any = object()


def tangle_claims(content: dict[str, Any], id_of: IdOf = referenced_id) -> list[Claim]:
    """List the tangle claims of a content.

    Args:
        content: The content of a message, decrypted if it was encrypted; its fields may have any type.
        id_of: Reads a reference; a claim with a reference that can be no message's id is malformed.

    Returns:
        A claim for each key of ``content.tangles``, then the claim of ``root`` and ``branch``, if present. Previous may
        be empty or have duplicates.
    """
    if "tangles" not in content and "root" not in content and "branch" not in content:
        return []
    claims: list[Claim] = []
    tangles = content.get("tangles")
    if type(tangles) is dict:
        for name, fields in tangles.items():
            claims.append(_named_claim(tangle_name(name), fields, id_of))
    elif tangles is not None:
        claims.append(Claim(defect=MALFORMED_TANGLE))
    root = content.get("root")
    branch = content.get("branch", _ABSENT)
    if root is None and (branch is None or branch is _ABSENT):
        return claims
    # A content with tangles may use a lone `root` for another purpose, as group/add-member does.
    if branch is _ABSENT and type(tangles) is dict:
        return claims
    claims.append(_candidate_claim(LEGACY_THREAD, root, [branch] if type(branch) is str else branch, id_of))
    return claims


def tangle_name(key: str) -> str:
    """Return the name of the tangle of a key of ``content.tangles``: the key, unless that could be a name of ours."""
    return f"{OWN_PREFIX}{key}" if key.startswith(OWN_PREFIX) else key


def _named_claim(name: str, fields: Any, id_of: IdOf) -> Claim:
    if type(fields) is not dict:
        return Claim(name, defect=MALFORMED_TANGLE)
    root, previous = fields.get("root", _ABSENT), fields.get("previous", _ABSENT)
    if root is None and previous is None:
        return Claim(name, is_root=True)
    return _candidate_claim(name, root, previous, id_of)


def _candidate_claim(name: str, root: Any, previous: Any, id_of: IdOf) -> Claim:
    root_id = id_of(root) if type(root) is str else None
    listed = None if root_id is None else _references(previous, id_of)
    return Claim(name, root_id, listed, defect=MALFORMED_TANGLE if listed is None else None)


def _references(value: Any, id_of: IdOf) -> list[str] | None:
    """Read an array of references; reject any other value."""
    if type(value) is not list:
        return None
    references = []
    for reference in value:
        reference_id = id_of(reference) if type(reference) is str else None
        if reference_id is None:
            return None
        references.append(reference_id)
    return references
