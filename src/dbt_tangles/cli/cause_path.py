"""Prints the links of a message, its root causes, and the path to each of them."""

from dbt_tangles.cli.page import DIM, ID, Page, quantity
from dbt_tangles.cli.root_causes import MOST_LINKS

_SHOWN_LINKS = 10
_SHOWN_CAUSES = 5
_SHOWN_PATH = 12


def write_links(page: Page, label: str, column: str, links: list[dict], whole: str) -> None:
    """Print links with their kinds, at most 10; links to an id that is missing from the `whole` say so."""
    for link in links[:_SHOWN_LINKS]:
        lost = "" if link["is_known"] else f", not in the {whole}"
        if link.get("is_before_start"):
            lost = ", older than this log"
        page.line(f"{label} ", (link[column], ID), f" ({link['kind']}){lost}", indent=2)
    if len(links) > _SHOWN_LINKS:
        page.line((f"… and {len(links) - _SHOWN_LINKS:,} more (--json lists them)", DIM), indent=2)


def write_causes(page: Page, causes: list[dict], indent: int = 2) -> None:
    """Print root causes, dicts of `id`, `words` and, if the search found it, `path`; at most 5."""
    for cause in causes[:_SHOWN_CAUSES]:
        page.line("root cause: ", (cause["id"], ID), f", {cause['words']}", indent=indent)
        _write_path(page, cause["path"], indent + 1)
    if len(causes) > _SHOWN_CAUSES:
        rest = quantity(len(causes) - _SHOWN_CAUSES, "more cause{|s}")
        page.line((f"… and {rest} (--json lists them)", DIM), indent=indent)


def _write_path(page: Page, path: list[str] | None, indent: int) -> None:
    if path is None:
        page.line((f"(the path to it is not within the first {MOST_LINKS:,} links)", DIM), indent=indent)
    elif len(path) > 2:
        page.line("path to it:", indent=indent)
        half = _SHOWN_PATH // 2
        shown = path if len(path) <= _SHOWN_PATH else [*path[:half], None, *path[-half:]]
        for node in shown:
            if node is None:
                page.line((f"… {len(path) - 2 * half:,} more …", DIM), indent=indent + 1)
            else:
                page.line((node, ID), indent=indent + 1)
