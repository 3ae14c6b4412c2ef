"""`gest_dataset.ask`: ask a chat model the prompts of a probe, read its answers, and record the run."""

import math
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, fields, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from datasets import Dataset

from gest_dataset.builders import CONFIGS
from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import ConfigError, ModelError, ScoringError, SettingError
from gest_dataset.gender.detect import GenderDetector
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import compute_result, is_decided
from gest_dataset.measures.stereoset import CONTROL_CHOICE
from gest_dataset.models.base import CHAT_CONNECTIONS, Model, Sampling, Settings, run_signature
from gest_dataset.models.chat.probes import CHAT_PROBES, ChatProbe, wordings_id
from gest_dataset.models.loading import CAUSAL, load_model
from gest_dataset.models.served.model import connect
from gest_dataset.probes.choice import HELD_OUT, HELD_OUT_ANSWERS
from gest_dataset.probes.prompts import CUT, Answer, Prompt
from gest_dataset.progress import ProgressBar
from gest_dataset.runs.folder import RunResult, new_manifest, open_run, python_command, read_run
from gest_dataset.runs.manifest import ANSWERS
from gest_dataset.statistics.choice_rate import choice_rate_of_shares, repeat_variance
from gest_dataset.statistics.masculine_rate import unknown_bounds
from gest_dataset.statistics.proportions import proportion
from gest_dataset.statistics.sequential import looks, stratified_order, stretch
from gest_dataset.version import __version__

PARSER = "udpipe"
_THINKING_TOKENS = 2048
_EXAMPLES, _EXAMPLE_LENGTH = 3, 100  # of unreadable answers
_ANSWER_FIELDS = [field.name for field in fields(Answer)]


@dataclass(frozen=True)
class AskSettings:
    """How a chat model is asked (docs/ask.md).

    `enable_thinking` and `reasoning_effort` are settings of reasoning models, `thinking_tokens` their tokens
    in addition to `max_tokens`. `endpoint` is the address of a server. `prompts` is a JSON table of your own
    wordings. `parser` and `parser_model` read answers in Slavic languages (docs/gender.md). Prices are per
    million tokens; no prompt is sent once the answers have cost `max_cost`.
    """

    probe: str = "choice"
    language: str = "en"
    endpoint: str | None = None
    prompts: str | Path | None = None
    limit: int | None = None
    stop_early: bool = False
    temperature: float | None = None
    seed: int = 0
    repeats: int = 1
    max_tokens: int | None = None
    enable_thinking: bool | None = None
    reasoning_effort: str | None = None
    thinking_tokens: int | None = None
    parser: str = PARSER
    parser_model: str | Path | None = None
    connections: int = CHAT_CONNECTIONS
    device: str = "auto"
    dtype: str = "auto"
    revision: str | None = None
    price_in: float | None = None
    price_out: float | None = None
    max_cost: float = math.inf

    def cost(self, answer: Answer) -> float:
        """The price of an answer; 0 if there is no price."""
        return (answer.tokens_in * (self.price_in or 0) + answer.tokens_out * (self.price_out or 0)) / 1e6


@dataclass(frozen=True)
class ChatTask:
    """The prompts about the rows of a config, and how their answers are sampled and read."""

    probe: ChatProbe
    config: str
    rows: Dataset
    prompts: tuple[Prompt, ...]
    sampling: Sampling
    wordings: str
    fingerprint: str
    detector: GenderDetector | None


@dataclass(frozen=True, repr=False)
class Answers(RunResult):
    """The answers to all prompts: `table` has a row for each, `metadata` the settings, counts and times."""

    table: pa.Table
    metadata: dict[str, Any]

    def result(self) -> dict[str, Any]:
        """The statistic of the probe's measure with its intervals (docs/metrics.md)."""
        measure, stopped = MEASURES[self.metadata["measure"]], self.metadata.get("stopped")
        result = compute_result(measure, self.table, None, stretch=stopped["stretch"] if stopped else 1.0)
        result |= {"stopped": stopped} if stopped else {}
        has_genders = "gender" in self.table.column_names
        readings = self.table["gender" if has_genders else "option"].to_pylist()
        stereotypes, ids, prompts = (self.table[name].to_pylist() for name in ("stereotype", "id", "prompt"))
        if has_genders:
            result |= unknown_bounds(readings, stereotypes)
        else:
            for name, number in HELD_OUT.items():
                result |= proportion(name, np.arange(HELD_OUT_ANSWERS) < number, None)
        if self.metadata["measure"] == CONTROL_CHOICE.name:
            return result
        shares = [dict(entry) for entry in self.table["shares"].to_pylist()]
        if any(shares):
            result["by_probability"] = choice_rate_of_shares(shares, stereotypes, ids)
        return result | repeat_variance(readings, stereotypes, ids, prompts)

    @property
    def skipped(self) -> pa.Table:
        unreadable = self.table.filter(pa.compute.not_equal(self.table["problem"], ""))
        return unreadable.select(["id", "problem"]).rename_columns(["id", "reason"])

    @property
    def signature(self) -> str:
        names = ("language", "prompts", "parser", "sampling", "limit", "device")
        parts = {name: self.metadata[name] for name in names}
        sampling = {name: value for name, value in parts["sampling"].items() if value or value is False}
        return run_signature(self.metadata, **parts | {"sampling": sampling})


def ask(
    model: Any,
    probe: str = "choice",
    language: str = "en",
    *,
    output: str | Path | None = None,
    **settings: Any,
) -> Answers:
    """Ask a chat model the prompts of a probe and read its answers (docs/ask.md).

    Args:
        model: a Hub id, a path or a pair (model, tokenizer) with a chat template; with `endpoint`, the name
            of a model at a server.
        probe: `choice`, `controls`, `first-person` or `story`.
        language: `en` (not for first-person), or a Slavic or added language.
        output: the directory of the run; the same call resumes an interrupted run.
        settings: the other fields of `AskSettings`.
    """
    arguments = {"model": model, "probe": probe, "language": language, "output": output, **settings}
    path = None if output is None else Path(output)
    return run(model, AskSettings(probe, language, **settings), path, python_command(ask, arguments))


def prepare(settings: AskSettings) -> ChatTask:
    """The prompts of a probe; every wrong setting is an error here, before a model is asked."""
    name, language, repeats = settings.probe, settings.language, settings.repeats
    if name not in CHAT_PROBES:
        raise ConfigError(f"There is no chat probe {name!r}. Choose from {', '.join(CHAT_PROBES)}.")
    probe = CHAT_PROBES[name]
    parsed = probe.needs_parser(language)
    if not parsed and (settings.parser, settings.parser_model) != (PARSER, None):
        raise SettingError(f"{name} in {language} needs no parser; omit --parser and --parser-model.")
    if settings.max_cost < math.inf and not (settings.price_in or settings.price_out):
        raise SettingError("--max-cost needs --price-in and --price-out.")
    temperature = float(repeats > 1) if settings.temperature is None else settings.temperature
    if repeats > 1 and not temperature:
        raise SettingError(f"At temperature 0 all {repeats} repeats are the same; use a higher temperature.")
    wordings = probe.read_wordings(language, None if settings.prompts is None else Path(settings.prompts))
    config = probe.config(language)
    if config not in CONFIGS:
        advice = f"Add it with: gest add-language {language} --variants FILE"
        raise ConfigError(f"{name} in {language!r} needs the config {config}, which does not exist. {advice}")
    rows = rows_of(config)
    if settings.stop_early and "stereotype" not in rows.column_names:
        raise SettingError(f"stop_early applies to configs with GEST's stereotypes, not to {config}.")
    fingerprint = fingerprint_of(config, rows)
    if settings.limit is not None:
        rows = rows.select(range(min(settings.limit, len(rows))))
    prompts = [
        prompt
        for row in rows.to_list()
        for wording in wordings
        for prompt in probe.make_prompts(row, wording, repeats)
    ]
    longest = settings.max_tokens or probe.max_tokens
    thinking = settings.enable_thinking, settings.reasoning_effort
    sampling = Sampling(temperature, settings.seed, repeats, longest, probe.top, *thinking)
    thoughts = _THINKING_TOKENS if sampling.thinks else 0
    extra = thoughts if settings.thinking_tokens is None else settings.thinking_tokens
    detector = GenderDetector(language, settings.parser, settings.parser_model) if parsed else None
    sampled = replace(sampling, max_tokens=longest + extra), wordings_id(wordings)
    return ChatTask(probe, config, rows, tuple(prompts), *sampled, fingerprint, detector)


def run(model: Any, settings: AskSettings, path: Path | None, command: Sequence[str]) -> Answers:
    """The answers of a model, recorded as a run in `path`; a finished run is read instead."""
    task = prepare(settings)
    chat_model = _open_model(model, settings, task.sampling)
    identity = {
        **chat_model.settings(chat=True),
        "revision": chat_model.revision,
        "prompts": task.wordings,
        "sampling": task.sampling.described(),
        "limit": settings.limit,
        "parser": task.detector and task.detector.parser.signature,
    }
    manifest = new_manifest(
        measure=task.probe.measure.name,
        model=chat_model.name,
        config=task.config,
        language=settings.language,
        data_fingerprint=task.fingerprint,
        table=ANSWERS,
        settings=identity,
        command=command,
        device=None,
    )
    rows, sizes = task.rows, [len(task.rows)]
    order = list(range(len(rows)))
    if settings.stop_early:
        order, sizes = stratified_order(rows["id"], rows["stereotype"]), looks(len(rows))
    with nullcontext() if path is None else open_run(path, manifest, settings.stop_early) as writer:
        if writer and writer.finished:
            table = writer.finished.table.replace_schema_metadata(None)
            return Answers(table, writer.finished.manifest.metadata)
        start = time.perf_counter()
        cache = (writer and writer.cache) or ResponseCache(Path(":memory:"))
        for size in sizes:
            asked = {rows["id"][index] for index in order[:size]}
            prompts = [prompt for prompt in task.prompts if prompt.id in asked]
            answers = collect(chat_model, prompts, task.sampling, cache, settings)
            # prompts with the same text and seed share an answer
            sent = dict(zip(((prompt.text, prompt.repeat) for prompt in prompts), answers, strict=True))
            stereotype = {row["id"]: row.get("stereotype") for row in rows.to_list()}
            stereotypes = [stereotype[prompt.id] for prompt in prompts]
            table = task.probe.make_table(task.detector, prompts, answers, stereotypes)
            stopped = {"samples": size, "of": len(rows), "stretch": stretch(size)}
            metadata = {
                **manifest.identity(),
                **chat_model.facts(chat=True),
                "from_hub": False,
                "samples": size,
                **_count_readings(table, chat_model.name),
                "tokens_in": sum(answer.tokens_in for answer in sent.values()),
                "tokens_out": sum(answer.tokens_out for answer in sent.values()),
                "cost": sum(map(settings.cost, sent.values())),
                "notes": [*chat_model.notes],
                "seconds": time.perf_counter() - start,
                "gest_dataset": __version__,
                **({"stopped": stopped} if settings.stop_early else {}),
            }
            result = Answers(table, metadata)
            if size < len(rows) and is_decided(result.result(), ()):
                break
        if writer:
            writer.finish(result)
    return result


def reread(path: str | Path, parser: str = PARSER, parser_model: str | Path | None = None) -> Answers:
    """The answers of a finished run, read again by this version, or with another parser; nothing is asked."""
    run = read_run(path)
    if run.manifest.table != ANSWERS:
        raise ConfigError(f"{path} is not a run of `gest ask`.")
    language, measure = run.manifest.language, run.manifest.measure
    probe = next(probe for probe in CHAT_PROBES.values() if probe.measure.name == measure)
    detector = GenderDetector(language, parser, parser_model) if probe.needs_parser(language) else None
    rows = run.table.to_pylist()
    prompts = [Prompt(row["id"], row["variant"], row["prompt"], row["repeat"]) for row in rows]
    answers = []
    for row in rows:
        top = tuple(tuple(entry.values()) for entry in row["top"])
        rest = row["withheld"], top, row.get("thoughts", "")
        answers.append(Answer(row["answer"], row["tokens_in"], row["tokens_out"], *rest))
    table = probe.make_table(detector, prompts, answers, [row["stereotype"] for row in rows])
    changed = {"parser": detector and detector.parser.signature, "gest_dataset": __version__}
    counts = _count_readings(table, run.manifest.model)
    return Answers(table, {**run.manifest.metadata, **counts, **changed})


def _open_model(model: Any, settings: AskSettings, sampling: Sampling) -> Model:
    """A served model, or a loaded causal model with a chat template."""
    if settings.endpoint is not None:
        served = connect(settings.endpoint, model, connections=settings.connections)
        return replace(served, sampling=sampling)
    placed = {name: getattr(settings, name) for name in ("device", "dtype", "revision")}
    loaded = load_model(model, Settings(**placed))
    if loaded.kind != CAUSAL or not loaded.tokenizer.chat_template:
        raise ModelError(f"{loaded.name} is not a causal model with a chat template. Use `gest score`.")
    return loaded


def collect(
    model: Model, prompts: Sequence[Prompt], sampling: Sampling, cache: ResponseCache, settings: AskSettings
) -> list[Answer]:
    """The answers to some prompts, cached as they come; prompts with the same text and seed share one.

    No prompt is sent once the answers have cost `max_cost`; requests in flight are completed.
    """
    drawn = {name: value for name, value in sampling.described().items() if name != "repeats"}
    keys = {prompt: cache_key(prompt.text, prompt.repeat, drawn) for prompt in prompts}
    distinct = dict(zip(keys.values(), keys, strict=True))
    answers = {
        key: Answer(**{**value, "top": tuple(map(tuple, value["top"]))})
        for key, value in cache.get(distinct).items()
    }
    spent = sum(map(settings.cost, answers.values()))
    missing = [prompt for key, prompt in distinct.items() if key not in answers]
    affordable = takewhile(lambda _: spent < settings.max_cost, missing)
    bar = ProgressBar(len(distinct), "prompts", len(answers), model.name)
    with bar, closing(model.generate(affordable, sampling)) as generated:
        for batch in generated:
            new = {keys[prompt]: answer for prompt, answer in batch}
            # like asdict, without its deep copies, which are slow
            cache.put(
                {key: {name: getattr(answer, name) for name in _ANSWER_FIELDS} for key, answer in new.items()}
            )
            answers.update(new)
            spent += sum(map(settings.cost, new.values()))
            if settings.max_cost < math.inf and not spent:
                raise ScoringError(f"{model.name} reports no token counts, so omit --max-cost to resume.")
            bar.update(len(new))
            bar.set_postfix({"cost": f"{spent:.2g}"} if spent else {})
    if len(answers) < len(distinct):
        counts = f"{len(answers):,} of {len(distinct):,} answers are cached and have cost {spent:g}"
        raise ScoringError(f"{counts}. Use a --max-cost above {settings.max_cost:g} to resume.")
    return [answers[key] for key in keys.values()]


def _count_readings(table: pa.Table, model: str) -> dict[str, Any]:
    """How many answers were read, why the others were not, and a few examples; an error if none was read."""
    frame = table.select(["problem", "answer"]).to_pandas()
    unread = frame[frame["problem"] != ""].groupby("problem", sort=False)["answer"]
    skipped = {problem: len(texts) for problem, texts in unread}
    examples = {
        problem: [text[:_EXAMPLE_LENGTH] for text in texts.unique()[:_EXAMPLES] if text.strip()]
        for problem, texts in unread
    }
    scored = len(frame) - sum(skipped.values())
    if not scored:
        problems = Counter(skipped).most_common(3)
        reasons = "; ".join(f"{number} x {reason} {examples[reason][:1]}" for reason, number in problems)
        advice = " Allow longer answers with --max-tokens, or thoughts with --thinking-tokens."
        advice = advice if CUT in skipped else ""
        raise ScoringError(f"No answer of {model} could be read: {reasons}.{advice}")
    return {"asked": len(frame), "scored": scored, "skipped": skipped, "examples": examples}
