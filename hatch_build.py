"""Hooks of hatchling: the dbt project goes into the wheel; authors and addresses of both wheels are of CITATION.cff."""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

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
#: The folder of this repository.
HERE = Path(__file__).parent
#: A link of a page to a file of the repository; the first part tells a picture.
LINK = re.compile(r"(!?)(\[[^\]]*\]\()(?!\w+:|#)")


class DbtProjectHook(BuildHookInterface):
    """The project goes to `dbt_tangles/project`; an editable installation has it where it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files, before a wheel is built."""
        if version == "editable":
            return
        build_data["force_include"].update({path: f"dbt_tangles/project/{path}" for path in PROJECT})


class CitationHook(MetadataHookInterface):
    """Authors and URLs are those of CITATION.cff; the links of a README lead to the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the fields that a pyproject.toml leaves to this hook."""
        citation = (HERE / "CITATION.cff").read_text()
        url = re.search(r'^repository-code: "(.+)"$', citation, re.M)[1]
        metadata["authors"] = [{"name": name} for name in re.findall(r"^  - name: (.+)$", citation, re.M)]
        place = f"/HEAD/{os.path.relpath(self.root, HERE)}/".replace("/./", "/")
        metadata["urls"] = {
            "Homepage": url,
            "Documentation": f"{url}/tree/HEAD/docs",
            "Changelog": f"{url}/blob{place}CHANGELOG.md",
            "Issues": f"{url}/issues",
        }
        page = LINK.sub(
            lambda link: f"{link[1]}{link[2]}{url}/{'raw' if link[1] else 'blob'}{place}",
            Path(self.root, "README.md").read_text(),
        )
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
