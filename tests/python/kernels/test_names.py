"""Compiled functions have unique names, so that a profile or an error identifies each."""

import re
from collections import Counter
from pathlib import Path

import dbt_tangles


def test_compiled_names_are_unique():
    sources = (path.read_text("utf-8") for path in Path(dbt_tangles.__file__).parent.rglob("*.py"))
    names = [
        name
        for source in sources
        for name in re.findall(r"^@(?:compiled|inner)\n(?:@.*\n)?def (\w+)", source, re.MULTILINE)
    ]
    assert names and not [name for name, count in Counter(names).items() if count > 1]
