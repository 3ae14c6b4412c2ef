"""What a sweep will take: tokens, operations, memory, time and cost, before anything heavy starts.

Of a model only its settings and its tokeniser are read. Its questions are those that a run would ask, of some
of the rows, so that what is never asked twice is not counted twice; operations are 2 for each parameter and
token (Kaplan et al., 2020) with what attention and the head add; how fast they are is measured
(`sweep.device`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gest_dataset.errors import GestError
from gest_dataset.sweep.device import Speed, operations_of
from gest_dataset.sweep.grid import DONE, Row

if TYPE_CHECKING:
    from datasets import Dataset

    from gest_dataset.models.loading import Loaded

_ROWS = 160  # of a config that are looked at, in `_BLOCKS` runs: copies of one original stand together
_BLOCKS = 4
_BYTES = {"float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "8bit": 1.0, "4bit": 0.5}
_READ = 5e8  # bytes of weights that are read and put in their places in a second
_UNPACKED = 8e6  # weights of a GGUF file that are unpacked in a second, on one processor
_START = 8.0  # seconds until a worker has loaded its libraries


@dataclass(frozen=True)
class Questions:
    """What a model is asked on a config: rows, samples (rows in each template), inputs that are different,
    their tokens (of the decoder apart), rows of the head's full matrix, and the seconds to make all this.
    """

    rows: int
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
    """What of a model's size matters: parameters that every token goes through (in encoder and decoder), all
    of them, width, layers, and the vocabulary.
    """

    body: float
    decoder: float
    parameters: int
    width: int
    layers: int
    vocabulary: int


@dataclass(frozen=True)
class Estimate:
    """What a model will take; None is not known. `problem` is why nothing is."""

    name: str
    cells: int
    parameters: int | None = None
    inputs: float = 0.0
    tokens: float = 0.0
    operations: float | None = None
    memory: float | None = None
    seconds: float | None = None
    problem: str = ""


def estimate(row: Row, speed: Mapping[str, Speed]) -> Estimate:
    """The estimate of a model's cells that are not done; `speed` is that of each number type."""
    configs = [config for config, cell in row.cells.items() if cell.state != DONE]
    if row.subject.server is not None:
        return Estimate(
            row.subject.name, len(configs), problem="behind a server, which says nothing of itself"
        )
    try:
        return _estimate(row, configs, speed)
    except GestError as error:
        return Estimate(row.subject.name, len(configs), problem=" ".join(str(error).split()))


def _estimate(row: Row, configs: Sequence[str], speed: Mapping[str, Speed]) -> Estimate:
    from gest_dataset.models.device import BATCH_TOKENS
    from gest_dataset.models.loading import load_shape
    from gest_dataset.models.names import gguf_file

    asking = row.subject.asking
    loaded = load_shape(row.subject.model, row.subject.revision, asking.trust_remote_code)
    shape = shape_of(loaded.model)
    own = speed[asking.dtype]
    asked = [questions(loaded, config, row) for config in configs]
    work = sum(operations(shape, one) for one in asked)
    budget = asking.batch_tokens or BATCH_TOKENS[own.device]
    weights = shape.parameters * _BYTES[asking.quantization or own.dtype]
    thousands = sum(one.samples for one in asked) / 1000
    is_gguf = gguf_file(row.subject.model) is not None
    seconds = (
        _START
        + weights / _READ
        + is_gguf * shape.parameters / _UNPACKED
        + work / own.at(shape.width)
        + sum(one.seconds for one in asked)
        + thousands * own.statistic
    ) * (1 + asking.null)
    return Estimate(
        row.subject.name,
        len(configs),
        shape.parameters,
        sum(one.inputs for one in asked),
        sum(one.tokens + one.decoder_tokens for one in asked),
        work * (1 + asking.null),
        weights + _activations(shape, asked, budget, _BYTES[own.dtype]),
        seconds if configs else 0.0,
    )


def operations(shape: Shape, asked: Questions) -> float:
    """Operations of all passes on a config, and of the head where it is asked about its whole vocabulary."""
    there = operations_of(asked.tokens, shape.body, shape.width, shape.layers, asked.length)
    decoded = operations_of(asked.decoder_tokens, shape.decoder, shape.width, shape.layers, asked.length)
    return there + decoded + 2.0 * asked.normalised * shape.width * shape.vocabulary


def _activations(shape: Shape, asked: Sequence[Questions], budget: int, size: float) -> float:
    """Bytes of the largest batch: of a block, 16 numbers for each unit and token; of the head, its rows."""
    in_batch = max((budget / max(one.length, 1.0) for one in asked if one.normalised), default=0.0)
    return budget * 16.0 * shape.width * size + in_batch * shape.vocabulary * 4.0


def shape_of(model: Any) -> Shape:
    """The shape of a model that may be without weights.

    Experts count as often as a token goes through one; layers that share their weights, each time.
    """
    from torch.nn import Embedding

    config = model.config.get_text_config()
    tables = [module for module in model.modules() if isinstance(module, Embedding)]
    tables += [head] if (head := model.get_output_embeddings()) is not None else []
    apart = {id(table.weight) for table in tables}
    body = decoder = 0.0
    # without the head, which sees the places alone that are asked about
    for name, parameter in model.base_model.named_parameters():
        if id(parameter) in apart or parameter.dim() < 2:
            continue
        number = parameter.numel() * _share(name, config)
        if model.config.is_encoder_decoder and "decoder" in name:
            decoder += number
        else:
            body += number
    layers = int(getattr(config, "num_hidden_layers", 1))
    width = int(getattr(config, "hidden_size", 0) or 1)
    vocabulary = int(getattr(config, "vocab_size", 0) or 0)
    return Shape(body, decoder, model.num_parameters(), width, layers, vocabulary)


def _share(name: str, config: Any) -> float:
    """How often a token goes through a parameter."""
    if "layer_groups" in name:  # ALBERT's layers share their weights
        return float(config.num_hidden_layers) / float(config.num_hidden_groups)
    if "experts" not in name or "shared_expert" in name:
        return 1.0
    names = ("num_local_experts", "num_experts", "n_routed_experts")
    number = next((getattr(config, one) for one in names if getattr(config, one, None)), 1)
    return float(getattr(config, "num_experts_per_tok", number) or number) / number


def questions(loaded: Loaded, config: str, row: Row) -> Questions:
    """What a model is asked on a config, from some of its rows."""
    from gest_dataset.models.request import prepare
    from gest_dataset.probes.options import applicable_rules

    asking = row.subject.asking
    request = prepare(config, asking.limit, asking.options, asking.batch_tokens)
    kind = "nsp" if request.probe.intersentence and loaded.kind == "masked" else loaded.kind
    reader = loaded.reader(request.probe, applicable_rules(request.options, request.probe, kind))
    builders = request.probe.query_builders(kind, request.options)
    some = _some(request.rows)
    start = time.perf_counter()
    inputs, tokens, decoded, normalised = _counted(some, builders, reader, kind)
    seconds = time.perf_counter() - start
    share = len(request.rows) / max(len(some), 1)
    return Questions(
        len(request.rows),
        len(request.rows) * len(builders),
        *(share * value for value in (inputs, tokens, decoded, normalised, seconds)),
    )


def _some(rows: Dataset) -> list[dict[str, Any]]:
    """Rows from all over a config, in runs."""
    if len(rows) <= _ROWS:
        return list(rows.to_list())
    length = _ROWS // _BLOCKS
    starts = [block * (len(rows) - length) // (_BLOCKS - 1) for block in range(_BLOCKS)]
    return list(rows.select([start + i for start in starts for i in range(length)]).to_list())


def _counted(
    rows: Sequence[Mapping[str, Any]], builders: Mapping[int, Any], reader: Any, kind: str
) -> tuple[int, int, int, int]:
    """Inputs that are different, their tokens, those of the decoder, and rows of the head."""
    from gest_dataset.models.batching import longest_hosts
    from gest_dataset.probes.queries import Input
    from gest_dataset.probes.tokenization import SkipSampleError

    asked: dict[Input, set[int]] = {}
    for row in rows:
        for ask in builders.values():
            try:
                queries = ask(row, reader).queries
            except SkipSampleError:
                continue
            for query in queries:
                own = asked.setdefault(Input(query.input_ids, query.decoder_ids, query.type_ids), set())
                own |= set(query.positions) if query.normalise else set()
    inputs = list(asked)
    if kind == "causal":
        hosts = longest_hosts([one.input_ids for one in inputs])
        inputs = [inputs[place] for place in sorted(set(hosts))]
    decoded = sum(len(one.decoder_ids or ()) for one in inputs)
    tokens = sum(len(one.input_ids) for one in inputs)
    return len(inputs), tokens, decoded, sum(len(positions) for positions in asked.values())


def total(estimates: Sequence[Estimate], devices: int) -> tuple[float, float]:
    """Device-hours, and hours with some devices: never less than the longest model takes."""
    known = [one.seconds for one in estimates if one.seconds is not None]
    hours = sum(known) / 3600
    return hours, max(hours / max(devices, 1), max(known, default=0.0) / 3600)
