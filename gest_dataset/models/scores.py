"""Scores of a model on a config: one per sample, kept in memory or as a run on disk."""

from __future__ import annotations

import platform
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa

from gest_dataset.builders.config import Row
from gest_dataset.cache import ResponseCache
from gest_dataset.errors import ScoringError, SettingError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import compute_result, headline_text
from gest_dataset.models import distributed, precision
from gest_dataset.models.base import Model
from gest_dataset.models.loading import LoadedModel
from gest_dataset.models.random_baseline import random_baseline
from gest_dataset.models.request import Request
from gest_dataset.probes.options import applicable_rules, effective_options, unused_options
from gest_dataset.probes.probe import Probe, check_kind
from gest_dataset.probes.queries import Sample, Score
from gest_dataset.probes.templates import EXTENDED_NAME
from gest_dataset.probes.tokenization import SkipSampleError
from gest_dataset.runs.folder import Run, RunWriter, new_manifest, open_run
from gest_dataset.runs.manifest import SCORES, signature
from gest_dataset.runs.result import RunResult
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.version import __version__

_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers")
_SKIPPED = pa.schema([("id", pa.string()), ("template", pa.int32()), ("reason", pa.string())])

Skipped = tuple[str, int, str]  # id, template, reason


@dataclass(frozen=True)
class Scores(RunResult):
    """The scores of one model on one config.

    `table` has one row per sample (and template), `skipped` the samples without a score and the reasons,
    `metadata` everything needed to repeat the measurement, `rows` the data.
    """

    table: pa.Table
    skipped: pa.Table
    metadata: dict[str, Any]
    rows: datasets.Dataset

    def result(self) -> dict[str, Any]:
        """The statistic of the measure with its intervals (docs/metrics.md), for each template."""
        result = compute_result(MEASURES[self.metadata["measure"]], self.table, self.rows)
        baselines = self.metadata.get("null")
        if not baselines:
            return result
        return result | {"null": {"values": baselines, "low": min(baselines), "high": max(baselines)}}

    @property
    def signature(self) -> str:
        """One line to report beside a number: what it was measured on and with."""
        m = self.metadata
        return signature(
            gest=m["config"],
            data=m["data_fingerprint"],
            measure=m["measure"],
            model=m["model"] + (f"@{m['revision']}" if m["revision"] else ""),
            templates=m["templates"],
            options=m["options"],
            start=m.get("start"),
            limit=m["limit"],
            dtype=m["dtype"],
            quantization=m.get("quantization"),
            device=m["device"],
            torch=m["packages"]["torch"],
            transformers=m["packages"]["transformers"],
            version=m["gest_dataset"],
        )

    def __repr__(self) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)  # the headline says it
            headline = headline_text(MEASURES[self.metadata["measure"]], self.result())
        return (
            f"Scores(model={self.metadata['model']!r}, config={self.metadata['config']!r}, "
            f"scored={self.table.num_rows}, skipped={self.skipped.num_rows}, {headline})"
        )


@dataclass(frozen=True)
class ScoredRun:
    """A finished run of scores; `new` is False if it was already finished and only read."""

    path: Path
    scores: Scores
    result: dict[str, Any]
    new: bool


def record(model: Model, request: Request, path: Path, command: Sequence[str]) -> ScoredRun:
    """Score a request as a run in a folder: new, resumed, or read if it is finished."""
    check_kind(request.probe, model.kind, model.name, request.name)
    manifest = new_manifest(
        measure=request.measure.name,
        model=model.name,
        config=request.name,
        language=request.language,
        data_fingerprint=request.fingerprint,
        table=SCORES,
        settings=request.settings(model),
        command=command,
        device=model.device,
    )
    writer: RunWriter | None = None  # in the main process only
    with ExitStack() as stack:

        def start() -> Run | None:
            nonlocal writer
            writer = stack.enter_context(open_run(path, manifest))
            return writer.finished

        def finish() -> Run:
            assert writer is not None
            return writer.finish(scores)

        finished = distributed.on_main(start)
        if finished:
            skipped = pa.table(finished.result["skipped"], schema=_SKIPPED)
            table = finished.table.replace_schema_metadata(None)
            scores = Scores(table, skipped, finished.manifest.metadata, request.rows)
            return ScoredRun(path, scores, finished.result["result"], new=False)
        scores = score_request(model, request, writer.cache if writer else None)
        return ScoredRun(path, scores, distributed.on_main(finish).result["result"], new=True)


def score_request(model: Model, request: Request, cache: ResponseCache | None = None) -> Scores:
    """The scores, with the headlines of random baselines and the error of half precision, if requested."""
    scores = compute_scores(model, request, cache)
    metadata = dict(scores.metadata)
    if request.null:
        metadata["null"] = _baseline_headlines(model, request, cache)
    if isinstance(model, LoadedModel) and model.load_float32 and precision.is_half_on_cpu(model):
        notes = precision.warnings_on(model)
        if precision.fits_in_float32(model):
            ids = set(precision.sample_ids(scores.table))
            rows = request.rows.filter(lambda name: name in ids, input_columns="id")
            exact = compute_scores(model.load_float32(), replace(request, rows=rows))
            metadata["precision"] = precision.error_of(request.measure, scores.table, exact.table)
            notes.append(precision.error_note(request.measure, metadata["dtype"], metadata["precision"]))
        metadata["notes"] = [*metadata["notes"], *notes]
    return replace(scores, metadata=metadata)


def _baseline_headlines(model: Model, request: Request, cache: ResponseCache | None) -> list[float]:
    """The headlines of random baselines."""
    if not isinstance(model, LoadedModel):
        raise SettingError(
            f"{model.name} is a served model, which has no random baselines: leave out --null."
        )
    headlines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        for seed in range(1, request.null + 1):
            result = compute_scores(random_baseline(model, seed), request, cache).result()
            headlines.append(Estimate.of(result, request.measure.headline(result).name).value)
    return headlines


def compute_scores(model: Model, request: Request, cache: ResponseCache | None = None) -> Scores:
    """Turn rows into queries, ask the model, and fold its values into scores."""
    probe, rows = request.probe, request.rows
    reader = model.reader(probe, applicable_rules(request.options, probe, model.kind))
    builders = probe.query_builders(model.kind, request.options)
    start = time.perf_counter()
    keys: list[tuple[Row, int]] = []
    samples: list[Sample] = []
    skipped: list[Skipped] = []
    for row in rows.to_list():
        for template, ask in builders.items():
            try:
                samples.append(ask(row, reader))
                keys.append((row, template))
            except SkipSampleError as error:
                skipped.append((row["id"], template, str(error)))
    unused = sorted(builders.keys() - {template for _, template in keys})
    if unused and (len(unused) == len(builders) or request.options.templates != EXTENDED_NAME):
        raise _no_scores(skipped, unused[0], model, request)
    queries = [query for sample in samples for query in sample.queries]
    answer = model.log_probs(queries, request.batch_tokens, f"{model.name} on {request.name}", cache)
    values = iter(answer.values)
    scored: list[tuple[Row, int, Score]] = []
    for (row, template), sample in zip(keys, samples, strict=True):
        score = sample.fold([next(values) for _ in sample.queries])
        if all(value is None or np.isfinite(value) for value in score):
            scored.append((row, template, score))
        else:
            skipped.append((row["id"], template, answer.not_finite))
    for template in builders.keys() - unused:
        if not any(number == template for _, number, _ in scored):
            raise _no_scores(skipped, template, model, request)
    metadata = {
        "config": request.name,
        "data_fingerprint": request.fingerprint,
        "model": model.name,
        "revision": model.revision,
        "from_hub": model.from_hub,
        "requested_revision": model.requested_revision,
        "kind": model.kind,
        **model.facts(),
        "measure": request.measure.name,
        "templates": [template for template in builders if template and template not in unused],
        "options": effective_options(request.options, probe, model.kind),
        "start": request.start(model),
        "limit": request.limit,
        "dtype": answer.dtype,
        "device": model.device_name,
        "samples": len(rows),
        "asked": len(rows) * len(builders),
        "scored": len(scored),
        "skipped": dict(Counter(reason for _, _, reason in skipped)),
        "passes": asdict(answer.passes),
        "notes": [
            *request.notes_on(model),
            *(f"template {template} is left out: {_reasons(skipped, template, 1)}" for template in unused),
            *answer.notes,
            *unused_options(request.options, probe, model.kind),
        ],
        "seconds": time.perf_counter() - start + answer.earlier_seconds,
        "packages": {package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "gest_dataset": __version__,
    }
    skipped_table = pa.Table.from_pylist(
        [dict(zip(_SKIPPED.names, entry, strict=True)) for entry in skipped], schema=_SKIPPED
    )
    return Scores(_table(scored, probe, rows.features), skipped_table, metadata, rows)


def _table(scored: Sequence[tuple[Row, int, Score]], probe: Probe, features: datasets.Features) -> pa.Table:
    """One row per sample and template, in the order of the data."""
    columns: dict[str, Any] = {"id": [row["id"] for row, _, _ in scored]}
    if probe.templated:
        columns["template"] = pa.array([template for _, template, _ in scored], pa.int32())
    if probe.label is not None:
        values = [row[probe.label] for row, _, _ in scored]
        feature = features[probe.label]
        columns[probe.label] = feature.int2str(values) if isinstance(feature, datasets.ClassLabel) else values
    for i, name in enumerate(probe.scores):
        columns[name] = pa.array([score[i] for _, _, score in scored], pa.float64())
    return pa.table(columns)


def _reasons(skipped: Sequence[Skipped], template: int, number: int) -> str:
    """The most common reasons why samples of a template were skipped."""
    counts = Counter(reason for _, other, reason in skipped if other == template).most_common(number)
    if number == 1:
        return counts[0][0] if counts else "there are no rows"
    return "; ".join(f"{count} x {reason}" for reason, count in counts) or "there are no rows"


def _no_scores(skipped: Sequence[Skipped], template: int, model: Model, request: Request) -> ScoringError:
    first = next((f" (first: {name})" for name, other, _ in skipped if other == template), "")
    where = f" in template {template}" if template else ""
    return ScoringError(
        f"No sample of {request.name} can be scored{where} with {model.name}{first}: "
        f"{_reasons(skipped, template, 3)}.\nChoose other templates, `multi_token`, or another model."
    )
