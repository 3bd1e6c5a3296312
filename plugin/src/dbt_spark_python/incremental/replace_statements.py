"""SQL statements that replace the rows of changed groups in a table of Iceberg or Delta Lake in one commit.

`overwrite_statement` writes a whole table: it reads the table once, and joins it with the changed groups.
`merge_statement` writes only the files with a row of a changed group, but shuffles and sorts all rows of these files.
"""

from collections.abc import Iterable, Mapping

from dbt_spark_python.incremental.tables import ChangedGroups
from dbt_spark_python.table_store.catalog import quoted

#: A merge handles a group in so many parts, each in one task, which holds the rows of a part in memory.
_PARTS = 16


def files_statement(table: str, file: str, groups: ChangedGroups) -> str:
    """Write the query for the number of files with rows, and for the number of those with a row of a changed group.

    Args:
        table: The table.
        file: The expression of a row's file.
        groups: The changed groups.
    """
    return f"""
        select count(*) as files, count_if(has_changed) as changed_files from (
            select {_hint(groups)}__file, max(changed.__group is not null) as has_changed
            from (select {file} as __file, {_group_of(groups.key)} as __group from {table}) as kept
            left join ({_changed(groups)}) as changed on kept.__group = changed.__group
            group by __file
        )
    """


def overwrite_statement(table: str, new: str, columns: Iterable[str], groups: ChangedGroups) -> str:
    """Write the statement that replaces all rows of a table: by the rows of unchanged groups, and the new rows.

    Args:
        table: The table, without partitions.
        new: The table with the new rows.
        columns: The columns of the table, in its order.
        groups: The changed groups.
    """
    names = ", ".join(map(quoted, columns))
    return f"""
        insert into {table} replace where true
        select {_hint(groups)}{names} from {table} as kept
        left anti join ({_changed(groups)}) as changed on {_group_of(groups.key)} = changed.__group
        union all
        select {names} from {new}
    """


def merge_statement(table: str, new: str, columns: Mapping[str, str], groups: ChangedGroups) -> str:
    """Write the `merge` that replaces the rows of changed groups.

    Its source has a row for each part of a changed group, which deletes the rows of that part, and the new rows, which
    match no row. Spark's full outer join holds all rows with one key in memory, and sends them to one task.

    Args:
        table: The table.
        new: The table with the new rows.
        columns: The columns of both, with their types.
        groups: The changed groups.
    """
    names = [quoted(column) for column in columns]
    hashed = [quoted(column) for column, kind in columns.items() if "map<" not in kind]  # Spark does not hash maps
    new_part, part = (
        f"pmod(hash({', '.join(prefix + name for name in hashed) or 0}), {_PARTS})" for prefix in ("", "kept.")
    )
    return f"""
        merge into {table} as kept
        using (
            select cast(null as string) as __group, {new_part} as __part, struct(*) as __row from {new}
            union all
            select __group, explode(sequence(0, {_PARTS - 1})) as __part, null as __row
            from (select distinct __group from ({_changed(groups)}))
        ) as made
        on {_group_of(groups.key)} = made.__group and {part} = made.__part
        when matched then delete
        when not matched and made.__row is not null then
            insert ({", ".join(names)}) values ({", ".join(f"made.__row.{name}" for name in names)})
    """


def _changed(groups: ChangedGroups) -> str:
    """Write the query for the keys of the changed groups; a key may occur twice."""
    condition = f"version > {int(groups.since)}"
    return f"select {_group_of(groups.column)} as __group from {groups.versions} where {condition}"


def _hint(groups: ChangedGroups) -> str:
    """Write the hint that broadcasts the keys of the changed groups, if they are few."""
    return "/*+ broadcast(changed) */ " if groups.are_few else ""


def _group_of(key: str) -> str:
    """Write the expression of a row's group, as `earlier.group_key_text` has it."""
    return f"coalesce(cast({key} as string), '')"
