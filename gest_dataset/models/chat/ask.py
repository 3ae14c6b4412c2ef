"""`gest_dataset.ask`: a model and a probe in words, one answer for each prompt, and what it means."""

from __future__ import annotations

import math
import platform
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from gest_dataset.errors import ConfigError, ScoringError, SettingError
from gest_dataset.models.chat import endpoint, local
from gest_dataset.models.chat.answered import Answers, counts, said_in, table_of
from gest_dataset.models.chat.collect import Collected, collect, opened
from gest_dataset.models.chat.cost import SAMPLE, Estimate, Price, estimate, sample_of
from gest_dataset.models.chat.kinds import KINDS
from gest_dataset.models.chat.parsing import UDPIPE, parsing
from gest_dataset.models.chat.questions import Questions, questions
from gest_dataset.models.chat.speaker import Speaker
from gest_dataset.probes.prompt import CUT, Prompt
from gest_dataset.runs import folder as run_folder
from gest_dataset.runs.manifest import ANSWERS
from gest_dataset.runs.folder import Run, read_run
from gest_dataset.version import __version__

_PACKAGES = ("datasets", "numpy", "tokenizers", "torch", "transformers")


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
    the name of a model at a server. `prompts` is a table of wordings of one's own. `stop` are texts that
    end an answer. `parser` and its model (docs/gender.md) read what is written in Slavic languages. Prices
    are of a million tokens; nothing more is asked where all would cost more than `max_cost`. With `output`
    the run is kept in that directory: the same call goes on with one that was stopped.
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
        stop=stop,
        parser=parser,
        parser_model=parser_model,
    )
    speaker = speaker_of(model, endpoint, connections, device=device, dtype=dtype, revision=revision)
    price = price_of(price_in, price_out, max_cost)
    command = run_folder.python_command(ask, given)
    return record(asked, speaker, None if output is None else Path(output), command, price, max_cost)[0]


def speaker_of(model: Any, address: str | None, connections: int, **loading: Any) -> Speaker:
    """Who answers: a model that is loaded here, or one at a server."""
    if address is not None:
        return endpoint.connect(address, model, connections)
    return local.load(model, **loading)


def price_of(price_in: float | None, price_out: float | None, max_cost: float) -> Price | None:
    """The price of a million tokens, where one is given; a limit of the cost needs one."""
    if price_in is None and price_out is None:
        if max_cost < math.inf:
            raise SettingError("What answers cost is not known without --price-in and --price-out.")
        return None
    if not min(price_in or 0.0, price_out or 0.0) >= 0:
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

    `planned` hears what all that is left will take, from a few answers, before the rest is asked.
    """
    if path is None:
        return _answers(asked, speaker, None, price, max_cost, planned), True
    fresh = run_folder.new_manifest(
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
    with run_folder.open_run(path, fresh) as there:
        if there.finished:
            return from_run(there.finished), False
        answers = _answers(asked, speaker, there.scratch, price, max_cost, planned)
        there.finish(answers)
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
    language = run.manifest.language
    reader = parsing(language, parser, parser_model) if kind.parses(language) else None
    table = table_of(kind, reader, prompts, said_in(run.table), columns["stereotype"])
    now = {"parser": reader and reader.signature, "gest_dataset": __version__}
    return Answers(table, {**run.manifest.metadata, **counts(table), **now})


def _answers(
    asked: Questions,
    speaker: Speaker,
    folder: Path | None,
    price: Price | None,
    max_cost: float,
    planned: Callable[[Estimate], None],
) -> Answers:
    start = time.perf_counter()
    with opened(folder, price) as shelf:
        left = list(shelf.lacks(asked.prompts, asked.sampling).values())
        if left:
            tried = collect(sample_of(left, SAMPLE), speaker, asked.sampling, shelf, max_cost)
            if price is not None and not any(tried.tokens):
                raise ScoringError(
                    f"{speaker.name} is answered for without a number of tokens (usage), so what it costs is "
                    f"not known. What was answered is kept: the same command without prices goes on."
                )
            planned(estimate(len(left), list(tried.answers.values()), tried.seconds, price))
        said = collect(asked.prompts, speaker, asked.sampling, shelf, max_cost)
    topics = dict(zip(asked.rows["id"], asked.rows["stereotype"], strict=True))
    ordered = [said.answers[prompt] for prompt in asked.prompts]
    stereotypes = [topics[prompt.id] for prompt in asked.prompts]
    table = table_of(asked.kind, asked.parsing, asked.prompts, ordered, stereotypes)
    return Answers(table, _metadata(asked, speaker, said, table, time.perf_counter() - start))


def _metadata(
    asked: Questions, speaker: Speaker, said: Collected, table: pa.Table, seconds: float
) -> dict[str, Any]:
    tokens_in, tokens_out = said.tokens
    counted = counts(table)
    if not counted["scored"]:
        problems = Counter(counted["skipped"]).most_common(3)
        reasons = "; ".join(f"{number} x {reason}" for reason, number in problems)
        shown = [text for reason, _ in problems for text in counted["examples"][reason][:1]]
        examples = "".join(f", such as {text!r}" for text in shown)
        longer = " Let it write more (--max-tokens)." if CUT in counted["skipped"] else ""
        raise ScoringError(
            f"Not one answer of {speaker.name} can be read: {reasons}{examples}. "
            f"No result is written.{longer}"
        )
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
        **counted,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "notes": speaker.notes(),
        "seconds": seconds,
        "packages": {package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "gest_dataset": __version__,
    }
