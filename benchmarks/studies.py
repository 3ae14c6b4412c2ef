"""The cost of a study compared with its scoring runs, and the time to repeat it.

    GEST_MIRROR=DIR python benchmarks/studies.py [--limit 300] [--device cuda]

A BERT base with random weights is scored on all control sets: by `gest_dataset.score`, and by `gest study
controls`, which adds tables, figures and a page; then the study is repeated from its finished runs. Each runs
in its own process; wall-clock and CPU seconds are measured. Without --limit the scoring runs take minutes on
a GPU and hours on two cores.
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

MOST, REPEATED = 1.3, 5.0  # times the scoring runs; seconds
_BARE = """
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
        limit = [] if not arguments.limit else ["--limit", str(arguments.limit)]
        study = [sys.executable, "-m", "gest_dataset", "study", "controls", "--model", str(model), *limit]
        study += ["--device", arguments.device, "--output", str(folder / "study")]
        bare = [sys.executable, "-c", _BARE, str(model), str(folder / "bare"), str(arguments.limit)]
        again = [*study[:5], str(folder / "study" / "runs"), "--output", str(folder / "again")]
        seconds = {
            "bare runs": timed([*bare, arguments.device]),
            "study": timed(study),
            "repeated": timed(again),
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
        **{
            f"study / bare runs (at most {MOST}), {clock}": seconds["study"][place]
            / seconds["bare runs"][place]
            for place, clock in enumerate(("clock", "processor"))
        },
        "repeated in time": seconds["repeated"][0] < REPEATED,
    }
    show("gest study controls", figures)
    save(arguments.json, figures)


if __name__ == "__main__":
    main()
