"""Malformed fields of record messages, by the reducers of the default types of tangles."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from jinja2 import Environment

from dbt_tangles.algorithms.record.strategies import malformed_fields
from dbt_tangles.cli.init import project_folder
from dbt_tangles.formats.ssb.contents import parse_content

_COLUMN = pa.field("malformed_fields", pa.list_(pa.string()))


@cache
def default_reducers() -> dict[str, dict[str, str]]:
    """Read the strategies of the fields of each default record type from the project's macro."""
    found: list[dict[str, Any]] = []
    jinja = Environment()
    jinja.globals["return"] = found.extend
    macro = project_folder() / "macros" / "tangles" / "default_tangle_types.sql"
    jinja.from_string(macro.read_text()).module.default_tangle_types()
    return {each["tangle_name"]: each["reducer"] for each in found if each.get("reducer")}


def append_malformed_fields(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Append a column `malformed_fields` to verified lines of SSB logs: `<tangle name>: <field>, …` for each record."""
    for batch in batches:
        claims = batch["claims"]
        names = pc.struct_field(claims.flatten(), "tangle_name")
        is_record = pc.is_in(names, pa.array([*default_reducers()]))
        rows = set(pc.list_parent_indices(claims).filter(is_record).to_pylist())
        found = [_malformed(batch, row) if row in rows else None for row in range(len(batch))]
        yield batch.append_column(_COLUMN, pa.array(found, _COLUMN.type))


def _malformed(batch: pa.RecordBatch, row: int) -> list[str]:
    content = parse_content(batch["content"][row].as_py()) or {}
    reducers = default_reducers()
    names = [claim["tangle_name"] for claim in batch["claims"][row].as_py() if claim["defect"] is None]
    faults = {name: malformed_fields(content, reducers[name]) for name in names if name in reducers}
    return [f"{name}: {', '.join(fields)}" for name, fields in faults.items() if fields]
