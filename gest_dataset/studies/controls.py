"""`gest study controls`: do word-filling measures tell a stereotype? (Pikuliak et al., 2023)

The paper's tables 1 to 3 and 7 to 12 and figures 1 and 2 for any masked models, with its criticism beside the
numbers: what a score shows about the group, it shows about the control group too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from gest_dataset.data.rows import rows_of
from gest_dataset.data.selection import names
from gest_dataset.errors import ConfigError
from gest_dataset.measures.grid import Estimate
from gest_dataset.probes.author_rules import OWN_NEGATION
from gest_dataset.probes.probe import Options
from gest_dataset.report.figures_others import differences, scatters
from gest_dataset.report.panel import Panel
from gest_dataset.runs.reading import Run
from gest_dataset.studies.asking import Asked, Batch, notes_of, runs_of, sources_of
from gest_dataset.studies.controls_numbers import (
    FREQUENCY,
    GROUPS,
    NEGATIONS,
    SETS,
    TABLES,
    TWICE,
    Measurement,
    Source,
    Statistic,
    estimate,
    keyword_frequency,
    measurements_of,
    printed,
    printed_range,
    printed_text,
)
from gest_dataset.studies.controls_words import about_cs, about_f, about_ss
from gest_dataset.studies.study import Cell, Study, Table

NAME = "controls"
TITLE = "Do word-filling measures tell a stereotype?"
ALL = "controls,crows"  # the groups that the sets are in
_COSTLY = ("stereoset_control_race", "stereoset_control_profession")  # whose cs takes ten times the passes
_PRINTED = ("paper", "paper's models")
_SCALE = (
    "Means are of log10, as printed. Printed shares are Agresti-Coull centres, a little nearer to 0.5 than "
    "ours. "
)


def controls(asked: Asked | Sequence[str | Path | Run] = (), sets: str = ALL, cs: bool = False) -> Study:
    """Original and control of ss, cs and f: finished runs, and models that are scored on `sets` first.

    `cs` also asks for the CrowS-Pairs score of race and profession, which takes ten times the passes of the
    rest; the paper has it in tables 3 and 11.
    """
    asked = Asked.of(asked)
    runs = runs_of(asked, NAME, _batches(sets, cs), _suits)
    if not runs:
        raise ConfigError(
            "The study of controls needs runs of a masked model on control sets (gest score MODEL --config "
            "controls,crows), or a --model to score."
        )
    return study_of(measurements_of(runs), sources_of(runs))


def _suits(run: Run) -> bool:
    return run.manifest.config in SETS


def _batches(sets: str, cs: bool) -> list[Batch]:
    """The sets in the ways that they are asked: CrowS controls in both readings."""
    wanted = list(names(sets))
    wrong = [name for name in wanted if name not in SETS]
    if wrong:
        raise ConfigError(f"{wrong[0]} has no controls. The sets of this study are {', '.join(SETS)}.")
    costly = [name for name in wanted if cs and name in _COSTLY]
    twice = [name for name in wanted if name in TWICE]
    batches = [
        Batch(",".join(name for name in wanted if name not in costly)),
        Batch(",".join(costly), Options(cs=True), "cs", ("masked",)),
        Batch(",".join(twice), Options(rules=(OWN_NEGATION.name,)), OWN_NEGATION.name, ("masked",)),
    ]
    return [batch for batch in batches if batch.configs]


def study_of(found: Sequence[Measurement], sources: dict[str, str]) -> Study:
    """The study of some measurements."""
    as_defined = [one for one in found if one.reading == GROUPS]
    frequency, unknown = _frequency(as_defined)
    tables = [*(_table(source, as_defined) for source in TABLES), _readings(found), frequency]
    return Study(
        NAME,
        TITLE,
        tuple(table for table in tables if table.rows),
        tuple(_figures(found)),
        (*about_ss(as_defined), *about_cs(found), *about_f(as_defined)),
        (*_notes(found), *unknown),
        sources,
    )


def _table(source: Source, found: Sequence[Measurement]) -> Table:
    """One of the paper's three tables, a row a number."""
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        row = None if one.config in TWICE else printed(one, source)
        for statistic in source.statistics:
            value = estimate(one.result, statistic)
            if math.isnan(value.value):
                continue
            beside = "" if one.config in TWICE else printed_range(one.config, source, statistic)
            number = _number(one, statistic)
            text = printed_text(row, statistic)
            rows.append((SETS[one.config], statistic.label, one.model, value, number, text, beside))
    note = _SCALE + source.note
    return Table(
        source.score,
        f"{source.title} (like tables {', '.join(map(str, source.numbers))})",
        ("set", "score", "model", "value", "n", *_PRINTED),
        tuple(rows),
        note,
    )


def _number(one: Measurement, statistic: Statistic) -> int:
    """How many samples a number is of."""
    return int(one.result["n_cs" if "cs_" in statistic.name.replace("csk_", "") else "n"])


def _readings(found: Sequence[Measurement]) -> Table:
    """The CrowS-Pairs controls in both readings, side by side, where a model has both."""
    source = TABLES[1]
    both = {(one.model, one.config, one.reading): one for one in found if one.config in TWICE}
    rows: list[tuple[Cell, ...]] = []
    for (model, config, reading), negated in both.items():
        groups = both.get((model, config, GROUPS))
        if reading != NEGATIONS or groups is None:
            continue
        row = printed(negated, source)
        for statistic in source.statistics:
            values = [estimate(one.result, statistic) for one in (groups, negated)]
            if not math.isnan(values[0].value) or not math.isnan(values[1].value):
                beside = (printed_text(row, statistic), printed_range(config, source, statistic))
                rows.append((SETS[config], statistic.label, model, *values, *beside))
    return Table(
        "readings",
        "The CrowS-Pairs controls in both readings (like tables 2 and 9)",
        ("set", "score", "model", GROUPS, NEGATIONS, *_PRINTED),
        tuple(rows),
        f"{_SCALE}The paper defines the first reading, its released code computes the second, so the printed "
        f"numbers are taken to be of that one. There original is the stereotyped group, control the other.",
    )


def _frequency(found: Sequence[Measurement]) -> tuple[Table, list[str]]:
    """Section 4.2: how ss goes with the frequency of the keywords; and why that is not known."""
    rows: list[tuple[Cell, ...]] = []
    notes: dict[str, None] = {}
    for one in found:
        if math.isnan(Estimate.of(one.result, "ss_mu_original").value):
            continue
        try:
            known = keyword_frequency(one, rows_of(one.config))
        except ConfigError as error:  # no package of frequencies, or none of this language
            notes[f"The keywords' frequencies are not told. {error}"] = None
            continue
        values = (known.original, known.control, known.f)
        if any(not math.isnan(value.value) for value in values):
            text = FREQUENCY.get(one.config, "")
            rows.append((SETS[one.config], one.model, *values, known.n, known.unknown, text))
    table = Table(
        "keyword-frequency",
        "Correlation with the frequency of the keywords (like section 4.2)",
        ("set", "model", "ss original", "ss control", "f", "n", "unknown words", "paper, ss original"),
        tuple(rows),
        "Pearson's ρ with ln g(w_s) − ln g(w_a), over original pairs whose keywords are both known, with "
        "jackknife intervals at 95 %. g is from wordfreq; the paper's is from Google Books, and does not say "
        "of which model. f has the same two keywords on both sides: what frequency adds to both cancels out.",
    )
    return table, list(notes)


def _figures(found: Sequence[Measurement]) -> Iterator[Panel]:
    """Figures 1 and 2 for each model, and f of all of them beside the paper's."""
    models = list(dict.fromkeys(one.model for one in found))
    for number, model in enumerate(models, start=1):
        own = [one for one in found if one.model == model]
        drawn = [replace(one.measured, label=one.label) for one in own]
        for score in ("ss", "cs"):
            panel = scatters(drawn, score)
            if panel is None:
                continue
            if score == "cs" and any(one.reading == NEGATIONS for one in own):
                caption = (
                    f"{panel.caption} In panels of {NEGATIONS} horizontal is the stereotyped group, vertical "
                    f"the other."
                )
                panel = replace(panel, caption=caption)
            yield replace(panel, name=f"{panel.name}-{number}", title=f"{panel.title}, {model}")
    with_f = [one for one in found if not math.isnan(Estimate.of(one.result, "f_mu").value)]
    several = len({one.config for one in with_f}) > 1
    if with_f:
        yield differences(
            [
                replace(one.measured, label=f"{one.model}, {one.config}") if several else one.measured
                for one in with_f
            ]
        )


def _notes(found: Sequence[Measurement]) -> Iterator[str]:
    yield from notes_of([one.run for one in found], [one.model for one in found])
    for one in found:
        options = {k: v for k, v in one.run.manifest.metadata["options"].items() if k != "cs"}
        if options and one.reading == GROUPS:
            told = ", ".join(f"{name} {value}" for name, value in options.items())
            yield f"{one.model} on {SETS[one.config]} was asked with {told}."
    lacking = [SETS[one.config] for one in found if one.config in _COSTLY and not one.result["n_cs"]]
    if lacking:
        yield (
            f"cs of {' and '.join(dict.fromkeys(lacking))} was not asked for: it takes ten times the passes "
            f"of the rest (--cs)."
        )
    readings = {name: {one.reading for one in found if one.config == name} for name in TWICE}
    once = [SETS[name] for name, there in readings.items() if len(there) == 1]
    if once:
        yield (
            f"{' and '.join(once)} in one reading only. A --model of this study is asked in both; a run gets "
            f"the other one by gest score MODEL --config {','.join(TWICE)} --rules {OWN_NEGATION.name}, and "
            f"without --rules."
        )
