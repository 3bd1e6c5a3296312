"""Compare the tables of two warehouses row by row: `python -m tests.same_tables ONE OTHER [SCHEMA]`.

Two engines over the same logs must give the same tables, whatever the order of their rows. Columns that describe the
build are left out.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

#: Columns that depend on the run, by table; None for the whole table.
LEFT_OUT = {
    "runs": None,
    "run_changes": None,
    "int_timeline_order": {"publication"},
    "timeline_updates": {"publication"},
}
LEFT_OUT |= {"timeline_events": {"publication"}, "timeline_stats": {"publication"}}


def main() -> int:
    """Run the command; return the number of tables that differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("one", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("schema", nargs="?", default="tangles")
    options = parser.parse_args()
    one, other = options.one / f"{options.schema}.db", options.other / f"{options.schema}.db"
    names = sorted({path.name for folder in (one, other) for path in folder.iterdir() if path.name[0] not in "._"})
    differing = 0
    for name in names:
        said = compare(one / name, other / name)
        differing += bool(said)
        for line in said:
            print(f"{name}: {line}")
    print(f"{len(names)} tables, {differing} differ")
    return differing


def compare(one: Path, other: Path) -> list[str]:
    """List the differences between two tables."""
    left_out = LEFT_OUT.get(one.name, set())
    if left_out is None:
        return []
    if not (one.is_dir() and other.is_dir()):
        return [f"only in {one if one.is_dir() else other}"]
    tables = [ds.dataset(folder, format="parquet").to_table() for folder in (one, other)]
    said = []
    types = [{field.name: kind(field.type) for field in table.schema} for table in tables]
    if list(types[0].items()) != list(types[1].items()):
        said.append(f"columns {sorted(types[0].items() ^ types[1].items()) or 'in another order'}")
    rows = [Counter(rows_of(table, left_out)) for table in tables]
    for place, (counted, others) in enumerate([rows, rows[::-1]]):
        surplus = counted - others
        if surplus:
            said.append(f"{surplus.total()} rows of {counted.total()} are only in {(one, other)[place].parents[1]}")
            said += [f"  {row[:2000]}" for row in sorted(surplus)[:3]]
    return said


def rows_of(table: pa.Table, left_out: set[str]) -> list[str]:
    """Write each row as text."""
    return [repr(row) for row in table.drop_columns([c for c in table.column_names if c in left_out]).to_pylist()]


def kind(found: pa.DataType) -> str:
    """Name a type without the details that engines write differently: units of time, names in lists, nullability."""
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return f"array<{kind(found.value_type)}>"
    if pa.types.is_map(found):
        return f"map<{kind(found.key_type)}, {kind(found.item_type)}>"
    if pa.types.is_struct(found):
        return f"struct<{', '.join(f'{field.name}: {kind(field.type)}' for field in found)}>"
    return "timestamp" if pa.types.is_timestamp(found) else str(found)


if __name__ == "__main__":
    sys.exit(main() > 0)
