"""The places in a report that problems and ids lead to, and the answers of `tangles why` for ids that are not drawn."""

from collections import defaultdict

from dbt_tangles.cli.graph import label
from dbt_tangles.cli.subjects import KINDS
from dbt_tangles.cli.suggest import Ask, place_options, words_of
from dbt_tangles.cli.tables import CommandError, Tables
from dbt_tangles.report.names import FileNames, People, file_name
from dbt_tangles.report.parts import Kind
from dbt_tangles.report.why_answers import answer_any


def add_links(problems: list[dict], files: FileNames, people: People) -> list[dict]:
    """Give each problem its place in the report (`to`: a view and its parts), and its words the names of people."""
    found = []
    for problem in problems:
        words, (to, ask) = people.name_ids(files.shorten(problem["words"])), _link(problem)
        if to[0] == "message" and label(to[1]) not in words:  # Without its id, problems would not differ.
            words = f"{words}: {label(to[1])}"
        found.append({"words": words, "to": to, "ask": ask})
    return found


def places() -> list[str]:
    """Return the options of the tables for the commands of a report, which names no folder of the machine."""
    return [file_name(word) for word in place_options(is_same_shell=False)]


def _link(problem: dict) -> tuple[list[str], str | None]:
    ask: Ask | None = problem["ask"]
    if ask is None:  # A problem of runs or tests.
        return [problem["page"]] if problem["page"] else ["glance", "runs"], None
    if problem["page"] == "rejects" and ask.command == "why":
        file, _, line = ask.argument.rpartition(":")
        place = f"{file_name(file)}:{line}"
        to, ask = ["rejects", place], ask._replace(argument=place)
    elif problem["page"]:
        to = [problem["page"]]
    elif ask.command == "show" and ask.options[-1] in KINDS:
        to = [ask.options[-1], ask.argument]
    elif ask.argument.startswith("@"):
        to = ["feed", ask.argument]
    else:
        to = ["message", ask.argument]
    return to, f"tangles {words_of(ask, places())}"


def places_of(kinds: dict[str, Kind]) -> dict[str, list[list]]:
    """Return for each id that is drawn its drawings: the kind, and the number among the drawn subjects."""
    places: dict[str, list[list]] = defaultdict(list)
    for name, kind in kinds.items():
        for number, part in enumerate(kind.parts):
            for node in part.view["nodes"]:
                places[node["id"]].append([name, number])
    return places


def answers_of(tables: Tables, problems: list[dict], files: FileNames) -> dict[str, list[list]]:
    """Answer `tangles why` for the ids that problems name."""
    ids = [problem["to"][1] for problem in problems if problem["to"][0] == "message"]
    answers = {}
    for id_ in dict.fromkeys(ids):
        try:
            answers[id_] = files.shorten_lines(answer_any(tables, id_))
        except CommandError:  # A table is missing or replaced; the page shows the command.
            continue
    return answers
