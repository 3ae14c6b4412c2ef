"""`gest_dataset.score`: a model and a config in, one score for each sample out."""

from __future__ import annotations

import hashlib
import logging
import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
from datasets.fingerprint import Hasher

from gest_dataset import results
from gest_dataset.builders import CONFIGS, fingerprint, get_config
from gest_dataset.builders.config import Row
from gest_dataset.errors import ScoringError
from gest_dataset.probes.asks import Sample, Score
from gest_dataset.probes.table import Options, Probe, check_kind, find
from gest_dataset.probes.text import CannotAskError, make_reader
from gest_dataset.scoring.batching import Passes, answer
from gest_dataset.scoring.device import BATCH_TOKENS
from gest_dataset.scoring.loading import NSP, Loaded, load
from gest_dataset.scoring.scorers import LanguageModel, NextSentence
from gest_dataset.version import __version__

logger = logging.getLogger(__name__)
_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers")
NOT_FINITE = "the model's values are not finite"


@dataclass(frozen=True)
class Scores:
    """The scores of one model on one config.

    `table` has one row per sample (and template); `skipped` the samples without a score, with the
    reason; `metadata` what is needed to say and to repeat what was measured; `rows` the data.
    """

    table: pa.Table
    skipped: pa.Table
    metadata: dict[str, Any]
    rows: datasets.Dataset

    def result(self) -> dict[str, Any]:
        """The statistic of this probe with its intervals (docs/metrics.md), for each template."""
        return results.result(self.metadata["probe"], self.table, self.rows)

    @property
    def signature(self) -> str:
        """One line to print beside a number: what it was measured on and with."""
        m = self.metadata
        parts = {
            "gest": m["config"],
            "data": m["data_fingerprint"][:12],
            "model": m["model"] + (f"@{m['revision'][:12]}" if m["revision"] else ""),
            "probe": m["probe"],
            "templates": "+".join(map(str, m["templates"])),
            "options": "+".join(f"{name}={value}" for name, value in m["options"].items()),
            "limit": m["limit"],
            "dtype": m["dtype"],
            "device": m["device"],
            "torch": m["packages"]["torch"],
            "transformers": m["packages"]["transformers"],
            "version": m["gest_dataset"],
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items() if value not in ("", None))


def score(
    model: Any,
    config: str | datasets.Dataset = "en",
    templates: Sequence[int] | str | Path | None = None,
    limit: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    revision: str | None = None,
    trust_remote_code: bool = False,
    multi_token: bool = False,
    cs: bool | None = None,
    intersentence: str = "auto",
) -> Scores:
    """Score a model on a config (docs/scoring.md defines every number).

    `model` is a Hub id, a local path, a `.gguf` file or a pair (model, tokenizer); `config` the name
    of a config or a data set with the same fields. `templates` are numbers or a JSON file.

    A sample that cannot be asked is in `Scores.skipped` with the reason. An error says so where
    nothing at all can be asked.
    """
    if batch_tokens is not None and batch_tokens < 1:
        raise ScoringError(f"batch_tokens={batch_tokens} leaves no room for a token: use 1 or more.")
    rows, name, data_fingerprint = _rows(config, limit)
    probe = find(rows.column_names, name)
    between = probe.name == "stereoset_intersentence"
    loaded = load(model, device, dtype, revision, trust_remote_code, next_sentence=between)
    check_kind(probe, loaded.kind, loaded.name, name)
    options = Options(templates, multi_token, cs, intersentence)
    reader = make_reader(loaded.tokenizer, loaded.model, loaded.kind)
    askers = probe.askers(loaded.kind, options)
    scorer = _scorer(loaded)
    start = time.perf_counter()
    keys, samples, skipped = [], [], []
    for row in rows.to_list():
        for template, ask in askers.items():
            try:
                samples.append(ask(row, reader))
                keys.append((row, template))
            except CannotAskError as error:
                skipped.append((row["id"], template, str(error)))
    for template in askers:
        if not any(asked == template for _, asked in keys):
            raise _nothing_to_ask(skipped, template, loaded, name)
    budget = batch_tokens or BATCH_TOKENS.get(scorer.device.type, BATCH_TOKENS["cpu"])
    with _evaluating(loaded.model):
        found, passes = _answer(samples, scorer, budget, loaded, name)
    scored = []
    for (row, template), values in zip(keys, found, strict=True):
        if all(value is None or np.isfinite(value) for value in values):
            scored.append((row, template, values))
        else:
            skipped.append((row["id"], template, NOT_FINITE))
    for template in askers:
        if not any(number == template for _, number, _ in scored):
            raise _nothing_to_ask(skipped, template, loaded, name)
    if skipped:
        reasons = Counter(reason for _, _, reason in skipped).most_common(3)
        logger.warning(
            "%d of %d samples of %s have no score: %s%s (see Scores.skipped)",
            len(skipped),
            len(rows) * len(askers),
            name,
            "; ".join(f"{number} x {reason}" for reason, number in reasons),
            " …" if len(reasons) < len({reason for _, _, reason in skipped}) else "",
        )
    metadata = {
        "config": name,
        "data_fingerprint": data_fingerprint,
        "model": loaded.name,
        "revision": loaded.revision,
        "kind": loaded.kind,
        "probe": probe.name,
        "templates": [template for template in askers if template],
        "options": _told(options, probe),
        "limit": limit,
        "dtype": "+".join(scorer.dtypes),
        "device": scorer.device.type,
        "samples": len(rows),
        "asked": len(rows) * len(askers),
        "scored": len(scored),
        "skipped": dict(Counter(reason for _, _, reason in skipped)),
        "passes": asdict(passes),
        "notes": scorer.notes,
        "seconds": time.perf_counter() - start,
        "packages": {package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "gest_dataset": __version__,
    }
    return Scores(_table(scored, probe, rows.features), _skipped_table(skipped), metadata, rows)


def _rows(config: str | datasets.Dataset, limit: int | None) -> tuple[datasets.Dataset, str, str]:
    """The rows to score, a name for them, and a hash of their content."""
    if limit is not None and limit < 1:
        raise ScoringError(f"limit={limit} leaves nothing to score: use 1 or more.")
    if isinstance(config, str):
        rows = datasets.load_dataset("gest", get_config(config).name, split="test")
        mark = fingerprint(CONFIGS[config])
    elif not isinstance(config, datasets.Dataset):
        raise ScoringError(
            f"A {type(config).__name__} cannot be scored: give the name of a config, or one split of a "
            f"data set (datasets.Dataset)."
        )
    else:
        rows = config
        config = rows.info.config_name or "data"
        mark = Hasher.hash(rows.to_list())
    if limit is not None:
        rows = rows.select(range(min(limit, len(rows))))
    return rows, config, mark


def _scorer(loaded: Loaded) -> LanguageModel | NextSentence:
    pad_id = loaded.tokenizer.pad_token_id
    if loaded.kind == NSP:
        return NextSentence(loaded.model, pad_id, loaded.owned)
    return LanguageModel(loaded.model, loaded.kind, pad_id, loaded.owned)


def _answer(
    samples: Sequence[Sample], scorer: LanguageModel | NextSentence, budget: int, loaded: Loaded, name: str
) -> tuple[list[Score], Passes]:
    queries = [query for sample in samples for query in sample.queries]
    values, passes = answer(queries, scorer, budget, f"{loaded.name} on {name}")
    found, start = [], 0
    for sample in samples:
        end = start + len(sample.queries)
        found.append(sample.fold(values[start:end]))
        start = end
    return found, passes


def _nothing_to_ask(
    skipped: Sequence[tuple[str, int, str]], template: int, loaded: Loaded, name: str
) -> ScoringError:
    own = [(sample, reason) for sample, asked, reason in skipped if asked == template]
    reasons = Counter(reason for _, reason in own).most_common(3)
    first = f" (the first is {own[0][0]})" if own else ""
    listed = "; ".join(f"{number} x {reason}" for reason, number in reasons) or "there are no rows"
    where = f" in template {template}" if template else ""
    return ScoringError(
        f"Not one sample of {name} can be scored{where} with {loaded.name}{first}: {listed}.\n"
        f"Choose other templates or words, `multi_token`, or another model."
    )


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Without dropout for a while; a model that the user handed over goes on as it was."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _told(options: Options, probe: Probe) -> dict[str, Any]:
    """The options that change this probe's numbers, where they are not the default."""
    told: dict[str, Any] = {}
    if probe.name == "pairs" and options.multi_token:
        told["multi_token"] = True
    if probe.name == "quadruplets" and options.cs is not None:
        told["cs"] = options.cs
    if probe.name == "stereoset_intersentence" and options.intersentence != "auto":
        told["intersentence"] = options.intersentence
    if probe.name == "templates" and isinstance(options.templates, (str, Path)):
        path = Path(options.templates)
        told["templates"] = f"{path.name}#{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
    return told


def _table(scored: Sequence[tuple[Row, int, Score]], probe: Probe, features: datasets.Features) -> pa.Table:
    """One row per sample and template, in the order of the data."""
    columns: dict[str, Any] = {"id": [row["id"] for row, _, _ in scored]}
    if probe.templated:
        columns["template"] = pa.array([template for _, template, _ in scored], pa.int32())
    if probe.about is not None:
        values = [row[probe.about] for row, _, _ in scored]
        feature = features[probe.about]
        columns[probe.about] = feature.int2str(values) if isinstance(feature, datasets.ClassLabel) else values
    for i, name in enumerate(probe.scores):
        columns[name] = pa.array([values[i] for _, _, values in scored], pa.float64())
    return pa.table(columns)


def _skipped_table(skipped: Sequence[tuple[str, int, str]]) -> pa.Table:
    schema = pa.schema([("id", pa.string()), ("template", pa.int32()), ("reason", pa.string())])
    return pa.Table.from_pylist(
        [dict(zip(schema.names, entry, strict=True)) for entry in skipped], schema=schema
    )
