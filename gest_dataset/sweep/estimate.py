"""Estimate what a sweep takes (`gest sweep --estimate`): tokens, operations, memory, time and cost.

Only the configuration and the tokenizer of a model are read. Its queries are made for a sample of the rows of
each config. A model takes 2 operations per parameter and token (Kaplan et al., 2020), plus attention and the
head; the speed of this machine is measured on a transformer block of the model's width.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import datasets
import torch
from torch.nn import functional

from gest_dataset.errors import GestError
from gest_dataset.models.device import BATCH_TOKENS, pick_device, pick_dtype
from gest_dataset.models.loading import LoadedModel, load_empty_model
from gest_dataset.models.names import gguf_path
from gest_dataset.models.prefix_sharing import longest_continuations
from gest_dataset.models.request import make_request
from gest_dataset.probes.options import applicable_rules
from gest_dataset.probes.queries import Input
from gest_dataset.probes.tokenization import SkipSampleError
from gest_dataset.sweep.suite import SuiteModel

_ROWS, _BLOCKS = 160, 4  # sampled rows of a config, in blocks: copies of one original are neighbours
_BYTES = {"8bit": 1.0, "4bit": 0.5}
_READ_SPEED = 5e8  # bytes of weights per second
_GGUF_SPEED = 8e6  # dequantised weights of a GGUF file per second, on one processor
_START = 8.0  # seconds until a process has loaded its libraries
_STATISTIC = 0.15  # seconds for the intervals of 1,000 samples
_LENGTH = 24  # tokens of a text when the speed is measured


@dataclass(frozen=True)
class Queries:
    """What a model is asked on one config: samples, distinct inputs and their tokens.

    `normalised` counts rows of the head's full matrix, and `seconds` is the time to make the queries.
    """

    samples: int
    inputs: float
    tokens: float
    decoder_tokens: float
    normalised: float
    seconds: float

    @property
    def length(self) -> float:
        return (self.tokens + self.decoder_tokens) / max(self.inputs, 1.0)


@dataclass(frozen=True)
class Shape:
    """Parameters that each token passes (`body`, `decoder`), all parameters, width, layers and vocabulary."""

    body: float
    decoder: float
    parameters: int
    width: int
    layers: int
    vocabulary: int


@dataclass(frozen=True)
class Estimate:
    """What a model takes. None is unknown, and `problem` is the reason if nothing is known."""

    name: str
    cells: int
    parameters: int | None = None
    tokens: float = 0.0
    operations: float | None = None
    memory: float | None = None
    seconds: float | None = None
    problem: str = ""


def estimate(model: SuiteModel, configs: Sequence[str]) -> Estimate:
    """Estimate one model on the configs that are not done."""
    if model.endpoint is not None:
        return Estimate(model.name, len(configs), problem="a served model cannot be estimated")
    settings = model.settings
    try:
        loaded = load_empty_model(model.model, model.revision, settings.trust_remote_code)
        shape = model_shape(loaded.model)
        queries = [count_queries(loaded, config, model) for config in configs]
    except GestError as error:
        return Estimate(model.name, len(configs), problem=" ".join(str(error).split()))
    device = pick_device("cpu" if model.gpus == 0 else "auto")
    dtype = pick_dtype(settings.dtype, device)
    budget = settings.batch_tokens or BATCH_TOKENS[device.type]
    work = sum(count_operations(shape, one) for one in queries)
    weights = shape.parameters * _BYTES.get(settings.quantization or "", dtype.itemsize)
    seconds = (
        _START
        + weights / _READ_SPEED
        + (shape.parameters / _GGUF_SPEED if gguf_path(model.model) is not None else 0)
        + (work / measure_speed(device, dtype, shape.width, budget) if configs else 0)
        + sum(one.seconds + one.samples / 1000 * _STATISTIC for one in queries)
    ) * (1 + settings.null)
    # the largest batch: 16 numbers per unit and token in a block, and the rows of the head
    rows = max((budget / max(one.length, 1.0) for one in queries if one.normalised), default=0.0)
    activations = budget * 16.0 * shape.width * dtype.itemsize + rows * shape.vocabulary * 4.0
    return Estimate(
        model.name,
        len(configs),
        shape.parameters,
        sum(one.tokens + one.decoder_tokens for one in queries),
        work * (1 + settings.null),
        weights + activations,
        seconds if configs else 0.0,
    )


def total_hours(estimates: Sequence[Estimate], devices: int) -> tuple[float, float]:
    """Return device-hours, and hours on some devices: at least those of the longest model."""
    seconds = [one.seconds for one in estimates if one.seconds is not None]
    hours = sum(seconds) / 3600
    return hours, max(hours / max(devices, 1), max(seconds, default=0.0) / 3600)


def count_operations(shape: Shape, queries: Queries) -> float:
    """Count the operations of all passes on one config, with the head where it is normalised."""
    encoder = _operations(queries.tokens, shape.body, shape.width, shape.layers, queries.length)
    decoder = _operations(queries.decoder_tokens, shape.decoder, shape.width, shape.layers, queries.length)
    return encoder + decoder + 2.0 * queries.normalised * shape.width * shape.vocabulary


def _operations(tokens: float, parameters: float, width: float, layers: float, length: float) -> float:
    """2 operations for each parameter, and 4 d for each token that is attended to."""
    return tokens * (2 * parameters + 4 * width * layers * length)


def model_shape(model: Any) -> Shape:
    """Return the shape of a model, which may be without weights.

    Experts count as often as a token passes one; layers that share their weights count each time.
    """
    config = model.config.get_text_config()
    tables = [module for module in model.modules() if isinstance(module, torch.nn.Embedding)]
    head = model.get_output_embeddings()
    embeddings = {id(table.weight) for table in [*tables, *([head] if head is not None else [])]}
    body = decoder = 0.0
    for name, parameter in model.base_model.named_parameters():
        if id(parameter) in embeddings or parameter.dim() < 2:
            continue
        number = parameter.numel() * _uses_per_token(name, config)
        if model.config.is_encoder_decoder and "decoder" in name:
            decoder += number
        else:
            body += number
    layers = int(getattr(config, "num_hidden_layers", 1))
    width = int(getattr(config, "hidden_size", 0) or 1)
    vocabulary = int(getattr(config, "vocab_size", 0) or 0)
    return Shape(body, decoder, model.num_parameters(), width, layers, vocabulary)


def _uses_per_token(name: str, config: Any) -> float:
    if "layer_groups" in name:  # ALBERT's layers share their weights
        return float(config.num_hidden_layers) / float(config.num_hidden_groups)
    if "experts" not in name or "shared_expert" in name:
        return 1.0
    keys = ("num_local_experts", "num_experts", "n_routed_experts")
    number = next((getattr(config, key) for key in keys if getattr(config, key, None)), 1)
    return float(getattr(config, "num_experts_per_tok", number) or number) / number


def count_queries(loaded: LoadedModel, config: str, model: SuiteModel) -> Queries:
    """Count what a model is asked on a config, from a sample of its rows."""
    settings = model.settings
    request = make_request(config, settings.limit, settings.options, settings.batch_tokens)
    kind = "nsp" if request.probe.intersentence and loaded.kind == "masked" else loaded.kind
    reader = loaded.reader(request.probe, applicable_rules(request.options, request.probe, kind))
    builders = request.probe.query_builders(kind, request.options)
    rows = _sample(request.rows)
    start = time.perf_counter()
    positions: dict[Input, set[int]] = {}
    for row in rows:
        for ask in builders.values():
            try:
                queries = ask(row, reader).queries
            except SkipSampleError:
                continue
            for query in queries:
                key = Input(query.input_ids, query.decoder_ids, query.type_ids)
                positions.setdefault(key, set()).update(query.positions if query.normalise else ())
    inputs = list(positions)
    if kind == "causal":  # a text that begins another one is not computed on its own
        inputs = [
            inputs[index] for index in sorted(set(longest_continuations([one.input_ids for one in inputs])))
        ]
    counts = (
        len(inputs),
        sum(len(one.input_ids) for one in inputs),
        sum(len(one.decoder_ids or ()) for one in inputs),
        sum(map(len, positions.values())),
        time.perf_counter() - start,
    )
    share = len(request.rows) / max(len(rows), 1)
    return Queries(len(request.rows) * len(builders), *(share * count for count in counts))


def _sample(rows: datasets.Dataset) -> list[dict[str, Any]]:
    """Take blocks of rows from all over a config."""
    if len(rows) <= _ROWS:
        return list(rows.to_list())
    length = _ROWS // _BLOCKS
    starts = [block * (len(rows) - length) // (_BLOCKS - 1) for block in range(_BLOCKS)]
    return list(rows.select([start + i for start in starts for i in range(length)]).to_list())


@cache
def measure_speed(device: torch.device, dtype: torch.dtype, width: int, budget: int) -> float:
    """Measure the operations per second of a transformer block, for about a second."""
    shapes = ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))
    attend, project, up, down = (torch.nn.Linear(*shape, device=device, dtype=dtype) for shape in shapes)

    def forward(texts: torch.Tensor) -> torch.Tensor:
        parts = attend(functional.layer_norm(texts, (width,))).chunk(3, dim=-1)
        heads = 1 if width % 64 else width // 64
        query, key, value = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in parts)
        attention = functional.scaled_dot_product_attention(query, key, value)
        texts = texts + project(attention.transpose(1, 2).flatten(2))
        inner: torch.Tensor = down(functional.gelu(up(functional.layer_norm(texts, (width,)))))
        return texts + inner

    number = max(1, budget // _LENGTH)
    texts = torch.randn(number, _LENGTH, width, device=device, dtype=dtype)
    seconds: list[float] = []
    with torch.inference_mode():
        forward(texts)
        end = time.perf_counter() + 1.0
        while len(seconds) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            forward(texts)[0, 0, 0].item()  # waits for the device
            seconds.append(time.perf_counter() - start)
    return _operations(number * _LENGTH, 12 * width**2, width, 1, _LENGTH) / statistics.median(seconds)
