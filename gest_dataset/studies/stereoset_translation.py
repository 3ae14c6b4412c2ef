"""StereoSet in another language: translations, and a folder of configs (section 5.1 of Öztürk et al., 2023).

Contexts keep their BLANK, candidate words and targets are translated on their own, and a sentence is its
context with the word in place of BLANK. Between sentences every sentence is translated. The authors protected
BLANK with Amazon's terminology; here a context is sent with several markers until each BLANK comes back. Like
the authors, rules check the place of BLANK and the punctuation.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import regex

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import FAMILIES, features_of
from gest_dataset.builders.stereoset import BLANK, CANDIDATES, FIELDS, TESTS, config_name, word_in_place
from gest_dataset.custom.store import NewConfig, add_configs
from gest_dataset.data.card import card_header, fill_card, split_info
from gest_dataset.data.folder import CARD, SUMS, write_config
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.data.user_tables import read_user_table
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES, SOURCE
from gest_dataset.languages import STEREOSET as RELEASED
from gest_dataset.runs.folder import check_work_folder
from gest_dataset.storage import csv_text, folder_lock, read_yaml, write_file, write_json
from gest_dataset.translation import open_translator
from gest_dataset.translation.sentences import is_file
from gest_dataset.translation.systems import translate_distinct
from gest_dataset.translation.translator import Translation, TranslationError, Translator
from gest_dataset.version import __version__

Row = dict[str, Any]
Corrections = dict[tuple[str, str, str], str]  # by test, id and field of a text

RECORD, PROBLEMS_FILE, CORRECTIONS = "translation.json", "problems.csv", "corrections.csv"
WITHIN = TESTS[0]
_MARKERS = (BLANK, f"[{BLANK}]", "XYZ")
_FULL_STOP = regex.compile(r"(?<=\w)\s*[.。।]$")
_KEYS = ("test", "id", "field")
_COLUMNS = (*_KEYS, "source", "translation", "context", "problem", "left_out", "correction")

_TABLE = read_yaml(Path(__file__).with_suffix(".yaml"))
PROBLEMS: dict[str, bool] = _TABLE["problems"]  # whether a sample with the problem is left out
MISSING, LOST, SAME_CANDIDATES, NOT_IN_PLACE, MISPLACED, END = PROBLEMS
_ENDS = {mark: plain for plain, marks in _TABLE["end_marks"].items() for mark in marks}
_CLOSING = regex.compile(r"[\s\p{Pe}\p{Pf}\p{Pi}\"'’]+$")
# letters of scripts with spaces between words
_LETTER = r"[[\p{L}\p{M}\p{N}\-]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"
_MISPLACED = regex.compile(rf"(?V1){_LETTER}{BLANK}|{BLANK}{_LETTER}|[.!?…।。][\"'”»“]?\s+{BLANK}\W*$")


@dataclass(frozen=True)
class TranslatedTest:
    """The rows of a test, its problems as in problems.csv, and its counts as in translation.json."""

    test: str
    rows: list[Row]
    problems: list[Row]
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
    ours = {config_name(test, code) for test in TESTS for code in LANGUAGES}
    ours |= {CARD, SUMS, RECORD, PROBLEMS_FILE, CORRECTIONS}
    ours = ours if (output / RECORD).exists() else set()
    owner = "a translation of StereoSet"
    check_work_folder(output / RECORD, ours, settings, "gest study translate-stereoset", owner)
    earlier = output / CORRECTIONS
    corrected = _read_corrections(earlier, english) if earlier.exists() else {}
    if corrections is not None:
        corrected |= _read_corrections(corrections, english)
    markers = _MARKERS[:1] if is_file(system) else _MARKERS

    with folder_lock(output):
        given = language, translator, markers, corrected
        tests = [_translate_test(test, rows, *given) for test, rows in english.items()]
        if not any(test.rows for test in tests):
            raise TranslationError(f"No sample could be translated ({tests[0].problems[0]['problem']}).")
        record = {"command": list(command), "settings": settings, "gest_dataset": __version__}
        configs = _write_folder(output, language, tests, corrected, record)
        if language not in RELEASED:
            add_configs(configs, replace=True)
    return tests


def translated_fields(test: str) -> tuple[str, ...]:
    """The fields of a test that are translated; sentences within follow from the words."""
    suffix = "_word" if test == WITHIN else ""
    return ("target", "context", *(f"{name}{suffix}" for name in CANDIDATES.values()))


def _read_corrections(path: Path, english: Mapping[str, Sequence[Row]]) -> Corrections:
    """The filled cells of the column `correction`."""
    table = read_user_table(path)
    columns = [table.texts(name) for name in (*_KEYS, "correction")]
    fields = {(test, row["id"]): translated_fields(test) for test, rows in english.items() for row in rows}
    corrections: Corrections = {}
    for number, (test, sample, name, text) in enumerate(zip(*columns, strict=True), start=1):
        if text.strip() and name not in fields.get((test, sample), ()):
            raise DataError.at(path, f"row {number}", f"StereoSet has no text {test}/{sample}/{name}")
        if text.strip():
            corrections[test, sample, name] = text.strip()
    return corrections


def _translate_test(
    test: str,
    rows: Sequence[Row],
    language: str,
    translator: Translator,
    markers: Sequence[str],
    corrections: Corrections,
) -> TranslatedTest:
    """Translate and check the samples of a test; corrections replace translations."""
    fields = translated_fields(test)
    plain = [name for name in fields if (test, name) != (WITHIN, "context")]
    translations = translate_distinct([row[name] for row in rows for name in plain], translator, language)
    if test == WITHIN:
        translations |= _translate_contexts([row["context"] for row in rows], translator, language, markers)
    translated: list[Row] = []
    problems: list[Row] = []
    for row in rows:
        new, findings = dict(row), []
        for name in fields:
            correction, made = corrections.get((test, row["id"], name)), translations[row[name]]
            new[name] = correction or _text(name, made)
            for kind in check_text(name, row[name], new[name]):
                # a corrected text was checked by a person
                if PROBLEMS[kind] or correction is None:
                    findings.append((name, kind, f": {made.problem}" if made.problem else ""))
        if not any(PROBLEMS[kind] for _, kind, _ in findings):
            for name in CANDIDATES.values() if test == WITHIN else ():
                new[name] = new["context"].replace(BLANK, new[f"{name}_word"])
            findings += [(name, kind, "") for name, kind in check_candidates(new)]
        for name, kind, detail in findings:
            problem = {"test": test, "id": row["id"], "field": name, "source": row[name], "kind": kind}
            problem |= {"translation": new[name], "problem": f"{kind}{detail}", "correction": ""}
            problem["context"] = new["context"] if name.endswith("_word") else ""
            problems.append(problem | {"left_out": "yes" if PROBLEMS[kind] else "no"})
        if not any(PROBLEMS[kind] for _, kind, _ in findings):
            translated.append(new)
    by_kind = Counter(kind for _, kind in {(problem["id"], problem["kind"]) for problem in problems})
    counts = {
        "samples": len(rows),
        "rows": len(translated),
        "corrected_texts": sum((test, row["id"], name) in corrections for row in rows for name in fields),
        "samples_by_problem": {kind: by_kind[kind] for kind in PROBLEMS if by_kind[kind]},
    }
    return TranslatedTest(test, translated, problems, counts)


def check_text(field: str, source: str, translation: str) -> Iterator[str]:
    """The problems of a translated field of a sample: a sentence, a context, a word or the target."""
    if not translation.strip():
        yield MISSING
    elif field.endswith("_word"):
        if BLANK in translation:
            yield NOT_IN_PLACE
    elif translation.count(BLANK) != source.count(BLANK):
        yield LOST
    elif field != "target":
        if _end_mark(translation) != _end_mark(source):
            yield END
        if _MISPLACED.search(translation) and not _MISPLACED.search(source):
            yield MISPLACED


def check_candidates(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The problems of a row's candidates together, with their fields."""
    within = "stereotype_word" in row
    fields = {name: f"{name}_word" if within else name for name in CANDIDATES.values()}
    texts = Counter(row[field].casefold() for field in fields.values())
    for name, field in fields.items():
        if texts[row[field].casefold()] > 1:
            yield field, SAME_CANDIDATES
        if within and word_in_place(row["context"], row[name]) != row[field]:
            yield field, NOT_IN_PLACE


def _end_mark(text: str) -> str:
    """The mark at the end of a sentence, before quotation marks and brackets.

    >>> _end_mark("“Stop!”"), _end_mark("Wait ..."), _end_mark("No end")
    ('!', '…', '')
    """
    text = _CLOSING.sub("", text)
    return "…" if text.endswith("..") else _ENDS.get(text[-1:], "")


def _text(field: str, made: Translation) -> str:
    """The translation of a field; words lose the full stop that many systems add."""
    if made.problem or not field.endswith("_word"):
        return "" if made.problem else made.translation
    text = made.translation.strip()
    return text if _FULL_STOP.search(made.source) else _FULL_STOP.sub("", text)


def _translate_contexts(
    contexts: Sequence[str], translator: Translator, language: str, markers: Sequence[str]
) -> dict[str, Translation]:
    """Translations with the first marker that keeps every BLANK; else those with the first marker."""
    first: dict[str, Translation] = {}
    complete: dict[str, Translation] = {}
    for marker in markers:
        marked = {text: text.replace(BLANK, marker) for text in contexts if text not in complete}
        answers = translate_distinct(list(marked.values()), translator, language)
        for text, sent in marked.items():
            answer = answers[sent]
            made = Translation(text, answer.translation.replace(marker, BLANK), answer.problem)
            first.setdefault(text, made)
            if not made.problem and made.translation.count(BLANK) == text.count(BLANK):
                complete[text] = made
    return first | complete


def _write_folder(
    out: Path,
    language: str,
    tests: Sequence[TranslatedTest],
    corrections: Corrections,
    record: dict[str, Any],
) -> list[tuple[NewConfig, list[Row]]]:
    """Write the settings first and the card last; return the configs."""
    system = record["settings"]["system"]
    counts = {done.test: done.counts for done in tests}
    write_json(out / RECORD, record | {"tests": counts})
    rows = [[problem[name] for name in _COLUMNS] for done in tests for problem in done.problems]
    write_file(out / PROBLEMS_FILE, csv_text(_COLUMNS, rows))
    if corrections:
        cells = [(*key, text) for key, text in corrections.items()]
        write_file(out / CORRECTIONS, csv_text((*_KEYS, "correction"), cells))
    configs, infos = [], []
    for done in (done for done in tests if done.rows):
        name = config_name(done.test, language)
        data = datasets.Dataset.from_list(done.rows, features=features_of(FIELDS[done.test]))
        path = write_config(out, name, data.data.table)
        infos.append({"config_name": name, "splits": [split_info(path)]})
        # the first problem of each sample that is left out
        left_out = [problem for problem in reversed(done.problems) if problem["left_out"] == "yes"]
        reasons = {problem["id"]: problem["kind"] for problem in left_out}
        new = NewConfig(
            name=name,
            family=FAMILIES["stereoset"],
            description=f"StereoSet, {done.test} test, in {LANGUAGES[language].name}, translated by {system}",
            languages=(language,),
            licence=CONFIGS[config_name(done.test, SOURCE)].licence,
            kind=f"stereoset_{done.test}",
            dropped=dict(Counter(reasons.values())),
        )
        configs.append((new, done.rows))
    title = f"StereoSet in {LANGUAGES[language].name}"
    values = {"title": title, "system": system, "tests": counts, "left_out": PROBLEMS}
    values |= {"problems_file": PROBLEMS_FILE, "family": FAMILIES["stereoset"]}
    names = [new.name for new, _ in configs]
    values["header"] = card_header(title, [language, "en"], names, dataset_info=infos)
    fill_card(out, Path(__file__).with_name("stereoset_translation.md.jinja"), record["command"], **values)
    return configs
