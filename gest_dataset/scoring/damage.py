"""Which file of a model's folder is damaged: asked when the folder could not be loaded."""

from __future__ import annotations

from pathlib import Path

from safetensors import safe_open

from gest_dataset.data.foreign import parse_json, told, turning
from gest_dataset.errors import ModelError

_POINTER = b"version https://git-lfs"
_READ = {".json", ".safetensors", ".bin", ".model", ".spm", ".gguf"}


def damaged_file(folder: Path) -> str | None:
    """A sentence on the first file that cannot be read by itself; None where each of them can."""
    for path in sorted(path for path in folder.iterdir() if path.suffix in _READ and path.is_file()):
        try:
            with turning(lambda error, path=path: ModelError(f"{path} is damaged: {told(error)}.")):  # type: ignore[misc]
                check_whole(path)
                if path.suffix == ".json":
                    parse_json(path.read_bytes())
                elif path.suffix == ".safetensors":
                    with safe_open(path, "pt"):
                        pass  # reading its header looks at all sizes
        except ModelError as error:
            return str(error)
    return None


def check_whole(path: Path) -> None:
    """Whether a file has content, and its own: a download may leave nothing, or a pointer to it."""
    with path.open("rb") as file:
        start = file.read(len(_POINTER))
    if not start:
        raise ModelError(f"{path} is empty: copy or download it again.")
    if start == _POINTER:
        raise ModelError(f"{path} is a pointer of Git LFS, not the file itself: run `git lfs pull` there.")
