"""Names the vars that tables depend on. The tables of a log that the builds were not given do not count as missing."""

from functools import cache

from dbt_tangles.cli.init import project_folder
from dbt_tangles.cli.tables import Pair, Tables

#: Var of a log: the folders of models that its messages go through, with the words for their end.
AREAS = {
    "ssb_log": {
        "ssb": "SSB messages verified",
        "feeds": "feeds chained",
        "tangles": "tangles ordered",
        "groups": "private groups reduced",
        "timelines": "timelines sorted",
    },
    "pzp_log": {"pzp": "pzp messages verified", "sets": "sets reduced"},
    "autobase_log": {"autobase": "bases linearised"},
    "event_log": {"events": "events read", "timelines": "timelines sorted"},
}
#: Vars that switch a folder of models, or a model, beside its logs.
_SWITCHES = {"groups": ("private_groups",), "tangle_clocks": ("clock_limit",)}


@cache
def vars_of(name: str) -> tuple[str, ...]:
    """Return the vars of which one enables a table; empty for a table of runs, and for an unknown name."""
    models = (path for top in ("models", "python_models") for path in (project_folder() / top).glob(f"*/*/{name}.yml"))
    folder = next((path.parent.name for path in models), None)
    logs = tuple(log for log, areas in AREAS.items() if folder in areas)
    return _SWITCHES.get(name) or _SWITCHES.get(folder, logs)


def lacking(tables: Tables) -> list[str]:
    """List the tables that queries needed and did not find, except for those of logs that the builds were not given."""
    if isinstance(tables, Pair):
        return sorted(
            f"{name} of {whose}" for whose, side in (("A", tables.a), ("B", tables.b)) for name in lacking(side)
        )
    return sorted(name for name in tables.missing if _is_expected(tables, name))


def explain_absence(tables: Tables, name: str) -> str:
    """Say why a table is absent: the builds were not given its log, or left it out."""
    if _is_expected(tables, name):
        return f"{name} is not built; build it with all tables that it reads"
    return f"{name} is built only with the var {' or '.join(vars_of(name))}; set it"


def _is_expected(tables: Tables, name: str) -> bool:
    """Whether the builds were given a var that enables a table, as far as this is known."""
    needed, given = {*vars_of(name)}, tables.given_vars
    return given is None or not needed or bool(given & needed)
