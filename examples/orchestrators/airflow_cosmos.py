"""An Airflow DAG in which each model of a dbt project with tangles is a task, made by Cosmos (astronomer-cosmos).

Airflow reads a file only if it contains the words `airflow` and `dag`, as this text does.
"""

from datetime import datetime
from pathlib import Path

from cosmos import DbtDag, ExecutionConfig, ProfileConfig, ProjectConfig, RenderConfig
from cosmos.constants import LoadMode

#: A project made by `tangles init`, in which `dbt deps` was run. Its environment has dbt; that of Airflow needs none.
FORUM = Path("/srv/forum")

tangles = DbtDag(
    dag_id="tangles",
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    max_active_tasks=2,  # tasks take turns, but one starts dbt while another one builds
    project_config=ProjectConfig(FORUM, install_dbt_deps=False),
    profile_config=ProfileConfig(
        profile_name="tangles", target_name="sail", profiles_yml_filepath=FORUM / "profiles.yml"
    ),
    execution_config=ExecutionConfig(dbt_executable_path=FORUM / ".venv" / "bin" / "dbt"),
    render_config=RenderConfig(load_method=LoadMode.DBT_LS, dbt_deps=False, exclude=["tag:tangles_tests"]),
    operator_args={
        "install_deps": False,
        # Each task runs in a temporary copy of the project: this path, and those of logs, have to be absolute.
        "env": {"TANGLES_WAREHOUSE": "/data/warehouse"},
        "append_env": True,
    },
)
