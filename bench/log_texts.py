"""Draw texts for made-up messages: words of a made-up language, the first ones the most common."""

import math
import random

from fixtures.ssb.author import box

SYLLABLES = "ba co da el fi go ha in jo ka lu ma no or pa qui ra so te un va wa xi yo ze sta tri ble cha ler mon ting"
FOREIGN = (
    "größe naïve café übrigens façade señor smörgås čaj język тропа лодка сад ветер 日本 海 森 歌 ボート さくら 바다 "
    "🐚 🌱 🌊 🦀 🔥 👩‍🌾 … “quoted” — ½ µm"
)


class Writer:
    """Draws texts: words of a made-up language, the first ones the most common."""

    def __init__(self, draw: random.Random):
        """Make the words."""
        self._draw = draw
        syllables, foreign = SYLLABLES.split(), FOREIGN.split()
        words = ["".join(draw.choices(syllables, k=draw.choice((1, 1, 2, 2, 2, 3, 4)))) for _ in range(3_000)]
        weights = [1 / rank for rank in range(3, 3 + len(words))]
        self._plain = self._pool(draw.choices(words, weights, k=100_000))
        self._mixed = self._pool(
            [draw.choice(foreign) if draw.random() < 0.15 else word for word in draw.choices(words, weights, k=20_000)]
        )
        self._bytes = draw.randbytes(1 << 20)

    def _pool(self, words: list[str]) -> list[str]:
        draw = self._draw
        for place in range(9, len(words), 11):
            words[place] += draw.choice((".", ",", "?", ".\n\n", " [a link](https://example.org)", "!"))
        return words

    def text(self) -> str:
        """Return a text of mostly 100 to 400 characters, one in thirty a long one."""
        draw = self._draw
        count = 1 + int(math.exp(draw.gauss(3.45, 0.6)))
        if draw.random() < 0.03:
            count = min(count * 8, 500)
        pool = self._mixed if draw.random() < 0.15 else self._plain
        place = int(draw.random() * (len(pool) - 500))
        return " ".join(pool[place : place + count])[:3_500]

    def name(self) -> str:
        """Return a name."""
        return self._plain[int(self._draw.random() * len(self._plain))]

    def box(self) -> str:
        """Return the content of an encrypted message."""
        place = int(self._draw.random() * (len(self._bytes) - 1_000))
        size = 200 + int(self._draw.expovariate(1 / 150)) % 800
        return box(self._bytes[place : place + size])
