"""How much faster several processes score than one, in one run; their files are compared too.

    GEST_MIRROR=DIR python benchmarks/processes.py [--processes 2] [--sentences 200] [--rounds 5]

The model has random weights and six layers of BERT's kind. Contenders take turns: one process, several
under torchrun, and as many runs of one process side by side, which is what the cores give at best; each
process has one thread. Figures are medians of ratios within a round, and the rounds: the seconds of asking
the model (`seconds` of run.json), without starting Python and loading.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from printing import machine, save, show

DEMO = Path(__file__).parent.parent / "gest_dataset" / "demo" / "model"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}


def make_model(folder: Path) -> None:
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

    tokenizer = AutoTokenizer.from_pretrained(DEMO)
    torch.manual_seed(0)
    sizes = {"hidden_size": 512, "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 2048}
    BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def begin(model: Path, sentences: int, run: Path, processes: int) -> subprocess.Popen[bytes]:
    """A run that has begun, in so many processes."""
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(processes)] if processes > 1 else []
    asked = ["score", str(model), "--config", "en", "--device", "cpu", "--limit", str(sentences)]
    command = [sys.executable, *launcher, "-m", "gest_dataset", *asked, "--output", str(run)]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def seconds(begun: Sequence[subprocess.Popen[bytes]], runs: Sequence[Path]) -> float:
    """The longest time that one of some runs has asked the model."""
    for process in begun:
        if process.wait():
            raise SystemExit(f"{process.args} ended with {process.returncode}")
    return max(float(json.loads((run / "run.json").read_text())["seconds"]) for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    faster, attainable, same = [], [], True
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        make_model(model)
        for number in range(given.rounds):
            place = Path(folder) / str(number)
            one, team = place / "one", place / "team"
            beside = [place / f"beside-{i}" for i in range(given.processes)]
            alone = seconds([begin(model, given.sentences, one, 1)], [one])
            shared = seconds([begin(model, given.sentences, team, given.processes)], [team])
            at_once = seconds([begin(model, given.sentences, run, 1) for run in beside], beside)
            faster.append(alone / shared)
            attainable.append(given.processes * alone / at_once)
            for name in ("scores.parquet", "result.json"):
                same &= (one / name).read_bytes() == (team / name).read_bytes()
    figures = {
        "processes": given.processes,
        "faster than one": statistics.median(faster),
        "of rounds": ", ".join(f"{ratio:.2f}" for ratio in faster),
        "what the cores give": statistics.median(attainable),
        "of rounds ": ", ".join(f"{ratio:.2f}" for ratio in attainable),
        "share of that": statistics.median(a / b for a, b in zip(faster, attainable, strict=True)),
        "the same bytes": same,
    }
    show(f"Several processes ({machine()})", figures)
    if given.json:
        save(given.json, figures)


if __name__ == "__main__":
    main()
