"""The documentation states the code's reasons, vars, variables, tables and columns correctly."""

import json
import re

import click
import pytest
import yaml

import fixture_seeds
import scripts
from conftest import ROOT
from dbt_spark_python.incremental.plan import MATERIALIZATION, find_held
from dbt_tangles.cli.cli import main
from dbt_tangles.reasons import AutobaseLogReason, AutobaseReason
from tests import mutants

notebook = scripts.load("docs/run_notebook.py")


def test_fixtures_have_each_reason_for_a_line_of_autobase():
    rejected = {row["reason"] for row in fixture_seeds.expected("autobase", "autobase_rejects")}
    documented = {reason.value for reason in (*AutobaseReason, *AutobaseLogReason)}
    assert documented - rejected == {"too_long"} and rejected <= documented


def test_tables_page_lists_each_public_table():
    page = ROOT / "docs" / "reference" / "tables.md"
    listed = re.findall(r"^\| \[`(\w+)`\]\(\.\./\.\./(\S+)\) \| .", page.read_text(), re.M)
    marts = sorted((ROOT / "models" / "marts").rglob("*.yml"))
    assert sorted(listed) == sorted((path.stem, path.relative_to(ROOT).as_posix()) for path in marts)
    assert f"These {len(marts)} tables" in page.read_text()


def test_the_first_page_lists_each_page_of_the_site():
    pages = re.findall(r"^ +- (?:[\w ]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    linked = set(re.findall(r"\]\(([^)#]+\.md)", (ROOT / "docs" / "README.md").read_text()))
    assert len(pages) > 30 and {*pages} - linked == {"README.md"}


def test_commands_page_lists_each_option():
    page, context = (ROOT / "docs" / "reference" / "commands.md").read_text(), click.Context(main)
    sections = dict(re.findall(r"^## ([\w ]+)\n(.+?)(?=^## |\Z)", page, re.M | re.S))
    missing = []
    for name in main.list_commands(context):
        listed = sections[name] + sections["Options of all commands"]
        for each in main.get_command(context, name).params:
            if isinstance(each, click.Option) and not any(
                f"`{way}" in listed for way in each.opts + each.secondary_opts
            ):
                missing.append(f"{name} {each.opts[0]}")
    assert missing == []


def test_vars_page_equals_dbt_project():
    page = (ROOT / "docs" / "reference" / "vars.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \| `(.+?)` \| .", page, re.M)
    defaults = yaml.safe_load((ROOT / "dbt_project.yml").read_text())["vars"]
    assert [(name, yaml.safe_load(value)) for name, value in listed] == list(defaults.items())


def test_environment_page_lists_the_variables_read():
    listed = re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs" / "reference" / "environment.md").read_text(), re.M)
    files = [ROOT / "profiles.yml", ROOT / "Makefile", ROOT / "dbt_project.yml"]
    for folder in ("src", "plugin/src", "macros", "models", "python_models"):
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".sql", ".yml")]
    files.append(ROOT / "tests" / "python" / "conftest.py")
    code = "\n".join(path.read_text() for path in files)
    read = set(re.findall(r"\bTANGLES_[A-Z_]+", code))
    assert len(read) > 8 and read <= set(listed)
    demonstration = (ROOT / "tests" / "cluster" / "servers.py").read_text()
    assert [name for name in listed if name not in code + demonstration] == []


def anchors(page) -> set[str]:
    """Return the anchors that GitHub and the site give the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in plain}


def test_links_have_targets():
    """Every linked file exists, and every linked heading of a Markdown page."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"]
    broken, found = [], 0
    for page in [*pages, *(ROOT / "plugin").glob("*.md")]:
        for path, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#]*)#?([^)]*)\)", page.read_text()):
            found += 1
            target = page.parent / path if path else page
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
                broken.append(f"{page.relative_to(ROOT)}: {path}#{anchor}")
    assert broken == [] and found > 200


#: The public tables of a build without vars.
MARTS = {path.stem for path in (ROOT / "models" / "marts").rglob("*.sql")} - {"tangle_clocks"}


@pytest.fixture(scope="module")
def known(fixtures) -> dict[str, dict]:
    return json.loads((fixtures.warehouse / "target" / fixtures.schema / "manifest.json").read_text())


@pytest.fixture(scope="module")
def models(known) -> dict[str, dict]:
    found = {key: node for key, node in known["nodes"].items() if node["resource_type"] == "model"}
    assert len(found) > len(MARTS)
    return found


def kind_of(node: dict) -> str:
    """Which rows a planned table has; the materialization of another node."""
    materialized = node["config"]["materialized"]
    return find_held(node["config"]) or {MATERIALIZATION: "without groups"}.get(materialized, materialized)


def test_nightly_runs_lists_the_tables_by_kind(models):
    kinds = {
        "checked lines": "versions",
        "group versions": "versions",
        "complete": "all_groups",
        "plain": "without groups",
        "appended by each run": "create_if_missing",
    }
    of = {node["name"]: kind_of(node) for node in models.values()}
    assert "table" not in of.values()  # dbt's default for Python models, which every run builds
    page = (ROOT / "docs" / "explanation" / "nightly-runs.md").read_text()
    rows = {kind: cell for kind, cell in re.findall(r"^\| ([a-z ]+) \| (.+) \|$", page, re.M) if kind in kinds}
    named = {kind: set(re.findall(r"`(\w+)`", cell)) for kind, cell in rows.items()}
    assert named.keys() == kinds.keys()
    wrong = {(kind, name) for kind, names in named.items() for name in names if of.get(name) != kinds[kind]}
    assert wrong == set()
    listed = set().union(*named.values())
    assert {name for name, kind in of.items() if kind in ("versions", "create_if_missing")} <= listed
    plain = {name for name, kind in of.items() if kind == "without groups"}
    assert {name for name in plain if not re.match("int_(pzp|group)_", name)} <= named["plain"]


def test_every_node_of_the_docs_site_is_described(known):
    """Every node has a description, except the generic tests of a model's yml."""
    listed = [*known["nodes"].values(), *known["exposures"].values(), *known["macros"].values()]
    plain = [node for node in listed if node["package_name"] == "tangles" and node["resource_type"] != "operation"]
    without = [node for node in plain if not node.get("test_metadata") and not node["description"].strip()]
    assert [node["unique_id"] for node in without] == []


def test_every_built_column_is_described(models):
    """Columns are those that the yml describes; of a private model, that of a parent or child may describe it."""
    from pyspark.sql import SparkSession

    described = {
        key: {name for name, column in model["columns"].items() if column["description"].strip()}
        for key, model in models.items()
    }
    around = {key: set(columns) for key, columns in described.items()}
    for key, model in models.items():
        for parent in set(model["depends_on"]["nodes"]) & models.keys():
            around[key] |= described[parent]
            around[parent] |= described[key]
    differing = {}
    for key, model in models.items():
        assert model["description"].strip(), model["name"]
        built = set(SparkSession.active().table(model["relation_name"]).columns)
        not_described = built - (described[key] if model["access"] == "public" else around[key])
        if not_described or described[key] - built:
            differing[model["name"]] = {"not described": not_described, "not built": described[key] - built}
    assert differing == {}


def test_runs_record_the_project_version(fixtures):
    version = yaml.safe_load((ROOT / "dbt_project.yml").read_text())["version"]
    assert {row["project_version"] for row in fixtures.rows("runs")} == {version}


def test_overview_links_to_models(known, models):
    links = re.findall(r"\[(\w+)\]\(#!/model/([\w.]+)\)", known["docs"]["doc.tangles.__overview__"]["block_contents"])
    assert {key for _, key in links} <= models.keys()
    assert [(name, key) for name, key in links if models[key]["name"] != name] == []
    assert ("tangle_messages", "model.tangles.tangle_messages") in links


#: Public tables that the programs of this project do not read.
FOR_READERS = {"autobase_rebases", "autobase_updates"}
FOR_READERS |= {"run_changes", "tangle_types", "group_authority"}


def test_exposures_list_the_tables_read(known, models):
    public = {node["name"] for node in models.values() if node["access"] == "public"}
    exposed = {
        exposure["name"]: {models[key]["name"] for key in exposure["depends_on"]["nodes"]}
        for exposure in known["exposures"].values()
    }
    read = set().union(*exposed.values())
    assert read == public - FOR_READERS and public > FOR_READERS
    cells = ["".join(cell["source"]) for cell in notebook.code_cells(json.loads(notebook.NOTEBOOK.read_text()))]
    assert exposed["notebook"] == {name for name in public if f'"{name}"' in cells[0]}
    package = ROOT / "src" / "dbt_tangles"
    files = [path for folder in ("cli", "report", "algorithms/timeline") for path in (package / folder).glob("*.py")]
    code = "\n".join(path.read_text() for path in files)
    assert read >= {name for name in public if re.search(rf"\b{name}\b", code)}


def test_static_docs_are_one_file(fixtures):
    assert fixtures.invoke("docs", "generate", "--static").success
    page = (fixtures.warehouse / "target" / fixtures.schema / "static_index.html").read_text()
    assert "start here" in page and "model.tangles.tangle_messages" in page
    loads = r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=[\"']?(?:https?:)?//|url\([\"']?(?:https?:)?//|@import"
    assert re.findall(loads, page) == []


def test_the_faults_of_decision_020_fit_the_code():
    """Each fault can be made, and the test that catches it exists."""
    for fault in mutants.listed().values():
        assert (ROOT / fault["file"]).read_text().count(fault["old"]) == 1, fault
        file, test = fault["caught_by"].split("[")[0].split("::")
        assert f"\ndef {test}(" in (ROOT / file).read_text(), fault
