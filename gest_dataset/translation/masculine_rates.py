"""`gest_dataset.masculine_rates`: translate GEST, find the gender of each sentence, count.

The experiment of section 4.1 of Pikuliak et al. (2024); `statistics.masculine_rate` has the formulas.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from gest_dataset.builders.translations import FOLDER_OF_SYSTEM
from gest_dataset.data.rows import rows_of
from gest_dataset.gender import Detection
from gest_dataset.gender.accuracy import ACCURACY, Accuracy
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.measures.result import compute_result, headline_text
from gest_dataset.runs import writing
from gest_dataset.runs.manifest import DETECTIONS, signature
from gest_dataset.runs.reading import default_folder
from gest_dataset.statistics import checks
from gest_dataset.statistics.masculine_rate import (
    CONVENTIONS,
    UNKNOWN,
    correct_f_s,
    correct_rates,
    max_error_rate,
    unknown_bounds,
)
from gest_dataset.translation.samples import TranslatedSentence, aligned, join, sentences, wanted
from gest_dataset.translation.setup import SNAPSHOT, Setup, set_up
from gest_dataset.translation.translator import TranslationError
from gest_dataset.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "stereotype": pa.int32(),
        "source": pa.string(),
        "translation": pa.string(),
        "gender": pa.string(),
        "rule": pa.string(),
        "evidence": pa.list_(pa.string()),
        "conflict": pa.bool_(),
        "problem": pa.string(),
    }
)


# Settings that make a run another one, and those that metadata name as they are; a user's `rules` are there
# where the language has none of ours
_SETTINGS = ("revision", "translator", "parser", "rules", "limit")
_TOLD = ("system", "revision", "translator", "language", "data_fingerprint", "parser", "rules", "limit")


@dataclass(frozen=True)
class MasculineRates:
    """The gender that a translator gave to the speaker of every sentence.

    `table` has a row for each; `metadata` says what was measured, counts and times.
    """

    table: pa.Table
    metadata: dict[str, Any]

    def result(self) -> dict[str, Any]:
        """p_1 .. p_16, p_f, p_m, f_s and f_m with their intervals (docs/metrics.md).

        Beside them stand the bounds that unknown genders leave, and p_i and f_s as they would be without the
        detector's errors (`statistics.unknowns`).
        """
        result = compute_result(MASCULINE_RATE, self.table, None, convention=self.metadata["convention"])
        genders, stereotypes = (self.table[name].to_pylist() for name in ("gender", "stereotype"))
        bounds = unknown_bounds(genders, stereotypes)
        measured = ACCURACY.get(self.metadata["language"])  # not of rules that a user has added
        return result | asdict(bounds) | (_corrected(result["p"], measured) if measured else {})

    @property
    def skipped(self) -> pa.Table:
        """The sentences that no rule was asked about, with the reason."""
        left_out = self.table.filter(pc.field("problem") != "")
        return pa.table({"id": left_out["id"], "reason": left_out["problem"]})

    @property
    def problems(self) -> list[dict[str, Any]]:
        """The rows that no rule was asked about; `problem` is the reason."""
        return [row for row in self.table.to_pylist() if row["problem"]]

    @property
    def signature(self) -> str:
        """One line to print beside a number: what it was measured on and with."""
        m = self.metadata
        return signature(
            gest=m["config"],
            data=m["data_fingerprint"],
            measure=m["measure"],
            system=m["system"],
            revision=m["revision"].removeprefix("sha256:"),
            **{name: m.get(name) for name in ("translator", "language", "parser", "rules", "limit")},
            convention=m["convention"],
            version=m["gest_dataset"],
        )

    def __repr__(self) -> str:
        """What was measured and its headline with the 95 % interval, on one line."""
        facts = self.metadata
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", checks.UndefinedWarning)  # the words say it
            headline = headline_text(MASCULINE_RATE, self.result())
        return (
            f"MasculineRates(system={facts['system']!r}, language={facts['language']!r}, "
            f"known={facts['known']}, samples={facts['samples']}, {headline})"
        )

    def _repr_html_(self) -> str:
        """In a notebook: the verdict, the picture and the numbers."""
        from gest_dataset.report.notebook import html  # which brings matplotlib

        return html(self)

    def plot(self) -> Figure:
        """The picture of the result (matplotlib), in the style of the report."""
        from gest_dataset.report.notebook import plot

        return plot(self)


def _corrected(rates: list[float], accuracy: Accuracy) -> dict[str, Any]:
    """p_i and f_s corrected for the measured errors; f_s for the largest that the measurement leaves open."""
    counted = (
        (accuracy.male_as_female, accuracy.male),
        (accuracy.female_as_male, accuracy.female),
    )
    shares = [errors / number for errors, number in counted]
    largest = [max_error_rate(errors, number) for errors, number in counted]
    return {
        "p_corrected": correct_rates(rates, *shares).tolist(),
        "f_s_corrected": correct_f_s(rates, *shares),
        "f_s_corrected_most": correct_f_s(rates, *largest),
        "detector": asdict(accuracy),
    }


def masculine_rates(
    system: str,
    language: str,
    *,
    parser: str = "udpipe",
    model: str | Path | None = None,
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
    """Measure which gender a translator gives to the speakers of GEST's sentences.

    `system` is one of `translation.SPELLINGS`, or `published:` and a system of GEST's own translations; a
    file that is no table is text with a translation a line, in the order of the config `en`.
    `endpoint` is the server of a `chat:` model.
    `model` is the parser's (docs/gender.md), `convention` one of `plain` and `published`
    (docs/metrics.md). Translations and parses are kept in `store` and `cache` (else below
    `$HF_HOME/gest`), so that nothing is translated or paid for twice.

    With `output` the run is kept in that directory (docs/runs.md); `gest_dataset.report` makes its
    report.
    """
    asked = dict(locals())
    checks.check_choice("convention", convention, CONVENTIONS)
    setup = set_up(**{name: value for name, value in asked.items() if name not in ("convention", "output")})
    if output is None:
        return measure(setup, convention)
    return record(setup, convention, Path(output), writing.python_call(masculine_rates, asked))


def record(setup: Setup, convention: str, path: Path, command: Sequence[str]) -> MasculineRates:
    """The rates, with the run in a directory; a run that is finished there is made anew."""
    settings = {name: setup.settings[name] for name in _SETTINGS if name in setup.settings}
    fresh = writing.begun(
        measure=MASCULINE_RATE.name,
        subject=setup.settings["system"],
        config=setup.settings["data"],
        language=setup.language,
        data_fingerprint=setup.settings["data_fingerprint"],
        table=DETECTIONS,
        settings={**settings, "convention": convention},
        command=command,
        device=setup.device,
    )
    with writing.recording(path, fresh) as there:
        rates = measure(setup, convention)
        _check_some(rates)
        writing.finish(there, rates)
    return rates


def measure(setup: Setup, convention: str) -> MasculineRates:
    """Translate, parse and decide."""
    start = perf_counter()
    samples = _samples(setup)
    translated = perf_counter()
    whole = [sample for sample in samples if not sample.problem]
    genders = setup.genders([sample.translation for sample in whole])
    detections = {sample.id: gender for sample, gender in zip(whole, genders, strict=True)}
    rows = [
        asdict(sample)
        | asdict(detections.get(sample.id) or Detection(UNKNOWN, "", (), False, problem=sample.problem))
        for sample in samples
    ]
    end = perf_counter()
    settings = setup.settings
    metadata = {
        "measure": MASCULINE_RATE.name,
        **{name: settings[name] for name in _TOLD if name in settings},
        "config": settings["data"],
        "convention": convention,
        "samples": len(rows),
        "known": sum(row["gender"] != UNKNOWN for row in rows),
        "conflicts": sum(row["conflict"] for row in rows),
        "problems": dict(Counter(row["problem"] for row in rows if row["problem"])),
        "seconds": end - start,
        "seconds_of": {"translate": translated - start, "detect": end - translated},
        "gest_dataset": __version__,
    }
    return MasculineRates(pa.Table.from_pylist(rows, schema=_SCHEMA), metadata)


def _check_some(rates: MasculineRates) -> None:
    """A run in which nothing was judged has no result."""
    problems = Counter(rates.metadata["problems"])
    if problems.total() == len(rates.table):
        reasons = "\n".join(f"  {number} x {reason}" for reason, number in problems.most_common())
        raise TranslationError(
            f"Not one sentence has a translation to judge; no result is written.\n{reasons}"
        )


def _samples(setup: Setup) -> list[TranslatedSentence]:
    if setup.system.startswith(SNAPSHOT):
        return _published(setup)
    given = sentences(setup.limit)
    if setup.lines is not None:
        return aligned(given, setup.lines, setup.settings["system"].removeprefix("file:"))
    return join(given, setup.ask(wanted(given, setup.system)))


def _published(setup: Setup) -> list[TranslatedSentence]:
    label = list(FOLDER_OF_SYSTEM).index(setup.system.removeprefix(SNAPSHOT))
    data = rows_of(setup.settings["data"])
    rows = [row for row in data.to_list() if row["system"] == label]
    # samples are called as their sentences are, whoever translated them, so that runs can be paired
    ending = f"-{setup.language}-{setup.system.removeprefix(SNAPSHOT)}"
    return [
        TranslatedSentence(
            row["id"].removesuffix(ending), row["stereotype"], row["source"], row["translation"]
        )
        for row in rows[: setup.limit]
    ]


def folder_of(system: str, language: str, revision: str | None, limit: int | None) -> Path:
    """Where a run is kept when nobody says: of a model or a file by its path, of a service by its name."""
    system = system.replace("{language}", language)
    kind, _, name = system.partition(":")
    name = "standard-input" if name == "-" else name
    return default_folder(name if kind in {"hf", "chat", "file"} else system, revision, limit) / language
