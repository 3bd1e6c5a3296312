"""Machine code is cached across processes, and only for unchanged sources."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import dbt_tangles
from dbt_spark_python.python_model.ship_packages import zip_package
from dbt_tangles.kernel_runtime import code_cache
from dbt_tangles.kernel_runtime.compiled import TIER

SOURCE = Path(dbt_tangles.__file__).parent
OWN = f"dbt_tangles-{os.geteuid()}"
CALL = """
import numpy as np
from dbt_tangles.algorithms.graph.topological_generations import children
found = children(np.array([0, 0, 1]), np.array([0], np.int32))
print(*found.child, sum(children.dispatcher.stats.cache_misses.values()), len(children.dispatcher.signatures))
"""
COMPILED, LOADED, INTERPRETED = ["1", "1", "1"], ["1", "0", "1"], ["1", "0", "0"]


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Only temporary folders for the cache, and none of them yet."""
    for name in ("home", "temporary", "source"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(code_cache, "__file__", str(tmp_path / "source" / "code_cache.py"))
    code_cache.cache_folder.cache_clear()
    yield tmp_path
    code_cache.cache_folder.cache_clear()


def folder() -> Path | None:
    code_cache.cache_folder.cache_clear()
    return code_cache.cache_folder()


def start(path: Path, home: Path, **variables: str) -> subprocess.Popen:
    """Start a process that imports the package from a folder or zip file, and calls a kernel."""
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(path), TIER: "compiled", "HOME": str(home)} | variables
    return subprocess.Popen([sys.executable, "-c", CALL], env=known, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen) -> list[str]:
    out, _ = process.communicate()
    assert process.returncode == 0
    return out.split()


def test_code_is_shared_until_a_source_changes(tmp_path: Path):
    """One process compiles while others wait; an edit of any module, not just the kernel's, compiles again."""
    package = tmp_path / "code" / "dbt_tangles"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    parent = package / "kernel_runtime" / "__pycache__"
    assert said(start(package.parent, tmp_path, **{TIER: "auto"})) == INTERPRETED
    outs = [said(process) for process in [start(package.parent, tmp_path) for _ in range(3)]]
    assert sorted(outs) == [LOADED, LOADED, COMPILED]
    assert said(start(package.parent, tmp_path, **{TIER: "auto"})) == LOADED
    (first,) = parent.glob("kernels-*")
    (package / "algorithms" / "structures" / "space.py").open("a").write("# changed\n")
    assert said(start(package.parent, tmp_path)) == COMPILED
    assert len([*parent.glob("kernels-*")]) == 2
    long_ago = time.time() - code_cache.MAX_AGE_S - 60
    os.utime(first, (long_ago, long_ago))
    assert said(start(package.parent, tmp_path)) == LOADED
    assert not first.exists()


def test_a_worker_that_imports_a_zip_file(tmp_path: Path):
    packed = zip_package("dbt_tangles")
    assert said(start(packed, Path("/dev/null"), TMPDIR=str(tmp_path))) == COMPILED
    assert (tmp_path / OWN).stat().st_mode & 0o777 == 0o700
    # Another job's zip is another file with the same sources.
    packed = packed.rename(packed.with_name("other.zip"))
    assert said(start(packed, Path("/dev/null"), TMPDIR=str(tmp_path))) == LOADED


def test_folders_in_order(empty: Path, monkeypatch: pytest.MonkeyPatch):
    """The chosen folder, else beside the source, else the user's cache, else the temporary folder, else none."""
    name = f"kernels-{code_cache.source_digest()}"
    assert folder() == empty / "source" / "__pycache__" / name
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(empty / "chosen"))
    assert folder() == empty / "chosen" / OWN / name
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    shutil.rmtree(empty / "source")
    assert folder() == empty / "temporary" / OWN / name
    (empty / "home" / ".cache").mkdir()
    assert folder() == empty / "home" / ".cache" / OWN / name
    assert (empty / "home" / ".cache" / OWN).stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("HOME", "/dev/null")
    (empty / "temporary" / OWN).chmod(0o777)  # as a folder that another user planted
    assert folder() is None
    with code_cache.compiling("a kernel"):
        assert code_cache.compiling_line(0) is None


def test_a_folder_others_can_write_to_is_not_private(tmp_path: Path):
    place = tmp_path / OWN
    place.mkdir(mode=0o700)
    assert code_cache.is_private(place)
    link = tmp_path / "link"
    link.symlink_to(place)
    assert not code_cache.is_private(link)
    for mode in (0o770, 0o707, 0o755):
        place.chmod(mode)
        assert not code_cache.is_private(place)
    place.chmod(0o700)
    # A user who can write to a parent folder can replace this one, except in a folder like /tmp.
    for mode, is_own in ((0o777, False), (0o1777, True), (0o755, True)):
        tmp_path.chmod(mode)
        assert code_cache.is_private(place) == is_own


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_private(tmp_path: Path):
    place = tmp_path / OWN
    place.mkdir(mode=0o700)
    os.chown(place, 12345, -1)
    assert not code_cache.is_private(place)
    os.chown(place, 0, -1)
    os.chown(tmp_path, 12345, -1)
    assert not code_cache.is_private(place)


def test_a_process_that_compiles_is_reported(empty: Path):
    began = time.time()
    for name, age_s in (("old", 60), ("new", 0)):
        file = folder() / f"{name}.nbc"
        file.touch()
        os.utime(file, (began - age_s, began - age_s))
    assert dbt_tangles.progress_line(began) is None
    with code_cache.compiling("positions"):
        assert dbt_tangles.progress_line(began) == "compiling kernels, once a machine: 1 done, now positions"
    # The file stays, unlocked, as that of a process that died.
    assert (code_cache.cache_folder() / "lock").exists() and dbt_tangles.progress_line(began) is None
    with code_cache.compiling("sums"):
        assert dbt_tangles.progress_line(began).endswith("now sums")
