"""What a content says about the tangles it belongs to.

A claim is only that: whether the message becomes a member is for the graph to say.

Source: SSB improvement proposal "Tangles", "tangle fields in messages"; ssb-threads and ssb-backlinks for the older
``root`` and ``branch``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dbt_tangles.formats.ssb.ids import URI_SCHEME, normalise

LEGACY_THREAD = "legacy_thread"
#: Names of tangles that are not made by `content.tangles`: the older fields, and the feed itself.
RESERVED = frozenset({LEGACY_THREAD, "feed"})
MALFORMED_TANGLE = "malformed_tangle"


class Claim(NamedTuple):
    """A claim of a content; an entry of the column ``claims``.

    Attributes:
        tangle_name: None where there is none to file the claim under.
        root_id: None for a root claim, and where the content does not name one by a string.
        previous: None for a root claim, and with a defect.
        is_root: whether the message says that it is the root of a tangle.
        defect: `MALFORMED_TANGLE` or None.
    """

    tangle_name: str | None = None
    root_id: str | None = None
    previous: list[str] | None = None
    is_root: bool = False
    defect: str | None = None


_ABSENT: Any = object()
#: `tangles` is not an object, or uses a name that is reserved.
_NAMELESS = Claim(defect=MALFORMED_TANGLE)


def tangle_claims(content: dict[str, Any]) -> list[Claim]:
    """List the tangle claims of a content.

    Args:
        content: a message's content, decrypted if it was encrypted. Nothing about its types is taken for granted.

    Returns:
        A claim for each key of ``content.tangles``, then the claim of ``root`` and ``branch`` if they make one.
        Message ids are normalised; they may be any string, and previous may be empty or repeat itself.
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
    # A content with tangles may use a lone `root` for something else, as group/add-member does.
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
    """The strings of an array, normalised; None for anything but an array of strings."""
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
    """Old links to private messages carry their key after the id."""
    return normalise(reference.partition("?unbox=")[0])
