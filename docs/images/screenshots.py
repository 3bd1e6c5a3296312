"""Makes the pictures of the README: the report of a warehouse of the fixtures, as Chromium shows it.

.venv/bin/python docs/images/screenshots.py [WAREHOUSE]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from dbt_tangles.cli.tables import Tables
from dbt_tangles.report.build import build
from dbt_tangles.report.parts import Limits

HERE = Path(__file__).parent
#: Picture: which subject of which kind, its node that is chosen, light or dark, and width and height.
PICTURES = {
    "tangle.png": ("tangle", "thread", 9, False, (1400, 800)),
    "base.png": ("base", "caveat", 3, True, (1400, 800)),
}
MOST_BYTES = 200_000


def main() -> None:
    """Write the pictures beside this file."""
    warehouse = sys.argv[1] if len(sys.argv) > 1 else "warehouse"
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("there is no Chromium here")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report"
        build(Tables(warehouse, "tangles"), out, Limits(20, 100))
        index = _read(out, "index")
        for file, (kind, name, node, is_dark, size) in PICTURES.items():
            parts = index["kinds"][kind]["parts"]
            number, key = next((n, part["key"]) for n, part in enumerate(parts) if name in (part["name"], part["key"]))
            view = _read(out, f"{kind}-{number}")
            place = "/".join([kind, quote(key, safe=""), quote(view["nodes"][node]["id"], safe="")])
            address = f"{(out / 'index.html').as_uri()}#{place}"
            _shoot(chromium, address, HERE / file, is_dark, size)
            assert (HERE / file).stat().st_size < MOST_BYTES, file


def _read(out: Path, shard: str) -> dict:
    text = (out / "data" / f"{shard}.js").read_text()
    return json.loads(text[text.index("{") : text.rindex(")")])


def _shoot(chromium: str, address: str, file: Path, is_dark: bool, size: tuple[int, int]) -> None:
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=6000",
        "--force-device-scale-factor=0.8",
    ]
    options += [f"--blink-settings=preferredColorScheme={0 if is_dark else 1}", "--window-size={},{}".format(*size)]
    subprocess.run([chromium, *options, f"--screenshot={file}", address], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
