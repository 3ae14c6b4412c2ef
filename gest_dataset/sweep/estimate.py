"""Estimate what a sweep takes (`gest sweep --estimate`): tokens, operations, memory, time and cost.

Only the configuration and the tokenizer of a model are read. Its queries are made for a sample of the rows of
each config, torch counts the operations of a text of average length, and the speed of this machine is that of
a transformer layer of the model's width.
"""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from torch.utils.benchmark import Timer
from torch.utils.flop_counter import FlopCounterMode

from gest_dataset.errors import ModelError
from gest_dataset.models.device import BATCH_TOKENS, pick_device, pick_dtype
from gest_dataset.models.loading import SEQ2SEQ, LoadedModel, load_empty_model
from gest_dataset.models.prefix_sharing import longest_continuations
from gest_dataset.models.scores import make_request
from gest_dataset.probes.options import applicable_rules
from gest_dataset.probes.queries import Input
from gest_dataset.probes.tokenization import SkipSampleError
from gest_dataset.sweep.suite import SuiteModel

_ROWS, _BLOCKS = 160, 4  # sampled rows of a config, in blocks: copies of one original are neighbours
_BYTES = {"8bit": 1.0, "4bit": 0.5}
_READ_SPEED = 5e8  # bytes of weights per second
_START = 15.0  # seconds to load the libraries, make the queries and compute the intervals
_LENGTH = 24  # tokens of a text when the speed is measured


class Work(NamedTuple):
    """A model's work on one config: distinct inputs, their tokens, and operations."""

    inputs: float
    tokens: float
    operations: float


def estimate(model: SuiteModel, configs: Sequence[str]) -> dict[str, float]:
    """Estimate what one model takes on the configs that are not done."""
    if model.endpoint is not None:
        raise ModelError("a served model cannot be estimated")
    loaded = load_empty_model(model.model, model)
    device = pick_device("cpu" if model.gpus == 0 else "auto")
    dtype = pick_dtype(model.dtype, device)
    budget = model.batch_tokens or BATCH_TOKENS[device.type]
    config = loaded.model.config.get_text_config()
    size = loaded.model.num_parameters()
    weights = size * _BYTES.get(model.quantization or "", dtype.itemsize)
    works = [measure_work(loaded, name, model) for name in configs]
    operations = (1 + model.null) * sum(work.operations for work in works)
    seconds = 0.0
    if configs:
        seconds = operations / measure_speed(device, dtype, config.hidden_size, budget)
        seconds += (1 + model.null) * (_START + weights / _READ_SPEED)
    # the largest batch: 16 numbers per unit and token in a layer, and the head for each text
    texts = max((budget * work.inputs / work.tokens for work in works), default=0.0)
    activations = budget * 16.0 * config.hidden_size * dtype.itemsize + texts * config.vocab_size * 4.0
    return {
        "size": size,
        "cells": len(configs),
        "tokens": sum(work.tokens for work in works),
        "FLOP": operations,
        "memory": weights + activations,
        "hours": seconds / 3600,
    }


def measure_work(loaded: LoadedModel, config: str, model: SuiteModel) -> Work:
    """Measure what a model is asked on a config, from a sample of its rows."""
    request = make_request(config, model)
    kind = "nsp" if request.probe.intersentence and loaded.kind == "masked" else loaded.kind
    reader = loaded.reader(request.probe, applicable_rules(model, request.probe, kind))
    rows = request.rows
    if len(rows) > _ROWS:
        starts = np.linspace(0, len(rows) - _ROWS // _BLOCKS, _BLOCKS).astype(int)
        rows = rows.select((starts[:, None] + np.arange(_ROWS // _BLOCKS)).ravel())
    positions: dict[Input, set[int]] = defaultdict(set)
    for row, ask in product(rows.to_list(), request.probe.query_builders(kind, model).values()):
        with suppress(SkipSampleError):
            for query in ask(row, reader).queries:
                key = Input(query.input_ids, query.decoder_ids, query.type_ids)
                positions[key].update(query.positions if query.normalise else ())
    inputs = list(positions)
    if kind == "causal":  # a text that begins another one is not computed on its own
        longest = longest_continuations([one.input_ids for one in inputs])
        inputs = [inputs[index] for index in sorted(set(longest))]
    tokens = sum(len(one.input_ids) for one in inputs)
    decoded = sum(len(one.decoder_ids or ()) for one in inputs)
    size = loaded.model.config.get_text_config()
    number = max(1, len(inputs))
    operations = len(inputs) * count_operations(loaded, tokens // number, decoded // number)
    operations += 2.0 * sum(map(len, positions.values())) * size.hidden_size * size.vocab_size  # of the head
    share = len(request.rows) / max(1, len(rows))
    return Work(share * len(inputs), share * (tokens + decoded), share * operations)


def count_operations(loaded: LoadedModel, length: int, decoder_length: int = 0) -> float:
    """Count the operations of a forward pass of one text without the head; the model has no weights."""
    inputs = {"input_ids": torch.ones(1, max(1, length), dtype=torch.long, device="meta")}
    if loaded.kind == SEQ2SEQ:
        decoder_ids = torch.ones(1, max(1, decoder_length), dtype=torch.long, device="meta")
        inputs["decoder_input_ids"] = decoder_ids
    loaded.model.set_experts_implementation("batched_mm")  # counts the experts that a token passes
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        loaded.model.base_model(**inputs)
    return float(counter.get_total_flops())


@cache
def measure_speed(device: torch.device, dtype: torch.dtype, width: int, budget: int) -> float:
    """Measure the operations per second of a transformer layer, for about a second."""
    heads = 1 if width % 64 else width // 64
    layer = torch.nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True)
    layer = layer.to(device, dtype).eval()
    texts = torch.randn(max(1, budget // _LENGTH), _LENGTH, width, device=device, dtype=dtype)
    threads = torch.get_num_threads()
    timer = Timer("layer(texts)", globals={"layer": layer, "texts": texts}, num_threads=threads)
    with torch.inference_mode():
        seconds = timer.blocked_autorange(min_run_time=1.0).median
    # 2 operations for each of 12 d^2 parameters, and 4 d for each token that is attended to
    return texts.shape[0] * _LENGTH * (24 * width**2 + 4 * width * _LENGTH) / seconds
