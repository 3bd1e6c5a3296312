"""Machine code is cached across processes, and only for unchanged sources."""

import importlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from numba.core import config

import dbt_tangles
from dbt_spark_python.python_model.ship_packages import zip_package
from dbt_tangles.kernel_runtime import compile_progress, machine_code
from dbt_tangles.kernel_runtime.compiled import TIER

SOURCE = Path(dbt_tangles.__file__).parent.parent
OWN = f"dbt_tangles-{os.geteuid()}"
CALLER = """
from dbt_tangles.kernel_runtime.compiled import compiled
from toy.inner import callee

@compiled
def twice(x):
    return 2 * callee.one_more(x)
"""
CALLEE = """
from dbt_tangles.kernel_runtime.compiled import compiled

@compiled
def one_more(x):
    return x + 1
"""
CALL = """
import sys
from toy.caller import twice
print(*(twice(eval(x)) for x in sys.argv[1:]), sum(twice.stats.cache_misses.values()))
"""
ORDER = """
import numpy as np
from dbt_tangles.algorithms.graph.orders import positions
found = positions(np.array([0, 3]), np.array([1, 0, 1], np.int32))
print(*found, sum(positions.stats.cache_misses.values()))
"""


@pytest.fixture(scope="module", autouse=True)
def kernels_run_both_ways():
    """Kernels are always compiled here, in this process and in its children."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(TIER, "compiled")
        yield


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a kernel that calls one of another module, and only temporary folders for the cache."""
    files = {"caller.py": CALLER, "inner/callee.py": CALLEE, "__init__.py": "", "inner/__init__.py": ""}
    for name, text in files.items():
        path = tmp_path / "code" / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path / "code")
    return tmp_path / "code" / "toy"


def twice(number: float = 3) -> tuple[float, bool]:
    """Call the kernel as a new process would; return its result, and whether it was compiled for that."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    for cached in (machine_code.source_digest, machine_code.cache_folder, machine_code._source, machine_code._package):
        cached.cache_clear()
    kernel = importlib.import_module("toy.caller").twice
    return kernel(number), not kernel.stats.cache_hits


def edit(toy: Path, expression: str) -> None:
    (toy / "inner" / "callee.py").write_text(CALLEE.replace("x + 1", expression))


def close(toy: Path) -> None:
    """Prevent files beside the sources, even by root."""
    for folder in (toy, toy / "inner"):
        (folder / "__pycache__").write_text("a file")


def start(path: Path, script: str, *arguments: str, **variables: str) -> subprocess.Popen:
    """Start a process that imports from one folder and has only the temporary cache folder."""
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(path), TIER: "compiled"} | variables
    return subprocess.Popen([sys.executable, "-c", script, *arguments], env=known, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen) -> list[str]:
    out, _ = process.communicate()
    assert process.returncode == 0
    return out.split()


def test_machine_code_is_kept_beside_the_source(toy: Path):
    assert [twice(), twice(), twice(1.5), twice(1.5)] == [(8, True), (8, False), (5.0, True), (5.0, False)]
    assert len(list((toy / "__pycache__").glob("caller.twice*.nbc"))) == 2


def test_a_small_call_loads_machine_code_but_makes_none(toy: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(TIER, "auto")
    assert twice() == (8, True)  # interpreted: the cache had no code
    assert not list(toy.rglob("*.nbc")) and not list(toy.rglob("*.lock"))
    monkeypatch.setenv(TIER, "compiled")
    assert twice() == (8, True)
    monkeypatch.setenv(TIER, "auto")
    assert twice() == (8, False)


def test_an_edited_callee_is_compiled_again_and_so_is_its_caller(toy: Path):
    assert twice() == (8, True)
    edit(toy, "x + 5")
    assert [twice(), twice()] == [(16, True), (16, False)]
    edit(toy, "x + 1")
    assert twice() == (8, False)


def test_an_edit_of_another_module_keeps_the_code(toy: Path):
    assert twice() == (8, True)
    (toy / "other.py").write_text("x = 1")
    assert twice() == (8, False)


@pytest.mark.parametrize(
    "line",
    [
        "import toy.inner.more",
        "from toy.inner import (\n    callee,\n    more,\n)",
        "from toy.inner.more import constant",
    ],
)
def test_imports_of_every_form_are_followed(toy: Path, line: str):
    (toy / "caller.py").write_text(f"{CALLER}\n{line}\n")
    (toy / "inner" / "more.py").write_text("constant = 1")
    assert twice() == (8, True)
    (toy / "inner" / "more.py").write_text("constant = 2")
    assert twice() == (8, True)


def test_code_of_old_sources_is_deleted_after_a_while(toy: Path):
    twice()
    (old,) = (toy / "__pycache__").glob("caller.twice*.nbc")
    edit(toy, "x + 2")
    twice()
    assert old.exists()
    long_ago = time.time() - machine_code.MAX_AGE_S - 60
    os.utime(old, (long_ago, long_ago))
    edit(toy, "x + 3")
    assert [twice(), twice()] == [(12, True), (12, False)]
    assert not old.exists()


def test_a_damaged_file_is_ignored(toy: Path):
    twice()
    (file,) = (toy / "__pycache__").glob("caller.twice*.nbc")
    for content in (b"", b"nonsense", file.read_bytes()[:-100]):
        file.write_bytes(content)
        assert twice() == (8, True)
    assert twice() == (8, False)


def test_a_package_in_a_folder_that_cannot_be_written_to(toy: Path, tmp_path: Path):
    close(toy)
    assert [twice(), twice()] == [(8, True), (8, False)]
    assert list((tmp_path / "temporary" / OWN).glob("caller.twice*.nbc"))
    (tmp_path / "home" / ".cache").mkdir()
    assert [twice(), twice()] == [(8, True), (8, False)]
    assert (tmp_path / "home" / ".cache" / OWN).stat().st_mode & 0o777 == 0o700


def test_without_a_writable_folder_code_is_not_cached(toy: Path, monkeypatch: pytest.MonkeyPatch):
    close(toy)
    monkeypatch.setattr(tempfile, "tempdir", "/dev/null")
    monkeypatch.setenv("HOME", "/dev/null")
    assert [twice(), twice()] == [(8, True), (8, True)]


def test_numba_cache_dir_is_used(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(config, "CACHE_DIR", str(kept))
    assert [twice(), twice()] == [(8, True), (8, False)]
    assert (kept / OWN).stat().st_mode & 0o777 == 0o700
    assert not list(toy.rglob("*.nbc"))


def test_a_removed_folder_is_ignored(toy: Path, tmp_path: Path):
    close(toy)
    twice()
    place = tmp_path / "temporary" / OWN
    kernel = sys.modules["toy.caller"].twice
    for file in place.iterdir():
        file.unlink()
    place.rmdir()
    assert kernel(1.5) == 5.0


def test_a_planted_folder_is_skipped(toy: Path, tmp_path: Path):
    close(toy)
    planted = tmp_path / "temporary" / OWN
    planted.mkdir()
    planted.chmod(0o777)
    assert [twice(), twice()] == [(8, True), (8, True)]
    assert not list(planted.iterdir())


def test_a_folder_others_can_write_to_is_skipped(tmp_path: Path):
    place = tmp_path / OWN
    place.mkdir(mode=0o700)
    assert machine_code.is_private(place)
    link = tmp_path / "link"
    link.symlink_to(place)
    assert not machine_code.is_private(link)
    for mode in (0o770, 0o707, 0o755):
        place.chmod(mode)
        assert not machine_code.is_private(place)
    place.chmod(0o700)
    # A user who can write to a parent folder can replace this one, except in a folder like /tmp.
    for mode, is_own in ((0o777, False), (0o1777, True), (0o755, True)):
        tmp_path.chmod(mode)
        assert machine_code.is_private(place) == is_own


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_skipped(tmp_path: Path):
    place = tmp_path / OWN
    place.mkdir(mode=0o700)
    os.chown(place, 12345, -1)
    assert not machine_code.is_private(place)
    os.chown(place, 0, -1)
    os.chown(tmp_path, 12345, -1)
    assert not machine_code.is_private(place)


def test_one_process_compiles_while_others_wait(toy: Path):
    both = f"{toy.parent}:{SOURCE}"
    outs = [said(process) for process in [start(both, CALL, "3") for _ in range(3)]]
    assert sorted(outs) == [["8", "0"], ["8", "0"], ["8", "1"]]
    assert not list(toy.rglob("*.lock"))


def test_a_dead_process_releases_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    turn = "import os, sys, pathlib; from dbt_tangles.kernel_runtime.machine_code import acquire_lock; "
    turn += "assert acquire_lock(pathlib.Path(sys.argv[1])); print('mine', flush=True); sys.stdin.read()"
    place = tmp_path / "kernel.lock"
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(
        [sys.executable, "-c", turn, place], env=known, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "mine\n"
        with monkeypatch.context() as patched:
            patched.setattr(machine_code, "LOCK_TIMEOUT_S", 0.2)
            assert machine_code.acquire_lock(place) is None  # a live process is waited for only for a limited time
        other.kill()
        os.close(machine_code.acquire_lock(place))


def test_kernels_being_compiled_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compile_progress, "cache_folder", lambda folder: tmp_path)
    began = time.time()
    assert compile_progress.compiling_line(began) is None
    place = tmp_path / "orders.positions-dbt_tangles.algorithms.graph.py311-a-b.lock"
    held = machine_code.acquire_lock(place)
    for name, age_s in (("old", 60), ("new", 0)):
        (tmp_path / name).with_suffix(".nbc").touch()
        os.utime(tmp_path / f"{name}.nbc", (began - age_s, began - age_s))
    assert dbt_tangles.progress_line(began) == "compiling kernels, once a machine: 1 done, now positions"
    os.close(held)  # as after a killed process: the file is left
    assert place.exists() and compile_progress.compiling_line(began) is None


def test_without_locks_the_process_compiles(tmp_path: Path):
    assert machine_code.acquire_lock(tmp_path / "no folder" / "kernel.lock") is None


def test_a_worker_that_imports_a_zip_file(tmp_path: Path):
    packed = zip_package("dbt_tangles")
    script = f"{ORDER}\nassert positions.__code__.co_filename.startswith({str(packed)!r})"
    assert said(start(packed, script, TMPDIR=str(tmp_path), HOME="/dev/null")) == ["1", "0", "2", "1"]
    assert (tmp_path / OWN).stat().st_mode & 0o777 == 0o700
    # Another job's zip is another file with the same sources.
    packed = packed.rename(packed.with_name("other.zip"))
    script = script.replace("dbt_tangles.zip", "other.zip")
    assert said(start(packed, script, TMPDIR=str(tmp_path), HOME="/dev/null")) == ["1", "0", "2", "0"]
