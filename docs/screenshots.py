"""Take the screenshots of the report's explorer for the docs: `python docs/screenshots.py docs/images`.

The scores of three models are planted on the demo sentences, so the pictures are reproducible. Needs
Chromium and playwright.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

import gest_dataset

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
from page import english  # noqa: E402

from tests.support.browser import chromium, ready  # noqa: E402

COLOURS = 96  # a palette makes the files three times smaller
# Name: link, theme, window, and the element at the top of the picture
PICTURES: dict[str, tuple[str, str, tuple[int, int], str]] = {
    "report-samples": ("#samples?sort=score&q=people", "light", (1180, 1000), "#samples"),
    "report-beside": ("#comparisons", "light", (1180, 1080), "#comparisons"),
    "report-profiles": ("#profiles", "dark", (1180, 800), "#profiles"),
    "report-phone": ("#samples?sort=spread", "dark", (400, 860), "#found"),
}


def take(
    browser: Any, page: Path, picture: Path, link: str, theme: str, size: tuple[int, int], at: str
) -> None:
    """Take one screenshot as a small PNG."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
    tab = context.new_page()
    tab.goto(page.as_uri() + link)
    ready(tab)
    if "samples?" in link:
        tab.locator("#rows button.sample").first.click()
    tab.locator(at).evaluate("(one) => one.scrollIntoView({behavior: 'instant'})")
    tab.wait_for_timeout(300)  # figures are drawn when they become visible
    tab.screenshot(path=picture)
    context.close()
    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        page = Path(scratch) / "report.html"
        english(Path(scratch) / "runs", 3, "demo_en")
        gest_dataset.report([Path(scratch) / "runs"], page)
        folder.mkdir(parents=True, exist_ok=True)
        for name, options in PICTURES.items():
            take(browser, page, folder / f"{name}.png", *options)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
