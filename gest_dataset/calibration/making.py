"""A trained model on disk: made once, and there the next time the same is asked for."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import transformers as hf

from gest_dataset.calibration.corpus import Gap
from gest_dataset.calibration.learning import Recipe, train
from gest_dataset.data.foreign import parse_json
from gest_dataset.errors import OutputError

RECIPE = "recipe.json"


def recipe_digest(gaps: Sequence[Gap], recipe: Recipe, seed: int) -> str:
    """What a model is made of: corpus, recipe and seed."""
    corpus = [(gap.before, gap.after, dict(gap.counts)) for gap in gaps]
    text = json.dumps([corpus, asdict(recipe), seed], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def train_model(
    folder: Path,
    gaps: Sequence[Gap],
    recipe: Recipe,
    seed: int,
    device: torch.device,
    advance: Callable[[], None],
) -> bool:
    """Train a model into a folder, which appears when it is whole; False where it was there."""
    if _read(folder) == _told(gaps, recipe, seed):
        return False
    model, tokenizer = train(gaps, recipe, seed, device, advance)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as partial:
            made = Path(partial) / folder.name
            save(made, model, tokenizer, gaps, recipe, seed)
            if (folder / RECIPE).exists():  # one of ours, from another seed or version
                shutil.rmtree(folder)
            made.rename(folder)
    except OSError as error:
        raise OutputError(
            f"The model {folder} could not be written: {error}. Make room or choose another folder with "
            f"--output, and run the same command again."
        ) from error
    return True


def save(folder: Path, model: Any, tokenizer: Any, gaps: Sequence[Gap], recipe: Recipe, seed: int) -> None:
    """Write a model with its tokeniser, and how it was made."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    text = json.dumps(_told(gaps, recipe, seed), indent=1)
    (folder / RECIPE).write_text(text + "\n", encoding="utf-8")


def _told(gaps: Sequence[Gap], recipe: Recipe, seed: int) -> dict[str, Any]:
    return {
        "fingerprint": recipe_digest(gaps, recipe, seed),
        "versions": {"torch": torch.__version__.partition("+")[0], "transformers": hf.__version__},
        "seed": seed,
        "gaps": len(gaps),
        "recipe": asdict(recipe),
    }


def _read(folder: Path) -> dict[str, Any] | None:
    """How the model in a folder was made, if there is one."""
    try:
        told: dict[str, Any] = parse_json((folder / RECIPE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise OutputError(f"{folder / RECIPE} cannot be read ({error}): remove {folder}.") from error
    return told
