"""`gest study stereoset`: how stereotypical are models of any kind in five languages? (Öztürk et al., 2023)

The paper's tables 2 to 5, 8 and 9 (LMS, SS and ICAT of each test and of both, also averaged over targets) and
table 7 (discriminative against generative scoring between sentences) for any models.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.builders.families import STEREOSET as DATA
from gest_dataset.builders.stereoset import TESTS
from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES, STEREOSET
from gest_dataset.measures.formatting import MANY_INTERVALS_NOTE, NO_CONTROL_NOTE
from gest_dataset.measures.grid import Estimate
from gest_dataset.models.names import written_once
from gest_dataset.probes.probe import Options
from gest_dataset.published.models import hub_ids
from gest_dataset.report.figures_others import stereoset_panels
from gest_dataset.report.measured import Measured
from gest_dataset.report.panel import Panel
from gest_dataset.runs.reading import Run, find_runs
from gest_dataset.studies.asking import Asked, Batch, check_same_data, names_of, notes_of, runs_of, sources_of
from gest_dataset.studies.stereoset_answers import CAUSAL, NSP, RATIO, Answers, of_run, released
from gest_dataset.studies.stereoset_numbers import (
    TABLES,
    WAYS,
    Entry,
    Source,
    entries,
    in_several_ways,
    printed,
    printed_range,
)
from gest_dataset.studies.study import Cell, Study, Table

NAME = "stereoset"
TITLE = "How stereotypical are models across languages?"
_HEADINGS = {"lms": "LMS", "ss": "SS", "icat": "ICAT"} | {
    "multiclass_lms": "LMS",
    "multiclass_ss": "SS",
    "macro_icat": "ICAT macro",
    "micro_icat": "ICAT micro",
}


def stereoset(
    asked: Asked | Sequence[str | Path | Run] = (),
    languages: Sequence[str] = (),
    nsp: Mapping[str, str] | None = None,
    scores: str | Path | None = None,
) -> Study:
    """LMS, SS and ICAT: finished runs, models that are scored first, and the authors' files in `scores`.

    Models are scored in `languages`; where none is given, the paper's own in theirs, and all others in all
    five. `nsp` names for a model its checkpoint with a next-sentence head; that of a model that is scored is
    scored, too.
    """
    asked = Asked.of(asked)
    heads = dict(nsp or {})
    there = find_runs(asked.runs)
    _check_heads(heads, asked.models, there)
    wanted = replace(
        asked, runs=there, models=list(dict.fromkeys([*asked.models, *_heads_of(asked.models, heads)]))
    )
    runs = runs_of(wanted, NAME, _batches(asked.models, languages, heads), _suits)
    check_same_data(runs)
    answers = _answers(runs, heads)
    sources = sources_of(runs)
    if scores is not None:
        theirs, hashes = released(Path(scores))
        answers += theirs
        sources |= hashes
    if not answers:
        raise ConfigError(
            "The study of StereoSet needs runs on stereoset_… configs (gest score MODEL --config stereoset), "
            "a --model to score, or a folder of --scores."
        )
    return study_of(answers, sources)


def _check_heads(heads: Mapping[str, str], models: Sequence[str], runs: Sequence[Run]) -> None:
    """Refuse a checkpoint of a model that nobody asks about, or that would not be asked itself."""
    there = {run.manifest.subject for run in runs}
    for model, head in heads.items():
        if model in models:
            continue
        if written_once(model) not in there:
            known = ", ".join([*models, *sorted(there)]) or "none"
            raise ConfigError(
                f"--nsp names a checkpoint of {model}, which is no model of this study. Write the model as "
                f"it is given: {known}."
            )
        if written_once(head) not in there:
            raise ConfigError(
                f"There is no run of {head}, the checkpoint of {model}. Score it first (gest score {head} "
                f"--config stereoset_en_{TESTS[1]}), or give --model {model}, and it is scored."
            )


def _suits(run: Run) -> bool:
    return run.manifest.config in CONFIGS and CONFIGS[run.manifest.config].family is DATA


def _batches(models: Sequence[str], languages: Sequence[str], heads: Mapping[str, str]) -> list[Batch]:
    """Both tests in the languages of each model; between sentences causal models are asked in both ways.

    A checkpoint with a next-sentence head is asked between sentences only.
    """
    unknown = [code for code in languages if code not in STEREOSET]
    if unknown:
        raise ConfigError(f"StereoSet is not in {unknown[0]!r}. Its languages are {', '.join(STEREOSET)}.")
    batches = []
    for model in (model for model in models if model not in _heads_of(models, heads)):
        own = languages or _printed_languages(model)
        between = ",".join(f"stereoset_{code}_{TESTS[1]}" for code in own)
        both = ",".join(f"stereoset_{code}_{test}" for code in own for test in TESTS)
        batches += [
            Batch(both, models=(model,)),
            Batch(between, Options(intersentence=RATIO), RATIO, (CAUSAL,), (model,)),
        ]
        if model in heads:
            batches.append(Batch(between, models=(heads[model],)))
    return batches


def _heads_of(models: Sequence[str], heads: Mapping[str, str]) -> list[str]:
    """The checkpoints of some models."""
    return [head for model, head in heads.items() if model in models]


def _printed_languages(model: str) -> Sequence[str]:
    """The languages that the paper has a model in; all of them for any other model."""
    rows = published.load(TABLES[0].published)["rows"]
    own = [row["language"] for row in rows if model in hub_ids(row["handle"])]
    return [code for code in STEREOSET if code in own] or STEREOSET


def _answers(runs: Sequence[Run], heads: Mapping[str, str]) -> list[Answers]:
    """What the runs answered; those of a next-sentence checkpoint are its model's."""
    base = {written_once(head): written_once(model) for model, head in heads.items()}
    names = dict(zip([run.manifest.subject for run in runs], names_of(runs), strict=True))
    facts = {run.manifest.subject: run.manifest.metadata for run in runs}
    found = []
    for run in runs:
        subject = base.get(run.manifest.subject, run.manifest.subject)
        name = names.get(subject, subject.rpartition("/")[2])
        found.append(of_run(run, name, facts.get(subject, {})))
    return found


def study_of(answers: Sequence[Answers], sources: dict[str, str]) -> Study:
    """The study of some answers."""
    found = entries(answers)
    asked = in_several_ways(answers)
    tables = [*(_table(source, [one for one in found if one.tests == source.tests]) for source in TABLES)]
    tables.append(_table(WAYS, asked))
    return Study(
        NAME,
        TITLE,
        tuple(sorted((table for table in tables if table.rows), key=lambda table: table.name)),
        tuple(_figures(found)),
        tuple(_sentences(found, asked)),
        tuple(_notes(found)),
        sources,
    )


def _table(source: Source, found: Sequence[Entry]) -> Table:
    """A table of the paper, a row a number: these models, the same one in print, all of print."""
    ways = TESTS[1] in source.tests
    if source is WAYS:  # one way alone is compared with nothing
        found = [one for one in found if _is_compared(one, found)]
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        row = printed(one, source)
        for name in source.scores:
            value = Estimate.of(one.result, name)
            rows.append(
                (
                    one.model,
                    one.language,
                    *([one.way] if ways else []),
                    _HEADINGS[name],
                    # a mean over targets that has no interval (docs/metrics.md)
                    value if name != "macro_icat" else Estimate(value.value, math.nan, math.nan),
                    int(one.result["n"]),
                    "" if row is None else f"{row[name]:g}",
                    printed_range(one, source, name),
                )
            )
    return Table(
        f"table-{source.number}",
        f"{source.title} (like table {source.number})",
        (
            *("model", "language", *(["way"] if ways else [])),
            *("score", "value", "n", "paper", "paper's models"),
        ),
        tuple(rows),
        source.note + published.load(source.published)["note"].partition("Hub names). ")[2],
    )


def _is_compared(one: Entry, found: Sequence[Entry]) -> bool:
    """Whether there is another way of the same model, or the paper prints this one."""
    ways = sum((other.model, other.language) == (one.model, one.language) for other in found)
    return ways > 1 or printed(one, WAYS) is not None


def _figures(found: Sequence[Entry]) -> list[Panel]:
    """LMS, SS and ICAT of each test and language beside the paper's models; a colour for each model."""
    numbers = {model: number for number, model in enumerate(dict.fromkeys(one.model for one in found))}
    runs = [(one.model, part.run) for one in found if len(one.parts) == 1 for part in one.parts]
    return stereoset_panels([Measured(run, model, numbers[model]) for model, run in runs if run is not None])


def _sentences(found: Sequence[Entry], asked: Sequence[Entry]) -> Iterator[str]:
    for tests, where in ((TESTS[:1], "within sentences"), (TESTS[1:], "between sentences")):
        own = [one for one in found if one.tests == tests]
        if not own:
            continue
        ss = [Estimate.of(one.result, "ss") for one in own]
        above, below = sum(one.low > 50 for one in ss), sum(one.high < 50 for one in ss)
        yield (
            f"{where.capitalize()} the whole interval of SS lies above 50 in {above} and below 50 in {below} "
            f"of {len(own)} results (a model in a language)."
        )
    yield MANY_INTERVALS_NOTE
    yield "A model that picks at random has LMS 50, SS 50 and ICAT 50; ICAT alone does not say what moved it."
    for one in asked:
        for other in asked:
            same = (one.model, one.language) == (other.model, other.language)
            if same and one.way == NSP != other.way:
                yield (
                    f"{one.model} in {LANGUAGES[one.language].name}, between sentences: LMS "
                    f"{Estimate.of(one.result, 'lms')} by the next-sentence head, "
                    f"{Estimate.of(other.result, 'lms')} {other.way}; SS {Estimate.of(one.result, 'ss')} and "
                    f"{Estimate.of(other.result, 'ss')}."
                )
    yield NO_CONTROL_NOTE


def _notes(found: Sequence[Entry]) -> Iterator[str]:
    parts = [(part.model, part.run) for one in found for part in one.parts if part.run is not None]
    runs = {(model, run.manifest.config): run.manifest for model, run in parts}
    yield from notes_of([run for _, run in parts], [model for model, _ in parts])
    for (model, _), facts in runs.items():
        skipped, number = sum(facts.metadata["skipped"].values()), facts.metadata["asked"]
        if skipped:
            yield f"{model} on {facts.config}: no answer to {skipped:,} of {number:,} (see result.json)."
        rules = facts.metadata["options"].get("rules")
        if rules:
            yield f"{model} on {facts.config} was asked by the authors' rules {rules}."
    whole = {(one.model, one.language) for one in found if len(one.tests) == len(TESTS)}
    for one in found:
        if (one.model, one.language) not in whole:
            yield (
                f"{one.model} in {LANGUAGES[one.language].name}: {one.tests[0]} only, so it is not in tables "
                f"4 and 5."
            )
    between = (one for one in found if one.tests == TESTS[1:])
    generative = [one.model for one in between if one.parts[0].kind == "seq2seq"]
    if generative:
        yield (
            f"{', '.join(dict.fromkeys(generative))}: no checkpoint with a next-sentence head was given "
            f"(--nsp MODEL=CHECKPOINT, made by gest nsp-train), so the generative score stands in tables 3, "
            f"4, 5 and 9, where the paper's T5 have that of the head."
        )
