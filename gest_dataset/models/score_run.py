"""Score a model on a config: a request becomes one score per sample, in memory or as a run on disk."""

import platform
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import torch

from gest_dataset.builders import CONFIGS, get_config
from gest_dataset.builders.config import Row
from gest_dataset.cache import ResponseCache
from gest_dataset.data.rows import fingerprint_of, hash_of, rows_of
from gest_dataset.data.sources import hub_repository
from gest_dataset.data.votes import select_by_votes
from gest_dataset.errors import ModelError, ScoringError, SettingError, describe_error
from gest_dataset.languages import LANGUAGES
from gest_dataset.measures import MEASURES, measure_of
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Measure
from gest_dataset.measures.result import compute_result, is_decided
from gest_dataset.models import distributed
from gest_dataset.models.base import Model, Settings, run_signature
from gest_dataset.models.chat.template import chat_start
from gest_dataset.models.forward_passes import MIXED
from gest_dataset.models.loading import LoadedModel, random_baseline
from gest_dataset.probes.options import applicable_rules, effective_options, unused_options
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.queries import LEAST_PAIRS, Placebo, Sample, Score, Values, with_placebo_from_samples
from gest_dataset.probes.templates import EXTENDED_NAME
from gest_dataset.probes.tokenization import SkipSampleError, start_token
from gest_dataset.runs.folder import Run, RunResult, RunWriter, new_manifest, open_run
from gest_dataset.runs.manifest import SCORES
from gest_dataset.statistics import placebo
from gest_dataset.statistics.sequential import first_of_each, looks, stratified_order, stretch
from gest_dataset.storage import sha256
from gest_dataset.version import __version__

_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers")
PRECISION_SAMPLES = 16  # that are scored again in float32
LARGEST_ERROR = 0.1  # of bfloat16 with `--dtype auto`, in standard deviations of the scores
_LEAST_ROWS = 80 * PRECISION_SAMPLES  # for which that error is measured before the run
SHORT = 40  # samples of each stereotype in the short form
_CONDITION = ("chat_template", "adapter", "dtype", "quantization", "device")  # of the model, in a signature
_SKIPPED = pa.schema([("id", pa.string()), ("template", pa.int32()), ("reason", pa.string())])


@dataclass(frozen=True)
class Request:
    """What a model is asked: the rows of a config, their measure and probe, and the settings."""

    rows: datasets.Dataset
    name: str
    fingerprint: str
    measure: Measure
    probe: Probe
    settings: Settings
    notes: tuple[str, ...] = ()
    precision: Mapping[str, float] | None = None  # the error of bfloat16, if it was measured before the run

    @property
    def language(self) -> str:
        """The language code of the rows; empty if their name does not contain one."""
        if self.name in CONFIGS:
            return CONFIGS[self.name].languages[0]
        code = self.name.partition("_")[0]
        return code if code in LANGUAGES else ""

    def facts(self, model: Model) -> dict[str, Any]:
        """What the numbers depend on, besides the data and what the model is.

        `start` is `eos` if the end token replaces a missing start token, which changes the numbers.
        """
        builders = self.probe.query_builders(model.kind, self.settings)
        scores_texts = model.kind == "causal" and self.probe.scores_whole_texts
        as_chat = self.settings.chat_template
        start = start_token(model.tokenizer) if scores_texts and not as_chat else None
        return {
            "revision": model.revision,
            "kind": model.kind,
            "templates": [number for number in builders if number],
            "options": effective_options(self.settings, self.probe, model.kind),
            "start": "eos" if start and start[0] == "eos" else None,
            "limit": self.settings.limit,
            **({"short": True} if self.settings.short else {}),
            **({"chat_template": sha256(repr(chat_start(model)).encode())} if as_chat else {}),
            **({"where": [*self.settings.where]} if self.settings.where else {}),
        }


def make_request(config: str | datasets.Dataset, settings: Settings | None = None) -> Request:
    """Load the rows of a config and find their measure and probe."""
    settings = settings or Settings()
    notes: list[str] = []
    if isinstance(config, str):
        rows = rows_of(get_config(config).name)
        fingerprint = fingerprint_of(config, rows)
        if repo := hub_repository():
            notes.append(f"the rows are those of {repo} on the Hub (GEST_REPO)")
    else:
        rows = config
        if "id" not in rows.column_names:
            rows = rows.add_column("id", [str(number) for number in range(len(rows))])
            notes.append("the rows have no ids, so they are numbered from 0")
        elif rows.features["id"] != datasets.Value("string"):
            rows = rows.cast_column("id", datasets.Value("string"))
        config = rows.info.config_name or "data"
        fingerprint = hash_of(rows)
    if settings.where:
        rows = select_by_votes(rows, config, settings.where)
    if settings.limit is not None:
        rows = rows.select(range(min(settings.limit, len(rows))))
    measure, probe = measure_of(rows.column_names, config)
    if (settings.short or settings.stop_early) and probe.label != "stereotype":
        raise SettingError(f"short and stop_early apply to configs with GEST's stereotypes, not to {config}.")
    if settings.short:
        rows = rows.select(first_of_each(rows["id"], rows["stereotype"], SHORT))
    return Request(rows, config, fingerprint, measure, probe, settings, tuple(notes))


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
        measure, bands = MEASURES[self.metadata["measure"]], self.metadata.get("placebo")
        stopped = self.metadata.get("stopped")
        result = compute_result(measure, self.table, self.rows, bands, stopped["stretch"] if stopped else 1.0)
        result |= {"stopped": stopped} if stopped else {}
        if reason := self.metadata.get("no_placebo"):
            result["no_placebo"] = reason
        if baselines := self.metadata.get("null"):
            result["null"] = {"values": baselines, "low": min(baselines), "high": max(baselines)}
        return result

    @property
    def signature(self) -> str:
        """One line to report beside a number: what it was measured on and with."""
        names = ("templates", "options", "start", "limit", "short", *_CONDITION)
        packages = self.metadata["packages"]
        versions = {name: packages[name] for name in ("torch", "transformers")}
        return run_signature(self.metadata, **{name: self.metadata.get(name) for name in names}, **versions)

    def __repr__(self) -> str:
        return f"Scores({self.signature})"


@dataclass(frozen=True)
class ScoredRun:
    """Scores with the folder and result of their run, if any; `new` is False if the run was only read."""

    scores: Scores
    path: Path = Path()
    result: dict[str, Any] = field(default_factory=dict)
    new: bool = True


def score_as_run(model: Model, request: Request, path: Path | None, command: Sequence[str]) -> ScoredRun:
    """Score a request as a run in a folder: new, resumed, or read if it is finished."""
    model, request = _with_auto_dtype(model, request)
    if path is None:
        return ScoredRun(score_request(model, request))
    extra = {name: value for name in ("null", "plan") if (value := getattr(request.settings, name))}
    settings = {**request.facts(model), **model.settings(request.settings.batch_tokens), **extra}
    if any(other != settings for other in distributed.gather(settings)):
        raise ScoringError("The processes of this run loaded different models. Give them the same files.")
    manifest = new_manifest(
        measure=request.measure.name,
        model=model.name,
        config=request.name,
        language=request.language,
        data_fingerprint=request.fingerprint,
        table=SCORES,
        settings=settings,
        command=command,
        device=model.device,
    )
    with ExitStack() as stack:
        writers: list[RunWriter] = []  # one in the main process, none in the others

        def start() -> Run | None:
            early = request.settings.stop_early, request.settings.gates
            writers.append(stack.enter_context(open_run(path, manifest, *early)))
            return writers[0].finished

        finished = distributed.on_main(start)
        if finished:
            skipped = pa.table(finished.result["skipped"], schema=_SKIPPED)
            table = finished.table.replace_schema_metadata(None)
            scores = Scores(table, skipped, finished.manifest.metadata, request.rows)
            return ScoredRun(scores, path, finished.result["result"], new=False)
        scores = score_request(model, request, writers[0].cache if writers else None)
        run = distributed.on_main(lambda: writers[0].finish(scores))
        return ScoredRun(scores, path, run.result["result"])


def score_request(model: Model, request: Request, cache: ResponseCache | None = None) -> Scores:
    """The scores, with the headlines of random baselines if requested and the error of half precision."""
    compute = _scores_until_decided if request.settings.stop_early else compute_scores
    scores = compute(model, request, cache)
    metadata = dict(scores.metadata)
    if request.settings.null:
        assert isinstance(model, LoadedModel)
        metadata["null"] = []
        for seed in range(1, request.settings.null + 1):
            result = compute_scores(random_baseline(model, seed), request, cache).result()
            metadata["null"].append(Estimate.of(result, request.measure.headline(result).name).value)
    if request.precision is not None:
        metadata["precision"] = request.precision
    dtype = metadata["dtype"]
    if dtype in ("bfloat16", "float16") and isinstance(model, LoadedModel) and model.load_float32:
        ids = sample_ids(scores.table)
        rows = request.rows.filter(lambda name: name in ids, input_columns="id")
        try:
            exact = compute_scores(model.load_float32(), replace(request, rows=rows))
            metadata["precision"], note = precision_error(request.measure, scores, exact)
        except (ModelError, ScoringError, torch.OutOfMemoryError) as problem:  # no room for the copy
            note = f"{dtype}: its error was not measured ({describe_error(problem)})"
        metadata["notes"] = [*metadata["notes"], note]
    return replace(scores, metadata=metadata)


def _with_auto_dtype(model: Model, request: Request) -> tuple[Model, Request]:
    """The model with linear layers in bfloat16, if that changes the scores of some rows little enough.

    An error of `LARGEST_ERROR` standard deviations of the scores widens an interval by 0.5 %.
    """
    mixed = model
    if isinstance(model, LoadedModel) and len(request.rows) >= _LEAST_ROWS:
        mixed = model.in_mixed_precision()
    if mixed is model:
        return model, request
    numbers = np.linspace(0, len(request.rows) - 1, PRECISION_SAMPLES).round().astype(int)
    some = replace(request, rows=request.rows.select(numbers))
    try:
        exact, rounded = (compute_scores(one, some) for one in (model, mixed))
    except ScoringError:  # the run itself reports it, if it concerns all rows
        return model, request
    if rounded.metadata["dtype"] != MIXED or len(exact.table) < PRECISION_SAMPLES // 2:
        return model, request
    error = relative_error(request.measure, rounded.table, exact.table)
    if error <= LARGEST_ERROR:
        precision, note = precision_error(request.measure, rounded, exact)
        return mixed, replace(request, notes=(*request.notes, note), precision=precision)
    note = (
        f"float32: bfloat16 changed the scores of some samples by {error:.2g} of their standard deviation, "
        f"which is more than {LARGEST_ERROR}"
    )
    return model, replace(request, notes=(*request.notes, note))


def _scores_until_decided(model: Model, request: Request, cache: ResponseCache | None) -> Scores:
    """The scores of stratified samples, more and more of them until the verdict or gates are decided."""
    rows = request.rows
    order = stratified_order(rows["id"], rows["stereotype"])
    with ResponseCache(Path(":memory:")) as memory:
        for size in looks(len(rows)):
            some = replace(request, rows=rows.select(sorted(order[:size])))
            scores = compute_scores(model, some, cache or memory)
            stopped = {"samples": size, "of": len(rows), "stretch": stretch(size)}
            scores = replace(scores, metadata={**scores.metadata, "stopped": stopped})
            if is_decided(scores.result(), request.settings.gates):
                break
    return scores


def compute_scores(model: Model, request: Request, cache: ResponseCache | None = None) -> Scores:
    """Turn rows into queries, ask the model, and fold its values into scores."""
    probe, rows, settings = request.probe, request.rows, request.settings
    reader = model.reader(probe, applicable_rules(settings, probe, model.kind))
    if settings.chat_template:
        plain = partial(reader.tokenize, add_special_tokens=False)
        reader = replace(reader, tokenize=plain, start=chat_start(model))
    builders = probe.query_builders(model.kind, settings)
    start = time.perf_counter()
    samples: list[tuple[Row, int, Sample]] = []
    skipped: list[dict[str, Any]] = []

    def main_reason(template: int) -> str:
        reasons = Counter(entry["reason"] for entry in skipped if entry["template"] == template)
        return reasons.most_common(1)[0][0] if reasons else "there are no rows"

    for row in rows.to_list():
        for template, ask in builders.items():
            try:
                samples.append((row, template, ask(row, reader)))
            except SkipSampleError as error:
                skipped.append({"id": row["id"], "template": template, "reason": str(error)})
    if probe.label == "stereotype" and all(sample.placebo is None for _, _, sample in samples):
        changed = with_placebo_from_samples([sample for _, _, sample in samples])
        samples = [(row, template, new) for (row, template, _), new in zip(samples, changed, strict=True)]
    unused = sorted(builders.keys() - {template for _, template, _ in samples})
    may_omit = settings.templates == EXTENDED_NAME and len(unused) < len(builders)
    queries = [query for _, _, sample in samples for query in sample.queries]
    scored: list[tuple[Row, int, Score]] = []
    placebos: dict[int, tuple[Placebo, list[Values], list[int]]] = {}
    if not unused or may_omit:
        answer = model.log_probs(queries, settings.batch_tokens, f"{model.name} on {request.name}", cache)
        values = iter(answer.values)
        for row, template, sample in samples:
            values_and_placebo = [np.split(next(values), [len(query.targets)]) for query in sample.queries]
            score = sample.fold([targets for targets, _ in values_and_placebo])
            if all(value is None or np.isfinite(value) for value in score):
                scored.append((row, template, score))
                placebo_values = values_and_placebo[0][1]
                if sample.placebo is not None and len(placebo_values) and np.isfinite(placebo_values).all():
                    _, values_of_words, labels = placebos.setdefault(template, (sample.placebo, [], []))
                    values_of_words.append(placebo_values)
                    labels.append(row["stereotype"])
            else:
                skipped.append({"id": row["id"], "template": template, "reason": answer.not_finite})
    empty = builders.keys() - {template for _, template, _ in scored} - {*(unused if may_omit else ())}
    if empty:
        where = f" in template {min(empty)}" if min(empty) else ""
        problem = f"No sample of {request.name} can be scored{where} with {model.name}"
        advice = "Choose other templates, --multi-token (`multi_token=True`), or another model."
        raise ScoringError(f"{problem}: {main_reason(min(empty))}.\n{advice}")
    facts, bands = request.facts(model), _placebo_bands(placebos)
    lacking = [template for template in builders if template not in unused and str(template) not in bands]
    note = [f"the tokenizer has no start token: its end token {model.tokenizer.eos_token} precedes each text"]
    metadata = {
        "config": request.name,
        "data_fingerprint": request.fingerprint,
        "model": model.name,
        **facts,
        **model.facts(),
        "measure": request.measure.name,
        "templates": [template for template in builders if template and template not in unused],
        "placebo": bands,
        "no_placebo": _no_placebo(model, probe, lacking, placebos) if lacking else "",
        "dtype": answer.dtype,
        "samples": len(rows),
        "asked": len(rows) * len(builders),
        "scored": len(scored),
        "skipped": dict(Counter(entry["reason"] for entry in skipped)),
        "passes": asdict(answer.passes),
        "notes": [
            *request.notes,
            *model.notes,
            *unused_options(settings, probe, model.kind),
            *(note if facts["start"] else ()),
            *(f"template {template} is left out: {main_reason(template)}" for template in unused),
            *answer.notes,
        ],
        "seconds": time.perf_counter() - start + answer.earlier_seconds,
        "packages": {package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "gest_dataset": __version__,
    }
    skipped_table = pa.Table.from_pylist(skipped, schema=_SKIPPED)
    return Scores(_table(scored, probe, rows.features), skipped_table, metadata, rows)


def _placebo_bands(placebos: Mapping[int, tuple[Placebo, list[Values], list[int]]]) -> dict[str, Any]:
    """The effects of placebo pairs by template, where every stereotype has samples."""
    effects = {
        str(template): placebo.effects(np.stack(values), labels, words.pairs)
        for template, (words, values, labels) in placebos.items()
    }
    return {template: placebo.summary(sizes) for template, sizes in effects.items() if len(sizes)}


def _no_placebo(model: Model, probe: Probe, lacking: Sequence[int], placebos: Mapping[int, Any]) -> str:
    """Why there is no placebo band in some templates; empty for probes that have none."""
    where = f" in template {lacking[0]}" if lacking[0] else ""
    if probe.label is None:
        return ""
    if probe.label != "stereotype":
        return "there are no placebo words for these sentences"
    if set(lacking) & placebos.keys():
        return "a stereotype has no sample"
    if model.device is None:
        return "a server is asked for placebo words in templates only, and only if it returns named tokens"
    return f"fewer than {LEAST_PAIRS} pairs of placebo words suit the slot{where}"


def _table(scored: Sequence[tuple[Row, int, Score]], probe: Probe, features: datasets.Features) -> pa.Table:
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


def sample_ids(scores: pa.Table) -> set[str]:
    """Evenly spaced samples, and one for each template that has a score."""
    frame = scores.to_pandas()
    rows = np.linspace(0, len(frame) - 1, min(PRECISION_SAMPLES, len(frame))).round().astype(int)
    ids = set(frame["id"].iloc[rows])
    return ids if "template" not in frame else ids | set(frame.groupby("template")["id"].first())


def precision_error(measure: Measure, half: Scores, exact: Scores) -> tuple[dict[str, float], str]:
    """The median and the largest difference of the scores that both have, and a note with them."""
    differences = (_log_ratios(measure, half.table) - _log_ratios(measure, exact.table)).abs()
    differences = differences[np.isfinite(differences)]
    number, median, largest = len(differences), float(differences.median()), float(differences.max())
    note = (
        f"{half.metadata['dtype']} changes a log ratio by {median:.2g} (median) and at most {largest:.2g}, "
        f"on {number} samples that were also scored in float32"
    )
    return {"samples": number, "median": median, "largest": largest}, note


def relative_error(measure: Measure, half: pa.Table, exact: pa.Table) -> float:
    """The root mean square difference in standard deviations of the scores, of the worst template."""
    expected = _log_ratios(measure, exact)
    squares = (_log_ratios(measure, half) - expected) ** 2
    spread = expected.groupby(level="template").std()
    return float((squares.groupby(level="template").mean() ** 0.5 / spread).max(skipna=False))


def _log_ratios(measure: Measure, table: pa.Table) -> "pd.Series[float]":
    """The scores by id and template (0 if there are none); for StereoSet, log ratios of its probabilities."""
    frame = table.to_pandas()
    if "unrelated" in frame:
        values = np.log(frame["stereotype"]) - np.log(frame["antistereotype"])
    else:
        assert measure.display is not None
        values = measure.display.value(table)
    frame = frame.assign(value=values, template=frame.get("template", 0))
    return frame.groupby(["id", "template"])["value"].last()
