"""The shop project over a log that changes from night to night."""

import json
import os
from pathlib import Path

from conftest import ENGINE, FORMATS
from dbt_spark_python.table_store import manifest
from shop_project import expected_days, expected_sums, make_shop_project, write_orders

FIRST = [("a", 1, 5), ("a", 2, 6), ("b", 1, 7), ("c", 3, 8), (None, 1, 9)]


class Nights:
    """The project, its log, and its own schema."""

    def __init__(self, project, folder, schema: str) -> None:
        self.log = folder / "orders.csv"
        self.orders = list(FIRST)
        write_orders(self.log, self.orders)
        self.built = project(schema, make_shop_project(folder / "project"), log=str(self.log))

    def rows(self, name: str) -> list[tuple]:
        """The rows of a table."""
        return sorted((tuple(row.values()) for row in self.built.rows(name)), key=repr)

    def change(self, *orders: tuple, gone: tuple = ()) -> None:
        """Add orders, and remove the orders of some shops."""
        self.orders = [order for order in self.orders if order[0] not in gone] + list(orders)
        write_orders(self.log, self.orders)

    def run(self, *arguments: str) -> dict[str, str]:
        """Build, and return a message per node: its error, `skipped`, or `unchanged`."""
        result = self.built.invoke("build", *arguments)
        assert result.exception is None, result.exception
        skipped = {each.node.name: "skipped" for each in result.result if each.status == "skipped"}
        # Tests have no record of what passed on a table format, so they run each time.
        shown = [each for each in result.result if ENGINE not in FORMATS or each.node.resource_type == "model"]
        said = {each.node.name: each.message or each.adapter_response.get("_message") for each in shown}
        return said | skipped

    def ask(self, sql: str) -> list[tuple]:
        """Run a statement in the process's session; `{name}` in it is a table."""
        names = [*(path.stem for path in (self.built.project_dir / "models").iterdir())]
        return self.built.asked(sql.format(**{name: f"{self.built.schema}.{name}" for name in names}))

    def lose(self, name: str) -> None:
        """Delete the data files of a table; a table of a table format is dropped."""
        if ENGINE in FORMATS:
            self.ask(f"drop table if exists {{{name}}}")
        for file in self.files(name):
            file.unlink()

    def folder(self, name: str) -> Path:
        """The folder of a table in a warehouse of folders."""
        return self.built.warehouse / f"{self.built.schema}.db" / name

    def files(self, name: str) -> list[Path]:
        """The data files of a table in a folder."""
        return [] if ENGINE in FORMATS else [*self.folder(name).glob("*.parquet")]

    def check(self) -> None:
        """Assert that the tables equal a full build."""
        assert self.rows("sums") == expected_sums(self.orders)
        assert self.rows("days") == expected_days(self.orders)

    def manifest(self, name: str) -> dict:
        """The manifest of a table; on a table format, empty if it has none."""
        if ENGINE in FORMATS:
            properties = dict(self.ask(f"show tblproperties {{{name}}}"))
            return json.loads(bytes.fromhex(properties.get("dbt_spark_python.manifest", b"{}".hex())))
        return manifest.read(self.folder(name))

    def alter(self, name: str) -> None:
        """Change a table as another program might."""
        if ENGINE in FORMATS:
            self.ask(f"delete from {{{name}}} where shop = 'a'")
        for file in self.files(name):
            os.utime(file, ns=(0, 0))

    def facts(self, name: str) -> tuple:
        """The recorded versions of a table, since and upto, and the counts of its last change."""
        noted = self.manifest(name)
        return noted["groups"]["since"], noted["groups"]["upto"], noted["changes"] and tuple(noted["changes"].values())
