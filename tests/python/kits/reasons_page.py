"""Reads the page of reasons."""

import html
import re

from conftest import ROOT
from dbt_tangles.reasons import read_notes

FOLDER = ROOT / "docs" / "reference"


def sections() -> dict[str, list[tuple[str, str]]]:
    """Return each section's reasons with their meanings; the two sections about bases are one."""
    notes = read_notes()
    by_heading = {note["heading"]: section for section, note in notes.items()}
    found: dict[str, list[tuple[str, str]]] = {}
    for part in re.split("^## ", (FOLDER / "reasons.md").read_text(), flags=re.M)[1:]:
        section = by_heading[part.partition("\n")[0]]
        rows = re.findall(r"^\| `(\w+)` \| (.+?) \| .+? \| .+? \|$", part, re.M)
        found.setdefault("autobase" if section == "derived" else section, []).extend(
            (code, html.unescape(meaning)) for code, meaning in rows
        )
    return found
