"""Writes dbt projects that use only the plugin."""

import textwrap
from pathlib import Path


def make_project(folder: Path, models: dict[str, str], macros: dict[str, str] | None = None) -> Path:
    """Write a small dbt project; `models` and `macros` have texts by file name."""
    for kind, texts in (("models", models), ("macros", macros or {})):
        (folder / kind).mkdir(parents=True)
        for name, text in texts.items():
            (folder / kind / name).write_text(textwrap.dedent(text).lstrip())
    (folder / "dbt_project.yml").write_text("name: plugin\nprofile: plugin\nmodels:\n  +file_format: parquet\n")
    (folder / "models" / "sources.yml").write_text(
        "sources: [{name: outside, schema: plugin_outside, tables: [{name: numbers}]}]\n"
    )
    return folder


def python_model(*lines: str, above: str = "") -> str:
    """Return the text of a Python model with these lines."""
    return above + "def model(dbt, spark):\n" + "".join(f"    {line}\n" for line in lines)
