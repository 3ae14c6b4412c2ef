"""The folder of a training: its record, the model as transformers saves it, and the model's card."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from huggingface_hub import ModelCardData

from gest_dataset.runs.claims import claim_same
from gest_dataset.storage import LOCK, atomic_path, write_json
from gest_dataset.studies.nsp.model import LABELS, Learner
from gest_dataset.studies.nsp.pairs import EVERY, NEXT
from gest_dataset.version import __version__

RECORD, TRAINING, CARD = "nsp.json", ".nsp-training", "README.md"
RESULT = "result"
_MODEL = "model"


def claim_training(out: Path, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record of the same training in this folder; None in an empty one, any other is refused."""
    return claim_same(out / RECORD, _may_be_ours, settings, "gest study nsp", "a training")


def _may_be_ours(path: Path) -> bool:
    """What transformers saves has many names: beside our record anything may be of it."""
    return path.with_name(RECORD).exists() or path.name in (LOCK, TRAINING)


def begin(out: Path, settings: Mapping[str, Any], command: Sequence[str]) -> None:
    """Say what the folder is for."""
    write_json(out / RECORD, _told(settings, command))


def _told(settings: Mapping[str, Any], command: Sequence[str]) -> dict[str, Any]:
    return {"command": list(command), "settings": dict(settings), "gest_dataset": __version__}


def finish(
    out: Path,
    learner: Learner,
    settings: Mapping[str, Any],
    result: Mapping[str, Any],
    command: Sequence[str],
) -> dict[str, Any]:
    """Write the model, its card, and last the result: a record with one has a whole model beside it."""
    whole = out / TRAINING / _MODEL
    learner.tokenizer("")  # leaves the fast tokeniser without the truncation and padding of the training
    learner.model.save_pretrained(whole)
    learner.tokenizer.save_pretrained(whole)
    mode = stat.S_IMODE((out / RECORD).stat().st_mode)  # what the umask says; safetensors lets nobody read
    for path in sorted(whole.iterdir()):
        path.chmod(mode)
        path.replace(out / path.name)
    record = _told(settings, command) | {"revision": learner.revision, RESULT: dict(result)}
    with atomic_path(out / CARD) as partial:
        partial.write_text(_card(record), encoding="utf-8")
    write_json(out / RECORD, record)
    return record


def _card(record: Mapping[str, Any]) -> str:
    settings, result = record["settings"], record[RESULT]
    counts, name = result["counts"], settings["model"]
    on_hub = [one["name"] for one in settings["data"] if one["sha256"] is None]
    header = ModelCardData(
        base_model=None if Path(name).exists() else name,
        datasets=on_hub or None,
        library_name="transformers",
        pipeline_tag="text-classification",
        tags=["next-sentence-prediction", "stereoset"],
    )
    data = ", ".join(
        f"`{one['name']}`" + (f" (config `{one['config']}`)" if one["config"] else "")
        for one in settings["data"]
    )
    labels = "\n".join(
        f"| {number} | `{label}` | {result[label.replace(' ', '_')]:.1%} |"
        for number, label in LABELS.items()
    )
    updates = settings["batch_size"] * settings["accumulate"]
    revision = f" at `{record['revision']}`" if record["revision"] else ""
    return f"""---
{header}
---

# {Path(name).name}, fine-tuned on next sentences

`{name}`{revision} with a head of two labels, which says whether the second of two sentences follows the first
one. Written by `gest study nsp` of gest-dataset {__version__} to score StereoSet between sentences
(section 5.2 of Öztürk et al., 2023):

```bash
{shlex.join(record["command"])}
gest score DIR --config stereoset_en_intersentence
```

Accuracy on {counts["test"]:,} held-out pairs: **{result["accuracy"]:.1%}**, 95 % interval
{result["accuracy_low"]:.1%} to {result["accuracy_high"]:.1%} (pairs of a document count as one unit;
half of all pairs follow, so guessing gives 50 %).

| label | name | of its held-out pairs right |
| ---: | --- | ---: |
{labels}

P(label {NEXT}) is the probability that the second sentence is next: `AutoModelForSequenceClassification`
loads the model, `tokenizer(first, second)` makes its input.

## Data

{data}, column `{settings["text"]}`: {counts["documents"]:,} documents, of which {counts["short"]:,} have
less than two sentences. {counts["train"]:,} pairs were made to learn from: each sentence with the next one,
and with a random one of another document. Every {EVERY}th document is held out.

## Settings

| | |
| --- | --- |
| updates | {result["steps"]:,} of {updates} pairs |
| pairs in a pass, passes in an update | {settings["batch_size"]}, {settings["accumulate"]} |
| learning rate | {settings["learning_rate"]:g}, of the new head {settings["head_learning_rate"]:g}; cosine |
| optimizer | AdamW without weight decay, gradients clipped at 1 |
| number type of the passes | {settings["dtype"]} (weights: float32) |
| seed | {settings["seed"]} |

A next-sentence model has the biases of the model that it was made of and of these data. What it was trained
on decides what "follows" means: it does not say that a sentence is true, or likely in other texts.
"""
