"""A small log by three authors, whose messages have letters."""

from fixtures.ssb.author import Author, to_line


class LetteredLog:
    """A log of Alice, Bob and Carol: lines in the order of publication, and ids by letter."""

    def __init__(self, seed: str):
        self.authors = {name: Author.from_seed(f"{seed} {name}") for name in ("alice", "bob", "carol")}
        self.lines: list[bytes] = []
        self.ids: dict[str, str] = {}

    def feed(self, name: str) -> str:
        """Return the feed of an author."""
        return self.authors[name].feed_id

    def say(
        self, letter: str, by: str, tangle: str, root: str | None = None, previous: str = "", kind: str = "", **fields
    ) -> None:
        """Publish a message of a tangle; its content has the type `kind`, or the name of the tangle."""
        links = {"root": root and self.ids[root], "previous": root and [self.ids[each] for each in previous]}
        content = {"type": kind or tangle, "tangles": {tangle: links}, **fields}
        time = 1_700_000_000_000 + len(self.lines)
        message = self.authors[by].publish(content, asserted_ms=time, received_ms=time)
        self.ids[letter] = message["key"]
        self.lines.append(to_line(message))
