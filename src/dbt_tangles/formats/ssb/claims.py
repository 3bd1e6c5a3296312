"""Tangle claims of a message content (SSB improvement proposal "Tangles", "Tangle fields in messages").

A claim asserts membership of a tangle; the graph algorithms decide on membership.

Source: SSB improvement proposal "Tangles", "Tangle fields in messages"; ssb-threads and ssb-backlinks for the older
``root`` and ``branch``.
"""

from typing import Any, NamedTuple

from dbt_tangles.formats.ssb.ids import URI_SCHEME, normalise

LEGACY_THREAD = "legacy_thread"
#: Reserved tangle names, not allowed in `content.tangles`: the older fields, and the feed itself.
RESERVED = frozenset({LEGACY_THREAD, "feed"})
MALFORMED_TANGLE = "malformed_tangle"


class Claim(NamedTuple):
    """A tangle claim of a content; an entry of the column ``claims``.

    Attributes:
        tangle_name: The tangle; absent if the claim has no usable name.
        root_id: The root; absent for a root claim, and where the content gives no string.
        previous: The listed ids; absent for a root claim, and with a defect.
        is_root: Whether the message claims to be the root of a tangle.
        defect: `MALFORMED_TANGLE`, if the fields are malformed.
    """

    tangle_name: str | None = None
    root_id: str | None = None
    previous: list[str] | None = None
    is_root: bool = False
    defect: str | None = None


_ABSENT: Any = object()
#: `tangles` is not an object, or uses a reserved name.
_NAMELESS = Claim(defect=MALFORMED_TANGLE)


def tangle_claims(content: dict[str, Any]) -> list[Claim]:
    """List the tangle claims of a content.

    Args:
        content: The content of a message, decrypted if it was encrypted; its fields may have any type.

    Returns:
        A claim for each key of ``content.tangles``, then the claim of ``root`` and ``branch``, if present. Message ids
        are normalised; they may be any string, and previous may be empty or have duplicates.
    """
    if "tangles" not in content and "root" not in content and "branch" not in content:
        return []
    claims: list[Claim] = []
    tangles = content.get("tangles")
    if type(tangles) is dict:
        for name, fields in tangles.items():
            claims.append(_NAMELESS if name in RESERVED else _named_claim(name, fields))
    elif tangles is not None:
        claims.append(_NAMELESS)
    root = content.get("root")
    branch = content.get("branch", _ABSENT)
    if root is None and (branch is None or branch is _ABSENT):
        return claims
    # A content with tangles may use a lone `root` for another purpose, as group/add-member does.
    if branch is _ABSENT and type(tangles) is dict:
        return claims
    claims.append(_legacy_claim(root, branch))
    return claims


def _named_claim(name: str, fields: Any) -> Claim:
    if type(fields) is dict:
        root = fields.get("root", _ABSENT)
        previous = fields.get("previous", _ABSENT)
        if type(root) is str:
            return _claim(name, normalise(root), _references(previous))
        if root is None and previous is None:
            return Claim(name, is_root=True)
    return Claim(name, defect=MALFORMED_TANGLE)


def _legacy_claim(root: Any, branch: Any) -> Claim:
    if type(root) is not str:
        return Claim(LEGACY_THREAD, defect=MALFORMED_TANGLE)
    previous = _references([branch] if type(branch) is str else branch)
    return _claim(LEGACY_THREAD, _legacy_id(root), previous and [_legacy_id(reference) for reference in previous])


def _claim(name: str, root_id: str, previous: list[str] | None) -> Claim:
    return Claim(name, root_id, previous, defect=MALFORMED_TANGLE if previous is None else None)


def _references(value: Any) -> list[str] | None:
    """Normalise an array of strings; reject any other value."""
    if type(value) is not list:
        return None
    are_sigils = True
    for reference in value:
        if type(reference) is not str:
            return None
        if reference >= URI_SCHEME:
            are_sigils = False
    return value if are_sigils else [normalise(reference) for reference in value]


def _legacy_id(reference: str) -> str:
    """Drop the decryption key that old links to private messages append to the id."""
    return normalise(reference.partition("?unbox=")[0])
