"""Measure what a sweep of 10,000 cells costs its driver: memory, listing the cells, and the leaderboard.

    python benchmarks/sweep.py [--models 5000]

The runs are copies of one real run of a small model. Reading the models' configurations is left out.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gest_dataset.models.score import score  # noqa: E402
from gest_dataset.runs.folder import read_run  # noqa: E402
from gest_dataset.runs.manifest import MANIFEST  # noqa: E402
from gest_dataset.sweep import leaderboard, run  # noqa: E402
from gest_dataset.sweep.suite import parse_suite  # noqa: E402
from tests.support import zoo  # noqa: E402

CONFIGS = ["demo_en", "demo_sk_pairs"]


def resident() -> float:
    """Return the megabytes of this process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=5000)
    number = parser.parse_args().models
    run.name_and_kind = lambda *_: ("", "masked")  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        model = str(zoo.directory("bert"))
        suite = parse_suite(
            {"configs": CONFIGS, "models": [f"owner/model-{n}" for n in range(number)]}, "big"
        )
        for config in CONFIGS:
            real = folder / config
            score(model, config, device="cpu", output=real)
            files = {name: (real / name).read_bytes() for name in read_run(real).manifest.files}
            manifest = json.loads((real / MANIFEST).read_text())
            for one in suite.models:
                path = folder / "out" / "runs" / one.name / config
                path.mkdir(parents=True)
                for name, content in files.items():
                    (path / name).write_bytes(content)
                (path / MANIFEST).write_text(json.dumps(manifest | {"model": one.model}))
        before = resident()
        start = time.perf_counter()
        cells = run.list_cells(suite, folder / "out")
        assert {cell.status for cell in cells} == {run.DONE}
        print(f"{len(cells):,} cells: listed in {time.perf_counter() - start:.1f} s")
        start = time.perf_counter()
        lines = leaderboard.read_lines(cells, folder / "out")
        text = leaderboard.render_page("simulated", lines, [], {}, [])
        seconds = time.perf_counter() - start
        print(f"leaderboard: {seconds:.1f} s, {len(text) / 1e6:.1f} MB, without comparisons")
        print(f"memory: {before:.0f} MB before, {resident():.0f} MB after")


if __name__ == "__main__":
    main()
