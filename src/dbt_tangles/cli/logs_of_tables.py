"""Names the vars that tables depend on. The tables of a log that the builds were not given do not count as missing."""

from functools import cache

from dbt_tangles.cli.init import project_folder
from dbt_tangles.cli.tables import Pair, Tables

#: Folders of models, or a model, with the vars that enable them: a log, or the switch of a part.
_VARS = {
    "ssb": ("ssb_log",),
    "feeds": ("ssb_log",),
    "tangles": ("ssb_log",),
    "groups": ("private_groups",),
    "tangle_clocks": ("clock_limit",),
    "timelines": ("ssb_log", "event_log"),
    "events": ("event_log",),
    "pzp": ("pzp_log",),
    "sets": ("pzp_log",),
    "autobase": ("autobase_log",),
}


@cache
def vars_of(name: str) -> tuple[str, ...]:
    """Return the vars of which one enables a table; empty for a table of runs, and for an unknown name."""
    models = (path for top in ("models", "python_models") for path in (project_folder() / top).glob(f"*/*/{name}.yml"))
    return _VARS.get(name) or next((_VARS.get(path.parent.name, ()) for path in models), ())


def lacking(tables: Tables) -> list[str]:
    """List the tables that queries needed and did not find, except for those of logs that the builds were not given."""
    if isinstance(tables, Pair):
        return sorted(
            f"{name} of {whose}" for whose, side in (("A", tables.a), ("B", tables.b)) for name in lacking(side)
        )
    given = tables.given_vars
    return sorted(name for name in tables.missing if given is None or not vars_of(name) or given & {*vars_of(name)})


def explain_absence(tables: Tables, name: str) -> str:
    """Say why a table is absent: the builds were not given its log, or left it out."""
    needed = vars_of(name)
    if tables.given_vars is None or not needed or tables.given_vars & {*needed}:
        return f"{name} is not built; build it with all tables that it reads"
    return f"{name} is built only with the var {' or '.join(needed)}; set it"
