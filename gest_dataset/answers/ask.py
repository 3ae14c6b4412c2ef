"""`gest_dataset.ask`: a model and a probe in words, one answer for each prompt, and what it means."""

from __future__ import annotations

import math
import platform
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from datasets import Dataset

from gest_dataset.answers import endpoint, local
from gest_dataset.answers.collect import Collected, collect, opened
from gest_dataset.answers.cost import SAMPLE, Estimate, Price, estimate, sample_of
from gest_dataset.answers.kinds import KINDS, Kind, Reading
from gest_dataset.answers.parsing import Parsing, parsing
from gest_dataset.answers.speaker import Sampling, Speaker
from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import ConfigError, ScoringError, SettingError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import headline_text, result_of
from gest_dataset.probes.prompt import Answer, Prompt
from gest_dataset.runs import writing
from gest_dataset.runs.manifest import ANSWERS, signature
from gest_dataset.runs.reading import Run, read_run
from gest_dataset.statistics import checks
from gest_dataset.statistics.unknowns import unknown_bounds
from gest_dataset.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers")
UDPIPE = "udpipe"
_SKIPPED = pa.schema([("id", pa.string()), ("reason", pa.string())])


@dataclass(frozen=True)
class Answers:
    """What a model said, answer by answer, and how each was read.

    `table` has a row for each prompt; `metadata` says what was asked, counts and times.
    """

    table: pa.Table
    metadata: dict[str, Any]

    def result(self) -> dict[str, Any]:
        """The statistic of the probe's measure with its intervals (docs/metrics.md).

        Of genders with the bounds that the unknown ones leave (`statistics.unknowns`).
        """
        result = result_of(MEASURES[self.metadata["measure"]], self.table, None)
        if "gender" not in self.table.column_names:
            return result
        genders, stereotypes = (self.table[name].to_pylist() for name in ("gender", "stereotype"))
        return result | asdict(unknown_bounds(genders, stereotypes))

    @property
    def skipped(self) -> pa.Table:
        """The answers that say nothing, with the reason."""
        reasons = self.table["problem"].to_pylist()
        ids = self.table["id"].to_pylist()
        rows = [{"id": name, "reason": reason} for name, reason in zip(ids, reasons, strict=True) if reason]
        return pa.Table.from_pylist(rows, schema=_SKIPPED)

    @property
    def signature(self) -> str:
        """One line to print beside a number: what it was measured on and with."""
        m = self.metadata
        return signature(
            gest=m["config"],
            data=m["data_fingerprint"],
            measure=m["measure"],
            model=m["model"] + (f"@{m['revision']}" if m["revision"] else ""),
            language=m["language"],
            prompts=m["prompts"],
            parser=m["parser"],
            sampling={name: value for name, value in m["sampling"].items() if value not in ([], 0, 0.0)},
            limit=m["limit"],
            device=m["device"],
            version=m["gest_dataset"],
        )

    def __repr__(self) -> str:
        """What was measured and its headline with the 95 % interval, on one line."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", checks.UndefinedWarning)  # the words say it
            headline = headline_text(MEASURES[self.metadata["measure"]], self.result())
        facts = self.metadata
        return (
            f"Answers(model={facts['model']!r}, probe={facts['measure']!r}, answers={self.table.num_rows}, "
            f"{headline})"
        )

    def _repr_html_(self) -> str:
        """In a notebook: the verdict, the picture and the numbers."""
        from gest_dataset.report.notebook import html  # which brings matplotlib

        return html(self)

    def plot(self) -> Figure:
        """The picture of the result (matplotlib), in the style of the report."""
        from gest_dataset.report.notebook import plot

        return plot(self)


@dataclass(frozen=True)
class Questions:
    """What a model will be asked: the rows of a config, the kind of probe, and all prompts."""

    kind: Kind
    config: str
    language: str
    rows: Dataset
    prompts: tuple[Prompt, ...]
    sampling: Sampling
    limit: int | None
    table: str  # of wordings: its digest
    fingerprint: str  # of the rows of the config
    parsing: Parsing | None  # where a parser reads the answers


def questions(
    probe: str,
    language: str = "en",
    *,
    prompts: str | Path | None = None,
    limit: int | None = None,
    temperature: float | None = None,
    seed: int = 0,
    repeats: int = 1,
    max_tokens: int | None = None,
    parser: str = UDPIPE,
    parser_model: str | Path | None = None,
) -> Questions:
    """The prompts of a probe; what is wrong with them shows before a model is asked."""
    if probe not in KINDS:
        raise ConfigError(f"There is no probe {probe!r} in words. Choose from {', '.join(KINDS)}.")
    kind = KINDS[probe]
    if not kind.parses and (parser != UDPIPE or parser_model is not None):
        raise SettingError(f"No parser reads the answers of the probe {probe}: leave it out.")
    if repeats < 1 or (limit is not None and limit < 1):
        raise SettingError("repeats and limit are numbers from 1 on.")
    warm = (0.0 if repeats == 1 else 1.0) if temperature is None else temperature
    if repeats > 1 and not warm:
        raise SettingError(
            f"{repeats} repeats at temperature 0 are one answer {repeats} times: use one above 0."
        )
    wordings = kind.wordings(language, None if prompts is None else Path(prompts))
    config = kind.config(language)
    if config not in CONFIGS:
        raise ConfigError(
            f"There is no config {config}, which questions in {language!r} are about. Add one of your own: "
            f"gest add-language {language} --variants FILE"
        )
    rows = rows_of(config)
    mark = fingerprint_of(config, rows)
    if limit is not None:
        rows = rows.select(range(min(limit, len(rows))))
    asked = tuple(
        prompt
        for row in rows.to_list()
        for wording in wordings
        for prompt in kind.prompts(row, wording, repeats)
    )
    sampling = Sampling(warm, seed, repeats, max_tokens or kind.max_tokens, (), kind.top)
    reader = parsing(language, parser, parser_model) if kind.parses else None
    return Questions(
        kind, config, language, rows, asked, sampling, limit, kind.digest(wordings), mark, reader
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
    parser: str = UDPIPE,
    parser_model: str | Path | None = None,
    connections: int = endpoint.CONNECTIONS,
    device: str = "auto",
    dtype: str = "auto",
    revision: str | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    max_cost: float = math.inf,
    output: str | Path | None = None,
) -> Answers:
    """Ask a chat model in words (docs/ask.md says what each probe asks, and how answers are read).

    `model` is a Hub id, a local path or a pair (model, tokenizer) with a chat template, or with `endpoint`
    the name of a model at a server. `prompts` is a table of wordings of one's own. `parser` and its model
    (docs/gender.md) read what is written in the first person. Prices are of a million tokens; nothing more
    is asked where all would cost more than `max_cost`. With `output` the run is kept in that directory: the
    same call goes on with one that was stopped.
    """
    given = dict(locals())
    asked = questions(
        probe,
        language,
        prompts=prompts,
        limit=limit,
        temperature=temperature,
        seed=seed,
        repeats=repeats,
        max_tokens=max_tokens,
        parser=parser,
        parser_model=parser_model,
    )
    speaker = speaker_of(model, endpoint, connections, device=device, dtype=dtype, revision=revision)
    price = price_of(price_in, price_out)
    command = writing.python_call(ask, given)
    return record(asked, speaker, None if output is None else Path(output), command, price, max_cost)[0]


def speaker_of(model: Any, address: str | None, connections: int, **loading: Any) -> Speaker:
    """Who answers: a model that is loaded here, or one at a server."""
    if address is not None:
        return endpoint.connect(address, model, connections)
    return local.load(model, **loading)


def price_of(price_in: float | None, price_out: float | None) -> Price | None:
    """The price of a million tokens, where one is given."""
    if price_in is None and price_out is None:
        return None
    if min(price_in or 0.0, price_out or 0.0) < 0:
        raise SettingError("A price is 0 or more, of a million tokens.")
    return Price(price_in or 0.0, price_out or 0.0)


def record(
    asked: Questions,
    speaker: Speaker,
    path: Path | None,
    command: Sequence[str],
    price: Price | None = None,
    max_cost: float = math.inf,
    planned: Callable[[Estimate], None] = lambda estimate: None,
) -> tuple[Answers, bool]:
    """The answers, with the run in a directory if there is one; False where it was finished and only read.

    `planned` hears what all of it will take, from the first few answers, before the rest is asked.
    """
    if path is None:
        return _answers(asked, speaker, None, price, max_cost, planned), True
    fresh = writing.begun(
        measure=asked.kind.measure.name,
        subject=speaker.name,
        config=asked.config,
        language=asked.language,
        data_fingerprint=asked.fingerprint,
        table=ANSWERS,
        settings={
            **speaker.settings(),
            "prompts": asked.table,
            "sampling": asked.sampling.facts(),
            "limit": asked.limit,
            "parser": asked.parsing and asked.parsing.signature,
        },
        command=command,
        device=None,
    )
    with writing.recording(path, fresh) as there:
        if there.finished:
            return from_run(there.finished), False
        answers = _answers(asked, speaker, there.scratch, price, max_cost, planned)
        writing.finish(there, answers)
    return answers, True


def from_run(run: Run) -> Answers:
    """The answers of a finished run."""
    return Answers(run.table.replace_schema_metadata(None), run.manifest.metadata)


def reread(path: str | Path, parser: str = UDPIPE, parser_model: str | Path | None = None) -> Answers:
    """The answers of a finished run, read again by the rules of this version; nothing is asked.

    Where a parser reads them it may be another one than that of the run.
    """
    run = read_run(path)
    if run.manifest.table != ANSWERS:
        raise ConfigError(f"{path} is no run of `gest ask`.")
    kind = next(kind for kind in KINDS.values() if kind.measure.name == run.manifest.measure)
    columns = run.table.to_pydict()
    prompts = [
        Prompt(*values)
        for values in zip(*(columns[name] for name in ("id", "variant", "prompt", "repeat")), strict=True)
    ]
    said = [
        Answer(*values)
        for values in zip(
            *(columns[name] for name in ("answer", "tokens_in", "tokens_out", "withheld")), strict=True
        )
    ]
    reader = parsing(run.manifest.language, parser, parser_model) if kind.parses else None
    table = _table(kind, reader, prompts, said, columns["stereotype"])
    now = {"parser": reader and reader.signature, "gest_dataset": __version__}
    return Answers(table, {**run.manifest.metadata, **_counts(table), **now})


def _answers(
    asked: Questions,
    speaker: Speaker,
    folder: Path | None,
    price: Price | None,
    max_cost: float,
    planned: Callable[[Estimate], None],
) -> Answers:
    start = time.perf_counter()
    first = sample_of(asked.prompts, SAMPLE)
    with opened(folder, price) as shelf:
        tried = collect(first, speaker, asked.sampling, shelf, max_cost)
        planned(estimate(len(asked.prompts), list(tried.answers.values()), tried.seconds, price))
        said = collect(asked.prompts, speaker, asked.sampling, shelf, max_cost)
    topics = dict(zip(asked.rows["id"], asked.rows["stereotype"], strict=True))
    ordered = [said.answers[prompt] for prompt in asked.prompts]
    stereotypes = [topics[prompt.id] for prompt in asked.prompts]
    table = _table(asked.kind, asked.parsing, asked.prompts, ordered, stereotypes)
    return Answers(table, _metadata(asked, speaker, said, table, time.perf_counter() - start))


def _table(
    kind: Kind,
    reader: Parsing | None,
    prompts: Sequence[Prompt],
    answers: Sequence[Answer],
    stereotypes: Sequence[int],
) -> pa.Table:
    """A row for each prompt: what was asked and said, to the letter, and how it is read."""
    readings: Sequence[Reading] = kind.read(reader, prompts, answers)
    return pa.table(
        {
            "id": [prompt.id for prompt in prompts],
            "variant": [prompt.variant for prompt in prompts],
            "repeat": pa.array([prompt.repeat for prompt in prompts], pa.int32()),
            "stereotype": pa.array(stereotypes, pa.int32()),
            "prompt": [prompt.text for prompt in prompts],
            "answer": [answer.text for answer in answers],
            "withheld": [answer.problem for answer in answers],
            "tokens_in": pa.array([answer.tokens_in for answer in answers], pa.int32()),
            "tokens_out": pa.array([answer.tokens_out for answer in answers], pa.int32()),
            kind.column: [reading.value for reading in readings],
            "place": pa.array([reading.place for reading in readings], pa.int32()),
            "rule": [reading.rule for reading in readings],
            "evidence": pa.array([list(reading.evidence) for reading in readings], pa.list_(pa.string())),
            "problem": [reading.problem for reading in readings],
            "shares": pa.array([list(reading.shares.items()) for reading in readings], _SHARES),
        }
    )


_SHARES = pa.map_(pa.string(), pa.float64())


def _metadata(
    asked: Questions, speaker: Speaker, said: Collected, table: pa.Table, seconds: float
) -> dict[str, Any]:
    tokens_in, tokens_out = said.tokens
    counts = _counts(table)
    if not counts["scored"]:
        problems = Counter(counts["skipped"]).most_common(3)
        reasons = "; ".join(f"{number} x {reason}" for reason, number in problems)
        raise ScoringError(f"Not one answer of {speaker.name} can be read: {reasons}. No result is written.")
    return {
        "measure": asked.kind.measure.name,
        "config": asked.config,
        "data_fingerprint": asked.fingerprint,
        "language": asked.language,
        "model": speaker.name,
        "revision": speaker.settings().get("revision"),
        "from_hub": False,
        **speaker.facts(),
        "prompts": asked.table,
        "sampling": asked.sampling.facts(),
        "limit": asked.limit,
        "parser": asked.parsing and asked.parsing.signature,
        "device": speaker.place,
        "samples": len(asked.rows),
        **counts,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "notes": [],
        "seconds": seconds,
        "packages": {package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "gest_dataset": __version__,
    }


def _counts(table: pa.Table) -> dict[str, Any]:
    """How many answers there are, how many say something, and why the others do not."""
    problems = Counter(problem for problem in table["problem"].to_pylist() if problem)
    return {
        "asked": table.num_rows,
        "scored": table.num_rows - problems.total(),
        "skipped": dict(problems),
    }
