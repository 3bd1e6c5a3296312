"""Draws the moments of a replay as SVG; texts of logs do not get into the picture."""

from typing import Any

WIDTH, HEIGHT = 640, 150
_LEFT, _STRIDE = 60, 210
_COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#7b5ea7", "#b8860b", "#444444")
_STYLE = "text{font:12px sans-serif;fill:#222}path{fill:none;stroke-width:1.6}.axis{stroke:#999}"
_PANELS = {
    "changes_per_item": "changes of the view for each item",
    "settled": "share of the received items that stay from then on",
    "disagreement": "share of neighbours that replicas have in another order",
}


def draw(moments: list[dict[str, Any]]) -> str:
    """Draw the moments of `measures.compare`: a panel for each measure, with a line for each replica."""
    panels = []
    for name, title in _PANELS.items():
        values = [each[name] if isinstance(each[name], list) else [each[name]] for each in moments]
        if values[0] != [None]:
            panels.append(_panel(title, list(zip(*values, strict=True)), 30 + len(panels) * _STRIDE))
    size = f'width="{WIDTH + 2 * _LEFT}" height="{len(panels) * _STRIDE}"'
    body = "\n".join(panels)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{_STYLE}</style>\n{body}\n</svg>\n'


def _panel(title: str, lines: list[tuple[float, ...]], top: int) -> str:
    """Draw lines from the beginning to the end of the log, and from 0 to the greatest value."""
    most, bottom = max(map(max, lines)) or 1.0, top + HEIGHT
    parts = [
        f'<text x="{_LEFT}" y="{top - 10}">{title}</text>',
        f'<text x="{_LEFT - 6}" y="{top + 8}" text-anchor="end">{most:.3g}</text>',
        f'<text x="{_LEFT - 6}" y="{bottom}" text-anchor="end">0</text>',
        f'<text x="{_LEFT + WIDTH}" y="{bottom + 16}" text-anchor="end">end of the log</text>',
        f'<path class="axis" d="M{_LEFT} {top}V{bottom}H{_LEFT + WIDTH}"/>',
    ]
    for number, line in enumerate(lines):
        places = [_LEFT + WIDTH * (at + 1) / len(line) for at in range(len(line))]
        points = (f"{x:.1f} {bottom - HEIGHT * value / most:.1f}" for x, value in zip(places, line, strict=True))
        parts.append(f'<path stroke="{_COLOURS[number % len(_COLOURS)]}" d="M{"L".join(points)}"/>')
    return "\n".join(parts)
