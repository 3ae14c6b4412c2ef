"""A folder of StereoSet in another language: two configs, their card, and the problems for a person."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets

from gest_dataset.builders.config import features_of
from gest_dataset.builders.families import STEREOSET
from gest_dataset.builders.stereoset import FIELDS, TESTS, config_name, source
from gest_dataset.custom.store import NewConfig, add_configs
from gest_dataset.data import sources
from gest_dataset.data.card import card_header, dataset_info
from gest_dataset.data.folder import CARD, SUMS, write_config
from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import LANGUAGES, SOURCE
from gest_dataset.languages import STEREOSET as RELEASED
from gest_dataset.runs.claims import claim_same
from gest_dataset.storage import LOCK, atomic_path, csv_text, write_json
from gest_dataset.studies.stereoset_translation import checks
from gest_dataset.studies.stereoset_translation.translate import Cell, Corrections, Made, Row, fields_of
from gest_dataset.version import __version__

RECORD, PROBLEMS, CORRECTIONS = "translation.json", "problems.csv", "corrections.csv"
_KEYS = ("test", "id", "field")
_COLUMNS = (*_KEYS, "source", "translation", "context", "problem", "left_out", "correction")


def claim_stereoset(out: Path, settings: Mapping[str, Any]) -> None:
    """Make the folder, or take one of the same translator, language and English rows."""
    configs = {config_name(test, code) for test in TESTS for code in LANGUAGES}
    own = {CARD, SUMS, RECORD, PROBLEMS, CORRECTIONS, *configs} if (out / RECORD).exists() else set()
    what = "a translation of StereoSet"
    claim_same(out / RECORD, {*own, LOCK}, settings, "gest study translate-stereoset", what)


def read_corrections(path: Path, english: Mapping[str, Sequence[Row]]) -> dict[Cell, str]:
    """The filled cells of the column `correction`; each has to name a text of StereoSet."""
    table = read_table(path)
    columns = [table.texts(name) for name in (*_KEYS, "correction")]
    known = {
        Cell(test, row["id"], name)
        for test, rows in english.items()
        for row in rows
        for name in fields_of(test)
    }
    corrections: dict[Cell, str] = {}
    for number, (*key, text) in enumerate(zip(*columns, strict=True), start=1):
        if not text.strip():
            continue
        cell = Cell(*key)
        if cell not in known:
            raise DataError.at(path, f"row {number}", f"there is no text {'/'.join(key)} in StereoSet")
        if corrections.setdefault(cell, text.strip()) != text.strip():
            raise DataError.at(path, f"row {number}", f"{'/'.join(key)} is corrected twice, and differently")
    return corrections


def kept_corrections(out: Path, given: Path | None, english: Mapping[str, Sequence[Row]]) -> dict[Cell, str]:
    """All corrections that this folder was ever given; a newer one takes the place of an older one."""
    if given is not None and not given.is_file():
        raise ConfigError(f"There is no file {given}.")
    paths = [path for path in (out / CORRECTIONS, given) if path is not None and path.exists()]
    corrections: dict[Cell, str] = {}
    for path in paths:
        corrections |= read_corrections(path, english)
    return corrections


def write_stereoset(
    out: Path,
    language: str,
    made: Sequence[Made],
    corrections: Corrections,
    settings: Mapping[str, Any],
    command: Sequence[str],
) -> None:
    """Write the settings first, then what a person has given, and the card last: what it names is whole."""
    record = told(made, settings, command)
    write_json(out / RECORD, record)
    if corrections:
        rows = [(cell.test, cell.id, cell.field, text) for cell, text in corrections.items()]
        _write_csv(out / CORRECTIONS, (*_KEYS, "correction"), rows)
    _write_csv(out / PROBLEMS, _COLUMNS, _problems(made))
    infos = {}
    for one in (one for one in made if one.rows):
        data = datasets.Dataset.from_list(one.rows, features=features_of(FIELDS[one.test]))
        name = config_name(one.test, language)
        infos[name] = dataset_info(data.features, data.data.table, write_config(out, name, data.data.table))
    with atomic_path(out / CARD) as partial:
        partial.write_text(_card(language, infos, record), encoding="utf-8")


def keep(language: str, made: Sequence[Made], system: str) -> list[str]:
    """Add the configs for good, as `load_dataset("gest", NAME)` reads them; the names that they have.

    Those of an earlier translation give way: their folder has them still. A language that StereoSet was
    released in has its own.
    """
    if language in RELEASED:
        return []
    spoken = LANGUAGES[language].name
    configs = [
        (
            NewConfig(
                name=config_name(one.test, language),
                family=STEREOSET,
                description=f"StereoSet, {one.test} test, in {spoken}, translated by {system}",
                languages=(language,),
                licence=sources.licences([source(one.test, SOURCE)]),
                fields=FIELDS[one.test],
                dropped=one.left_out,
            ),
            one.rows,
        )
        for one in made
        if one.rows
    ]
    return [config.name for config in add_configs(configs, replace=True)]


def _problems(made: Sequence[Made]) -> Iterable[tuple[str, ...]]:
    """What leaves a sample out comes first."""
    problems = [problem for one in made for problem in one.problems]
    for problem in sorted(problems, key=lambda problem: not checks.KINDS[problem.kind]):
        cell, out = problem.cell, "yes" if checks.KINDS[problem.kind] else "no"
        told = f"{problem.kind}: {problem.why}" if problem.why else problem.kind
        texts = (problem.source, problem.translation, problem.context, told)
        yield (cell.test, cell.id, cell.field, *texts, out, "")


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with atomic_path(path) as partial:
        partial.write_bytes(csv_text(columns, rows).encode())


def told(made: Sequence[Made], settings: Mapping[str, Any], command: Sequence[str]) -> dict[str, Any]:
    """What translation.json holds."""
    return {
        "command": list(command),
        "settings": dict(settings),
        "gest_dataset": __version__,
        "tests": {
            one.test: {
                "samples": one.asked,
                "rows": len(one.rows),
                "corrected_texts": one.corrected,
                "contexts_by_mark": dict(one.marks),
                "samples_by_problem": one.kinds,
            }
            for one in made
        },
    }


def _card(language: str, infos: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    settings, spoken = record["settings"], LANGUAGES[language].name
    title = f"StereoSet in {spoken}"
    counts = "\n".join(
        f"| {test} | {one['samples']:,} | {one['rows']:,} | {one['corrected_texts']:,} |"
        for test, one in record["tests"].items()
    )
    problems = "\n".join(
        f"| {test} | {kind} | {number:,} | {'yes' if checks.KINDS[kind] else 'no'} |"
        for test, one in record["tests"].items()
        for kind, number in one["samples_by_problem"].items()
    )
    return f"""---
{card_header(title, [language, "en"], dict(infos))}
---

# {title}

The samples of StereoSet as `{settings["system"]}` translated them, in the format of the configs
`stereoset_LANGUAGE_intrasentence` and `…_intersentence`. Written by `gest study translate-stereoset` of
gest-dataset {__version__}:

```bash
{shlex.join(record["command"])}
```

| test | samples in English | here | texts that a person gave |
| --- | ---: | ---: | ---: |
{counts}

What rules found and no person has looked at (`{PROBLEMS}` has every text):

| test | problem | samples | left out |
| --- | --- | ---: | --- |
{problems}

A machine translation: whether a stereotype is one in this language, and whether words agree with their
sentence, nobody has checked but where a text was given by a person. The sentences state stereotypes, to
measure models with: never train on them. {STEREOSET.limits}

The English samples are StereoSet's (<{STEREOSET.homepage}>); the translations come with the terms of the
system that made them. To cite:

```bibtex
{STEREOSET.citation}
```
"""
