"""Remembers verdicts on signatures, because a log may have copies of messages."""

from collections.abc import Callable, Hashable


class Verdicts:
    """Verdicts by key, of a bounded number: when it is reached, all are forgotten."""

    MOST = 2**17

    def __init__(self) -> None:
        self._known: dict[Hashable, bool] = {}

    def __len__(self) -> int:
        """Return the number of verdicts."""
        return len(self._known)

    def find(self, key: Hashable, verify: Callable[..., bool], *arguments: object) -> bool:
        """Return the known verdict, or compute it from the arguments."""
        verdict = self._known.get(key)
        if verdict is None:
            if len(self._known) >= self.MOST:
                self._known.clear()
            verdict = self._known[key] = verify(*arguments)
        return verdict
