"""The samples of all runs as columns: one set of samples per config, and the scores of each run on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gest_dataset.display import printable
from gest_dataset.probes.templates import EXTENDED_NAME, EXTENDED_TEMPLATES, TEMPLATES
from gest_dataset.report.labels import LabelledRun, language_name
from gest_dataset.report.reliability import rows_of_runs
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import STEREOTYPES

Key = tuple[str, int]  # the id of a sample, and its number among those with this id
_SOURCE_FIELDS = ("source", "sentence")  # the English sentence that samples of several languages share
_ENGLISH_FIELDS = ("source", "prompt")  # texts in English, whatever the language of the run is


class Texts:
    """All texts of the page, each once; columns refer to them by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a text, whose invisible characters are escaped."""
        return self._numbers.setdefault(printable(text), len(self._numbers))

    def column(self, texts: Iterable[str | None]) -> list[int]:
        """The numbers of some texts; -1 for None."""
        return [-1 if text is None else self.number(text) for text in texts]

    def all(self) -> list[str]:
        return list(self._numbers)


def scaled_integers(values: Floats | Sequence[float], decimals: int) -> list[int | None]:
    """Scores as integers of their last decimal, which compress well; None without a score."""
    scale = 10**decimals
    return [round(value * scale) if np.isfinite(value) else None for value in np.asarray(values).tolist()]


@dataclass(frozen=True)
class _SampleSet:
    """The samples of one config: their order, the rows of the data by id, and the first table row of each."""

    keys: dict[Key, int]
    rows: dict[str, dict[str, Any]]
    scored: Mapping[Key, dict[str, Any]]


def samples_of(runs: Sequence[LabelledRun]) -> dict[str, Any]:
    """The data of the sample browser: `texts`, `sets`, `runs`, and `notes` on missing texts."""
    texts, sets, columns, notes = Texts(), [], {}, []
    groups: dict[tuple[str, ...], list[LabelledRun]] = {}
    for run in runs:
        groups.setdefault((run.run.manifest.measure, run.config, run.language), []).append(run)
    for number, group in enumerate(groups.values()):
        rows, note = rows_of_runs(group)
        notes += [note] if note else []
        samples = _sample_set(group, rows)
        sets.append(_set_columns(group[0], samples, texts))
        for run in group:
            columns[run.number] = _run_columns(run, number, samples, texts)
    return {
        "notes": list(dict.fromkeys(notes)),
        "sets": sets,
        "runs": [columns[number] for number in sorted(columns)],
        "texts": texts.all(),
    }


def _templates(run: LabelledRun) -> list[int]:
    table = run.run.table
    return table["template"].to_pylist() if "template" in table.column_names else [0] * table.num_rows


def _keys(run: LabelledRun) -> list[Key]:
    """The keys of the rows of a run's table, which are unique within a template."""
    seen: Counter[tuple[int, str]] = Counter()
    keys = []
    for pair in zip(_templates(run), run.run.table["id"].to_pylist(), strict=True):
        keys.append((pair[1], seen[pair]))
        seen[pair] += 1
    return keys


def _sample_set(group: Sequence[LabelledRun], rows: Sequence[dict[str, Any]]) -> _SampleSet:
    """The samples in the order of the data, followed by those that only a run has."""
    seen: Counter[str] = Counter()
    keys: dict[Key, None] = {}
    if not group[0].measure.display.categorical:  # those can have several rows of a sample, or lack some
        for row in rows:
            keys[str(row["id"]), seen[str(row["id"])]] = None
            seen[str(row["id"])] += 1
    scored: dict[Key, dict[str, Any]] = {}
    for run in group:
        for key, row in zip(_keys(run), run.run.table.to_pylist(), strict=True):
            keys.setdefault(key)
            scored.setdefault(key, row)
    by_id = {str(row["id"]): row for row in rows}
    return _SampleSet({key: number for number, key in enumerate(keys)}, by_id, scored)


def _set_columns(run: LabelledRun, samples: _SampleSet, texts: Texts) -> dict[str, Any]:
    """What the samples are, whichever run scored them."""
    display = run.measure.display
    data = [samples.rows.get(name, {}) for name, _ in samples.keys]
    either = [samples.scored.get(key) or row for key, row in zip(samples.keys, data, strict=True)]
    numbers = [row.get("stereotype") if row else None for row in either]
    genders = [STEREOTYPES[n].gender if isinstance(n, int) and n in STEREOTYPES else None for n in numbers]
    topics = [display.topic(row, own) if row else None for row, own in zip(either, data, strict=True)]
    sources = [
        next((row[name] for row in pair for name in _SOURCE_FIELDS if name in row), None)
        for pair in zip(data, either, strict=True)
    ]
    fields = {}
    if samples.rows:
        for field in display.text_fields:
            fields[field] = texts.column(str(row[field]) if field in row else None for row in data)
    return {
        "config": texts.number(run.config),
        "language": run.language,
        "ids": texts.column(name for name, _ in samples.keys),
        "about": texts.column(topics),
        "group": texts.column(genders),
        "source": texts.column(sources),
        "fields": fields,
    }


def _run_columns(run: LabelledRun, number: int, samples: _SampleSet, texts: Texts) -> dict[str, Any]:
    """The scores of a run, with the texts and numbers of its own table."""
    display, table = run.measure.display, run.run.table
    places = np.array([samples.keys[key] for key in _keys(run)], dtype=int)
    values = display.value(table)
    templates = np.array(_templates(run), dtype=int)
    texts_of_run = {*display.text_fields, *display.text_columns}
    used = [int(template) for template in dict.fromkeys(templates.tolist())]

    def column(numbers: Any, rows: Any) -> list[int | None]:
        full = np.full(len(samples.keys), np.nan)
        full[places[rows]] = np.asarray(numbers, dtype=float)[rows]
        return scaled_integers(full, display.decimals)

    fields: dict[str, list[int]] = {}
    for name in display.text_columns:
        if name in table.column_names:
            cells: list[str | None] = [None] * len(samples.keys)
            for place, value in zip(places.tolist(), table[name].to_pylist(), strict=True):
                cells[place] = value if isinstance(value, str) else _tokens(value)
            fields[name] = texts.column(cells)
    every = np.ones(len(places), dtype=bool)
    return {
        "label": texts.number(run.label),
        "model": texts.number(run.model),
        "kind": run.kind,
        "language": language_name(run.language),
        "code": run.language,
        "set": number,
        "score": display.score_label,
        "sides": display.sides,
        "labels": display.categorical,
        "decimals": display.decimals,
        "number": display.number_label,
        "note": display.probability_note,
        "variants": display.variants,
        "english": [name for name in _ENGLISH_FIELDS if name in texts_of_run],
        "frames": _frames(run, used),
        "templates": used,
        "scores": [column(values, templates == template) for template in used],
        "fields": fields,
        "numbers": {
            field: column(table[name].to_pylist(), every)
            for field, name in display.number_columns.items()
            if table[name].null_count < table.num_rows
        },
        "skipped": list(_skipped(run, samples, used, texts)),
    }


def _tokens(likely: Sequence[Mapping[str, Any]]) -> str | None:
    """Tokens with their ln P, the most likely first."""
    ordered = sorted(likely, key=lambda one: -one["log_probability"])
    return " · ".join(f"{one['token']!r} {one['log_probability']:.3f}" for one in ordered) or None


def _frames(run: LabelledRun, used: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    """The texts of the templates; a run stores only the name of a user's file of templates."""
    if run.measure.display.text_fields != ("sentence",):
        return {}
    if run.custom_templates and run.facts["options"]["templates"] != EXTENDED_NAME:
        return {}
    known = {**TEMPLATES, **EXTENDED_TEMPLATES}
    return {
        number: (known[number].text, known[number].masculine, known[number].feminine)
        for number in used
        if number in known
    }


def _skipped(
    run: LabelledRun, samples: _SampleSet, used: Sequence[int], texts: Texts
) -> Iterator[tuple[int, int, int]]:
    """Template, sample and reason of each sample without a score."""
    if run.measure.display.categorical:
        for key, row in zip(_keys(run), run.run.table.to_pylist(), strict=True):
            if row["problem"]:
                yield 0, samples.keys[key], texts.number(row["problem"])
        return
    skipped = run.run.result.get("skipped") or {}
    names, reasons = skipped.get("id", []), skipped.get("reason", [])
    templates = skipped.get("template") or [0] * len(names)
    for name, template, reason in zip(names, templates, reasons, strict=True):
        place = samples.keys.get((name, 0))
        number = int(template or 0)
        if place is not None and number in used:
            yield number, place, texts.number(reason)
