"""`gest_dataset.ask`: ask a chat model the prompts of a probe, read its answers, and record the run."""

from __future__ import annotations

import math
import platform
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from datasets import Dataset

from gest_dataset.builders import CONFIGS
from gest_dataset.cache import ResponseCache
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import ConfigError, ModelError, ScoringError, SettingError
from gest_dataset.gender.detect import GenderDetector, open_detector
from gest_dataset.models.base import Model, Sampling
from gest_dataset.models.chat.answers import Answers, answer_table, answers_in, count_readings
from gest_dataset.models.chat.collect import Collector, Estimate, Price
from gest_dataset.models.chat.probes import CHAT_PROBES, ChatProbe, wordings_id
from gest_dataset.models.loading import CAUSAL, load_model
from gest_dataset.models.served.model import CHAT_CONNECTIONS, ServedModel, connect
from gest_dataset.probes.prompts import CUT, Prompt
from gest_dataset.runs.folder import new_manifest, open_run, python_command, read_run
from gest_dataset.runs.manifest import ANSWERS
from gest_dataset.version import __version__

PARSER = "udpipe"
_TASK_ARGUMENTS = (
    *("prompts", "limit", "temperature", "seed", "repeats", "max_tokens", "stop", "parser", "parser_model"),
)
_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers")


@dataclass(frozen=True)
class ChatTask:
    """The prompts about the rows of a config, and how their answers are sampled and read."""

    probe: ChatProbe
    config: str
    language: str
    rows: Dataset
    prompts: tuple[Prompt, ...]
    sampling: Sampling
    limit: int | None
    wordings: str
    fingerprint: str
    detector: GenderDetector | None


def prepare(
    probe: str,
    language: str = "en",
    *,
    prompts: str | Path | None = None,
    limit: int | None = None,
    temperature: float | None = None,
    seed: int = 0,
    repeats: int = 1,
    max_tokens: int | None = None,
    stop: Sequence[str] = (),
    parser: str = PARSER,
    parser_model: str | Path | None = None,
) -> ChatTask:
    """The prompts of a probe; every wrong setting is an error here, before a model is asked."""
    if probe not in CHAT_PROBES:
        raise ConfigError(f"There is no chat probe {probe!r}. Choose from {', '.join(CHAT_PROBES)}.")
    chat_probe = CHAT_PROBES[probe]
    needs_parser = chat_probe.needs_parser(language)
    if not needs_parser and (parser != PARSER or parser_model is not None):
        raise SettingError(f"The probe {probe} in {language} needs no parser; omit --parser, --parser-model.")
    if repeats < 1 or (limit is not None and limit < 1):
        raise SettingError("repeats and limit must be 1 or more.")
    if isinstance(stop, str) or not all(stop):
        raise SettingError("stop must be a list of non-empty texts.")
    if temperature is None:
        temperature = 0.0 if repeats == 1 else 1.0
    if repeats > 1 and not temperature:
        raise SettingError(f"At temperature 0 all {repeats} repeats are the same; use a higher temperature.")
    wordings = chat_probe.read_wordings(language, None if prompts is None else Path(prompts))
    config = chat_probe.config(language)
    if config not in CONFIGS:
        raise ConfigError(
            f"{probe} in {language!r} needs the config {config}, which does not exist. Add it with: "
            f"gest add-language {language} --variants FILE"
        )
    rows = rows_of(config)
    fingerprint = fingerprint_of(config, rows)
    if limit is not None:
        rows = rows.select(range(min(limit, len(rows))))
    return ChatTask(
        probe=chat_probe,
        config=config,
        language=language,
        rows=rows,
        prompts=tuple(
            prompt
            for row in rows.to_list()
            for wording in wordings
            for prompt in chat_probe.make_prompts(row, wording, repeats)
        ),
        sampling=Sampling(
            temperature, seed, repeats, max_tokens or chat_probe.max_tokens, tuple(stop), chat_probe.top
        ),
        limit=limit,
        wordings=wordings_id(wordings),
        fingerprint=fingerprint,
        detector=open_detector(language, parser, parser_model) if needs_parser else None,
    )


def ask(
    model: Any,
    probe: str = "choice",
    language: str = "en",
    *,
    endpoint: str | None = None,
    prompts: str | Path | None = None,
    limit: int | None = None,
    temperature: float | None = None,
    seed: int = 0,
    repeats: int = 1,
    max_tokens: int | None = None,
    stop: Sequence[str] = (),
    parser: str = PARSER,
    parser_model: str | Path | None = None,
    connections: int = CHAT_CONNECTIONS,
    device: str = "auto",
    dtype: str = "auto",
    revision: str | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    max_cost: float = math.inf,
    output: str | Path | None = None,
) -> Answers:
    """Lookup a chat model the prompts of a probe and read its answers (docs/ask.md).

    Args:
        model: a Hub id, a path or a pair (model, tokenizer) with a chat template; with `endpoint`, the name
            of a model at a server.
        prompts: a JSON table of your own wordings.
        stop: texts that end an answer.
        parser, parser_model: read answers in Slavic languages (docs/gender.md).
        price_in, price_out: prices of a million tokens; nothing more is asked once all answers would cost
            more than `max_cost`.
        output: the directory of the run; the same call resumes an interrupted run.
    """
    arguments = dict(locals())
    task = prepare(probe, language, **{name: arguments[name] for name in _TASK_ARGUMENTS})
    chat_model = open_model(model, endpoint, connections, device=device, dtype=dtype, revision=revision)
    price = make_price(price_in, price_out, max_cost)
    command = python_command(ask, arguments)
    return record(task, chat_model, None if output is None else Path(output), command, price, max_cost)


def open_model(model: Any, endpoint: str | None, connections: int, **loading: Any) -> Model:
    """A served model, or a loaded causal model with a chat template."""
    if endpoint is not None:
        return connect(endpoint, model, connections=connections)
    loaded = load_model(model, **loading)
    if loaded.kind != CAUSAL:
        raise ModelError(f"{loaded.name} is a {loaded.kind} model; only causal models can be asked.")
    if not loaded.tokenizer.chat_template:
        raise ModelError(
            f"{loaded.name} has no chat template, so it is not a chat model. `gest score` measures its "
            f"probabilities instead."
        )
    return loaded


def make_price(price_in: float | None, price_out: float | None, max_cost: float) -> Price | None:
    """The price of a million tokens, if there is one."""
    if price_in is None and price_out is None:
        if max_cost < math.inf:
            raise SettingError("--max-cost needs --price-in and --price-out.")
        return None
    if not min(price_in or 0.0, price_out or 0.0) >= 0:
        raise SettingError("A price must be 0 or more.")
    return Price(price_in or 0.0, price_out or 0.0)


def record(
    task: ChatTask,
    model: Model,
    path: Path | None,
    command: Sequence[str],
    price: Price | None = None,
    max_cost: float = math.inf,
    on_estimate: Callable[[Estimate], None] = lambda estimate: None,
) -> Answers:
    """The answers to a task, recorded as a run in `path`; a finished run is read instead.

    `on_estimate` receives what the missing prompts will take, before they are asked.
    """
    if path is None:
        return _answers(task, model, None, price, max_cost, on_estimate)
    if isinstance(model, ServedModel):
        settings = model.chat_settings()
    else:
        template = {"chat_template": model.tokenizer.chat_template}
        settings = {"revision": model.revision, **model.settings(None), **template}
    manifest = new_manifest(
        measure=task.probe.measure.name,
        model=model.name,
        config=task.config,
        language=task.language,
        data_fingerprint=task.fingerprint,
        table=ANSWERS,
        settings={
            **settings,
            "prompts": task.wordings,
            "sampling": task.sampling.facts(),
            "limit": task.limit,
            "parser": task.detector and task.detector.signature,
        },
        command=command,
        device=None,
    )
    with open_run(path, manifest) as run:
        if run.finished:
            return Answers(run.finished.table.replace_schema_metadata(None), run.finished.manifest.metadata)
        answers = _answers(task, model, run.cache, price, max_cost, on_estimate)
        run.finish(answers)
    return answers


def reread(path: str | Path, parser: str = PARSER, parser_model: str | Path | None = None) -> Answers:
    """The answers of a finished run, read again by this version, or with another parser; nothing is asked."""
    run = read_run(path)
    if run.manifest.table != ANSWERS:
        raise ConfigError(f"{path} is not a run of `gest ask`.")
    probe = next(probe for probe in CHAT_PROBES.values() if probe.measure.name == run.manifest.measure)
    columns = run.table.to_pydict()
    names = ("id", "variant", "prompt", "repeat")
    prompts = [Prompt(*values) for values in zip(*(columns[name] for name in names), strict=True)]
    language = run.manifest.language
    detector = open_detector(language, parser, parser_model) if probe.needs_parser(language) else None
    table = answer_table(probe, detector, prompts, answers_in(run.table), columns["stereotype"])
    changed = {"parser": detector and detector.signature, "gest_dataset": __version__}
    return Answers(table, {**run.manifest.metadata, **count_readings(table), **changed})


def _answers(
    task: ChatTask,
    model: Model,
    cache: ResponseCache | None,
    price: Price | None,
    max_cost: float,
    on_estimate: Callable[[Estimate], None],
) -> Answers:
    start = time.perf_counter()
    collector = Collector(model, task.prompts, task.sampling, cache, price, max_cost)
    if collector.missing():
        on_estimate(collector.estimate())
    collector.ask(task.prompts)
    answers = [collector.answers[collector.keys[prompt]] for prompt in task.prompts]
    stereotype = dict(zip(task.rows["id"], task.rows["stereotype"], strict=True))
    stereotypes = [stereotype[prompt.id] for prompt in task.prompts]
    table = answer_table(task.probe, task.detector, task.prompts, answers, stereotypes)
    counts = count_readings(table)
    if not counts["scored"]:
        problems = Counter(counts["skipped"]).most_common(3)
        reasons = "; ".join(f"{number} x {reason}" for reason, number in problems)
        shown = [repr(text) for reason, _ in problems for text in counts["examples"][reason][:1]]
        examples = f" (for example {', '.join(shown)})" if shown else ""
        advice = " Allow longer answers with --max-tokens." if CUT in counts["skipped"] else ""
        raise ScoringError(f"No answer of {model.name} could be read: {reasons}{examples}.{advice}")
    metadata = {
        "measure": task.probe.measure.name,
        "config": task.config,
        "data_fingerprint": task.fingerprint,
        "language": task.language,
        "model": model.name,
        "revision": model.revision,
        "from_hub": False,
        **(model.chat_facts() if isinstance(model, ServedModel) else model.facts()),
        "prompts": task.wordings,
        "sampling": task.sampling.facts(),
        "limit": task.limit,
        "parser": task.detector and task.detector.signature,
        "device": model.device_name,
        "samples": len(task.rows),
        **counts,
        "tokens_in": sum(answer.tokens_in for answer in answers),
        "tokens_out": sum(answer.tokens_out for answer in answers),
        "notes": model.notes() if isinstance(model, ServedModel) else [],
        "seconds": time.perf_counter() - start,
        "packages": {package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "gest_dataset": __version__,
    }
    return Answers(table, metadata)
