"""The state of a running Spark application, from the REST API of its page."""

import json
import urllib.request
from typing import Any

from bench.cluster.servers import HOST


class Application:
    """The application whose page is on a port; before and after it, its lists are empty.

    Args:
        port: The port.
    """

    def __init__(self, port: int) -> None:
        self._root = f"http://{HOST}:{port}/api/v1/applications"

    def has_copies(self) -> bool:
        """Whether a copy of a slow task runs."""
        return any(
            task["speculative"]
            for stage in self._ask("?status=active")
            for task in self._ask(f"/{stage['stageId']}/{stage['attemptId']}/taskList?status=running&length=1000")
        )

    def has_retried(self) -> bool:
        """Whether a stage was started again because its input was lost."""
        return any(stage["attemptId"] for stage in self._ask())

    def _ask(self, path: str = "") -> list[dict[str, Any]]:
        """Read the stages, or data below those of the first application."""
        try:
            for application in _read(self._root):
                return _read(f"{self._root}/{application['id']}/stages{path}")
        except (OSError, ValueError):
            pass
        return []


def _read(address: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(address, timeout=5) as answer:
        return json.load(answer)
