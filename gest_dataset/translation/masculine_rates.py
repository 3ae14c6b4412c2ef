"""`gest_dataset.masculine_rates`: translate GEST, find the gender of each sentence, count.

The experiment of section 4.1 of Pikuliak et al. (2024); `statistics.masculine_rate` has the formulas.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gest_dataset.builders import CONFIGS, added_name
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import ConfigError, UnsupportedLanguageError
from gest_dataset.gender.detect import Detection, GenderDetector
from gest_dataset.gender.grammar import ACCURACY, UNKNOWN, rules_hash
from gest_dataset.gender.parsers import LLM
from gest_dataset.languages import LANGUAGES
from gest_dataset.measures.gest import ENTITY_GENDER, MASCULINE_RATE
from gest_dataset.measures.result import compute_result
from gest_dataset.models.chat.gender import ChatDetector, open_detector
from gest_dataset.runs.folder import Run, RunResult, default_folder, new_manifest, open_run, python_command
from gest_dataset.runs.manifest import DETECTIONS, signature
from gest_dataset.statistics import checks
from gest_dataset.statistics.masculine_rate import (
    CONVENTIONS,
    detector_bounds,
    max_error_rate,
    unknown_bounds,
)
from gest_dataset.translation import entity_genders, sentences
from gest_dataset.translation.pairs import warn_not_in_gest
from gest_dataset.translation.sentences import TranslatedSentence
from gest_dataset.translation.systems import open_translator, translate_distinct
from gest_dataset.translation.translator import Translation, TranslationError, Translator
from gest_dataset.version import __version__

PUBLISHED = "published:"  # GEST's own translations of 2023, which are a config
_SCHEMA = pa.schema(
    [("id", pa.string()), ("stereotype", pa.int32())]
    + [(name, pa.string()) for name in ("source", "translation", "gender", "rule")]
    + [("evidence", pa.list_(pa.string())), ("conflict", pa.bool_()), ("problem", pa.string())]
)
# What identifies a run besides the convention; `rules` only of languages whose rules a user has added
_SETTINGS = ("revision", "translator", "parser", "rules", "limit")


@dataclass(frozen=True)
class Experiment:
    """A system with its translator, a gender detector, and everything that the numbers depend on."""

    system: str
    language: str
    translator: Translator | None  # None: published translations, or `lines`
    detector: GenderDetector | ChatDetector
    settings: dict[str, Any]
    store: str | Path | None
    lines: Sequence[str] | None  # of a text with a translation per line
    data: str  # the config with the English sentences

    @property
    def is_gest(self) -> bool:
        return self.data == "en"

    def translate(self, texts: Sequence[str]) -> dict[str, Translation]:
        """Translations by text; an error if the translator could not finish."""
        if self.translator is None:
            raise ConfigError(
                f"{self.system} has no translations of the prompts. Use a translator, or a table that "
                f"includes them."
            )
        return translate_distinct(texts, self.translator, self.language, self.store)

    def samples(self) -> list[TranslatedSentence]:
        """GEST's sentences with their translations."""
        limit = self.settings["limit"]
        if self.system.startswith(PUBLISHED):
            rows = _published(self.settings["data"], self.language)
            rows = rows[rows["system"] == self.system.removeprefix(PUBLISHED)][:limit]
            # the ids of the sentences, so that runs of several systems can be paired
            columns = ["sentence_id", "stereotype", "source", "translation"]
            rows = rows.assign(stereotype=rows.get("stereotype", 0))
            return [TranslatedSentence(*row) for row in rows[columns].values.tolist()]
        gest = sentences.gest_sentences(limit, self.settings["data"])
        if self.lines is not None:
            return sentences.align(gest, self.lines, self.settings["system"].removeprefix("file:"))
        texts = sentences.texts_to_translate(gest, self.system)
        return sentences.join_translations(gest, self.translate(texts))


def prepare(
    system: str,
    language: str,
    *,
    parser: str = "udpipe",
    parser_model: str | Path | None = None,
    limit: int | None = None,
    store: str | Path | None = None,
    cache: str | Path | None = None,
    data: str = "en",
    labelled: str | Path | None = None,
    endpoint: str | None = None,
    **loading: Any,
) -> Experiment:
    """Open translator and parser; every wrong setting is an error here, before anything is translated.

    `data` is the config with the English sentences, `endpoint` the server of chat models.
    """
    if limit is not None and limit < 1:
        raise ConfigError(f"limit must be 1 or more, not {limit}.")
    if entity_genders.DATA.get(data, "") not in ("", language):
        raise ConfigError(f"{data} is not in {language!r}: use --language {entity_genders.DATA[data]}.")
    is_published, given = system.startswith(PUBLISHED), data
    if is_published:
        data = added_name(f"{language if data == 'en' else data}_translations")
        offered = [*dict.fromkeys(_published(data, language)["system"])] if data in CONFIGS else []
        if system.removeprefix(PUBLISHED) not in offered:
            raise UnsupportedLanguageError(
                f"There are no published translations by {system!r} to {LANGUAGES[language].name}; "
                f"available systems: {', '.join(offered) or 'none'}."
            )
    path = sentences.text_file(system.replace("{language}", language))
    detector = open_detector(language, parser, parser_model, cache, labelled, endpoint)
    translator, lines, identity = None, None, (system, "", "")
    if path:
        lines = sentences.read_aligned_lines(path, limit, data)
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        identity = (f"file:{path.name}", f"sha256:{digest[:16]}", "")
    elif not is_published:
        server = endpoint if parser != LLM or system.startswith("chat:") else None
        translator = open_translator(system, language, endpoint=server, **loading)
        if sentences.is_file(system) and given == "en":
            warn_not_in_gest(system, language)
        identity = (translator.name, translator.revision, translator.settings)
    rules = None if parser == LLM else rules_hash(language)
    settings = {
        **dict(zip(("system", "revision", "translator"), identity, strict=True)),
        "language": language,
        "parser": detector.signature,
        "limit": limit,
        "data": data,
        "data_fingerprint": fingerprint_of(data),
        **({"rules": rules} if rules else {}),
    }
    return Experiment(system, language, translator, detector, settings, store, lines, given)


def _published(data: str, language: str) -> pd.DataFrame:
    """The published translations of a config into a language."""
    rows = rows_of(data).to_pandas()
    return rows[rows["language"] == language]


@dataclass(frozen=True, repr=False)
class MasculineRates(RunResult):
    """The gender that a translator gave to the speaker of every sentence."""

    table: pa.Table
    metadata: dict[str, Any]

    def result(self) -> dict[str, Any]:
        """p_1 to p_16, p_f, p_m, f_s and f_m, or accuracy, ΔG and ΔS, with their bounds (docs/metrics.md)."""
        if self.metadata["measure"] == ENTITY_GENDER.name:
            return entity_genders.accuracy(self.table)
        result = compute_result(MASCULINE_RATE, self.table, None, convention=self.metadata["convention"])
        genders, stereotypes = (self.table[name].to_pylist() for name in ("gender", "stereotype"))
        result |= unknown_bounds(genders, stereotypes)
        validity = self.metadata.get("validity", {})
        accuracy = validity.get("counts") or ACCURACY.get(self.metadata["language"])
        if accuracy is None:  # rules that a user has added
            return result
        errors = {"male_as_female": "male", "female_as_male": "female", "neutral_as_gendered": "neutral"}
        largest = {error: max_error_rate(accuracy[error], accuracy[one]) for error, one in errors.items()}
        result |= detector_bounds(genders, stereotypes, **largest)
        number = sum(accuracy[one] for one in errors.values())
        return result | {"detector": {**validity, **largest, "n": number}}

    @property
    def skipped(self) -> pa.Table:
        """The ids of sentences that were not judged, with the reason."""
        rows = self.table.filter(pc.field("problem") != "")
        return pa.table({"id": rows["id"], "reason": rows["problem"]})

    @property
    def signature(self) -> str:
        """One line that identifies the measurement, to print next to a number."""
        m = self.metadata
        names = ("translator", "language", "parser", "rules", "limit", "convention")
        return signature(
            gest=m["config"],
            data=m["data_fingerprint"],
            measure=m["measure"],
            system=m["system"],
            revision=m["revision"].removeprefix("sha256:"),
            **{name: m.get(name) for name in names},
            version=m["gest_dataset"],
        )


def masculine_rates(
    system: str,
    language: str,
    *,
    parser: str = "udpipe",
    parser_model: str | Path | None = None,
    labelled: str | Path | None = None,
    limit: int | None = None,
    convention: str = "plain",
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    revision: str | None = None,
    endpoint: str | None = None,
    store: str | Path | None = None,
    cache: str | Path | None = None,
    output: str | Path | None = None,
) -> MasculineRates:
    """Measure which gender a translator gives to the speakers of GEST's sentences (docs/masculine-rates.md).

    Args:
        system: one of `translation.systems.SYSTEMS`, or `published:` and a system of GEST's own translations;
            a file that is not a table has a translation per line, in the order of the config `en`.
        parser, parser_model, labelled: see docs/gender.md.
        convention: `plain` or `published` (docs/metrics.md).
        endpoint: the server of a `chat:` model, or of the parser `llm`.
        store, cache: where translations and parses are cached (default: below `$HF_HOME/gest`).
        output: the directory of the run (docs/runs.md).
    """
    arguments = dict(locals())
    checks.check_choice("convention", convention, CONVENTIONS)
    to_prepare = {name: value for name, value in arguments.items() if name not in ("convention", "output")}
    experiment = prepare(**to_prepare)
    if output is None:
        return measure(experiment, convention)
    run = measure_as_run(experiment, convention, Path(output), python_command(masculine_rates, arguments))
    return MasculineRates(run.table, run.manifest.metadata)


def measure_as_run(experiment: Experiment, convention: str, path: Path, command: Sequence[str]) -> Run:
    """Measure the rates and write them as a run to `path`, also over a finished run."""
    settings = {name: experiment.settings[name] for name in _SETTINGS if name in experiment.settings}
    manifest = new_manifest(
        measure=MASCULINE_RATE.name if experiment.is_gest else ENTITY_GENDER.name,
        model=experiment.settings["system"],
        config=experiment.settings["data"],
        language=experiment.language,
        data_fingerprint=experiment.settings["data_fingerprint"],
        table=DETECTIONS,
        settings={**settings, "convention": convention} if experiment.is_gest else settings,
        command=command,
        device=experiment.translator.device if experiment.translator else None,
    )
    with open_run(path, manifest) as writer:
        rates = measure(experiment, convention)
        problems = Counter(rates.metadata["problems"])
        if problems.total() == len(rates.table):
            reasons = "\n".join(f"  {number} x {reason}" for reason, number in problems.most_common())
            raise TranslationError(f"No translation could be judged.\n{reasons}")
        return writer.finish(rates)


def measure(experiment: Experiment, convention: str) -> MasculineRates:
    """Translate, and find the gender of each translation."""
    start = perf_counter()
    samples = experiment.samples()
    if experiment.is_gest:
        texts = [sample.translation for sample in samples if not sample.problem]
        detections = iter(experiment.detector.genders(texts))
        found = [
            Detection(UNKNOWN, problem=one.problem) if one.problem else next(detections) for one in samples
        ]
        rows = [asdict(sample) | asdict(one) for sample, one in zip(samples, found, strict=True)]
        table = pa.Table.from_pylist(rows, schema=_SCHEMA)
        facts = {"convention": convention, "conflicts": sum(one.conflict for one in found)}
        if isinstance(experiment.detector, ChatDetector):
            facts["validity"] = experiment.detector.validity
    else:
        assert isinstance(experiment.detector, GenderDetector)  # there are no labelled sentences
        table, facts = entity_genders.read_genders(samples, experiment.data, experiment.detector), {}
    metadata = {
        "measure": MASCULINE_RATE.name if experiment.is_gest else ENTITY_GENDER.name,
        **{name: value for name, value in experiment.settings.items() if name != "data"},
        "config": experiment.settings["data"],
        **facts,
        "samples": len(table),
        "known": len(table) - table["gender"].to_pylist().count(UNKNOWN),
        "problems": dict(Counter(filter(None, table["problem"].to_pylist()))),
        "seconds": perf_counter() - start,
        "gest_dataset": __version__,
    }
    return MasculineRates(table, metadata)


def run_folder(system: str, language: str, revision: str | None, limit: int | None, data: str = "") -> Path:
    """The default folder of a run: by the path of a model or file, or by the name of a service."""
    system = system.replace("{language}", language)
    kind, _, name = system.partition(":")
    name = "standard-input" if name == "-" else name
    folder = default_folder(name if kind in {"hf", "chat", "file"} else system, revision, limit)
    return folder / (f"{data}-{language}" if data else language)
