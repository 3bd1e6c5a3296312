"""Opens a report in headless Chromium, without a network."""

import html
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed; the report needs it")
_OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--enable-logging=stderr", "--v=0"]


def dump(out: Path, where: str = "", seconds: int = 10) -> str:
    """Return the page after its scripts have run; fail on any console message."""
    profile = out.parent / "profile"
    command = [CHROMIUM, *_OPTIONS, f"--user-data-dir={profile}", f"--virtual-time-budget={seconds * 1000}"]
    # Host names are not resolved, so that every request fails visibly.
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", f"{(out / 'index.html').as_uri()}{where}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not console, "\n".join(console)
    assert "[object " not in done.stdout
    return done.stdout


def drive(out: Path, where: str, script: str) -> str:
    """Run a script in the page as a user would act, and return its result."""
    copy = out.parent / f"{out.name}-driven"
    shutil.copytree(out, copy, dirs_exist_ok=True)
    (copy / "assets" / "drive.js").write_text(f"{WAIT}\n(async () => {{\n{script}\n}})();")
    page = (copy / "index.html").read_text()
    (copy / "index.html").write_text(page.replace("</body>", '<script src="assets/drive.js"></script></body>'))
    dumped = dump(copy, where)
    found = re.search(r'data-said="([^"]*)"', dumped)
    assert found, "the script in the page did not end"
    return html.unescape(found[1])


def address(view: str, *parts: str, **filters: str) -> str:
    """Return the address of a view, as the page writes it."""
    path = "/".join([view, *(quote(part, safe="") for part in parts)])
    return f"#{path}{'?' if filters else ''}{urlencode(filters)}"


WAIT = """
const until = async (found) => { while (!found()) await new Promise((done) => setTimeout(done, 20)); return found(); };
const one = (selector) => until(() => document.querySelector(selector));
const say = (...words) => { document.body.dataset.said = words.join(" | "); };
const press = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
"""


def text(page: str) -> str:
    """Return the text of a page."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.partition("<body")[2])))
