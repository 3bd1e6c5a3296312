"""Cache of verdicts on signatures, in two generations of bounded size."""

from collections.abc import Callable, Hashable


class VerdictCache:
    """Remembers recent verdicts; a full young generation replaces the old one.

    A log may hold any number of messages, and duplicates tend to be close together, or whole copies of a log.
    """

    def __init__(self, generation_size: int) -> None:
        """Create an empty cache.

        Args:
            generation_size: A young generation of this size becomes the old one at the next `start_turn`.
        """
        self._generation_size = generation_size
        self._young: dict[Hashable, bool] = {}
        self._old: dict[Hashable, bool] = {}

    def __len__(self) -> int:
        """Return the number of verdicts."""
        return len(self._young) + len(self._old)

    def start_turn(self) -> None:
        """Drop the old generation if the young one is full."""
        if len(self._young) >= self._generation_size:
            self._old, self._young = self._young, {}

    def find(self, key: Hashable, verify: Callable[..., bool], *arguments: object) -> bool:
        """Return the cached verdict, or compute it from the arguments."""
        verdict = self._young.get(key)
        if verdict is None:
            verdict = self._old.get(key)
            if verdict is None:
                verdict = verify(*arguments)
            self._young[key] = verdict
        return verdict
