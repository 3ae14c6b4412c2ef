"""Next-sentence fine-tuning on transformers' Trainer (section 5.2 of Oeztuerk et al., 2023).

A folder is a training: pairs and checkpoints are below `.nsp-training/`, the record `nsp.json` is written
when data and model are known to be good, and the model is there when the record has a result. The same call
goes on from the last whole checkpoint, to the same weights as without the interrupt where the device computes
the same twice.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm.auto import tqdm
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from gest_dataset.errors import ModelError, SettingError
from gest_dataset.models.device import pick_device
from gest_dataset.statistics.proportions import proportion
from gest_dataset.storage import folder_lock, parse_json
from gest_dataset.studies.nsp import folder, pairs
from gest_dataset.studies.nsp.corpus import documents, source_of
from gest_dataset.studies.nsp.model import Learner, collator, kind_of, mixed, open_learner

# The core's learning rate where none is given: the paper's of mGPT-2 and mT5, and BERT's of its fine-tuning
LEARNING_RATES = {"causal": 5e-6, "seq2seq": 1e-4, "masked": 2e-5}
_CHECKPOINTS = 20  # in a training: what a kill can cost is a twentieth
_STATE = "trainer_state.json"  # what the Trainer writes last into a checkpoint


@dataclass(frozen=True)
class Plan:
    """What is learnt from what, and how; the defaults are the paper's, of batches that fit today's GPUs.

    `data` are files or data sets as `NAME:CONFIG`, `text` their column of documents. `batch_size` pairs are
    in a pass, and `accumulate` passes in an update. It ends after `epochs` or `max_steps` updates, whichever
    comes first: 15,625 of 64 pairs are the paper's million. `learning_rate` None is that of the model's kind.
    """

    model: str
    data: Sequence[str]
    text: str = "text"
    learning_rate: float | None = None
    head_learning_rate: float = 1e-3
    batch_size: int = 16
    accumulate: int = 4
    epochs: int = 1
    max_steps: int = 15_625
    dtype: str = "auto"
    seed: int = 0


@dataclass(frozen=True)
class Trained:
    """A finished training: its folder, the pairs, the updates, and how many held-out pairs it gets right.

    `accuracy` has 95 % bounds in which the pairs of a document count as one unit; `is_next` and
    `is_not_next` are the shares of either label's pairs that are right.
    """

    folder: Path
    counts: pairs.Counts
    steps: int
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    is_next: float
    is_not_next: float


def train(
    plan: Plan,
    output: str | Path,
    *,
    device: str = "auto",
    command: Sequence[str] = (),
    progress: bool = True,
) -> Trained:
    """Fine-tune a model, or go on with that, and write it to a folder that `gest score` takes.

    `command` is what the record says that it was called with.
    """
    out = Path(output)
    kind, place = kind_of(plan.model), pick_device(device)
    sources = [source_of(data, plan.text) for data in plan.data]
    if not sources:
        raise SettingError("There is nothing to learn from: name a file or a data set.")
    rates = {"learning rate": plan.learning_rate, "head's learning rate": plan.head_learning_rate}
    for name, rate in rates.items():
        if rate is not None and not 0 < rate < math.inf:
            raise SettingError(f"The {name} is {rate:g}: nothing is learnt from that. Give one above 0.")
    settings = asdict(plan) | {
        "data": [source.told() for source in sources],
        "kind": kind,
        "learning_rate": LEARNING_RATES[kind] if plan.learning_rate is None else plan.learning_rate,
        "dtype": mixed(plan.dtype, place, kind),
    }
    found = folder.claim_training(out, settings)
    with folder_lock(out):
        if found is None or folder.RESULT not in found:
            below = out / folder.TRAINING
            if found is None:
                shutil.rmtree(below, ignore_errors=True)  # pairs of a call that was wrong, or killed
            most = plan.max_steps * plan.batch_size * plan.accumulate
            counts = pairs.prepare(documents(sources, plan.seed), below, most, plan.seed, progress)
            learner = open_learner(plan.model, plan.seed)
            folder.begin(out, settings, command)  # from here on other settings are refused
            state = _fit(learner, settings, counts, below, place, progress)
            result = {
                "counts": asdict(counts),
                "steps": state.global_step,
                **_tested(learner, pairs.columns_of(below / pairs.TEST), place, settings, progress),
                "losses": [(entry["step"], entry["loss"]) for entry in state.log_history if "loss" in entry],
            }
            found = folder.finish(out, learner, settings, result, command)
        shutil.rmtree(out / folder.TRAINING, ignore_errors=True)
    return trained(out, found[folder.RESULT])


def trained(out: Path, result: dict[str, Any]) -> Trained:
    """What a record says in the end."""
    told = {name: value for name, value in result.items() if name in Trained.__dataclass_fields__}
    return Trained(**{**told, "folder": out, "counts": pairs.Counts(**result["counts"])})


# ---- the Trainer -------------------------------------------------------------------------------------------


@dataclass
class _OnePlace(TrainingArguments):
    """Settings for one device, which is said: the Trainer by itself takes all that it finds."""

    place: str = "cpu"

    @property
    def device(self) -> torch.device:
        _ = super().device  # begins what accelerate keeps of the process
        place = torch.device(self.place)
        if place.type == "cuda":
            torch.cuda.set_device(place)
        return place

    @property
    def n_gpu(self) -> int:
        return int(self.place != "cpu")


class _Bar(TrainerCallback):
    """A progress bar of updates that begins with what is done; none without a terminal."""

    def __init__(self, shown: bool) -> None:
        self.disable = None if shown else True

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.bar = tqdm(
            total=state.max_steps, initial=state.global_step, desc="updates", unit="", disable=self.disable
        )

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.bar.update(1)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if logs and "loss" in logs:
            self.bar.set_postfix(loss=f"{logs['loss']:.3f}")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.bar.close()


def _fit(
    learner: Learner,
    settings: dict[str, Any],
    counts: pairs.Counts,
    below: Path,
    place: torch.device,
    progress: bool,
) -> Any:
    """Train to the end, from the last checkpoint where there is one; the Trainer's state."""
    together = settings["batch_size"] * settings["accumulate"]
    steps = min(settings["max_steps"], settings["epochs"] * -(-counts.train // together))
    arguments = _OnePlace(
        output_dir=str(below),
        place=str(place),
        use_cpu=place.type == "cpu",
        max_steps=steps,
        per_device_train_batch_size=settings["batch_size"],
        gradient_accumulation_steps=settings["accumulate"],
        learning_rate=settings["learning_rate"],
        # as in the authors' code, where the cosine has one cycle
        lr_scheduler_type="cosine",
        warmup_steps=steps // 100 + 1,
        fp16=settings["dtype"] == "float16",
        bf16=settings["dtype"] == "bfloat16",
        seed=settings["seed"],
        save_steps=max(1, steps // _CHECKPOINTS),
        save_total_limit=2,  # the one before is whole while the next one is written
        logging_steps=max(1, steps // 100),
        remove_unused_columns=False,
        dataloader_pin_memory=place.type == "cuda",
        disable_tqdm=True,
        report_to="none",
    )
    model = learner.model.to(place)
    head = {id(parameter) for parameter in learner.head}
    core = [parameter for parameter in model.parameters() if id(parameter) not in head]
    optimizer = torch.optim.AdamW(
        [
            {"params": core, "lr": settings["learning_rate"]},
            {"params": list(learner.head), "lr": settings["head_learning_rate"]},
        ],
        weight_decay=0.0,
    )
    trainer = Trainer(
        model=model,
        args=arguments,
        data_collator=collator(learner),
        train_dataset=pairs.columns_of(below / pairs.TRAIN),
        optimizers=(optimizer, None),
        callbacks=[_Bar(progress)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=_last_checkpoint(below))
    return trainer.state


def _last_checkpoint(below: Path) -> str | None:
    """The newest whole checkpoint; what a kill has left half-written is removed."""
    found = {int(path.name.rpartition("-")[2]): path for path in below.glob(f"{PREFIX_CHECKPOINT_DIR}-*")}
    for _, path in sorted(found.items(), reverse=True):
        try:
            parse_json((path / _STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            shutil.rmtree(path)
        else:
            return str(path)
    return None


def _tested(
    learner: Learner, data: Any, place: torch.device, settings: dict[str, Any], progress: bool
) -> dict[str, float]:
    """The shares of held-out pairs whose likelier label is the right one."""
    collate, model = collator(learner), learner.model.eval()
    right: list[bool] = []
    bar = tqdm(total=len(data), desc="held-out pairs", unit="", disable=None if progress else True)
    with bar, torch.inference_mode():
        for start in range(0, len(data), settings["batch_size"]):
            stop = min(start + settings["batch_size"], len(data))
            batch = {
                name: values.to(place)
                for name, values in collate([data[number] for number in range(start, stop)]).items()
            }
            logits = model(**batch).logits
            if not torch.isfinite(logits).all():
                raise ModelError(
                    "The training has gone astray: the model's answers are no numbers any more. Try a lower "
                    "learning rate, or float32 if it was not, in a new folder."
                )
            right += (logits.argmax(dim=-1) == batch["labels"]).tolist()
            bar.update(stop - start)
    hits, labels = np.array(right), np.array(data["label"])
    return {
        **proportion("accuracy", hits, np.array(data["document"])),
        "is_next": float(hits[labels == pairs.NEXT].mean()),
        "is_not_next": float(hits[labels == pairs.NOT_NEXT].mean()),
    }
