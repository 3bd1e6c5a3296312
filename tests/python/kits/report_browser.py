"""Opens pages of reports in headless Chromium, without a network: one browser for all tests of a process.

Chromium is driven by the DevTools protocol on two pipes.
"""

import atexit
import html
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

import cli_story

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed; the report needs it")
_OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run"]
_OPTIONS += ["--hide-scrollbars", "--force-prefers-reduced-motion", "--remote-debugging-pipe"]
# Host names are not resolved, so that every request fails visibly.
_OPTIONS += ["--host-resolver-rules=MAP * ~NOTFOUND"]
_SECONDS = 60
#: Keys: the code that Chromium expects, and the text that the key types.
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), "ArrowDown": (40, ""), "End": (35, "")}


class Browser:
    """A browser with one page; `console` has errors and warnings of the console, and exceptions of scripts."""

    def __init__(self) -> None:
        self.console: list[str] = []
        self._number, self._waiting, self._is_loaded = 0, b"", False
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (theirs, self._to), (self._from, answers) = os.pipe(), os.pipe()
        # The protocol's pipes are the descriptors 3 and 4.
        shell = ["/bin/bash", "-c", f'exec "$@" 3<&{theirs} 4>&{answers}', "chromium", CHROMIUM, *_OPTIONS]
        shell.append(f"--user-data-dir={self._profile.name}")
        self._process = subprocess.Popen(shell, pass_fds=(theirs, answers), stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(answers)
        target = self._ask("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self._session = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()
        self._profile.cleanup()

    def _ask(self, method: str, params: dict | None = None, session: str | None = "") -> dict:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _read(self) -> dict:
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._from], [], [], _SECONDS)
            assert ready, f"Chromium did not answer within {_SECONDS} s"
            found = os.read(self._from, 1 << 20)
            assert found, "Chromium ended"
            self._waiting += found
        message, _, self._waiting = self._waiting.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict) -> None:
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.console.append(params["exceptionDetails"].get("exception", {}).get("description", str(params)))
        elif event.get("method") == "Log.entryAdded":
            self.console.append(params["entry"]["text"])
        elif event.get("method") == "Runtime.consoleAPICalled":
            self.console.append(str([each.get("value") for each in params["args"]]))
        elif event.get("method") == "Page.loadEventFired":
            self._is_loaded = True

    def show(self, width: int, height: int, is_dark: bool = False) -> None:
        """Set the size of the page in pixels, and the colour scheme."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self._ask("Emulation.setEmulatedMedia", {"features": [scheme, still]})

    def open(self, url: str) -> None:
        """Load a page anew, with its scripts."""
        for each in ("about:blank", url):
            self._is_loaded = False
            self._ask("Page.navigate", {"url": each})
            while not self._is_loaded:
                self._note(self._read())

    def visit(self, url: str, shows: str) -> None:
        """Open a page and wait for it; assert that it shows an element."""
        self.open(url)
        self.run(_READY)
        assert self.run(f"return document.querySelectorAll({json.dumps(shows)}).length"), url

    def run(self, script: str) -> Any:
        """Run the body of an asynchronous function in the page, outside of its content policy; return its result."""
        asked = {"expression": f"(async () => {{\n{script}\n}})()", "awaitPromise": True, "returnByValue": True}
        answer = self._ask("Runtime.evaluate", asked)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def add(self, source: str) -> None:
        """Run a script in the page, as one of its own that its content policy does not restrict."""
        self._ask("Page.setBypassCSP", {"enabled": True})
        answer = self._ask("Runtime.evaluate", {"expression": f"{source}\n;0"})
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]

    def press(self, key: str) -> None:
        """Press a key, as a user does."""
        code, text = _KEYS[key]
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self._ask("Input.dispatchKeyEvent", {"type": "keyDown", "text": text, **event})
        self._ask("Input.dispatchKeyEvent", {"type": "keyUp", **event})


@cache
def _browser() -> Browser:
    browser = Browser()
    atexit.register(browser.close)
    return browser


def browse(width: int = 800, height: int = 600) -> Browser:
    """Return the browser of this process, without earlier messages in its console."""
    browser = _browser()
    browser.console.clear()
    browser._ask("Page.setBypassCSP", {"enabled": False})
    browser.show(width, height)
    return browser


def dump(out: Path, where: str = "") -> str:
    """Return a page of a report once it no longer changes; fail on any console message."""
    page = drive(out, where, f"{_READY}\n{_SETTLE}\nsay(document.documentElement.outerHTML);")
    assert "[object " not in page
    return page


def drive(out: Path, where: str, script: str, before: str = "") -> str:
    """Run a script in a page, after one that runs before the page's own; return what it gives to `say`."""
    browser = browse()
    early = browser._ask("Page.addScriptToEvaluateOnNewDocument", {"source": before})
    browser.open(url(out, where))
    browser._ask("Page.removeScriptToEvaluateOnNewDocument", early)
    said = browser.run(f"{WAIT}\n{script}\nreturn window.said;")
    browser.run("await new Promise((done) => setTimeout(done, 20));")
    assert not browser.console, "\n".join(browser.console)
    return said


WAIT = """
const until = async (found) => { while (!found()) await new Promise((done) => setTimeout(done, 20)); return found(); };
const one = (selector) => until(() => document.querySelector(selector));
const say = (...words) => { window.said = words.join(" | "); };
const press = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
"""
_READY = """
while (!document.body.dataset.shown) await new Promise((done) => setTimeout(done, 5));
const isDrawn = () => !document.querySelector(".drawing") || document.querySelector(".canvas[data-fit]");
while (!isDrawn()) await new Promise(requestAnimationFrame);
"""
_SETTLE = """
for (let before = ""; before !== document.body.innerHTML; ) {
  before = document.body.innerHTML;
  await new Promise((done) => setTimeout(done, 60));
}
"""


def url(out: Path, where: str = "") -> str:
    """Return the URL of a page of a report."""
    return f"{(out / 'index.html').as_uri()}{where}"


def address(view: str, *parts: str, **filters: str) -> str:
    """Return the address of a view, as the page writes it."""
    path = "/".join([view, *(quote(part, safe="") for part in parts)])
    return f"#{path}{'?' if filters else ''}{urlencode(filters)}"


def text(page: str) -> str:
    """Return the text of a page."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.partition("<body")[2])))


#: The pages of a report of `report_story.write_each_page`, each with an element that it shows.
PAGES = {"": ".verdicts", "#read": ".post", "#group": ".matrix", "#timeline": ".event", "#records": ".record"}
PAGES |= {f"#{kind}": ".drawing" for kind in ("tangle", "feed", "set", "base")} | {"#rejects": ".reject"}
PAGES |= {address("search", q="a"): ".entry", address("message", cli_story.A1): ".why .line"}
#: Lists behind counts, each of an id of `report_story`.
LISTS = {
    address("base", "base", only="settled", observer="all"): ".only",
}
