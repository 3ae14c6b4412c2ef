"""The samples of all runs as columns: one set of samples per config, and the scores of each run on it.

Texts are numbers of a list that has each of them once. A sample is identified by its id and its number among
the samples with this id.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from gest_dataset.display import printable
from gest_dataset.measures.result import score_frame
from gest_dataset.probes.templates import EXTENDED_NAME, EXTENDED_TEMPLATES, TEMPLATES
from gest_dataset.report.labels import LabelledRun, language_name
from gest_dataset.report.reliability import rows_of_runs
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import STEREOTYPES

_SOURCE_FIELDS = ("source", "sentence")  # the English sentence that samples of several languages share
_ENGLISH_FIELDS = ("source", "prompt")  # texts in English, whatever the language of the run is


class Texts(dict[str, int]):
    """The number of each text, whose invisible characters are escaped."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]

    def column(self, texts: Iterable[str | None]) -> list[int]:
        """The numbers of some texts; -1 for None."""
        return [-1 if text is None else self[printable(text)] for text in texts]


def scaled_integers(values: Floats | Sequence[float], decimals: int) -> list[int | None]:
    """Scores as integers of their last decimal, which compress well; None without a score."""
    scale = 10**decimals
    return [round(value * scale) if np.isfinite(value) else None for value in np.asarray(values).tolist()]


def samples_of(runs: Sequence[LabelledRun]) -> dict[str, Any]:
    """The data of the sample browser: `texts`, `sets`, `runs`, and `notes` on missing texts."""
    texts, sets, columns, notes = Texts(), [], {}, []
    groups: dict[tuple[str, ...], list[LabelledRun]] = {}
    for run in runs:
        groups.setdefault((run.run.manifest.measure, run.config, run.language), []).append(run)
    for number, group in enumerate(groups.values()):
        rows, note = rows_of_runs(group)
        notes += [note] if note else []
        scored: dict[Hashable, dict[str, Any]] = {}
        for run in group:
            for key, row in zip(_keys(run.run.table), run.run.table.to_pylist(), strict=True):
                scored.setdefault(key, row)
        ids = [] if group[0].measure.display.categorical else [str(row["id"]) for row in rows]
        in_data = _keys(pa.table({"id": pa.array(ids, pa.string())}))
        keys = dict.fromkeys([*in_data, *scored])  # the order of the data, then samples of runs only
        places = {key: place for place, key in enumerate(keys)}
        sets.append(_set_columns(group[0], places, rows, scored, texts))
        for run in group:
            columns[run.number] = {**_run_columns(run, places, texts), "set": number}
    return {
        "notes": list(dict.fromkeys(notes)),
        "sets": sets,
        "runs": [columns[number] for number in sorted(columns)],
        "texts": list(texts),
    }


def _ids(table: pa.Table) -> pd.DataFrame:
    """The id, template and occurrence of each row."""
    return score_frame(table.select([name for name in ("id", "template") if name in table.column_names]))


def _keys(table: pa.Table) -> list[tuple[str, int]]:
    """The keys of the rows of a table, which are unique within a template."""
    frame = _ids(table)
    return list(zip(frame["id"].tolist(), frame["occurrence"].tolist(), strict=True))


def _set_columns(
    run: LabelledRun,
    places: Mapping[Any, int],
    rows: Sequence[dict[str, Any]],
    scored: Mapping[Any, dict[str, Any]],
    texts: Texts,
) -> dict[str, Any]:
    """What the samples are, whichever run scored them."""
    display = run.measure.display
    by_id = {str(row["id"]): row for row in rows}
    data = [by_id.get(name, {}) for name, _ in places]
    either = [scored.get(key) or row for key, row in zip(places, data, strict=True)]
    numbers = [row.get("stereotype") for row in either]
    genders = [STEREOTYPES[n].gender if isinstance(n, int) and n in STEREOTYPES else None for n in numbers]
    topics = [display.topic(row, own) if row else None for row, own in zip(either, data, strict=True)]
    sources = [
        next((row[name] for row in pair for name in _SOURCE_FIELDS if name in row), None)
        for pair in zip(data, either, strict=True)
    ]
    shown = display.text_fields if rows else ()
    fields = {
        field: texts.column(str(row[field]) if field in row else None for row in data) for field in shown
    }
    return {
        "config": texts[run.config],
        "language": run.language,
        "ids": texts.column(name for name, _ in places),
        "about": texts.column(topics),
        "group": texts.column(genders),
        "source": texts.column(sources),
        "fields": fields,
    }


def _run_columns(run: LabelledRun, places: Mapping[Any, int], texts: Texts) -> dict[str, Any]:
    """The scores of a run, with the texts and numbers of its own table."""
    display, table = run.measure.display, run.run.table
    own = np.array([places[key] for key in _keys(table)], dtype=int)
    values, templates = display.value(table), _ids(table)["template"].to_numpy()
    used = [int(template) for template in dict.fromkeys(templates.tolist())]

    def column(numbers: Any, chosen: Any = slice(None)) -> list[int | None]:
        full = np.full(len(places), np.nan)
        full[own[chosen]] = np.asarray(numbers, dtype=float)[chosen]
        return scaled_integers(full, display.decimals)

    fields: dict[str, list[int]] = {}
    for name in display.text_columns:
        if name in table.column_names:
            cells: list[str | None] = [None] * len(places)
            for place, value in zip(own.tolist(), table[name].to_pylist(), strict=True):
                cells[place] = value if isinstance(value, str) else _tokens(value)
            fields[name] = texts.column(cells)
    return {
        "label": texts[run.label],
        "model": texts[run.model],
        "kind": run.kind,
        "language": language_name(run.language),
        "code": run.language,
        "score": display.score_label,
        "sides": display.sides,
        "labels": display.categorical,
        "decimals": display.decimals,
        "number": display.number_label,
        "note": display.probability_note,
        "variants": display.variants,
        "english": [
            name for name in _ENGLISH_FIELDS if name in (*display.text_fields, *display.text_columns)
        ],
        "frames": _frames(run, used),
        "templates": used,
        "scores": [column(values, templates == template) for template in used],
        "fields": fields,
        "numbers": {
            field: column(table[name].to_pylist())
            for field, name in display.number_columns.items()
            if table[name].null_count < table.num_rows
        },
        "skipped": list(_skipped(run, places, used, texts)),
    }


def _tokens(likely: Sequence[Mapping[str, Any]]) -> str | None:
    """Tokens with their ln P, the most likely first."""
    ordered = sorted(likely, key=lambda one: -one["log_probability"])
    return " · ".join(f"{one['token']!r} {one['log_probability']:.3f}" for one in ordered) or None


def _frames(run: LabelledRun, used: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    """The texts of the templates; a run stores only the name of a user's file of templates."""
    custom = run.custom_templates and run.facts["options"]["templates"] != EXTENDED_NAME
    if run.measure.name != "templates" or custom:
        return {}
    known = {**TEMPLATES, **EXTENDED_TEMPLATES}
    chosen = {number: known[number] for number in used if number in known}
    return {number: (one.text, one.masculine, one.feminine) for number, one in chosen.items()}


def _skipped(
    run: LabelledRun, places: Mapping[Any, int], used: Sequence[int], texts: Texts
) -> Iterator[tuple[int, int, int]]:
    """Template, sample and reason of each sample without a score."""
    if run.measure.display.categorical:
        table = run.run.table
        for key, problem in zip(_keys(table), table["problem"].to_pylist(), strict=True):
            if problem:
                yield 0, places[key], texts[printable(problem)]
        return
    skipped = run.run.result.get("skipped") or {}
    names, reasons = skipped.get("id", []), skipped.get("reason", [])
    templates = skipped.get("template") or [0] * len(names)
    for name, template, reason in zip(names, templates, reasons, strict=True):
        place = places.get((name, 0))
        if place is not None and int(template or 0) in used:
            yield int(template or 0), place, texts[printable(reason)]
