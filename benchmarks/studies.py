"""The time of a study, and of the scoring runs that it reads.

    GEST_MIRROR=DIR python benchmarks/studies.py [--limit 300] [--device cuda]

A BERT base with random weights is scored on all control sets; then `gest study controls` makes tables,
figures and a page from the runs. Each runs in its own process; wall-clock and CPU seconds are measured.
Without --limit the scoring runs take minutes on a GPU and hours on two cores.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from models import make_model, make_tokenizer, texts
from printing import machine, save, show

MOST = 5.0  # seconds of a study
_RUNS = """
import sys, gest_dataset
model, folder, limit, device = sys.argv[1:]
options = {"limit": int(limit) or None, "device": device}
gest_dataset.score(model, "controls,crows", output=folder + "/groups", **options)
twice = "crows_control_negation,crows_control_antistereotype"
gest_dataset.score(model, twice, rules="own-negation", output=folder + "/negations", **options)
"""


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Wall-clock and CPU seconds of a process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=0, help="first samples of each set (0: all)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/studies.json"))
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gest-studies-"))
    try:
        model = folder / "bert-base-random"
        tokenizer = make_tokenizer("bert-base", texts())
        made = make_model("bert-base")
        made.save_pretrained(model)
        tokenizer.save_pretrained(model)
        runs = [sys.executable, "-c", _RUNS, str(model), str(folder / "runs"), str(arguments.limit)]
        study = [sys.executable, "-m", "gest_dataset", "study", "controls", str(folder / "runs")]
        seconds = {
            "runs": timed([*runs, arguments.device]),
            "study": timed([*study, "--output", str(folder / "study")]),
        }
    finally:
        shutil.rmtree(folder)
    figures = {
        "machine": machine(arguments.device),
        "samples of a set": arguments.limit or "all",
        **{
            f"{name}, s of the {clock}": value
            for name, both in seconds.items()
            for clock, value in zip(("clock", "processor"), both, strict=True)
        },
        "study in time": seconds["study"][0] < MOST,
    }
    show("gest study controls", figures)
    save(arguments.json, figures)


if __name__ == "__main__":
    main()
