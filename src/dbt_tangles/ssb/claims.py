"""What a content says about the tangles it belongs to.

A claim is only that: whether the message becomes a member is for the graph to say.

Source: SSB improvement proposal "Tangles", "tangle fields in messages"; ssb-threads and ssb-backlinks for the older
``root`` and ``branch``.
"""

from __future__ import annotations

from typing import Any

from dbt_tangles.ssb.ids import URI_SCHEME, normalise

LEGACY_THREAD = "legacy_thread"
MALFORMED_TANGLE = "malformed_tangle"

#: tangle_name, root_id, previous, is_root, defect. A root claim has neither root_id nor previous; a claim with a defect
#: has no previous, a root_id only where the content names one by a string, and no tangle_name where there is none to
#: file it under.
Claim = tuple[str | None, str | None, list[str] | None, bool, str | None]

_ABSENT: Any = object()
#: `tangles` is not an object, or uses the name that stands for the older fields.
_NAMELESS: Claim = (None, None, None, False, MALFORMED_TANGLE)


def tangle_claims(content: dict[str, Any]) -> list[Claim]:
    """List the tangle claims of a content.

    Args:
        content: a message's content, decrypted if it was encrypted. Nothing about its types is taken for granted.

    Returns:
        A claim for each key of ``content.tangles``, then the claim of ``root`` and ``branch`` if they make one.
        Message ids are normalised; they may be any string, and previous may be empty or repeat itself.
    """
    claims: list[Claim] = []
    tangles = content.get("tangles")
    if type(tangles) is dict:
        for name, fields in tangles.items():
            claims.append(_NAMELESS if name == LEGACY_THREAD else _named_claim(name, fields))
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
    if type(fields) is not dict:
        return name, None, None, False, MALFORMED_TANGLE
    root = fields.get("root", _ABSENT)
    previous = fields.get("previous", _ABSENT)
    if type(root) is str:
        previous = _references(previous)
        return name, normalise(root), previous, False, MALFORMED_TANGLE if previous is None else None
    if root is None and previous is None:
        return name, None, None, True, None
    return name, None, None, False, MALFORMED_TANGLE


def _legacy_claim(root: Any, branch: Any) -> Claim:
    if type(root) is not str:
        return LEGACY_THREAD, None, None, False, MALFORMED_TANGLE
    previous = _references([branch] if type(branch) is str else branch)
    if previous is None:
        return LEGACY_THREAD, _legacy_id(root), None, False, MALFORMED_TANGLE
    return LEGACY_THREAD, _legacy_id(root), [_legacy_id(reference) for reference in previous], False, None


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
