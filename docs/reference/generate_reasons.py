"""Writes reasons.md beside this file: the table of reasons of the code, with examples and remedies.

python docs/reference/generate_reasons.py
"""

from __future__ import annotations

from pathlib import Path

from dbt_tangles import reasons

FOLDER = Path(__file__).parent
PAGE = FOLDER / "reasons.md"

HEAD = """\
# Rejection reasons

Every line, message or node that tangles does not use has one reason: the first that applies. `tangles why ID` and
`tangles why --line FILE:LINE` print it, with its root causes.

This page is generated from [`reasons.py`](../../src/dbt_tangles/reasons.py) and
[`reasons.yml`](../../src/dbt_tangles/reasons.yml). After a change there run
`python docs/reference/generate_reasons.py`.
"""


def page() -> str:
    """Return the whole page.

    Raises:
        ValueError: reasons.yml lacks a reason, or has one that does not exist.
    """
    notes = reasons.read_notes()
    parts = [HEAD]
    for section, enumerations in reasons.SECTIONS.items():
        note = notes[section]
        meanings = {each.value: each.description for enumeration in enumerations for each in enumeration}
        if meanings.keys() != note["reasons"].keys():
            wrong = sorted(meanings.keys() ^ note["reasons"].keys())
            raise ValueError(f"section {section} of reasons.yml and the code differ: {wrong}; add or remove them there")
        rows = ["| reason | meaning | example | remedy |", "| --- | --- | --- | --- |"]
        for code, meaning in meanings.items():
            example, remedy = note["reasons"][code]
            rows.append(f"| `{code}` | {meaning.replace('<', '&lt;')} | {example} | {remedy} |")
        parts.append(f"## {note['heading']}\n\n{note['text']}\n\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE.name}")
