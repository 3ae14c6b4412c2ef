"""Many small models: copies of an animal of the zoo, each with weights of its own."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tests.support import zoo

WEIGHTS = "model.safetensors"


def herd(folder: Path, names: Sequence[str], animal: str = "bert") -> list[Path]:
    """Folders of models by name; a model's weights follow from its place in the list."""
    return [bred(folder / name, animal, seed) for seed, name in enumerate(names)]


def bred(path: Path, animal: str = "bert", seed: int = 0, stretch: float = 1.0) -> Path:
    """A copy of an animal, whose weights are `stretch` times its own and a little noise."""
    shutil.copytree(zoo.directory(animal), path)
    weights = load_file(path / WEIGHTS)
    random = torch.Generator().manual_seed(seed)
    for name, tensor in weights.items():
        if tensor.dim() > 1:
            weights[name] = stretch * tensor + 0.05 * torch.randn(tensor.shape, generator=random)
    save_file(weights, path / WEIGHTS, metadata={"format": "pt"})
    return path
