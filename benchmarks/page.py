"""The report's page at full size in headless Chromium: bytes, time until ready, to filter and sort, memory.

    GEST_MIRROR=DIR python benchmarks/page.py [--keep DIR]

Scores are planted on the real data, as only their number matters here: one English run in four templates,
twelve of them, and four systems in nine languages. Times are of this machine: look at them beside each other.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from printing import machine, save, show

import gest_dataset
from gest_dataset.data.rows import rows_of
from gest_dataset.languages import SLAVIC

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support import planted
from tests.support.browser import chromium

TEMPLATES = (1, 2, 3, 4)
MODELS = 12
# What is asked of each page: megabytes, seconds until it is ready, megabytes of memory
LIMITS = {
    "one English run": (2.5, 1.0, 500),
    "12 models": (15, 3.0, 500),
    "9 languages x 4 systems": (15, 3.0, 500),
}
_TIMED = """async ([name, value]) => {
  const place = name === "q" ? "#search" : `#filters [name=${name}]`;
  const [control, said] = [document.querySelector(place), document.getElementById("found")];
  const before = said.textContent;
  control.value = value;
  const start = performance.now();
  control.dispatchEvent(new Event(name === "q" ? "input" : "change"));
  if (name === "q") { // the search waits for the last letter
    while (said.textContent === before) await new Promise((done) => setTimeout(done, 1));
  }
  const worked = performance.now() - start;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return worked;
}"""
_SEARCH_WAITS = 120  # milliseconds, on purpose: web/src/browser.ts
_STEPS = (
    ("about", 2),
    ("about", 0),
    ("sort", "score"),
    ("sort", "spread"),
    ("template", "each"),
    ("q", "woman"),
    ("q", ""),
)


def english(folder: Path, models: int, config: str = "en") -> None:
    """Runs on English sentences in four templates."""
    rows = rows_of(config)
    stereotypes = np.array(rows["stereotype"])
    sentences = np.random.default_rng(0).normal(0, 0.5, len(rows))
    for number in range(models):
        generator = np.random.default_rng(number + 1)
        profile = generator.normal(0, 0.2, 16)[stereotypes - 1]
        scores = [sentences + profile + generator.normal(0, 0.4, len(rows)) for _ in TEMPLATES]
        columns = {
            "id": list(rows["id"]) * len(TEMPLATES),
            "template": np.repeat(TEMPLATES, len(rows)).tolist(),
            "stereotype": np.tile(stereotypes, len(TEMPLATES)).tolist(),
            "log_ratio": np.concatenate(scores).tolist(),
        }
        planted.scored(folder / f"model-{number}", f"maker/model-{number}", config, columns)


def translated(folder: Path) -> None:
    """Runs of four systems into nine languages; where upstream has fewer, those of another one stand in."""
    generator = np.random.default_rng(0)
    for language in SLAVIC:
        rows = rows_of(f"{language}_translations")
        own = np.array(rows["system"])
        there = sorted(set(own.tolist()))
        for number in range(4):
            part = rows.select(np.flatnonzero(own == there[number % len(there)]).tolist()).to_list()
            told = [
                {
                    "id": row["sentence_id"],
                    "stereotype": row["stereotype"],
                    "source": row["source"],
                    "translation": row["translation"] + ("" if number < len(there) else " ·"),
                    "gender": str(generator.choice(["male", "female", "unknown"], p=[0.6, 0.25, 0.15])),
                    "problem": "",
                }
                for row in part
            ]
            planted.translated(folder / f"{language}-{number}", language, told)


def measured(page: Path) -> dict[str, Any]:
    """A page in a fresh browser: the median of three."""
    found = [_once(page) for _ in range(3)]
    return {name: float(np.median([one[name] for one in found])) for name in found[0]}


def _once(page: Path) -> dict[str, float]:
    with chromium() as browser:
        tab = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        requests: list[str] = []
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
        ready = tab.evaluate("performance.getEntriesByName('explorer ready')[0].startTime") / 1000
        tab.locator("#samples-box > summary").click()
        client = tab.context.new_cdp_session(tab)
        client.send("Performance.enable", {"timeDomain": "threadTicks"})
        times: list[float] = []
        used: list[float] = []

        def change(name: str, value: str) -> None:
            before = spent(client)
            worked = tab.evaluate(_TIMED, [name, value])
            times.append(worked - (_SEARCH_WAITS if name == "q" else 0))
            used.append(1000 * (spent(client) - before))

        for name, value in _STEPS:
            control = tab.locator(f"#filters [name={name}]")
            if name != "q" and not control.count():
                continue
            options = (
                control.locator("option").evaluate_all("(all) => all.map((one) => one.value)")
                if name != "q"
                else []
            )
            wanted = options[min(value, len(options) - 1)] if isinstance(value, int) else value
            if name == "q" or wanted in options:
                change(name, wanted)
        whole = tab.locator("#filters [name=run]")
        if whole.count():  # all rows of all runs
            change("run", "")
        client.send("HeapProfiler.collectGarbage")
        told = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
        others = [address for address in requests if address.partition("#")[0] != page.as_uri()]
        if others:
            raise RuntimeError(f"the page asked for {others}")
        return {
            "megabytes": page.stat().st_size / 1e6,
            "ready (s)": ready,
            "slowest filter or sort (ms)": max(times),
            "of it and its drawing, processor time (ms)": max(used),
            "JavaScript heap (MB)": told["JSHeapUsedSize"] / 1e6,
            "renderer's memory (MB)": resident(browser),
        }


def spent(client: Any) -> float:
    """Seconds of processor time of the page's thread, in scripts, styles and layout."""
    told = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
    return float(told["TaskDuration"])


def resident(browser: Any) -> float:
    """The private memory of the renderers."""
    client = browser.new_browser_cdp_session()
    processes = client.send("SystemInfo.getProcessInfo")["processInfo"]
    total = 0.0
    for process in processes:
        if process["type"] == "renderer":
            lines = Path(f"/proc/{process['id']}/smaps_rollup").read_text(encoding="ascii").splitlines()
            private = [int(line.split()[1]) for line in lines if line.startswith("Private_")]
            total += sum(private) / 1024
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--keep", type=Path, help="a folder for the runs and pages; what is there is used again"
    )
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/page.json"))
    asked = parser.parse_args()
    makers: dict[str, Callable[[Path], None]] = {
        "one English run": lambda folder: english(folder, 1),
        "12 models": lambda folder: english(folder, MODELS),
        "9 languages x 4 systems": translated,
    }
    figures = {}
    with tempfile.TemporaryDirectory() as scratch:
        base = asked.keep or Path(scratch)
        for name, make in makers.items():
            folder = base / name.replace(" ", "-")
            page = folder / "report.html"
            if not page.exists():
                make(folder / "runs")
                gest_dataset.report([folder / "runs"], page)
            figures[name] = measured(page)
            megabytes, ready, memory = LIMITS[name]
            wanted = {
                "megabytes": megabytes,
                "ready (s)": ready,
                "slowest filter or sort (ms)": 100,
                "renderer's memory (MB)": memory,
            }
            show(
                f"{name} ({machine()})",
                figures[name] | {f"{what}, at most": most for what, most in wanted.items()},
            )
    save(asked.output, figures)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
