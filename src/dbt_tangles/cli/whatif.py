"""`tangles whatif`: replays a log under a model of delivery, without dbt and without an engine."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.core import ParameterSource

from dbt_tangles.cli.log_arguments import group_logs, in_blocks, of_kind, with_standard_input
from dbt_tangles.cli.options import FOUND, as_json, print_json_answer
from dbt_tangles.cli.page import STRONG, Page, join_names, progress_bar, quantity
from dbt_tangles.cli.suggest import examples
from dbt_tangles.cli.tables import CommandError

DELIVERIES = ("received", "shuffled", "delays", "withheld", "partition")
TIE_BREAKS = ("name", "reversed", "author")
_BARS = "▁▂▃▄▅▆▇█"
#: The columns of the table: numbers of a replica, and their headings.
_COLUMNS = {
    "changes": "changes",
    "changes_per_item": "per item",
    "changes_of_updates": "median, 95 %, most",
    "inserted_inside": "not at the end",
    "moved": "moved later",
    "rebases": "rebases",
    "unsettled": "unsettled",
    "settled_after": "settled after (arrivals)",
    "settled_after_s": "settled after (s)",
}


@click.command("whatif", epilog=examples("whatif log.jsonl", "whatif log.jsonl --delivery delays --delay 60 --json"))
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@of_kind
@in_blocks
@click.option("--delivery", type=click.Choice(DELIVERIES), default="shuffled", help="How the log arrives.")
@click.option("--seed", type=click.IntRange(0), default=1, help="The same seed gives the same answer.")
@click.option("--replicas", type=click.IntRange(1, 16), default=2, help="The replicas of shuffled and delays.")
@click.option("--delay", "delay_s", type=click.FloatRange(0, 1e9), default=3_600.0, help="The mean delay in seconds.")
@click.option("--withhold", "withheld", metavar="AUTHOR", help="The author of withheld, or a unique beginning.")
@click.option("--heals", type=click.FloatRange(0, 1), default=0.5, help="The share of the log before a partition ends.")
@click.option("--tie-break", type=click.Choice(TIE_BREAKS), help="How events of equal rank are ordered (name).")
@click.option("--max-previous", type=click.IntRange(1), help="The most causes of an event.")
@click.option("--batch", type=click.IntRange(1), help="The number of arrivals that share a script (1).")
@click.option("--indexers", type=click.IntRange(1), help="The number of indexers of an Autobase that vote.")
@click.option("--svg", metavar="FILE", help="Write a picture into FILE, whose name ends in .svg.")
@as_json
def command(logs: tuple[str, ...], kind: str | None, pretty: bool, svg: str | None, as_json: bool, **given: Any) -> int:
    """Replay a log under a model of delivery, and measure how the views of replicas change and differ.

    LOG is a file, a folder or a glob, or - for the standard input: events, SSB messages or nodes of Autobase. Exit
    code 0: replayed; 2: wrong use.
    """
    if svg is not None and not svg.endswith(".svg"):
        raise CommandError(f"--svg {svg}: the picture is an SVG; give the file a name that ends in .svg")
    with TemporaryDirectory() as folder, with_standard_input(logs, Path(folder)) as places:
        answer = _replay(places, kind, pretty, given)
    if svg is not None:
        from dbt_tangles.whatif.picture import draw

        try:
            Path(svg).write_text(draw(answer["moments"]))
        except OSError as error:
            raise CommandError(f"--svg {svg}: cannot be written: {error.strerror}; name another file") from error
    if as_json:
        print_json_answer(answer)
    else:
        _write(Page(), answer)
    return FOUND


def _check_use(delivery: str) -> None:
    """Refuse options that the delivery does not use; `replay_log` refuses an author who is not withheld."""
    from dbt_tangles.whatif.answer import PARAMETERS, REPLICAS

    context = click.get_current_context()
    used_by = {"replicas": [each for each in DELIVERIES if each not in REPLICAS]}
    used_by |= {name: [each] for each, name in PARAMETERS.items() if name != "withheld"}
    for parameter in context.command.params:
        users = used_by.get(parameter.name, DELIVERIES)
        if delivery not in users and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE:
            said = f"{parameter.opts[0]} is of the delivery {' or '.join(users)}, and not of {delivery}; leave it out"
            raise CommandError(said)


def _replay(logs: tuple[str, ...], kind: str | None, is_pretty: bool, given: dict[str, Any]) -> dict[str, Any]:
    # Imported here, because kernels and verifiers load slowly.
    from dbt_tangles.lint.findings import read_files, reading_of
    from dbt_tangles.whatif.answer import Rules, replay_log
    from dbt_tangles.whatif.deliveries import Model

    _check_use(given["delivery"])
    _, groups = group_logs(logs, kind, is_pretty)
    if len(groups) > 1:
        raise CommandError(f"the logs are of several kinds, {join_names([*groups])}; name those of one kind")
    [(kind, files)] = groups.items()
    model = Model(**{name: given[name] for name in Model._fields})
    rules = Rules(**{name: given[name] for name in Rules._fields})
    try:
        with progress_bar("reading lines") as tell:
            batches = read_files(files, reading_of(kind, is_pretty), tell)
            answer = replay_log(kind, batches, model, given["replicas"], rules)
    except ValueError as error:
        raise CommandError(str(error)) from error
    return {"files": [file.name for file in files], **answer}


def _write(page: Page, answer: dict[str, Any]) -> None:
    """Print the model, a table with a line for each replica, and the disagreement over the log."""
    counts = [quantity(answer[name], f"{name[:-1]}{{|s}}") for name in ("lines", "items", "feeds")]
    page.line((", ".join(counts), STRONG))
    given = {name: value for each in ("model", "rules") for name, value in answer[each].items() if value is not None}
    page.line(", ".join(f"{name}: {value}" for name, value in given.items()), indent=1)
    found = [{"": f"replica {number}", **each} for number, each in enumerate(answer["replicas"], 1)]
    names = ["", *(name for name in _COLUMNS if any(each.get(name) is not None for each in found))]
    rows = [[_COLUMNS.get(name, "") for name in names], *([_cell(each[name]) for name in names] for each in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        page.line("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    shares = [each["disagreement"] for each in answer["moments"]]
    if None not in shares:
        most = max(shares)
        bars = "".join(_BARS[round((len(_BARS) - 1) * share / (most or 1))] for share in shares)
        words = f"at most {most:.2%} of neighbours are in another order"
        page.line(f"disagreement: {bars}  {words}" if page.is_unicode else f"disagreement: {words}")


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{each:,}" for each in value.values())
    return "-" if value is None else value if isinstance(value, str) else f"{value:,}"
