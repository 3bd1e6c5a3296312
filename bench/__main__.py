"""The command line of the benchmarks: `python -m bench [--scale S] [--repeats N] [NAME ...]`."""

import argparse
import multiprocessing
import sys
from pathlib import Path

from bench import cpu, one_part, page, report
from bench.command import check_names

BENCHMARKS = ("graphs", "limit", "verify", "builds", "timelines", "sets", "autobase", "ask")
BY_NAME = ("evaluation", "increments")
NAMES = f"{', '.join(BENCHMARKS)} (default: these); {', '.join(BY_NAME)}"
ENGINES = tuple(page.ENGINES)
INPUTS = ("fixtures", "medium", "peer")


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line; an error ends the process with exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure, and write figures.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=NAMES)
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the full size, up to 1 (default 1)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds of all but builds (default 3)")
    parser.add_argument("--log", type=Path, help="verify: an SSB log of messages without copies, instead of a made one")
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, help="builds: only these (default: fixtures, medium)")
    parser.add_argument(
        "--peer-log", type=Path, help="builds, increments, ask: this log instead of a made one (implies the input peer)"
    )
    parser.add_argument(
        "--engines",
        nargs="+",
        choices=ENGINES,
        default=["spark"],
        help="run each part on these engines in turn (default: spark)",
    )
    options = parser.parse_args(argv)
    check_names(parser, "benchmark", options.names, BENCHMARKS + BY_NAME)
    if not 0 < options.scale <= 1:
        parser.error("--scale must be above 0 and at most 1")
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    for name, path in (("--log", options.log), ("--peer-log", options.peer_log)):
        if path is not None and not path.is_file():
            parser.error(f"{name}: there is no file {path}")
    options.inputs = list(options.inputs or INPUTS[:2])
    if options.peer_log and "peer" not in options.inputs:
        options.inputs.append("peer")
    options.names = list(dict.fromkeys(options.names)) or list(BENCHMARKS)
    return options


def run_apart(name: str, options: argparse.Namespace) -> bool:
    """Run a benchmark in a process of its own; return whether it succeeded."""
    process = multiprocessing.get_context("spawn").Process(target=one_part.run_or_explain, args=(name, options))
    process.start()
    process.join()
    if process.exitcode not in (0, 1):
        error = f"its process ended with {process.exitcode}"
        report.save_failure(name, options.engine, error, report.folder_of(options))
    return not process.exitcode


def main(argv: list[str] | None = None) -> int:
    """Run the benchmarks one after another.

    Returns 0 even if a goal is missed, and 1 if a benchmark failed.

    Each benchmark has a process of its own: it starts with a new JVM, without compiled code, heap or peak memory of the
    previous one, and a failing benchmark does not stop the others.
    """
    options = parse(argv)
    try:
        cpu.processes()
    except RuntimeError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    failed = []
    for name in options.names:
        for engine in options.engines if name not in page.NO_ENGINE else ENGINES[:1]:
            of_engine = argparse.Namespace(**{**vars(options), "engine": engine})
            if not run_apart(name, of_engine):
                failed.append(f"{name} on {engine}")
    if failed:
        print(f"bench: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
