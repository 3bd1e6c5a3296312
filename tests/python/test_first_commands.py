"""The commands that a dbt user tries first, in one project that `tangles init` makes from the wheels with Sail.

The environment, the project and its builds are this module's own: no other test runs dbt's program in a new project.
"""

import json
import os
import re
import textwrap
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from built_wheels import build, environment, said

pytestmark = pytest.mark.sail

#: Files that the user adds: a seed, and a source with freshness.
FILES = {
    "seeds/people.csv": "name,joined_at\nann,2026-01-01 00:00:00\n",
    "models/sources.yml": """
        sources:
          - name: seeded
            schema: tangles
            tables:
              - name: people
                config:
                  loaded_at_field: cast(joined_at as timestamp)
                  freshness: {warn_after: {count: 9999, period: day}}
    """,
}
FEW = ("--select", "+largest_threads", "once")


class Forum:
    """A new project, and the environment whose dbt runs in it."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder = python, folder / "forum"
        said(["init", "forum"], folder, python.parent / "tangles")
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        """Write a file of the project."""
        place = self.folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(textwrap.dedent(text))

    def dbt(self, *words: str) -> str:
        """Run a dbt command that succeeds; return its output."""
        path = f"{self.python.parent}:{os.environ['PATH']}"
        return said(["--no-use-colors", *words], self.folder, self.python.parent / "dbt", PATH=path)

    def count(self, table: str) -> int:
        """Count the rows of a table."""
        return ds.dataset(self.folder / "warehouse" / "tangles.db" / table, format="parquet").count_rows()


@pytest.fixture(scope="module")
def forum(tmp_path_factory) -> Forum:
    """Make the project and install tangles into it."""
    folder = tmp_path_factory.mktemp("first_commands")
    made = Forum(environment(folder / "environment", build(folder / "wheels")), folder)
    assert "Installed from" in made.dbt("deps")
    return made


@pytest.fixture(scope="module")
def built(forum) -> Forum:
    """Build every table without rows; then a part with a model that fails, and again what failed."""
    assert "ERROR=0" in forum.dbt("run", "--empty")
    assert [forum.count(name) for name in ("ssb_messages", "tangle_clocks", "largest_threads")] == [0, 0, 0]

    forum.write("models/once.sql", "select nope from {{ ref('tangles', 'feeds') }}")
    with pytest.raises(AssertionError, match="nope"):
        forum.dbt("build", *FEW, "+feeds")
    assert forum.count("largest_threads") == 10
    forum.write("models/once.sql", "select author from {{ ref('tangles', 'feeds') }}")
    again = forum.dbt("retry")
    assert re.search(r"OK created sql table model \w+\.once", again) and "largest_threads" not in again
    assert forum.count("once") == forum.count("feeds") > 10
    return forum


def test_commands_that_build_no_table(forum):
    """`parse`, `ls` and `compile` need no tables."""
    assert "Registered adapter" in forum.dbt("parse")
    listed = forum.dbt("ls", "--quiet", "--select", "largest_threads", "tangles.marts.feeds").split()
    assert {"forum.largest_threads", "tangles.marts.feeds.feeds"} <= {*listed}
    assert "from tangles.tangles" in forum.dbt("compile", "--select", "largest_threads")


def test_seeds_and_freshness(forum):
    """A seed of the user's own is loaded; a source's freshness is found."""
    forum.dbt("seed")
    assert forum.count("people") == 1
    assert re.search("PASS freshness of seeded.people", forum.dbt("source", "freshness"))


def test_show(built):
    """The rows of a model of the project, and of a mart, are limited; long ids are printed in part."""
    for name in ("largest_threads", "tangles.marts.feeds.feeds"):
        rows = re.findall(r"^\| [%@]\S+", built.dbt("show", "--select", name, "--limit", "4"), re.M)
        assert len(rows) == 4, name


def test_docs(built):
    """The catalog has the columns of the tables."""
    built.dbt("docs", "generate")
    nodes = json.loads((built.folder / "target" / "catalog.json").read_text())["nodes"]
    assert [*nodes["model.forum.largest_threads"]["columns"]] == ["root_id", "tangle_name", "member_count", "depth"]
    assert "model.tangles.feeds" in nodes


def test_full_refresh(built):
    """A build leaves out unchanged tables, unless it is to rebuild all."""
    assert re.search(r"OK created sql replace_groups model tangles\.tangles .*unchanged", built.dbt("run", *FEW))
    assert "unchanged" not in built.dbt("build", "--full-refresh", *FEW)
    assert built.count("largest_threads") == 10
