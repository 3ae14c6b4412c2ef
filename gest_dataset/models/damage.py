"""Which file of a model's folder is damaged, and whether a GGUF file is whole.

The first is asked when the folder could not be loaded, the second before anything is built from the file:
transformers makes a model of the default size (7 billion weights for `llama`) where a header says no
sizes, fills what the file lacks at random, and the reader of the `gguf` package runs through any length
that a header claims. So the header is walked first, within the file's own size. The format:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from safetensors import safe_open

from gest_dataset.errors import ModelError, convert_errors, describe_error
from gest_dataset.storage import parse_json

_POINTER = b"version https://git-lfs"
_MAGIC, _VERSIONS = b"GGUF", (2, 3)
_STRING, _ARRAY = 8, 9
# The bytes of a value by its type: (u)int8, (u)int16, (u)int32, float32, bool; (u)int64, float64
_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_DIMENSIONS = 4  # at most
_READ = {".json", ".safetensors", ".bin", ".model", ".spm", ".gguf"}


def _damage(path: Path, error: BaseException) -> ModelError:
    return ModelError(f"{path} is damaged: {describe_error(error)}.")


def damaged_file(folder: Path) -> str | None:
    """A sentence on the first file that cannot be read by itself; None where each of them can."""
    for path in sorted(path for path in folder.iterdir() if path.suffix in _READ and path.is_file()):
        try:
            with convert_errors(partial(_damage, path)):
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


@dataclass(frozen=True)
class _Header:
    """A file behind its magic number, and where it ends."""

    file: BinaryIO
    size: int

    def take(self, number: int) -> bytes:
        self.check(number)
        return self.file.read(number)

    def skip(self, number: int) -> None:
        self.check(number)
        self.file.seek(number, 1)

    def check(self, number: int) -> None:
        if self.file.tell() + number > self.size:
            raise ValueError("its header claims more than the file holds")

    def number(self, form: str = "<Q") -> int:
        value: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return value

    def skip_value(self, kind: int) -> None:
        if kind == _STRING:
            self.skip(self.number())
        elif kind == _ARRAY:
            inner, length = self.number("<I"), self.number()
            if inner in _BYTES:
                self.skip(_BYTES[inner] * length)
                return
            for _ in range(length):
                if inner != _STRING:
                    raise ValueError(f"an array in its header is of the type {inner}")
                self.skip_value(inner)
        elif kind in _BYTES:
            self.skip(_BYTES[kind])
        else:
            raise ValueError(f"a value in its header is of the type {kind}, which there is not")


def tensors_in(path: Path) -> tuple[int, int]:
    """How many tensors, and weights in them, a file holds; a ValueError says what is wrong with it."""
    check_whole(path)
    with path.open("rb") as file:
        header = _Header(file, path.stat().st_size)
        if header.take(4) != _MAGIC:
            raise ValueError("it does not begin as one")
        version = header.number("<I")
        if version not in _VERSIONS:
            raise ValueError(f"it is of version {version}, and {_VERSIONS} are read")
        tensors, entries = header.number(), header.number()
        if not tensors:
            raise ValueError("it holds no weights, only a vocabulary or settings")
        for _ in range(entries):
            header.skip(header.number())
            header.skip_value(header.number("<I"))
        weights = 0
        for _ in range(tensors):
            header.skip(header.number())
            dimensions = header.number("<I")
            if not 0 < dimensions <= _DIMENSIONS:
                raise ValueError(f"a tensor in its header has {dimensions} dimensions")
            weights += math.prod(header.number() for _ in range(dimensions))
            header.skip(4 + 8)  # its type, and where it lies
        return tensors, weights
