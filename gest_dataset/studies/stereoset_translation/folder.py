"""The folder of a StereoSet translation: two configs, their card, and the problems for a person to check."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gest_dataset.builders.config import features_of
from gest_dataset.builders.families import STEREOSET
from gest_dataset.builders.stereoset import FIELDS, TESTS, config_name, source
from gest_dataset.custom.store import NewConfig, add_configs
from gest_dataset.data import sources
from gest_dataset.data.card import card_header, dataset_info
from gest_dataset.data.folder import CARD, SUMS, write_config
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import LANGUAGES, SOURCE
from gest_dataset.languages import STEREOSET as RELEASED
from gest_dataset.runs.folder import check_work_folder
from gest_dataset.storage import LOCK, atomic_path, csv_text, folder_lock, write_json
from gest_dataset.studies.stereoset_translation.checks import PROBLEMS
from gest_dataset.studies.stereoset_translation.translate import (
    MARKERS,
    Cell,
    Row,
    TranslatedTest,
    translate_test,
    translated_fields,
)
from gest_dataset.translation import open_translator
from gest_dataset.translation.sentences import is_file
from gest_dataset.translation.systems import translate_distinct
from gest_dataset.translation.translator import TranslationError
from gest_dataset.version import __version__

RECORD, PROBLEMS_FILE, CORRECTIONS = "translation.json", "problems.csv", "corrections.csv"
_KEYS = ("test", "id", "field")
_COLUMNS = (*_KEYS, "source", "translation", "context", "problem", "left_out", "correction")


def translate_stereoset(
    language: str,
    system: str,
    output: Path,
    corrections: Path | None = None,
    limit: int | None = None,
    command: Sequence[str] = (),
    **loading: Any,
) -> list[TranslatedTest]:
    """Translate both tests into a folder of configs, and add the configs to the user's own.

    `corrections` is problems.csv with its column `correction` filled in. `loading` is for `open_translator`.
    """
    translator = open_translator(system, language, **loading)
    names = {test: config_name(test, SOURCE) for test in TESTS}
    english = {test: rows_of(name).to_list()[:limit] for test, name in names.items()}
    settings = {
        "system": translator.name,
        "revision": translator.revision,
        "translator": translator.settings,
        "language": language,
        "limit": limit,
        "data_fingerprint": {name: fingerprint_of(name) for name in names.values()},
    }
    own = {LOCK}
    if (output / RECORD).exists():
        own |= {CARD, SUMS, RECORD, PROBLEMS_FILE, CORRECTIONS}
        own |= {config_name(test, code) for test in TESTS for code in LANGUAGES}
    owner = "a translation of StereoSet"
    check_work_folder(output / RECORD, own, settings, "gest study translate-stereoset", owner)
    if corrections is not None and not corrections.is_file():
        raise ConfigError(f"{corrections} does not exist.")
    corrected: dict[Cell, str] = {}
    for path in (output / CORRECTIONS, corrections):  # a newer correction replaces an older one
        if path is not None and path.exists():
            corrected |= read_corrections(path, english)
    markers = MARKERS[:1] if is_file(system) else MARKERS
    with folder_lock(output):
        tests = [
            translate_test(
                test,
                rows,
                language,
                lambda texts: translate_distinct(texts, translator, language),
                markers,
                corrected,
            )
            for test, rows in english.items()
        ]
        if not any(test.rows for test in tests):
            problem = tests[0].problems[0]
            raise TranslationError(f"No sample could be translated ({problem.detail or problem.kind}).")
        _write_folder(output, language, tests, corrected, settings, command)
        if language not in RELEASED:
            _add_configs(language, tests, translator.name)
    return tests


def read_corrections(path: Path, english: Mapping[str, Sequence[Row]]) -> dict[Cell, str]:
    """The filled cells of the column `correction`."""
    table = read_table(path)
    columns = [table.texts(name) for name in (*_KEYS, "correction")]
    known = {
        Cell(test, row["id"], name)
        for test, rows in english.items()
        for row in rows
        for name in translated_fields(test)
    }
    corrections: dict[Cell, str] = {}
    for number, (*key, text) in enumerate(zip(*columns, strict=True), start=1):
        if not text.strip():
            continue
        cell = Cell(*key)
        if cell not in known:
            raise DataError.at(path, f"row {number}", f"StereoSet has no text {'/'.join(key)}")
        if corrections.setdefault(cell, text.strip()) != text.strip():
            raise DataError.at(path, f"row {number}", f"{'/'.join(key)} has two different corrections")
    return corrections


def _write_folder(
    out: Path,
    language: str,
    tests: Sequence[TranslatedTest],
    corrections: Mapping[Cell, str],
    settings: Mapping[str, Any],
    command: Sequence[str],
) -> None:
    """Write the settings first and the card last."""
    record = {
        "command": list(command),
        "settings": dict(settings),
        "gest_dataset": __version__,
        "tests": {
            one.test: {
                "samples": one.samples,
                "rows": len(one.rows),
                "corrected_texts": one.corrected,
                "contexts_by_marker": dict(one.markers),
                "samples_by_problem": one.samples_by_problem,
            }
            for one in tests
        },
    }
    write_json(out / RECORD, record)
    if corrections:
        rows = [(cell.test, cell.id, cell.field, text) for cell, text in corrections.items()]
        _write_text(out / CORRECTIONS, csv_text((*_KEYS, "correction"), rows))
    problems = sorted((p for one in tests for p in one.problems), key=lambda problem: not problem.leaves_out)
    lines = []
    for problem in problems:
        cell, kind = problem.cell, f"{problem.kind}: {problem.detail}" if problem.detail else problem.kind
        texts = (problem.source, problem.translation, problem.context, kind)
        lines.append((cell.test, cell.id, cell.field, *texts, "yes" if problem.leaves_out else "no", ""))
    _write_text(out / PROBLEMS_FILE, csv_text(_COLUMNS, lines))
    infos = {}
    for one in tests:
        if one.rows:
            data = datasets.Dataset.from_list(one.rows, features=features_of(FIELDS[one.test]))
            name = config_name(one.test, language)
            infos[name] = dataset_info(
                data.features, data.data.table, write_config(out, name, data.data.table)
            )
    title = f"StereoSet in {LANGUAGES[language].name}"
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    card = environment.get_template("card.md.jinja").render(
        header=card_header(title, [language, "en"], infos),
        title=title,
        system=settings["system"],
        version=__version__,
        command=shlex.join(command),
        tests=record["tests"],
        left_out=PROBLEMS,
        problems_file=PROBLEMS_FILE,
        family=STEREOSET,
    )
    _write_text(out / CARD, card)


def _write_text(path: Path, text: str) -> None:
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _add_configs(language: str, tests: Sequence[TranslatedTest], system: str) -> None:
    """Add the configs to the user's own, replacing those of an earlier translation."""
    configs = [
        (
            NewConfig(
                name=config_name(one.test, language),
                family=STEREOSET,
                description=(
                    f"StereoSet, {one.test} test, in {LANGUAGES[language].name}, translated by {system}"
                ),
                languages=(language,),
                licence=sources.licences([source(one.test, SOURCE)]),
                fields=FIELDS[one.test],
                dropped=one.dropped,
            ),
            one.rows,
        )
        for one in tests
        if one.rows
    ]
    add_configs(configs, replace=True)
