"""The command `tangles`: its subcommands and the module of each.

Exit codes: 0 found; 1 not found, or differences found; 2 wrong usage or unreadable tables.
"""

import importlib
import re
import sys

import click

#: Subcommand: the module that defines `command`. A module is imported when its subcommand runs.
COMMANDS = {
    "why": "dbt_tangles.cli.why",
    "status": "dbt_tangles.cli.status",
    "show": "dbt_tangles.cli.show",
    "diff": "dbt_tangles.cli.diff",
    "check": "dbt_tangles.cli.check",
    "report": "dbt_tangles.report.command",
    "build": "dbt_tangles.cli.build",
    "sql": "dbt_tangles.cli.sql",
    "send": "dbt_tangles.cli.send",
    "follow": "dbt_tangles.cli.follow",
    "lint": "dbt_tangles.cli.lint",
    "init": "dbt_tangles.cli.init",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        return importlib.import_module(module).command if module else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its full first sentence; click's own list truncates it."""
        rows = [(name, _first_sentence(self.get_command(ctx, name))) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _first_sentence(command: click.Command | None) -> str:
    paragraph = " ".join((command.help or "").split("\n\n")[0].split()) if command else ""
    return re.split(r"(?<=[.!?]) ", paragraph)[0]


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dbt-tangles")
def main() -> None:
    """Query the tables of a tangles warehouse: where each message belongs, and why it was set aside.

    All commands but build only read the tables. They may run while a build replaces tables.
    """
    # A terminal that cannot show a character gets an escape in its place.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
