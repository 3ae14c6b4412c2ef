"""What a model will be asked: the rows of a config, the kind of probe, and all prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from datasets import Dataset

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import ConfigError, SettingError
from gest_dataset.models.chat.kinds import KINDS, Kind
from gest_dataset.models.chat.parsing import UDPIPE, Parsing, parsing
from gest_dataset.models.chat.speaker import Sampling
from gest_dataset.probes.prompt import Prompt


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
    stop: Sequence[str] = (),
    parser: str = UDPIPE,
    parser_model: str | Path | None = None,
) -> Questions:
    """The prompts of a probe; what is wrong with them shows before a model is asked."""
    if probe not in KINDS:
        raise ConfigError(f"There is no probe {probe!r} in words. Choose from {', '.join(KINDS)}.")
    kind = KINDS[probe]
    if not kind.parses(language) and (parser != UDPIPE or parser_model is not None):
        raise SettingError(f"No parser reads the answers of the probe {probe} in {language}: leave it out.")
    if repeats < 1 or (limit is not None and limit < 1):
        raise SettingError("repeats and limit are numbers from 1 on.")
    if isinstance(stop, str) or not all(stop):
        raise SettingError("stop is a list of texts that end an answer, none of them empty.")
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
    sampling = Sampling(warm, seed, repeats, max_tokens or kind.max_tokens, tuple(stop), kind.top)
    reader = parsing(language, parser, parser_model) if kind.parses(language) else None
    return Questions(
        kind, config, language, rows, asked, sampling, limit, kind.digest(wordings), mark, reader
    )
