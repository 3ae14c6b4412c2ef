"""A small random Llama as a GGUF file, written by the `gguf` package with the tokenizer of the zoo."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import zoo

_WIDTH, _HEADS, _INNER, _LENGTH = 32, 4, 48, 128


def write(path: Path, keep: Callable[[str], bool] = lambda tensor: True, **changed: int) -> Path:
    """The file, with the tensors that are to be kept; the test is skipped without the package.

    `changed` are entries of the header: embedding_length, block_count, …
    """
    gguf: Any = pytest.importorskip("gguf")
    model = json.loads((zoo.directory("gpt2") / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    sizes = {"embedding_length": _WIDTH, "block_count": 1, "head_count": _HEADS, **changed}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(_LENGTH)
    writer.add_embedding_length(sizes["embedding_length"])
    writer.add_block_count(sizes["block_count"])
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(sizes["head_count"])
    writer.add_head_count_kv(sizes["head_count"])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_merges(
        [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    )
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    square, wide, tall = (_WIDTH, _WIDTH), (_INNER, _WIDTH), (_WIDTH, _INNER)
    shapes = {"token_embd.weight": (len(tokens), _WIDTH), "output_norm.weight": (_WIDTH,)}
    shapes |= {f"blk.0.attn_{part}.weight": square for part in ("q", "k", "v", "output")}
    shapes |= {"blk.0.ffn_gate.weight": wide, "blk.0.ffn_up.weight": wide, "blk.0.ffn_down.weight": tall}
    shapes |= {"blk.0.attn_norm.weight": (_WIDTH,), "blk.0.ffn_norm.weight": (_WIDTH,)}
    random = np.random.default_rng(0)
    for name, shape in shapes.items():
        if keep(name):
            writer.add_tensor(name, random.normal(scale=0.2, size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
