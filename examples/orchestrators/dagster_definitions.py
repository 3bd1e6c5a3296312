"""Dagster definitions that build a dbt project with tangles by one command, in which each model is an asset."""

from pathlib import Path

from dagster import AssetExecutionContext, Definitions
from dagster_dbt import DbtCliResource, DbtProject, dbt_assets

#: A project made by `tangles init`, in which `dbt deps` and `dbt parse` were run: Dagster reads target/manifest.json.
FORUM = Path("/srv/forum")

project = DbtProject(project_dir=FORUM)


@dbt_assets(manifest=project.manifest_path, exclude="tag:tangles_tests")
def forum(context: AssetExecutionContext, dbt: DbtCliResource):
    """Build all tables."""
    yield from dbt.cli(["build"], context=context).stream()


definitions = Definitions(
    assets=[forum],
    # The project's own environment has dbt-spark and an engine.
    resources={"dbt": DbtCliResource(project_dir=project, dbt_executable=str(FORUM / ".venv" / "bin" / "dbt"))},
)
