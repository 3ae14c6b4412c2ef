"""Take the screenshot for the README: `python docs/screenshot.py REPORT.html docs/images/report.png`.

Needs Chromium and the Python package playwright.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1180, 1720
COLOURS = 128  # a palette makes the file three times smaller
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def main(page: Path, picture: Path) -> None:
    """Take the top of the page in light colours as a small PNG."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("Chromium is not installed. On Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as browsers:
        context = browsers.chromium.launch_persistent_context(
            profile,
            executable_path=chromium,
            args=list(FLAGS),
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="light",
        )
        tab = context.new_page()
        tab.goto(page.resolve().as_uri())
        picture.parent.mkdir(parents=True, exist_ok=True)
        tab.screenshot(path=picture)
        context.close()
    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
