"""Writes commands: examples for help texts, and those that answers suggest, with the options of their tables."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from typing import NamedTuple

import click
from click.core import ParameterSource

#: The options that name the tables, as parameters of a command.
_PLACES = ("warehouse", "schema")


class Ask(NamedTuple):
    """A command that explains a problem, without the options of the tables."""

    command: str  # The command, such as `why`
    argument: str | None = None  # Its argument, if it takes one
    options: tuple[str, ...] = ()  # Its options

    @classmethod
    def of(cls, command: str, *words: str) -> "Ask":
        """Make a command of its words: the argument, if there is one, and options with a value each."""
        if len(words) % 2:
            return cls(command, words[0], words[1:])
        return cls(command, None, words)


def examples(*commands: str) -> str:
    """Write the examples with which the help of a command ends."""
    return "\n".join(["\b", "Examples:", *(f"  tangles {command}" for command in commands)])


def suggest(ask: Ask) -> str:
    """Write a command of `tangles` for the tables of the current command."""
    return f"{_program()} {words_of(ask, place_options())}"


def words_of(ask: Ask, places: Sequence[str]) -> str:
    """Write the words of a command after `tangles`, quoted, with the options of the tables."""
    options = [*ask.options, *places]
    if ask.argument is None:
        words = options
    elif ask.argument.startswith("-"):  # It would be read as an option.
        words = [*options, "--", ask.argument]
    else:
        words = [ask.argument, *options]
    return " ".join(map(quote, [ask.command, *words]))


def place_options(is_same_shell: bool = True) -> list[str]:
    """Return the options that lead a command, in a shell of the same environment or not, to the current tables."""
    context = click.get_current_context(silent=True)
    given = []
    for option in context.command.params if context else []:
        source = context.get_parameter_source(option.name)
        is_given = source == ParameterSource.COMMANDLINE
        if option.name not in _PLACES or not (
            is_given or (source == ParameterSource.ENVIRONMENT and not is_same_shell)
        ):
            continue
        value = context.params[option.name]
        # The default needs no option, unless the environment overrides it.
        if value != option.default or (is_same_shell and os.environ.get(option.envvar, value) != value):
            given += [f"--{option.name}", value]
    return given


def quote(word: str) -> str:
    """Quote a word for a shell; the shell reads characters that a terminal cannot show from their numbers."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = {c: c.encode("utf-8", "surrogateescape") for c in word if not c.isprintable() or c in "'\\"}
    shown = ("".join(f"\\x{byte:02x}" for byte in escaped[c]) if c in escaped else c for c in word)
    return f"$'{''.join(shown)}'"


def _program() -> str:
    """Return the program as the user's shell finds it; `tangles` if another program runs this code."""
    started = sys.argv[0]
    if os.path.basename(started) != "tangles":
        return "tangles"
    found = shutil.which("tangles")
    return "tangles" if found and os.path.realpath(found) == os.path.realpath(started) else quote(started)
