"""The search index: all messages, nodes, events, subjects, findings and rejected lines, with author, time and verdicts.

A browser searches the whole index in memory, so it is compact: ids are shortened to a unique beginning, numbers have a
fixed width in base 64, texts are cut to the greatest length with which the index is within its bound, and chunks are
compressed. Entries with a problem come first, then the latest.
"""

import base64
import gzip

import numpy as np

from dbt_tangles.cli.page import escape_unprintable
from dbt_tangles.cli.tables import Tables, tables_of
from dbt_tangles.queries import verdict_of
from dbt_tangles.report.folder import Folder
from dbt_tangles.report.glance import WELL
from dbt_tangles.report.search_sources import EARLIEST, GROUPINGS, LATEST, SOURCES, Source

#: The most bytes of a report with the default limits, and the least number that its index may have.
_MOST_BYTES, _LEAST_BYTES = 60_000_000, 20_000_000
_LENGTHS = (400, 300, 250, 200, 160, 130, 100, 80, 60, 40, 20, 0)
_CHUNK, _SAMPLE = 16_384, 20_000
_DIGITS = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_", np.uint8)
#: Separates the parts of a chunk; texts have it only as an escape.
_PART = "\x1d"
#: The widths of an entry's numbers: kind, author, seconds since 1970 and verdicts; 0 stands for an unknown time.
_WIDTHS = (1, 4, 6, 3)


def write(tables: Tables, folder: Folder, names_of: dict[str, str]) -> None:
    """Write the index: the shards `search-0`, `search-1`, ..., and `search` with the names that their numbers mean."""
    names = _create_entries(tables)
    total = tables.rows("select count(*) as n from search_entries")[0]["n"] if names else 0
    most = max(_LEAST_BYTES, _MOST_BYTES - folder.bytes)
    length = _fit(tables, total, most) if total else 0
    chunks = count = 0
    while count < total:
        rows = _read(tables, "n > $first and n <= $last", first=count, last=count + _CHUNK)
        packed = pack(rows, length)
        if len(packed) > most:
            break
        folder.write(f"search-{chunks}", packed, is_clean=True)
        most -= len(packed)
        count += len(rows)
        chunks += 1
    about = {"total": total, "count": count, "length": length, "chunks": chunks}
    found = _names(tables, names)
    folder.write("search", found | {"people": [names_of.get(author) for author in found["authors"]]} | about)


def _names(tables: Tables, names: list[list[str]]) -> dict:
    """Return the names of the numbers in entries, see assets/search.js."""
    if not names:
        return {"kinds": [], "authors": [], "verdicts": [], "groupings": [], "combinations": []}
    return {
        "kinds": [source.kind for source in SOURCES],
        "authors": [row["author"] for row in tables.rows("select author from search_authors order by n")],
        "verdicts": names,
        "groupings": [*GROUPINGS],
        "combinations": [row["verdicts"] for row in tables.rows("select verdicts from search_verdicts order by n")],
    }


def _create_entries(tables: Tables) -> list[list[str]]:
    """Create the temporary tables of entries, authors and combinations of verdicts.

    Returns:
        The table and code of each verdict; a combination lists their numbers, one for each row of an entry. Empty if no
        table of entries is built.
    """
    built = [(n, source) for n, source in enumerate(SOURCES) if tables.has(source.table)]
    if not built:
        return []
    counted = sorted({name for _, source in built for name in (source.table, *source.own, *_also(tables, source))})
    names = [
        [name, row["verdict"]]
        for name in counted
        for table, verdict in [_verdict_of(name)]
        for row in tables.rows(f"select distinct {verdict} as verdict from {table} order by 1")
    ]
    texts = [f"{table}:{code}" for table, code in names]
    bad = [n for n, (name, code) in enumerate(names) if code not in WELL and name not in GROUPINGS]
    found = " union all ".join(_select(tables, n, source) for n, source in built)
    tables.keep(
        "search_rows",
        f"""select kind, id, author, written, replace(text, chr(10), ' ') as text,
            list_sort([list_position($names, verdict) - 1 for verdict in verdicts]) as verdicts
        from ({found}) as found""",
        names=texts,
    )
    for name, column in (("authors", "author"), ("verdicts", "verdicts")):
        tables.keep(
            f"search_{name}",
            f"""select {column}, row_number() over (order by {column}) - 1 as n
            from (select distinct {column} from search_rows where {column} is not null) as each_once""",
        )
    tables.keep(
        "search_entries",
        """select
            row_number() over (order by list_has_any(verdicts, $bad) desc, written desc nulls last, kind, id) as n,
            kind, id, coalesce(author_number, 0) as author, written, text, verdict_number as verdicts
        from (
            select rows.*, authors.n + 1 as author_number, combinations.n as verdict_number from search_rows as rows
            left join search_authors as authors on authors.author = rows.author
            join search_verdicts as combinations on combinations.verdicts = rows.verdicts
        ) as numbered""",
        bad=bad,
    )
    return names


def _also(tables: Tables, source: Source) -> list[str]:
    """List the further built tables and groupings with verdicts about a source's ids."""
    return [name for name in source.also if tables.has(_verdict_of(name)[0])]


def _verdict_of(name: str) -> tuple[str, str]:
    """Return the table and the SQL expression of a verdict, or of a grouping."""
    return GROUPINGS[name] if name in GROUPINGS else (name, verdict_of(name))


def _select(tables: Tables, number: int, source: Source) -> str:
    """Select the entries of a source, with the verdicts of all its tables as `table:code`."""
    own = ", ".join(f"'{name}:' || {_verdict_of(name)[1]}" for name in (source.table, *source.own))
    columns = f"""{number} as kind, {source.id} as id, {source.author} as author,
        {source.written} / 1000 as written, {source.text} as text"""
    if not all([tables.has(name) for name in tables_of(columns)]):
        columns = f"{number} as kind, {source.id} as id, null as author, null as written, null as text"
    also = _also(tables, source)
    if not also:
        return f"select {columns}, [{own}] as verdicts from {source.table} where {source.where}"
    others = " union all ".join(
        f"select message_id as of_id, '{name}:' || {_verdict_of(name)[1]} as verdict from {_verdict_of(name)[0]}"
        for name in also
    )
    return f"""select {columns}, list_concat([{own}], coalesce(others.verdicts, [])) as verdicts from {source.table}
        left join (select of_id, list(verdict) as verdicts from ({others}) as each_row group by of_id) as others
        on others.of_id = {source.id} where {source.where}"""


def _fit(tables: Tables, total: int, most: int) -> int:
    """Choose the greatest length of texts with which the index is within its bound, by the size of a sample."""
    sample = _read(tables, "n % $step = 0", step=max(1, total // _SAMPLE))
    for length in _LENGTHS:
        if len(pack(sample, length)) * total <= 0.95 * most * len(sample):
            return length
    return 0


def _read(tables: Tables, where: str, **values: int) -> list[dict]:
    columns = "kind, id, author, written, text, verdicts"
    return tables.rows(f"select {columns} from search_entries where {where} order by n", **values)


def pack(rows: list[dict], length: int) -> str:
    """Pack rows of `search_entries`: their numbers, ids and first characters of texts, compressed, in base64."""
    numbers = encode([(row["kind"], row["author"], _seconds(row["written"]), row["verdicts"]) for row in rows])
    ids = "\n".join(escape_unprintable(SOURCES[row["kind"]].shorten(row["id"])) for row in rows)
    texts = "\n".join(escape_unprintable((row["text"] or "")[:length]) for row in rows)
    return base64.b64encode(gzip.compress(_PART.join((numbers, ids, texts)).encode(), 6, mtime=0)).decode()


def _seconds(written: float | None) -> int:
    """Return a time in whole seconds; 0 for a time that no calendar has."""
    return int(written) if written is not None and EARLIEST / 1000 <= written < LATEST / 1000 else 0


def encode(entries: list[tuple[int, int, int, int]]) -> str:
    """Encode the numbers of entries, each in base 64 with its width of `_WIDTHS`, the most significant digit first."""
    numbers = np.array(entries, np.int64).reshape(-1, len(_WIDTHS))
    shifts = [6 * np.arange(width - 1, -1, -1) for width in _WIDTHS]
    digits = [_DIGITS[(numbers[:, at, None] >> shift) & 63] for at, shift in enumerate(shifts)]
    return np.hstack(digits).tobytes().decode("ascii")
