"""The samples of all runs as columns: a set of samples for each config, and the scores of each run on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gest_dataset.probes.templates import EXTENDED_NAME, EXTENDED_TEMPLATES, TEMPLATES
from gest_dataset.report.explorer.packed import Texts, whole_numbers
from gest_dataset.report.measured import Measured, language_name
from gest_dataset.report.texts import rows_behind
from gest_dataset.stereotypes import STEREOTYPES

Key = tuple[str, int]  # the id of a sample, and which of those with this id it is
_SOURCE_FIELDS = ("source", "sentence")  # the English sentence that samples of several languages share
_ENGLISH = ("source", "prompt")  # texts that are in English whatever the run's language is


@dataclass(frozen=True)
class _Set:
    """The samples that some runs share: their order, the rows of the data, and what a table says of each."""

    keys: dict[Key, int]
    rows: dict[str, dict[str, Any]]
    told: Mapping[Key, dict[str, Any]]


def samples(runs: Sequence[Measured]) -> dict[str, Any]:
    """What the browser of samples shows: `texts`, `sets`, `runs`, and notes on texts that are not there."""
    texts, sets, told, notes = Texts(), [], [], []
    groups: dict[tuple[str, ...], list[Measured]] = {}
    for run in runs:
        groups.setdefault((run.run.manifest.measure, run.config, run.language), []).append(run)
    for number, group in enumerate(groups.values()):
        rows, note = rows_behind(group)
        notes += [note] if note else []
        shared = _shared(group, rows)
        sets.append(_set_columns(group[0], shared, texts))
        told += [(run.number, _run_columns(run, number, shared, texts)) for run in group]
    return {
        "notes": list(dict.fromkeys(notes)),
        "sets": sets,
        "runs": [columns for _, columns in sorted(told, key=lambda pair: pair[0])],
        "texts": texts.all(),  # the last one: by now it has all of them
    }


def _keys(run: Measured) -> list[Key]:
    """What tells the rows of a run's table apart within a template."""
    table = run.run.table
    templates = table["template"].to_pylist() if "template" in table.column_names else [0] * table.num_rows
    seen: Counter[tuple[int, str]] = Counter()
    keys = []
    for pair in zip(templates, table["id"].to_pylist(), strict=True):
        keys.append((pair[1], seen[pair]))
        seen[pair] += 1
    return keys


def _shared(group: Sequence[Measured], rows: Sequence[dict[str, Any]]) -> _Set:
    """The samples of a config: in the order of the data, and behind them what only a run has."""
    by_id = {str(row["id"]): row for row in rows}
    seen: Counter[str] = Counter()
    ordered: dict[Key, None] = {}
    if not group[
        0
    ].measure.display.categorical:  # those can have several rows of a sample, or some of the samples
        for row in rows:
            ordered[str(row["id"]), seen[str(row["id"])]] = None
            seen[str(row["id"])] += 1
    told: dict[Key, dict[str, Any]] = {}
    for run in group:
        for key, row in zip(_keys(run), run.run.table.to_pylist(), strict=True):
            ordered.setdefault(key)
            told.setdefault(key, row)
    return _Set({key: place for place, key in enumerate(ordered)}, by_id, told)


def _set_columns(run: Measured, shared: _Set, texts: Texts) -> dict[str, Any]:
    """What is known of the samples whoever was asked."""
    words = run.measure.display
    data = [shared.rows.get(name, {}) for name, _ in shared.keys]
    either = [shared.told.get(key) or row for key, row in zip(shared.keys, data, strict=True)]
    numbers = [row.get("stereotype") if row else None for row in either]
    genders = [STEREOTYPES[n].gender if isinstance(n, int) and n in STEREOTYPES else None for n in numbers]
    topics = [words.topic(row, own) if row else None for row, own in zip(either, data, strict=True)]
    links = [
        next((row[name] for row in rows for name in _SOURCE_FIELDS if name in row), None)
        for rows in zip(data, either, strict=True)
    ]
    return {
        "config": texts.place(run.config),
        "language": run.language,
        "ids": texts.column(name for name, _ in shared.keys),
        "about": texts.column(topics),
        "group": texts.column(genders),
        "link": texts.column(links),
        "fields": {
            field: texts.column(str(row[field]) if field in row else None for row in data)
            for field in words.text_fields
        }
        if shared.rows
        else {},
    }


def _run_columns(run: Measured, number: int, shared: _Set, texts: Texts) -> dict[str, Any]:
    """The scores of a run, with the texts and numbers that its own table has."""
    words, table = run.measure.display, run.run.table
    places = np.array([shared.keys[key] for key in _keys(run)], dtype=int)
    values = words.value(table)
    templates = np.array(
        table["template"].to_pylist() if "template" in table.column_names else [0] * table.num_rows, dtype=int
    )
    chosen = [int(template) for template in dict.fromkeys(templates.tolist())]

    def spread(column: Any, of: Any) -> list[int | None]:
        whole = np.full(len(shared.keys), np.nan)
        whole[places[of]] = np.asarray(column, dtype=float)[of]
        return whole_numbers(whole, words.decimals)

    every = np.ones(len(places), dtype=bool)
    kept: dict[str, list[int]] = {}
    for name in words.text_columns:
        if name in table.column_names:
            column: list[str | None] = [None] * len(shared.keys)
            for place, value in zip(places.tolist(), table[name].to_pylist(), strict=True):
                column[place] = value if isinstance(value, str) else _tokens(value)
            kept[name] = texts.column(column)
    return {
        "label": texts.place(run.label),
        "model": texts.place(run.model),
        "kind": run.kind,
        "language": language_name(run.language),
        "code": run.language,
        "set": number,
        "score": words.score_label,
        "sides": words.sides,
        "labels": words.categorical,
        "decimals": words.decimals,
        "number": words.number_label,
        "has": words.probability_note,
        "variants": words.variants,
        "english": [field for field in (*words.text_fields, *words.text_columns) if field in _ENGLISH],
        "frames": _frames(run, chosen),
        "templates": chosen,
        "scores": [spread(values, templates == template) for template in chosen],
        "kept": kept,
        "numbers": {
            field: spread(table[column].to_pylist(), every)
            for field, column in words.number_columns.items()
            if table[column].null_count < table.num_rows
        },
        "skipped": list(_skipped(run, shared, chosen, texts)),
    }


def _tokens(likely: Sequence[Mapping[str, Any]]) -> str | None:
    """Tokens with their ln P, the likeliest first; None where there are none."""
    ordered = sorted(likely, key=lambda one: -one["log_probability"])
    return " · ".join(f"{one['token']!r} {one['log_probability']:.3f}" for one in ordered) or None


def _frames(run: Measured, chosen: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    """The words around a sentence, where they are known: of a file of templates a run has the name only."""
    if run.measure.display.text_fields != ("sentence",):
        return {}
    if run.own_templates and run.facts["options"]["templates"] != EXTENDED_NAME:
        return {}
    known = {**TEMPLATES, **EXTENDED_TEMPLATES}
    return {
        number: (known[number].text, known[number].masculine, known[number].feminine)
        for number in chosen
        if number in known
    }


def _skipped(
    run: Measured, shared: _Set, chosen: Sequence[int], texts: Texts
) -> Iterator[tuple[int, int, int]]:
    """Template, sample and reason of what has no score."""
    told = run.run.result.get("skipped") or {}
    if run.measure.display.categorical:
        for key, row in zip(_keys(run), run.run.table.to_pylist(), strict=True):
            if row["problem"]:
                yield 0, shared.keys[key], texts.place(row["problem"])
        return
    names, reasons = told.get("id", []), told.get("reason", [])
    templates = told.get("template") or [0] * len(names)
    for name, template, reason in zip(names, templates, reasons, strict=True):
        place = shared.keys.get((name, 0))
        column = int(template or 0)
        if place is not None and column in chosen:
            yield column, place, texts.place(reason)
