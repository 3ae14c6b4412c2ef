"""Damaged files of models, shards and settings: a message with the file's name, never a traceback."""

from __future__ import annotations

import json
import logging
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gest_dataset
from gest_dataset.errors import GestError, ModelError, ScoringError, convert_errors, describe_error
from gest_dataset.models.batching import State
from gest_dataset.models.loading import load_model
from gest_dataset.models.shards import Shards
from gest_dataset.runs.reading import read_run
from gest_dataset.storage import parse_json
from gest_dataset.translation import open_translator, translate_all
from tests.support import gguf_files, translators, zoo

pytestmark = pytest.mark.usefixtures("one_thread")

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


def safetensors(shape: list[int]) -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": shape, "data_offsets": [0, 4]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(4)


DAMAGE = [
    ("model.safetensors", b"", "is empty"),
    ("model.safetensors", POINTER, "is a pointer of Git LFS, not the file itself: run `git lfs pull`"),
    ("model.safetensors", safetensors([-1]), "is damaged: "),
    ("model.safetensors", safetensors([2**62]), "is damaged: "),
    ("config.json", DEEP, "is damaged: it is nested too deeply"),
    ("config.json", b"", "is empty"),
    ("tokenizer.json", DEEP, "is damaged: it is nested too deeply"),
    ("tokenizer.json", POINTER, "is a pointer of Git LFS"),
    ("tokenizer_config.json", DEEP, "is damaged: it is nested too deeply"),
]


@pytest.mark.parametrize(("file", "content", "said"), DAMAGE)
def test_a_damaged_file_of_a_model_is_named(file: str, content: bytes, said: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "model"))
    (folder / file).write_bytes(content)
    with pytest.raises(ModelError) as raised:
        gest_dataset.score(str(folder), "en", [3], 2, device="cpu")
    assert f"cannot be loaded: {folder / file} {said}" in str(raised.value)


@pytest.mark.parametrize(("file", "content", "said"), DAMAGE)
def test_a_damaged_file_of_a_translator_is_named(
    file: str, content: bytes, said: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(translators.directory("nllb"), tmp_path / "model"))
    (folder / file).write_bytes(content)
    with pytest.raises(ModelError) as raised:
        translate_all(["I am."], open_translator(f"hf:{folder}", "sk"), "sk", store=tmp_path)
    assert f"cannot be loaded: {folder / file} {said}" in str(raised.value)


def test_a_panic_of_a_library_in_rust_is_an_error_and_an_interrupt_is_none() -> None:
    panic = type("PanicException", (BaseException,), {})  # as pyo3 makes one for each of its libraries
    with pytest.raises(ModelError, match="the file: index out of range"), convert_errors(_model_error):
        raise panic("index out of range\nhelp")
    for passing in (KeyboardInterrupt, SystemExit, ScoringError):
        with pytest.raises(passing), convert_errors(_model_error):
            raise passing("as it is")


def _model_error(error: BaseException) -> GestError:

    return ModelError(f"the file: {describe_error(error)}")


# ---- GGUF -----------------------------------------------------------------------------------------------


def test_a_whole_gguf_file(tmp_path: Path) -> None:
    scores = gest_dataset.score(str(gguf_files.write(tmp_path / "small.gguf")), "en", [3], 2, device="cpu")
    assert scores.table.num_rows == 2


GGUF: dict[str, tuple[Callable[[Path], object], str]] = {
    "no tensors": (lambda path: gguf_files.write(path, keep=lambda name: False), "it holds no weights"),
    "billions of layers": (lambda path: gguf_files.write(path, block_count=10**9), "a larger model than"),
    "a wide one": (
        lambda path: gguf_files.write(path, embedding_length=2**20),
        "a larger model than",
    ),
    "no heads": (
        lambda path: gguf_files.write(path, head_count=0),
        "cannot be loaded as a GGUF file",
    ),
    "one more layer": (lambda path: gguf_files.write(path, block_count=2), "has no weights for Llama"),
    "one tensor less": (
        lambda path: gguf_files.write(path, keep=lambda name: "ffn_up" not in name),
        r"has no weights for LlamaForCausalLM: model\.layers\.0\.mlp\.up_proj",
    ),
}


@pytest.mark.parametrize("what", GGUF)
def test_gguf_files_that_are_not_complete(what: str, tmp_path: Path) -> None:
    write, said = GGUF[what]
    write(tmp_path / "small.gguf")
    with pytest.raises(ModelError, match=said):
        load_model(str(tmp_path / "small.gguf"), "cpu", "auto")


HEAD = struct.pack("<4sI", b"GGUF", 3)
KEY = struct.pack("<Q", 1) + b"k"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (POINTER, "is a pointer of Git LFS"),
        (b"GGML" + bytes(40), "it does not begin as one"),
        (struct.pack("<4sI", b"GGUF", 1) + bytes(40), "it is of version 1"),
        (HEAD + struct.pack("<QQ", 0, 0), "it holds no weights"),
        (HEAD + struct.pack("<QQ", 1, 2**60), "claims more than the file holds"),
        # a reader that believes it would take all memory
        (
            HEAD + struct.pack("<QQ", 1, 1) + KEY + struct.pack("<IIQ", 9, 0, 2**40),
            "claims more than",
        ),
        (HEAD + struct.pack("<QQ", 1, 1) + KEY + struct.pack("<IIQ", 9, 9, 1) + bytes(9), "of the type 9"),
        (HEAD + struct.pack("<QQ", 1, 1) + KEY + struct.pack("<IQ", 8, 2**50), "claims more than"),
        (HEAD + struct.pack("<QQ", 1, 1) + KEY + struct.pack("<I", 77), "of the type 77, which there is not"),
        (HEAD + struct.pack("<QQ", 1, 0) + KEY + struct.pack("<I", 10**9), "has 1000000000 dimensions"),
    ],
)
def test_gguf_headers(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=f"small.gguf cannot be loaded as a GGUF file: .*{said}|{said}"):
        load_model(str(path), "cpu", "auto")


def test_gguf_files_cut_or_flipped_anywhere(tmp_path: Path) -> None:
    """Each is loaded, or refused with a message."""
    whole = gguf_files.write(tmp_path / "whole.gguf").read_bytes()
    path, random = tmp_path / "damaged.gguf", np.random.default_rng(1)
    refused = 0
    for _ in range(12):
        damaged = bytearray(whole[: int(random.integers(len(whole) // 2, len(whole)))])
        damaged[int(random.integers(4, 400))] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(ModelError):
            load_model(str(path), "cpu", "auto")
        refused += 1
    assert refused == 12


# ---- JSON -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DEEP.decode(), "it is nested too deeply"),
        (DEEP, "it is nested too deeply"),
        ('{"text": "\\ud800"}', "half of a surrogate pair"),
        ('["\\uDC00"]', "half of a surrogate pair"),
        ("{", "Expecting"),
    ],
)
def test_json_of_others(text: str | bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_json(text)


def test_a_whole_pair_of_surrogates_is_a_letter() -> None:
    assert parse_json('["\\ud83d\\ude00", "\\u017e"]') == ["😀", "ž"]


def test_templates_and_runs_that_are_nested_too_deeply(tmp_path: Path) -> None:
    (tmp_path / "templates.json").write_bytes(DEEP)
    with pytest.raises(ScoringError, match=r"templates\.json cannot be read \(it is nested too deeply"):
        gest_dataset.score(str(zoo.directory("bert")), "en", tmp_path / "templates.json", 2, device="cpu")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_bytes(DEEP)
    with pytest.raises(GestError, match=r"run\.json cannot be read: it is nested too deeply"):
        read_run(tmp_path / "run")


# ---- shards ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["empty", "an array", "no facts", "facts that lack one"])
def test_a_shard_that_cannot_be_read_is_computed_again(
    what: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "000000.npz"
    if what == "empty":
        path.write_bytes(b"")
    elif what == "an array":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    else:
        told = "[]" if what == "no facts" else json.dumps({"mark": ""})
        np.savez(path, told=np.array(told), values=np.zeros(3))
    with caplog.at_level(logging.WARNING):
        state = Shards(tmp_path).load([], 10)
    assert state == State(10)
    assert f"{path} is damaged" in caplog.text
    assert "computed again" in caplog.text


@pytest.mark.parametrize(
    ("file", "name", "value", "said"),
    [
        ("config.json", "architectures", [["BertForMaskedLM"]], "its `architectures` are no list of names"),
        (
            "tokenizer_config.json",
            "model_max_length",
            "64",
            "its `model_max_length` is '64', which is no number",
        ),
    ],
)
def test_an_entry_of_another_type_is_named(
    file: str, name: str, value: object, said: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(zoo.directory("bert"), tmp_path / "bert")
    content = json.loads((folder / file).read_text(encoding="utf-8"))
    (folder / file).write_text(json.dumps({**content, name: value}), encoding="utf-8")
    with pytest.raises(ModelError, match=said):
        gest_dataset.score(str(folder), "en", limit=3, device="cpu")
