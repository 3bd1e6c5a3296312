"""Writes report-queries.md beside this file: the queries behind the pictures of the report, by place.

python docs/reference/generate_queries.py
"""

from __future__ import annotations

import re
from pathlib import Path

from dbt_tangles import queries

PAGE = Path(__file__).parent / "report-queries.md"
FILES = "../../src/dbt_tangles/queries"
_VALUE = re.compile(r"\$(\w+)")

HEAD = """\
# Queries of the report

Each picture and table of `tangles report` comes from queries that you can copy: each is a file of DuckDB SQL. The
report names the files below each picture; open the line `SQL` to read them. `tangles sql` runs them, and its option
`--value` gives the value of a `$name`:

```sh
cd src/dbt_tangles/queries
tangles sql --value subjects=20 -- "$(cat tangle_subjects.sql)"
tangles sql --value base=batch --value nodes=100 -- "$(cat base_nodes.sql)"
```

Values are JSON or plain text: `--value root=%AQ…`, `--value 'ids=["%AQ…", "%Zx…"]'`.

| value | meaning |
| --- | --- |
| `subjects`, `nodes` | the options `--limit` and `--nodes` of the report |
| `name` and `root`, `author`, `set`, `group`, `base`, `timeline` | the subject of a drawing |
| `is_member`, `is_taken` | `false` for the nodes that a tangle or a set has set aside, `true` for the others |
| `ids`, `epochs` | the nodes of a drawing |
| `roots`, `troubled` | the roots of records, the groups with findings |
| `observer` | an observer of a base, or `all` |
| `until`, `first` | the last and the first sequence or position of a drawing |
| `off_chain`, `commands` | the most messages off a chain, and the most commands of a playback |
| `first`, `width`, `bins` | over time: the start and width of the columns in milliseconds, and their number |

The report counts equal tangles of one root once, as `tangles status` does; these queries count each of them.

The list "To look at" is that of `tangles status`. The search joins all tables that are built
(`report/search_index.py`).

This page is generated from [the files](../../src/dbt_tangles/queries). After a change there run
`python docs/reference/generate_queries.py`.
"""


def page() -> str:
    """Return the whole page."""
    rows = ["| place in the report | query | content | values |", "| --- | --- | --- | --- |"]
    for place, names in sorted(queries.by_place().items()):
        for name in names:
            query = queries.read(name)
            values = ", ".join(f"`{value}`" for value in dict.fromkeys(_VALUE.findall(query.sql)))
            rows.append(f"| {place} | [`{name}.sql`]({FILES}/{name}.sql) | {query.text} | {values} |")
    return f"{HEAD}\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
