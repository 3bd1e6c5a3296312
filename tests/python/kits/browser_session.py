"""Drives headless Chromium by the DevTools protocol on two pipes: sizes, colour schemes, keys and scripts of pages."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from typing import Any

from report_browser import CHROMIUM

_OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run"]
_OPTIONS += ["--hide-scrollbars", "--force-prefers-reduced-motion", "--remote-debugging-pipe"]
_SECONDS = 60
#: Keys: the code that Chromium expects, and the text that the key types.
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), "ArrowDown": (40, ""), "End": (35, "")}


class BrowserSession:
    """A browser with one page, a context manager.

    Attributes:
        console: The errors and warnings of the console, and the exceptions of scripts, since the start.
    """

    def __init__(self) -> None:
        self.console: list[str] = []
        self._number, self._waiting, self._is_loaded = 0, b"", False
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (theirs, self._to), (self._from, answers) = os.pipe(), os.pipe()
        # Host names are not resolved, so that every request fails visibly.
        options = [f"--user-data-dir={self._profile.name}", "--host-resolver-rules=MAP * ~NOTFOUND"]
        # The protocol's pipes are the descriptors 3 and 4.
        shell = ["/bin/bash", "-c", f'exec "$@" 3<&{theirs} 4>&{answers}', "chromium", CHROMIUM, *_OPTIONS, *options]
        self._process = subprocess.Popen(shell, pass_fds=(theirs, answers), stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(answers)
        target = self._ask("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self._session = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def __enter__(self) -> BrowserSession:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
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

    def press(self, key: str, is_shift: bool = False) -> None:
        """Press a key, as a user does."""
        code, text = _KEYS[key]
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 * is_shift}
        self._ask("Input.dispatchKeyEvent", {"type": "keyDown", "text": text, **event})
        self._ask("Input.dispatchKeyEvent", {"type": "keyUp", **event})
