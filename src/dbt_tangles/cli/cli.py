"""The command `tangles`: its subcommands, and the first sentence of the help of each.

Exit codes: 0 found; 1 not found, or differences found; 2 wrong usage or unreadable tables.
"""

import importlib
import sys

import click
from click.shell_completion import CompletionItem

from dbt_tangles.cli.suggest import examples

#: Subcommand, named as its module in this folder: the first sentence of its help. Calling it imports the module.
COMMANDS = {
    "build": "Build the tables of logs: verify every line, compute every table, run the tests, and print the status.",
    "why": "Say whether a message is verified, and where it belongs or why it was set aside.",
    "status": "Show the latest runs and their logs, the rows of each table by verdict, and problems to look at.",
    "show": "Draw the graph of a tangle, feed, set, private group, base or timeline.",
    "report": "Write a folder of HTML that draws the tables: open its index.html, without a network or a server.",
    "sql": "Run a query on the public tables, with DuckDB.",
    "diff": "Compare the warehouses A and B: rows that only one has, and rows with different values.",
    "check": "Compare the statements of a peer about its log with the tables.",
    "send": "List the messages that a peer lacks, in an order that it can apply.",
    "follow": "Keep a timeline in an SQLite file, by the commands of timeline_updates.",
    "lint": "Judge the lines, signatures, feeds and claims of logs, without building tables.",
    "whatif": "Replay a log under a model of delivery, and measure how the views of replicas change and differ.",
    "init": "Make a new dbt project in DIR that installs tangles: settings, an example log and a model to start from.",
}


class _Commands(click.Group):
    """The group of the subcommands; its own help and completion import none of their modules."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return importlib.import_module(f"dbt_tangles.cli.{cmd_name}").command if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its full first sentence; click's own list truncates it."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name, help=said) for name, said in COMMANDS.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> None:
        """Exit with the result of the command."""
        ctx.exit(super().invoke(ctx) or 0)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `help`, `help COMMAND` and `version` for the options of these names."""
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        elif args == ["version"]:
            args = ["--version"]
        return super().parse_args(ctx, args)


# click suggests names near a wrong one from `commands`.
@click.group(
    cls=_Commands,
    commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog=examples("build --example", "help why"),
)
@click.version_option(package_name="dbt-tangles")
def main() -> None:
    """Build and query the tables of hash-linked logs: where each message belongs, and why it was set aside.

    All commands but build only read the tables. They may run while a build replaces tables.
    """
    # A terminal that cannot show a character gets an escape in its place.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
