"""How much faster several processes score than one, in one run; their scores are compared too.

    GEST_MIRROR=DIR python benchmarks/processes.py [--processes 2] [--sentences 100] [--rounds 3]

The model has random weights and six layers of BERT's kind; each process has one thread. One process and
several under torchrun take turns. Two ratios of the time of asking the model (without starting Python and
loading) are told, as medians of the rounds: by the clock, which other work on the machine can move to any
value, and by CPU seconds, those of one process beside those of the busiest of several: what free cores give.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from printing import machine, save, show

from gest_dataset.runs import read_run

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


def contend(model: str, sentences: int, run: str) -> None:
    """One process of a contender: write how long it has asked the model, by the clock and in CPU seconds."""
    import gest_dataset
    from gest_dataset.models import loading

    compute = loading.compute_log_probs

    def timed(*arguments: Any) -> Any:
        clock, cpu = time.perf_counter(), time.process_time()
        answer = compute(*arguments)
        seconds = (time.perf_counter() - clock, time.process_time() - cpu)
        Path(f"{run}-{os.environ.get('RANK', '0')}.json").write_text(json.dumps(seconds))
        return answer

    loading.compute_log_probs = timed
    gest_dataset.score(model, "en", limit=sentences, device="cpu", output=run)


def measured(model: Path, sentences: int, run: Path, processes: int) -> tuple[float, float]:
    """The longest times of a contender's processes."""
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(processes)] if processes > 1 else []
    command = [sys.executable, *launcher, __file__, "--contend", str(model), str(sentences), str(run)]
    subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    told = [json.loads(Path(f"{run}-{rank}.json").read_text()) for rank in range(processes)]
    return max(clock for clock, _ in told), max(cpu for _, cpu in told)


def listed(ratios: Sequence[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({', '.join(f'{ratio:.2f}' for ratio in ratios)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--contend", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.contend:
        contend(given.contend[0], int(given.contend[1]), given.contend[2])
        return
    clock, cpu, same = [], [], True
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        make_model(model)
        for number in range(given.rounds):
            one, team = (Path(folder) / f"{name}-{number}" for name in ("one", "team"))
            alone = measured(model, given.sentences, one, 1)
            shared = measured(model, given.sentences, team, given.processes)
            clock.append(alone[0] / shared[0])
            cpu.append(alone[1] / shared[1])
            one_table, team_table = (read_run(path).table["log_ratio"].to_numpy() for path in (one, team))
            same &= bool(np.allclose(one_table, team_table, atol=1e-6))
    figures = {
        "processes": given.processes,
        "faster by the clock": listed(clock),
        "faster by CPU seconds": listed(cpu),
        "the same scores": same,
    }
    show(f"Several processes ({machine()})", figures)
    if given.json:
        save(given.json, figures)


if __name__ == "__main__":
    main()
