"""Packs packages for a cluster's workers: `python -m dbt_spark_python.pack workers.zip pyarrow pandas`.

pip installs them, with what they need, in the versions that this environment has, into a folder, which becomes a zip
file. `spark.dbt.packed` in the profile sends that to the workers; they need a Python of this version and nothing else.
What follows `--` goes to pip: `-- --platform manylinux_2_28_x86_64 --only-binary :all:` where the workers are not as
this machine is.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; pip's exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m dbt_spark_python.pack", description=__doc__.partition("\n\n")[2].strip()
    )
    parser.add_argument("file", type=Path, help="the file to make, .zip")
    parser.add_argument("packages", nargs="+", help="what is to be in it, as pip takes it")
    given = list(sys.argv[1:] if argv is None else argv)
    split = given.index("--") if "--" in given else len(given)
    options = parser.parse_args(given[:split])
    if options.file.suffix != ".zip":
        parser.error(f"the file is {options.file}, but its name must end in .zip")
    code = pack(options.file, options.packages, given[split + 1 :])
    if code == 0:
        megabytes = options.file.stat().st_size / 1e6
        print(f"{options.file}: {megabytes:.0f} MB; spark.dbt.packed in the profile names it")
    return code


def pack(file: Path, packages: Sequence[str], for_pip: Sequence[str] = ()) -> int:
    """Make a zip file of packages and what they need.

    Args:
        file: The file; one that is there is replaced when the new one is whole.
        packages: Requirements, as pip takes them.
        for_pip: More options for pip.

    Returns:
        pip's exit code; if it is not 0 there is no new file.
    """
    with tempfile.TemporaryDirectory(prefix="dbt_spark_python_") as place:
        folder, constraints = Path(place) / "packages", Path(place) / "constraints.txt"
        constraints.write_text("".join(sorted(versions())))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(folder)]
        code = subprocess.run([*command, "--constraint", str(constraints), *for_pip, *packages]).returncode
        if code:
            return code
        made = shutil.make_archive(str(Path(place) / "made"), "zip", folder)
        shutil.move(made, file)
    return 0


def versions() -> set[str]:
    """The versions of all that this environment has, as pip takes them for constraints."""
    return {f"{found.metadata['Name']}=={found.version}\n" for found in distributions() if "+" not in found.version}


if __name__ == "__main__":
    sys.exit(main())
