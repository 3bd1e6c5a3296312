"""Records the runs of a package in two tables of its own: a row for each run, and the changed rows of each table.

The package has models for both tables, with the materialization `create_if_missing`, and calls `begin_run` and
`end_run` in its hooks. A run's row is written when it begins, so a killed run has one, too.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dbt.adapters.base import BaseRelation
from dbt.adapters.base.meta import AdapterMeta, available
from dbt.flags import get_flags
from dbt_common.exceptions import CompilationError
from dbt_common.invocation import get_invocation_id

from dbt_spark_python.incremental.counts import COUNTS
from dbt_spark_python.incremental.plan import COMPLETE, VERSIONS, find_held
from dbt_spark_python.table_store.catalog import literal
from dbt_spark_python.table_store.public_folders import PublishedTable

_INPUTS = "array<struct<var: string, path: string, files: bigint, bytes: bigint, lines: bigint>>"
_COLUMNS = (
    *("run_id", "started_at", "finished_at", "status", "inputs", "vars", "is_full", "project_version"),
    *("tables", "changed_tables", "snapshots"),
)
_FAILED = ("error", "fail", "runtime error", "skipped")
#: The models of the two tables.
_RUNS, _CHANGES = "runs", "run_changes"
#: The earlier runs that a report of mixed tables names.
_MOST_RUNS = 5


class Run(NamedTuple):
    """A run of a package, as its hooks describe it."""

    package: str
    started_at: str  # UTC, as a SQL timestamp
    inputs: list[dict[str, Any]]  # Its logs: `var`, `path` as shown, `is_path`, and `lines`, the model of their lines
    vars: dict[str, str]  # The other vars, as JSON


class RunHistory(metaclass=AdapterMeta):
    """A part of the adapter: the tables of runs."""

    @available
    def begin_run(self, run: dict[str, Any], nodes: Mapping[str, Any], selected: list[str]) -> list[str]:
        """Write the row of a run that begins, from the fields of `Run`; earlier runs that did not end are interrupted.

        Returns lines for the user if the warehouse holds tables of several runs.
        """
        run = Run(**run)
        node = _model(nodes, run, _RUNS)
        if node is None:
            return []
        relation = self._relation_of(node)
        self.create_schema(relation)
        tables, changed = self._standing(self._published(run, nodes))
        begun, said = self._first_row(run, self._is_full(run, nodes, selected)), []
        if self.recover_interrupted_swap(relation):
            said = _describe_mixture(self.fetch_rows(_mixture(relation, tables)))
            earlier = {
                "status": "if(status = 'running', 'interrupted', status)",
                "tables": _tables_of_runs(tables, "tables"),
                "changed_tables": _tables_of_runs(changed, "changed_tables"),
            }
            if "snapshots" not in {column.name for column in self.get_columns_in_relation(relation)}:  # version 0.1.0
                earlier["snapshots"] = _map({})
            begun = f"{_select(relation, earlier)} union all {begun}"
        self._rebuild(node, begun)
        return said

    @available
    def end_run(self, run: dict[str, Any], nodes: Mapping[str, Any], results: list[Any]) -> None:
        """Complete the row of the run that ends, and write the rows that changed in its tables."""
        run = Run(**run)
        node = _model(nodes, run, _RUNS)
        if node is None:
            return
        is_this = f"run_id = {_text(get_invocation_id())}"
        ours = [result for result in results if result.node.package_name == run.package]
        status = "error" if any(result.status in _FAILED for result in ours) else "success"
        built = {each.node.name: each.node.relation_name for each in ours if each.status == "success"}
        done = (nodes.get(each.node.unique_id) for each in ours if each.status == "success")
        made = [_full_name(each) for each in done if each and _is_table(each, run)]
        published = self._published(run, nodes)
        tables, changed = self._standing(published)
        of_this = {
            "finished_at": "current_timestamp()",
            "status": _text(status),
            "is_full": f"is_full and {str(count_unchanged(results) == 0).lower()}",
            "snapshots": _map({name: each.snapshot for name, each in (published or {}).items() if each.snapshot}),
        }
        if any(each["lines"] in built for each in run.inputs):
            of_this["inputs"] = self._inputs(run, built)
        ended = {name: f"if({is_this}, {value}, {name})" for name, value in of_this.items()}
        ended["tables"] = _tables_of_runs(tables, "tables", is_this, made)
        ended["changed_tables"] = _tables_of_runs(changed, "changed_tables", is_this, made)
        self._rebuild(node, _select(self._relation_of(node), ended))
        self._record_changes(run, nodes, published or {})

    @available
    def recover_interrupted_swap(self, relation: BaseRelation) -> bool:
        """Recover a table whose replacement a killed run left under the sibling name; whether the table exists now."""
        following = self.sibling_of(relation)
        if self.get_relation(None, relation.schema, relation.identifier) is None:
            if self.get_relation(None, following.schema, following.identifier) is None:
                return False
            self.rename_relation(following, relation)
        return True

    @available
    def summarise_run(
        self, run: dict[str, Any], nodes: Mapping[str, Any], results: list[Any], shown: list[str], look: list[str]
    ) -> list[str]:
        """Describe the tables that a run has built, as lines for the user, with the rows of the models in `shown`.

        The command `look` shows the tables. It takes `--warehouse` and `--schema`, whose defaults are `warehouse` and
        the package's name.
        """
        run = Run(**run)
        made = {each.node.name: each.node for each in results if each.status == "success"}
        tables = [made[name] for name in shown if name in made and made[name].package_name == run.package]
        if not tables:
            return []
        queries = (
            f"select {at} as at, count(*) as row_count from {node.relation_name}" for at, node in enumerate(tables)
        )
        said = [""]
        for at, count in self.fetch_rows(f"{' union all '.join(queries)} order by at"):
            said.append(f"  {tables[int(at)].name:<18}{int(count):>12,} row{'' if count == 1 else 's'}")
        if place := self.warehouse_path():
            schemas = list(dict.fromkeys(node.schema.lower() for node in tables))
            runs = _model(nodes, run, _RUNS)
            schema = runs["schema"].lower() if runs else schemas[0]
            words = [*look, *(["--warehouse", place] if place != "warehouse" else [])]
            words += ["--schema", schema] if schema != run.package else []
            folders = ", ".join(f"{place}/{schema}.db/<table>/" for schema in schemas)
            said.append(f"  Tables: {folders} (parquet).  A look: {self.shown_command(*words)}")
        return said

    @available
    def describe_outcome(self, results: list[Any]) -> str:
        """Count the steps of a run by their outcomes, as a line for the user."""
        words = {"success": "passed", "pass": "passed", "warn": "warned", "skipped": "skipped"}
        counts = {"passed": 0, "warned": 0, "failed": 0, "skipped": 0}
        for result in results:
            if result.status != "no-op":  # exposures
                counts[words.get(str(result.status), "failed")] += 1
        said = ", ".join(f"{count} {name}" for name, count in counts.items() if count or name == "passed")
        unchanged = count_unchanged(results)
        return said + (f" ({unchanged} unchanged)" if unchanged else "")

    def _rebuild(self, node: Mapping[str, Any], query: str) -> None:
        """Replace the table of a node that a hook writes, for readers and a killed run in one step."""
        relation, file_format = self._relation_of(node), node["config"].get("file_format") or "parquet"
        if self.replaces_in_place(relation, file_format):
            self.execute(f"create or replace table {relation} using {file_format} as {query}")
        else:
            following = self.sibling_of(relation)
            self.drop_relation(following)
            self.execute(f"create table {following} using {file_format} as {query}")
            self.drop_relation(relation)
            self.rename_relation(following, relation)
        self.cache_added(relation)
        self.publish_table(relation.schema, relation.identifier)

    def _record_changes(self, run: Run, nodes: Mapping[str, Any], published: Mapping[str, PublishedTable]) -> None:
        """Add the counts of changed rows that were published since the last run."""
        node = _model(nodes, run, _CHANGES)
        if node is None:
            return
        relation = self._relation_of(node)
        stands = self.recover_interrupted_swap(relation)
        known = {*(self.fetch_rows(f"select run_id, table_name from {relation}") if stands else ())}
        public = {_full_name(each) for each in nodes.values() if each.get("access") == "public"}
        rows = []
        for name, table in published.items():
            counts, of = table.changes or {}, (table.changed_in, name)
            if sum(counts.values()) > 0 and name in public and of not in known:
                rows.append(f"({', '.join([*map(_text, of), *(f'{counts[each]}L' for each in COUNTS)])})")
        if rows:
            columns = ", ".join(["run_id", "table_name", *COUNTS])
            earlier = f" union all select {columns} from {relation}" if stands else ""
            self._rebuild(node, f"select {columns} from values {', '.join(rows)} as counted ({columns}){earlier}")

    def _published(self, run: Run, nodes: Mapping[str, Any]) -> dict[str, PublishedTable] | None:
        """Return the published tables of the package by name, but for those of runs; None without manifests."""
        if self._tables is None:
            return None
        ours = [node for node in nodes.values() if _is_table(node, run)]
        schemas, names = sorted({node["schema"].lower() for node in ours}), {*map(_full_name, ours)}
        tables = (table for schema in schemas for table in self._tables.published(schema, self._building))
        found = {f"{table.schema}.{table.name}": table for table in tables}
        return {name: table for name, table in found.items() if name in names}

    def _standing(self, published: Mapping[str, PublishedTable] | None) -> list[dict[str, list[str]] | None]:
        """Return the names of tables by the run that has them, and by that which last changed them; None if unknown."""
        if published is None:
            return [None, None]
        found: list[dict[str, list[str]] | None] = [{}, {}]
        for tables, by in zip(found, ("run_id", "changed_in"), strict=True):
            for name, table in published.items():
                tables.setdefault(getattr(table, by) or "", []).append(name)
        return found if self._tables.records_reuse else [None, found[1]]

    def _first_row(self, run: Run, is_full: bool) -> str:
        is_own = run.package == self.config.project_name
        project = self.config if is_own else self.config.load_dependencies()[run.package]
        return f"""
            select {_text(get_invocation_id())} as run_id, timestamp {_text(run.started_at)} as started_at,
                cast(null as timestamp) as finished_at, 'running' as status, {self._inputs(run, {})} as inputs,
                {_map(run.vars)} as vars, {str(is_full).lower()} as is_full,
                {_text(project.version)} as project_version, {_array([])} as tables, {_array([])} as changed_tables,
                {_map({})} as snapshots"""

    def _inputs(self, run: Run, built: Mapping[str, str]) -> str:
        """Write the logs as an array; those whose lines the run has built have their sizes."""
        structs = []
        for each in run.inputs:
            lines = built.get(each["lines"])
            size = self.measure_input(each["path"], each["var"]) if lines and each["is_path"] else None
            count = f"(select count(*) from {lines})" if lines else None
            numbers = {"files": None, "bytes": None} | (size or {}) | {"lines": count}
            values = [f"'{name}', {_text(each[name])}" for name in ("var", "path")]
            values += [f"'{name}', {'null' if value is None else value}" for name, value in numbers.items()]
            structs.append(f"named_struct({', '.join(values)})")
        return f"cast(array({', '.join(structs)}) as {_INPUTS})"

    def _is_full(self, run: Run, nodes: Mapping[str, Any], selected: list[str]) -> bool:
        """Whether the run builds every table itself."""
        for node in nodes.values():
            if _is_table(node, run) and node["resource_type"] == "model":
                goes_on = find_held(node["config"]) in (VERSIONS, COMPLETE) and self.is_planned()
                is_history = (node["config"].get("meta") or {}).get("is_history")
                continues = (goes_on or is_history) and not get_flags().FULL_REFRESH
                if node["unique_id"] not in selected or (
                    continues and self.get_relation(None, node["schema"], node["alias"]) is not None
                ):
                    return False
        return True

    def _relation_of(self, node: Mapping[str, Any]) -> BaseRelation:
        return self.Relation.create(schema=node["schema"], identifier=node["alias"], type="table")


def count_unchanged(results: Iterable[Any]) -> int:
    """Count the steps of a run that left their result unchanged."""
    return sum((result.adapter_response or {}).get("_message") == "unchanged" for result in results)


def _model(nodes: Mapping[str, Any], run: Run, name: str) -> Mapping[str, Any] | None:
    """Return the enabled model of a table of runs."""
    node = nodes.get(f"model.{run.package}.{name}")
    if node is None or not node["config"]["enabled"]:
        return None
    if (kind := node["config"]["materialized"]) != "create_if_missing":
        raise CompilationError(
            f"{node['name']} must be create_if_missing, not {kind}: in dbt_project.yml, below models: "
            f"{': '.join(node['fqn'][:-1])}:, say {node['name']}: {{+materialized: create_if_missing}}"
        )
    return node


def _is_table(node: Mapping[str, Any], run: Run) -> bool:
    """Whether a node is a model or seed of the package, other than the tables of runs."""
    is_ours = node["package_name"] == run.package and node["resource_type"] in ("model", "seed")
    return is_ours and node["name"] not in (_RUNS, _CHANGES)


def _full_name(node: Mapping[str, Any]) -> str:
    return f"{node['schema']}.{node['alias']}".lower()


def _select(relation: BaseRelation, columns: Mapping[str, str]) -> str:
    """Write the query for the rows of the table of runs with other values in some columns."""
    return f"select {', '.join(f'{columns.get(name, name)} as {name}' for name in _COLUMNS)} from {relation}"


def _tables_of_runs(
    tables: Mapping[str, list[str]] | None, column: str, is_this: str = "", made: list[str] | None = None
) -> str:
    """Write the tables of each row's run: as the manifests have them, or else as the run that ends made them."""
    if tables is not None:
        cases = "".join(f" when run_id = {_text(run)} then {_array(names)}" for run, names in tables.items() if run)
        return f"case{cases} when run_id is not null then {_array([])} end"
    return f"if({is_this}, {_array(made)}, array_except({column}, {_array(made)}))" if is_this else column


def _mixture(relation: BaseRelation, tables: Mapping[str, list[str]] | None) -> str:
    return f"""
        select date_format(started_at, 'yyyy-MM-dd HH:mm:ss') as started, finished_at is null as is_cut_off,
            array_join(transform(inputs, given -> concat(given.var, ' ', given.path)), ', ') as inputs,
            size({_tables_of_runs(tables, "tables")}) as table_count
        from {relation} order by started_at desc"""


def _describe_mixture(rows: list[tuple]) -> list[str]:
    """Describe a warehouse with tables of several runs, or of a run that did not end; empty for any other."""
    runs = [row for at, row in enumerate(rows) if row[3] > 0 or (at == 0 and row[1])]
    if len(runs) < 2 and not any(row[1] for row in runs):
        return []
    said = ["The warehouse holds tables of several runs, or of a run that did not end:"]
    for started, is_cut_off, inputs, count in runs[:_MOST_RUNS]:
        tables = f"{count:4d} {'table' if count == 1 else 'tables'}"
        end = ", which did not end" if is_cut_off else ""
        said.append(f"  {tables} of the run of {started} over {inputs or 'the fixtures'}{end}")
    if others := runs[_MOST_RUNS:]:
        said.append(f"  {sum(row[3] for row in others):4d} of {len(others)} earlier runs")
    return [
        *said,
        "  A build without --select builds them all in one run. The table runs lists the tables of each run.",
    ]


def _array(texts: Iterable[str]) -> str:
    return f"cast(array({', '.join(map(_text, sorted(texts)))}) as array<string>)"


def _map(texts: Mapping[str, str]) -> str:
    keys, values = (f"cast(array({', '.join(map(_text, each))}) as array<string>)" for each in (texts, texts.values()))
    return f"map_from_arrays({keys}, {values})"


def _text(value: object) -> str:
    return f"'{literal(value)}'"
