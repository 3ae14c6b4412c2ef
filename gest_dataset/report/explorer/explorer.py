"""The interactive part of the page: all samples, comparisons of runs, profiles, and a table of all runs.

A profile has the 16 stereotypes of a run relative to its own middle, since a rate only has a meaning relative
to the other rates of its run (section 4.2.1 of Pikuliak et al., 2024): (ln q_f + ln q_m) / 2 for models,
averaged over templates, and f_m for translators.

The samples of all runs are columns: one set of samples per config, and the scores of each run on it. Texts
are numbers of a list that has each of them once. A sample is identified by its id and its number among those
with this id.
"""

import base64
import gzip
import json
import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

from gest_dataset.display import printable
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.measure import Result
from gest_dataset.measures.result import score_frame
from gest_dataset.probes.templates import EXTENDED_NAME, EXTENDED_TEMPLATES, TEMPLATES
from gest_dataset.report.labels import LabelledRun, RunVerdict, language_name, short_name
from gest_dataset.report.reliability import rows_of_runs
from gest_dataset.runs.comparison import Difference, compare
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import json_value

# 95 % of the absolute correlations of 16 unrelated pairs are below it (t with 14 degrees of freedom)
CHANCE = 0.497
_UNKNOWN = "not known"
# Upper bounds of model sizes, in millions of parameters
_SIZES = {0: _UNKNOWN, 200: "up to 200 M", 1_000: "200 M to 1 B", 10_000: "1 to 10 B", math.inf: "over 10 B"}
_FAMILY = re.compile(r"[^\W\d_]+")
_SOURCE_FIELDS = ("source", "sentence")  # the English sentence that samples of several languages share
_ENGLISH_FIELDS = ("source", "prompt")  # texts in English, whatever the language of the run is
_NAMES = {number: f"{number} {stereotype.name}" for number, stereotype in STEREOTYPES.items()}


def explorer_of(runs: Sequence[LabelledRun], verdicts: Sequence[RunVerdict]) -> dict[str, Any]:
    """What the page shows of the interactive part: `packed` is the data for its `script`."""
    samples = samples_of(runs)
    groups, profiles, board = compare_groups(runs), profiles_of(runs), board_of(verdicts)
    content = {
        "samples": samples,
        "comparisons": [_ratios(group) for group in groups if group.others],
        "profiles": [profile["content"] for profile in profiles],
        "board": [{key: row[key] for key in row if key != "millions"} for row in json_value(board)],
    }
    return {
        "samples": sum(len(one["ids"]) for one in samples["sets"]),
        "scores": list(dict.fromkeys(run.measure.display.score_label for run in runs)),
        "notes": samples["notes"],
        "groups": groups,
        "profiles": profiles,
        "board": board,
        "has_ranks": any("feminine_ranks" in part for run in runs for part in run.templates.values()),
        "packed": pack(content),
        "script": Markup(Path(__file__).with_name("built.js").read_text(encoding="utf-8")),
        # of the libraries in the script, whose licences ask for a notice in every copy
        "licences": Path(__file__).with_name("licences.txt").read_text(encoding="utf-8"),
    }


def pack(content: dict[str, Any]) -> str:
    """Base64 of compressed JSON, which the script unpacks with the browser's `DecompressionStream`.

    No letter of base64 is markup, and equal content gives equal text.
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()


# --- the table of all runs


def board_of(verdicts: Sequence[RunVerdict]) -> list[dict[str, Any]]:
    """All runs with their headlines, families and sizes; empty for a single run."""
    rows = []
    for verdict in verdicts:
        run, head = verdict.run, verdict.headline
        about = run.run.manifest.about
        if run.language and run.language not in about:
            about = f"{about} · {language_name(run.language)}"
        millions = (run.facts.get("parameters") or 0) / 1e6
        row = {
            "run": run.number,
            "label": run.label,
            "about": about,
            "family": family_of(run.model),
            "size": next(name for most, name in _SIZES.items() if millions <= most),
            "millions": millions or None,
            "symbol": head.symbol,
            "ratio": head.ratio,
            "null": head.null,
            "verdict": verdict.verdict,
        }
        rows.append(row | verdict.estimate._asdict())
    return rows if len(rows) > 1 else []


def family_of(model: str) -> str:
    """The family of a model: the first letters of its name.

    >>> family_of("EleutherAI/pythia-70m"), family_of("google-bert/bert-base-uncased"), family_of("123")
    ('pythia', 'bert', 'not known')
    """
    letters = _FAMILY.search(short_name(model))
    return letters[0].lower() if letters else _UNKNOWN


# --- comparisons


@dataclass(frozen=True)
class RunGroup:
    """The runs of one config with their differences from the baseline, or the reason why there are none."""

    about: str
    baseline: LabelledRun
    others: list[tuple[LabelledRun, Difference]]
    reason: str = ""


def compare_groups(runs: Sequence[LabelledRun]) -> list[RunGroup]:
    """The groups of runs of the same measure on the same config; the first run is the baseline."""
    groups: dict[tuple[str, str], list[LabelledRun]] = {}
    for run in runs:
        if run.measure.pairings:
            groups.setdefault((run.run.manifest.about, run.run.manifest.measure), []).append(run)
    compared = []
    for (about, _), (baseline, *others) in groups.items():
        if others:
            try:
                found = compare([baseline.run, *(run.run for run in others)], by_template=False)
                differences = list(zip(others, found.differences, strict=True))
                compared.append(RunGroup(about, baseline, differences))
            except (ConfigError, DataError) as error:
                compared.append(RunGroup(about, baseline, [], str(error)))
    return compared


def _ratios(group: RunGroup) -> dict[str, Any]:
    others = []
    for run, difference in group.others:
        numbers = [(_NAMES[one.stereotype], *json_value(one.times)) for one in difference.by_stereotype]
        rows = [dict(zip(("stereotype", "value", "low", "high"), row, strict=True)) for row in numbers]
        others.append({"run": run.number, "rows": rows})
    return {"baseline": group.baseline.number, "others": others}


# --- profiles


def profiles_of(runs: Sequence[LabelledRun]) -> list[dict[str, Any]]:
    """The profiles of the models, and those of the translators, if there are at least two runs.

    `values` has a row for each of `runs`; rates without a value are nan. `correlations` is run by run, and
    `content` is what the page's script gets.
    """
    all_profiles = []
    for symbol, name, unit in (("q", "ln q_i", "ln q_i − the run’s middle"), ("p", "p_i", "p_i − f_m")):
        measured = [run for run in runs if all(symbol in part for part in run.templates.values())]
        profiles = {run.number: _profile(list(run.templates.values()), symbol) for run in measured}
        # Without samples of some stereotype a run has no middle, and so no profile
        profiled = [run for run in measured if np.isfinite(profiles[run.number]).any()]
        if len(profiled) < 2:
            continue
        values = np.array([profiles[run.number] for run in profiled])
        with np.errstate(invalid="ignore", divide="ignore"):
            correlations = np.corrcoef(values).round(12)  # exactly 1 on the diagonal
        order = similarity_order(values)
        content = {
            "name": name,
            "unit": unit,
            "stereotypes": list(_NAMES.values()),
            "rows": [
                {
                    "label": run.label,
                    "model": short_name(run.model),
                    "language": language_name(run.language),
                    "values": json_value(values[number].round(4)),
                    "order": order.index(number),
                }
                for number, run in enumerate(profiled)
            ],
            "columns": similarity_order(values.T),
            "correlations": json_value(correlations.round(3)),
        }
        profile = {"runs": profiled, "values": values, "correlations": correlations}
        all_profiles.append({"unit": unit, **profile, "content": content})
    return all_profiles


def _profile(parts: Sequence[Result], symbol: str) -> Floats:
    """A run's 16 rates relative to its middle, averaged over its templates."""
    rates, *sides = (np.array([part[f"{symbol}{end}"] for part in parts]) for end in ("", "_f", "_m"))
    if symbol == "q":
        with np.errstate(divide="ignore", invalid="ignore"):
            rates, *sides = map(np.log, (rates, *sides))
    values = np.mean(rates - np.mean(sides, axis=0)[:, None], axis=0)
    return np.where(np.isfinite(values), values, np.nan)


def similarity_order(values: Floats) -> list[int]:
    """An order of the rows in which neighbours are similar: the leaves of an average-linkage tree."""
    if len(values) < 3:
        return list(range(len(values)))
    tree = hierarchy.linkage(pdist(np.nan_to_num(values)), "average", optimal_ordering=True)
    return [int(leaf) for leaf in hierarchy.leaves_list(tree)]


# --- the samples


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


def _keys(table: pa.Table) -> list[tuple[str, int]]:
    """The keys of the rows of a table, which are unique within a template."""
    frame = score_frame(table.select([name for name in ("id", "template") if name in table.column_names]))
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
    values, templates = display.value(table), score_frame(table)["template"].to_numpy()
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
                if not isinstance(value, str):  # tokens with their ln P
                    likely = sorted(value, key=lambda one: -one["log_probability"])
                    tokens = (f"{one['token']!r} {one['log_probability']:.3f}" for one in likely)
                    value = " · ".join(tokens) or None
                cells[place] = value
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
            name for name in _ENGLISH_FIELDS if name in [*display.text_fields, *display.text_columns]
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


def _frames(run: LabelledRun, used: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    """The texts of the templates; a run stores only the name of a user's file of templates."""
    custom = run.custom_templates and run.facts["options"]["templates"] != EXTENDED_NAME
    if run.measure.name != "templates" or custom:
        return {}
    known = {**TEMPLATES, **EXTENDED_TEMPLATES}
    return {n: (known[n].text, known[n].masculine, known[n].feminine) for n in used if n in known}


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
    skipped = run.run.result["skipped"]
    templates = skipped.get("template", [0] * len(skipped["id"]))
    for name, template, reason in zip(skipped["id"], templates, skipped["reason"], strict=True):
        if (name, 0) in places and template in used:
            yield template, places[name, 0], texts[printable(reason)]
