"""Packs Python packages for a cluster's workers: `python -m dbt_spark_python.pack workers.zip pyarrow pandas`.

pip installs the packages and their dependencies into a folder, in the versions of this environment. The folder becomes
a zip file, and `spark.dbt.packed` in the profile sends that file to the workers. Workers need only a Python of the same
version. Arguments after `--` go to pip: use `-- --platform manylinux_2_28_x86_64 --only-binary :all:` if the workers'
platform differs from this machine's.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path


def main(arguments: Sequence[str]) -> int:
    """Run the command and return pip's exit code."""
    usage = __doc__.partition("\n\n")[2].strip()
    parser = argparse.ArgumentParser(prog="python -m dbt_spark_python.pack", description=usage)
    parser.add_argument("file", type=Path, help="the zip file to write")
    parser.add_argument("packages", nargs="+", help="requirements in pip's notation")
    split = [*arguments, "--"].index("--")
    options = parser.parse_args(arguments[:split])
    if options.file.suffix != ".zip":
        parser.error(f"the file is {options.file}: its name must end in .zip")
    code = pack(options.file, options.packages, arguments[split + 1 :])
    if code == 0:
        megabytes = options.file.stat().st_size / 1e6
        print(f"{options.file}: {megabytes:.0f} MB; set spark.dbt.packed in the profile to this path")
    return code


def pack(file: Path, packages: Sequence[str], for_pip: Sequence[str] = ()) -> int:
    """Make a zip file of packages and their dependencies, with pip and its exit code.

    The file is written only if the code is 0; an existing file is replaced once the new one is complete.
    """
    with tempfile.TemporaryDirectory(prefix="dbt_spark_python_") as place:
        folder, constraints = Path(place) / "packages", Path(place) / "constraints.txt"
        constraints.write_text("".join(sorted(versions())))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(folder)]
        code = subprocess.run([*command, "--constraint", str(constraints), *for_pip, *packages]).returncode
        if code == 0:
            shutil.move(shutil.make_archive(str(Path(place) / "made"), "zip", folder), file)
    return code


def versions() -> set[str]:
    """Return the version of every distribution in this environment, as pip constraints."""
    return {f"{found.metadata['Name']}=={found.version}\n" for found in distributions() if "+" not in found.version}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
