"""The scores of a loaded model on what it is asked: one for each sample, kept as a run or not."""

from __future__ import annotations

import logging
import platform
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import datasets
import numpy as np
import pyarrow as pa

from gest_dataset.builders.config import Row
from gest_dataset.errors import ScoringError, SettingError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import compute_result, headline_text
from gest_dataset.models import precision
from gest_dataset.models.loading import Loaded
from gest_dataset.models.null import twin
from gest_dataset.models.request import Request
from gest_dataset.models.silence import silence
from gest_dataset.models.subject import Subject
from gest_dataset.probes.options import applicable_rules, effective_options, unused_options
from gest_dataset.probes.probe import Probe, check_kind
from gest_dataset.probes.queries import Sample, Score, Values
from gest_dataset.probes.templates import EXTENDED_NAME
from gest_dataset.probes.tokenization import SkipSampleError
from gest_dataset.runs import writing
from gest_dataset.runs.manifest import SCORES, signature
from gest_dataset.runs.reading import Run
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

logger = logging.getLogger(__name__)
_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers")
_SKIPPED = pa.schema([("id", pa.string()), ("template", pa.int32()), ("reason", pa.string())])


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
        """The statistic of the measure with its intervals (docs/metrics.md), for each template."""
        result = compute_result(MEASURES[self.metadata["measure"]], self.table, self.rows)
        twins = self.metadata.get("null")
        if not twins:
            return result
        return result | {"null": {"values": twins, "low": min(twins), "high": max(twins)}}

    @property
    def signature(self) -> str:
        """One line to print beside a number: what it was measured on and with."""
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
        """What was measured and its headline with the 95 % interval, on one line."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)  # the words say it
            headline = headline_text(MEASURES[self.metadata["measure"]], self.result())
        return (
            f"Scores(model={self.metadata['model']!r}, config={self.metadata['config']!r}, "
            f"scored={self.table.num_rows}, skipped={self.skipped.num_rows}, {headline})"
        )

    def _repr_html_(self) -> str:
        """In a notebook: the verdict, the picture and the numbers."""
        from gest_dataset.report.notebook import html  # which brings matplotlib

        return html(self)

    def plot(self) -> Figure:
        """The picture of the result (matplotlib), in the style of the report."""
        from gest_dataset.report.notebook import plot

        return plot(self)


def record(
    loaded: Subject, request: Request, path: Path | None, command: Sequence[str]
) -> tuple[Scores, bool]:
    """The scores, with the run in a directory if there is one; False where it was finished and only read."""
    check_kind(request.probe, loaded.kind, loaded.name, request.name)
    if path is None:
        return _beside_others(measure(loaded, request), loaded, request, None), True
    with writing.threads_of(path, loaded.device):
        return _recorded(loaded, request, path, command)


def _recorded(loaded: Subject, request: Request, path: Path, command: Sequence[str]) -> tuple[Scores, bool]:
    fresh = writing.begun(
        measure=request.measure.name,
        subject=loaded.name,
        config=request.name,
        language=request.language,
        data_fingerprint=request.fingerprint,
        table=SCORES,
        settings=request.settings(loaded),
        command=command,
        device=loaded.device,
    )
    with writing.recording(path, fresh) as there:
        if there.finished:
            return _from_disk(there.finished, request), False
        scores = measure(loaded, request, there.scratch)
        scores = _beside_others(scores, loaded, request, there.scratch)
        writing.finish(there, scores)
    return scores, True


def _beside_others(scores: Scores, loaded: Subject, request: Request, scratch: Path | None) -> Scores:
    """The scores with what float32 gives for some of them, and with the headlines of the model's twins."""
    return _beside_float32(_beside_twins(scores, loaded, request, scratch), loaded, request)


def _beside_float32(scores: Scores, loaded: Subject, request: Request) -> Scores:
    """The scores with the error of a half-precision type on a CPU, measured on some of them."""
    if not isinstance(loaded, Loaded) or loaded.exact is None or not precision.is_half(loaded):
        return scores
    dtype, metadata = scores.metadata["dtype"], dict(scores.metadata)
    notes = [precision.slow(dtype), precision.no_room(loaded)]
    if notes[-1] is None:
        few = set(precision.some(scores.table))
        rows = request.rows.filter(lambda name: name in few, input_columns="id")
        with silence(__name__):  # the run itself has told which samples have no score
            exact = measure(loaded.exact(), replace(request, rows=rows))
        found = precision.error(request.measure, scores.table, exact.table)
        metadata["precision"] = found
        notes.append(precision.told(request.measure, dtype, found))
    metadata["notes"] = [*metadata["notes"], *(note for note in notes if note)]
    return replace(scores, metadata=metadata)


def _beside_twins(scores: Scores, loaded: Subject, request: Request, scratch: Path | None) -> Scores:
    """The scores with the headlines of the model's twins, where some are asked for."""
    if not request.null:
        return scores
    if not isinstance(loaded, Loaded):
        raise SettingError(f"{loaded.name} is behind a server and has no twins: score it without --null.")
    judge = request.measure

    def headline_of(number: int, other: Loaded) -> float:
        folder = None if scratch is None else scratch / f"twin-{number}"
        result = measure(other, request, folder).result()
        return Estimate.of(result, judge.headline(result).name).value

    with silence(__name__), warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        twins = [headline_of(number, twin(loaded, number)) for number in range(1, request.null + 1)]
    return replace(scores, metadata=scores.metadata | {"null": twins})


def measure(loaded: Subject, request: Request, folder: Path | None = None) -> Scores:
    """Ask the model, and fold its answers into scores."""
    probe, name, rows = request.probe, request.name, request.rows
    rules = applicable_rules(request.options, probe, loaded.kind)
    reader = loaded.reader(probe, rules)
    builders = probe.query_builders(loaded.kind, request.options)
    start = time.perf_counter()
    keys, samples, skipped = [], [], []
    for row in rows.to_list():
        for template, ask in builders.items():
            try:
                samples.append(ask(row, reader))
                keys.append((row, template))
            except SkipSampleError as error:
                skipped.append((row["id"], template, str(error)))
    unasked = sorted(builders.keys() - {template for _, template in keys})
    if unasked and (len(unasked) == len(builders) or request.options.templates != EXTENDED_NAME):
        raise _nothing_to_ask(skipped, unasked[0], loaded, name)
    left_out = [_left_out(skipped, template) for template in unasked]
    queries = [query for sample in samples for query in sample.queries]
    answered = loaded.answered(queries, request.batch_tokens, f"{loaded.name} on {name}", folder)
    scored = []
    for (row, template), values in zip(keys, _folded(samples, answered.values), strict=True):
        if all(value is None or np.isfinite(value) for value in values):
            scored.append((row, template, values))
        else:
            skipped.append((row["id"], template, answered.missing))
    for template in builders.keys() - unasked:
        if not any(number == template for _, number, _ in scored):
            raise _nothing_to_ask(skipped, template, loaded, name)
    if skipped:
        reasons = Counter(reason for _, _, reason in skipped).most_common(3)
        logger.warning(
            "%d of %d samples of %s have no score: %s%s (see Scores.skipped)",
            len(skipped),
            len(rows) * len(builders),
            name,
            "; ".join(f"{number} x {reason}" for reason, number in reasons),
            " …" if len(reasons) < len({reason for _, _, reason in skipped}) else "",
        )
    metadata = {
        "config": name,
        "data_fingerprint": request.fingerprint,
        "model": loaded.name,
        "revision": loaded.revision,
        "from_hub": loaded.from_hub,
        "asked_revision": loaded.asked_revision,
        "kind": loaded.kind,
        **loaded.facts(),
        "measure": request.measure.name,
        "templates": [template for template in builders if template and template not in unasked],
        "options": effective_options(request.options, probe, loaded.kind),
        "start": request.start(loaded),
        "limit": request.limit,
        "dtype": answered.dtype,
        "device": loaded.place,
        "samples": len(rows),
        "asked": len(rows) * len(builders),
        "scored": len(scored),
        "skipped": dict(Counter(reason for _, _, reason in skipped)),
        "passes": asdict(answered.passes),
        "notes": [
            *request.notes_on(loaded),
            *left_out,
            *answered.notes,
            *unused_options(request.options, probe, loaded.kind),
        ],
        "seconds": time.perf_counter() - start + answered.earlier,
        "packages": {package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "gest_dataset": __version__,
    }
    return Scores(_table(scored, probe, rows.features), _skipped_table(skipped), metadata, rows)


def _from_disk(run: Run, request: Request) -> Scores:
    skipped = pa.table(run.result["skipped"], schema=_SKIPPED)
    return Scores(run.table.replace_schema_metadata(None), skipped, run.manifest.metadata, request.rows)


def _folded(samples: Sequence[Sample], values: Sequence[Values]) -> list[Score]:
    """The scores of samples from the values of their queries, one after the other."""
    scores, start = [], 0
    for sample in samples:
        end = start + len(sample.queries)
        scores.append(sample.fold(values[start:end]))
        start = end
    return scores


def _left_out(skipped: Sequence[tuple[str, int, str]], template: int) -> str:
    """What is said of one of many templates in which no sample can be asked."""
    reasons = Counter(reason for _, asked, reason in skipped if asked == template).most_common(1)
    return f"template {template} is left out: {reasons[0][0] if reasons else 'there are no rows'}"


def _nothing_to_ask(
    skipped: Sequence[tuple[str, int, str]], template: int, loaded: Subject, name: str
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
        columns[name] = pa.array([values[i] for _, _, values in scored], pa.float64())
    return pa.table(columns)


def _skipped_table(skipped: Sequence[tuple[str, int, str]]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(_SKIPPED.names, entry, strict=True)) for entry in skipped], schema=_SKIPPED
    )
