"""StereoSet in another language: translations, and a folder of configs (section 5.1 of Öztürk et al., 2023).

Contexts keep their BLANK, candidate words and targets are translated on their own, and a sentence is its
context with the word in place of BLANK. Between sentences every sentence is translated. The authors protected
BLANK with Amazon's terminology; here a context is sent with several markers until each BLANK comes back.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import regex

from gest_dataset.builders.config import FAMILIES, features_of
from gest_dataset.builders.stereoset import BLANK, CANDIDATES, FIELDS, TESTS, config_name, source
from gest_dataset.custom.store import NewConfig, add_configs
from gest_dataset.data import sources
from gest_dataset.data.card import card_header
from gest_dataset.data.folder import SUMS, write_config
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.data.tables import read_table
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES, SOURCE
from gest_dataset.languages import STEREOSET as RELEASED
from gest_dataset.runs.folder import check_work_folder
from gest_dataset.storage import LOCK, csv_text, folder_lock, write_file, write_json
from gest_dataset.studies.card import CARD, write_card
from gest_dataset.studies.stereoset_translation import checks
from gest_dataset.translation import open_translator
from gest_dataset.translation.sentences import is_file
from gest_dataset.translation.systems import translate_distinct
from gest_dataset.translation.translator import Translation, TranslationError, Translator
from gest_dataset.version import __version__

Row = dict[str, Any]
Cell = tuple[str, str, str]  # test, id and field of a text

RECORD, PROBLEMS_FILE, CORRECTIONS = "translation.json", "problems.csv", "corrections.csv"
WITHIN = TESTS[0]
_MARKERS = (BLANK, f"[{BLANK}]", "XYZ")
_FULL_STOP = regex.compile(r"(?<=\w)\s*[.。।]$")
_KEYS = ("test", "id", "field")
_COLUMNS = (*_KEYS, "source", "translation", "context", "problem", "left_out", "correction")


@dataclass(frozen=True)
class TranslatedTest:
    """The rows of a test, its problems as in problems.csv, and its counts as in translation.json."""

    test: str
    rows: list[Row]
    problems: pd.DataFrame
    counts: dict[str, Any]


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
    ours = {LOCK}
    if (output / RECORD).exists():
        ours |= {CARD, SUMS, RECORD, PROBLEMS_FILE, CORRECTIONS}
        ours |= {config_name(test, code) for test in TESTS for code in LANGUAGES}
    owner = "a translation of StereoSet"
    check_work_folder(output / RECORD, ours, settings, "gest study translate-stereoset", owner)
    stored = output / CORRECTIONS
    corrected = read_corrections(stored, english) if stored.exists() else {}
    if corrections is not None:
        corrected |= read_corrections(corrections, english)
    markers = _MARKERS[:1] if is_file(system) else _MARKERS

    with folder_lock(output):
        tests = [
            translate_test(test, rows, language, translator, markers, corrected)
            for test, rows in english.items()
        ]
        if not any(test.rows for test in tests):
            raise TranslationError(f"No sample could be translated ({tests[0].problems['problem'][0]}).")
        record = {"command": list(command), "settings": settings, "gest_dataset": __version__}
        configs = _write_folder(output, language, tests, corrected, record)
        if language not in RELEASED:
            add_configs(configs, replace=True)
    return tests


def translated_fields(test: str) -> tuple[str, ...]:
    """The fields of a test that are translated; sentences within follow from the words."""
    suffix = "_word" if test == WITHIN else ""
    return ("target", "context", *(f"{name}{suffix}" for name in CANDIDATES.values()))


def read_corrections(path: Path, english: Mapping[str, Sequence[Row]]) -> dict[Cell, str]:
    """The filled cells of the column `correction`."""
    table = read_table(path)
    columns = [table.texts(name) for name in (*_KEYS, "correction")]
    fields = {(test, row["id"]): translated_fields(test) for test, rows in english.items() for row in rows}
    corrections: dict[Cell, str] = {}
    for number, (test, sample, name, text) in enumerate(zip(*columns, strict=True), start=1):
        if text.strip() and name not in fields.get((test, sample), ()):
            raise DataError.at(path, f"row {number}", f"StereoSet has no text {test}/{sample}/{name}")
        if text.strip():
            corrections[test, sample, name] = text.strip()
    return corrections


def translate_test(
    test: str,
    rows: Sequence[Row],
    language: str,
    translator: Translator,
    markers: Sequence[str],
    corrections: Mapping[Cell, str],
) -> TranslatedTest:
    """Translate and check the samples of a test; corrections replace translations."""
    fields = translated_fields(test)
    plain = [name for name in fields if (test, name) != (WITHIN, "context")]
    texts = [row[name] for row in rows for name in plain]
    translations, used_markers = translate_distinct(texts, translator, language), Counter[str]()
    if test == WITHIN:
        contexts = dict.fromkeys(row["context"] for row in rows)
        translations |= _translate_contexts(contexts, translator, language, markers, used_markers)
    translated: list[Row] = []
    problems: list[Row] = []
    for row in rows:
        new, found = dict(row), []
        for name in fields:
            correction = corrections.get((test, row["id"], name))
            translation = translations[row[name]]
            if correction is not None:
                new[name] = correction
            else:
                new[name] = "" if translation.problem else translation.translation
                if name.endswith("_word"):
                    new[name] = new[name].strip()
                    if not _FULL_STOP.search(row[name]):  # many systems add one
                        new[name] = _FULL_STOP.sub("", new[name])
            for kind in checks.check_text(name, row[name], new[name], language):
                # a corrected text was checked by a person
                if checks.PROBLEMS[kind] or correction is None:
                    reason = translation.problem if kind == checks.MISSING else ""
                    found.append((name, kind, f": {reason}" if reason else ""))
        if not any(checks.PROBLEMS[kind] for _, kind, _ in found):
            for name in CANDIDATES.values() if test == WITHIN else ():
                new[name] = new["context"].replace(BLANK, new[f"{name}_word"])
            found += [(name, kind, "") for name, kind in checks.check_candidates(new)]
        for name, kind, detail in found:
            problem = {"test": test, "id": row["id"], "field": name, "source": row[name]}
            problem |= {"translation": new[name], "problem": f"{kind}{detail}", "kind": kind}
            problem["context"] = new["context"] if name.endswith("_word") else ""
            problem["left_out"] = "yes" if checks.PROBLEMS[kind] else "no"
            problems.append(problem)
        if not any(checks.PROBLEMS[kind] for _, kind, _ in found):
            translated.append(new)
    table = pd.DataFrame(problems, columns=[*_COLUMNS, "kind"]).fillna("")
    by_kind = table.groupby("kind")["id"].nunique()
    counts = {
        "samples": len(rows),
        "rows": len(translated),
        "corrected_texts": sum((test, row["id"], name) in corrections for row in rows for name in fields),
        "contexts_by_marker": dict(used_markers),
        "samples_by_problem": {kind: int(by_kind[kind]) for kind in checks.PROBLEMS if kind in by_kind},
    }
    return TranslatedTest(test, translated, table, counts)


def _translate_contexts(
    contexts: Iterable[str],
    translator: Translator,
    language: str,
    markers: Sequence[str],
    counts: Counter[str],
) -> dict[str, Translation]:
    """Translations with the first marker that keeps every BLANK; else those with the first marker."""
    complete: dict[str, Translation] = {}
    first: dict[str, Translation] = {}
    for marker in markers:
        marked = {text: text.replace(BLANK, marker) for text in contexts if text not in complete}
        answers = translate_distinct(list(marked.values()), translator, language)
        for text, sent in marked.items():
            answer = answers[sent]
            translation = Translation(text, answer.translation.replace(marker, BLANK), answer.problem)
            first.setdefault(text, translation)
            if not answer.problem and translation.translation.count(BLANK) == text.count(BLANK):
                complete[text] = translation
                counts[marker] += 1
    return first | complete


def _write_folder(
    out: Path,
    language: str,
    tests: Sequence[TranslatedTest],
    corrections: Mapping[Cell, str],
    record: dict[str, Any],
) -> list[tuple[NewConfig, list[Row]]]:
    """Write the settings first and the card last; return the configs."""
    system = record["settings"]["system"]
    counts = {one.test: one.counts for one in tests}
    write_json(out / RECORD, record | {"tests": counts})
    problems = pd.concat([one.problems for one in tests])
    problems = problems.sort_values("left_out", ascending=False, kind="stable")
    tables = {PROBLEMS_FILE: csv_text(_COLUMNS, problems[list(_COLUMNS)].to_numpy().tolist())}
    if corrections:
        rows = [(*cell, text) for cell, text in corrections.items()]
        tables[CORRECTIONS] = csv_text((*_KEYS, "correction"), rows)
    for name, text in tables.items():
        write_file(out / name, text)
    configs = []
    for one in (one for one in tests if one.rows):
        name = config_name(one.test, language)
        data = datasets.Dataset.from_list(one.rows, features=features_of(FIELDS[one.test]))
        write_config(out, name, data.data.table)
        first = one.problems[one.problems["left_out"] == "yes"].drop_duplicates("id")
        new = NewConfig(
            name=name,
            family=FAMILIES["stereoset"],
            description=f"StereoSet, {one.test} test, in {LANGUAGES[language].name}, translated by {system}",
            languages=(language,),
            licence=sources.licences([source(one.test, SOURCE)]),
            kind=f"stereoset_{one.test}",
            dropped=first.groupby("kind", sort=False).size().to_dict(),
        )
        configs.append((new, one.rows))
    title = f"StereoSet in {LANGUAGES[language].name}"
    write_card(
        out,
        Path(__file__).parent / "card.md.jinja",
        record["command"],
        header=card_header(title, [language, "en"], {new.name: len(rows) for new, rows in configs}),
        title=title,
        system=system,
        tests=counts,
        left_out=checks.PROBLEMS,
        problems_file=PROBLEMS_FILE,
        family=FAMILIES["stereoset"],
    )
    return configs
