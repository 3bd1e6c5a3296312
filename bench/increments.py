"""Nightly builds of a growing log: the cost of each build beside the first.

Each build is `dbt build` as a user runs it, over one warehouse and one log with one name. The end of a log in the shape
of a real peer's resembles a real night: most new messages belong to recent threads, and some to any thread.
"""

import json
import shutil
from argparse import Namespace

from bench import builds, logs
from bench.report import Goal, at_most

NAME = "increments"
#: The builds: the name of each, and the fraction of the log that it reads.
NIGHTS = (
    ("everything", 0.9899),
    ("0.01 % more", 0.99),
    ("1 % more", 1.0),
    ("nothing new", 1.0),
)
#: By engine, the greatest cost of each night as a share of the CPU time of a full build above an unchanged one.
SHARES = {"sail": {"1 % more": 0.25, "0.01 % more": 0.08}, "spark": {"1 % more": 0.3, "0.01 % more": 0.15}}
#: By engine, the limit for an unchanged build in seconds on the clock.
SECONDS = {"sail": 5, "spark": 15}


def run(options: Namespace) -> tuple[list[dict], list[Goal]]:
    """Build night after night; return the figures of each, and the goals."""
    whole = logs.head(options.peer_log or logs.signed_log(), options.scale)
    log = logs.FOLDER / f"growing{''.join(whole.suffixes[-2:])}"
    results: dict[str, dict] = {}
    for night, share in NIGHTS:
        shutil.copyfile(logs.head(whole, share), log)
        built = builds.build(NAME, log, is_first=not results, engine=options.engine)
        results[night] = {"night": night, **counts(options.engine), **built}
    cpu = {night: result["cpu_s"] for night, result in results.items()}
    variable = cpu["everything"] - cpu["nothing new"]
    judged = options.scale == 1
    goals = []
    for night, most in SHARES[options.engine].items():
        share = round((cpu[night] - cpu["nothing new"]) / variable, 3)
        goals.append(at_most(f"{night}: share of what everything costs above nothing new", most, share, judged))
    seconds = results["nothing new"]["wall_s"]
    return list(results.values()), [
        *goals,
        at_most("nothing new: seconds on the clock", SECONDS[options.engine], seconds, judged),
    ]


def counts(engine: str) -> dict[str, int]:
    """Count the steps of the last build, and the unchanged ones among them."""
    nodes = json.loads((builds.folder_of(NAME, engine) / "target" / "run_results.json").read_text())["results"]
    unchanged = sum(node["adapter_response"].get("_message") == "unchanged" for node in nodes)
    return {"steps": len(nodes), "unchanged": unchanged}
