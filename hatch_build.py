"""Puts the dbt project into the wheel, beside the code: `tangles init` makes projects that install it."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: What dbt reads of this project, and what a new project begins with: a log, and a notebook with its queries.
PROJECT = (
    "dbt_project.yml",
    "docs/notebook.ipynb",
    "docs/queries",
    "macros",
    "models",
    "profiles.yml",
    "python_models",
    "seeds",
    "tests/_tests.yml",
    "tests/data/ssb/small.jsonl",
    "tests/generic",
    "tests/singular",
)


class DbtProjectHook(BuildHookInterface):
    """The project goes to `dbt_tangles/project`; an editable installation has it where it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files, before a wheel is built."""
        if version == "editable":
            return
        build_data["force_include"].update({path: f"dbt_tangles/project/{path}" for path in PROJECT})
