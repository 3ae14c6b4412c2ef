"""`add_language`: checks a user's files and stores the valid rows as two configs.

It matches the columns of a table to fields and its rows to sentences of GEST, and rejects invalid rows.
"""

import dataclasses
import shlex
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import regex

from gest_dataset import added_data, builders, languages
from gest_dataset.builders import FOLDER, added_name
from gest_dataset.builders.config import FAMILIES, Config, Row
from gest_dataset.builders.gest import sentence_id
from gest_dataset.builders.pairs import MERGED, SEVERAL_WORDS, pair_id, pair_row
from gest_dataset.builders.translations import translation_row
from gest_dataset.builders.words import composed
from gest_dataset.custom.store import NewConfig, add_configs, check_name, remove_config
from gest_dataset.data.user_tables import Table, read_user_table
from gest_dataset.errors import ConfigError, DataError, convert_errors, import_extra
from gest_dataset.gender import detect
from gest_dataset.gender import grammar as grammars
from gest_dataset.gender.grammar import FEMALE, MALE, Grammar
from gest_dataset.gender.parsing import damage
from gest_dataset.languages import LANGUAGES, SOURCE, Language
from gest_dataset.stereotypes import OWN_SENTENCES, OWN_TABLE, STEREOTYPES
from gest_dataset.storage import csv_text, read_yaml, write_file
from gest_dataset.translation.sentences import GestSentence, gest_sentences

REPORT = "rejected.csv"
_TEXT_COLUMNS = ("source", "stereotype", "translation", "masculine", "feminine")
_REPORT_COLUMNS = ("file", "row", "reason", "system", "id", *_TEXT_COLUMNS)
_CARD = FAMILIES["own-stereotypes" if OWN_TABLE else "custom"]  # with gaps for facts about the language
_CONTENT = {
    "translations": f"{'Sentences' if OWN_TABLE else 'GEST'} translated into",
    "pairs": "Gender-swapped pairs in",
}
# The column names that stand for a field, best first
COLUMNS: dict[str, list[str]] = read_yaml(Path(__file__).with_name("columns.yaml"))
TEXTS = {"translations": ["translation"], "pairs": ["masculine", "feminine"]}  # required, by kind of config
DEFAULT_SYSTEM = "own"  # in files without a column for the system

# Reasons for rejecting a row, besides those of `builders.pairs` and `gender.parsing.damage`
UNKNOWN = "no source, or no stereotype of your table" if OWN_TABLE else "not a sentence of GEST"
DISAGREE = "id, source and stereotype belong to different sentences"
DUPLICATE = "a duplicate"
ENGLISH = "still English"
SCRIPT = "in another script"
WRONG_GENDER = "a variant has the other gender, according to the rules"
_ADVICE = {
    SEVERAL_WORDS: "If several words show the gender, use --max-words.",
    SCRIPT: "If that is the right script, use --script.",
}
# Bounds that real translations set (docs/add-a-language.md)
_MAX_SOURCE_WORDS = 0.5  # share of words that are in the source: names, *stand-up*, *model*
_MAX_ENGLISH_WORDS = 0.6  # share of words that occur in GEST: *a*, *on*, *me*
_MIN_SCRIPT_LETTERS = 0.5  # share of letters in the script; names may be in another one
_LETTER = regex.compile(r"\p{L}")
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*")
STRAIGHT_QUOTES = str.maketrans("’‘“”", "''\"\"")
# Codes of ISO 15924 for which Unicode has other scripts
_UNICODE_SCRIPTS = {"Jpan": "Hira Kana Hani", "Kore": "Hang Hani", "Hans": "Hani", "Hant": "Hani"}
_LINE_BREAKS = regex.compile(r"[\t\r\n]+")


@dataclass
class FileRows:
    """The rows of one input file: `rows` for the config, and `rejected` ones with their reason."""

    path: Path
    columns: Mapping[str, str]  # the file's name of each field
    number: int  # of all rows
    rows: list[Row] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)  # rows in the file, by id
    rejected: list[Row] = field(default_factory=list)

    def reject(self, number: int, cells: Row, reason: str) -> None:
        system = ", ".join(cells.get("systems", ()))
        self.rejected.append({"system": system, **cells, "row": number, "reason": reason})

    @property
    def reasons(self) -> Counter[str]:
        return Counter(row["reason"] for row in self.rejected)

    @property
    def accepted(self) -> int:
        """The number of rows that are in the config, alone or merged with the same pair."""
        return self.number - len({row["row"] for row in self.rejected if row["reason"] != MERGED})

    @property
    def advice(self) -> str:
        """What to do if some of the reasons are mistaken."""
        return " ".join(text for reason, text in _ADVICE.items() if self.reasons[reason])


@dataclass(frozen=True)
class AddedLanguage:
    language: Language
    configs: tuple[Config, ...]
    files: Mapping[str, FileRows] = field(repr=False)  # by kind: `translations` and `pairs`
    confirmed: int | None  # pairs whose genders the rules confirm; None if they were not checked
    report: Path  # the CSV file with the rejected rows


def language_of(
    code: str, name: str | None = None, family: str | None = None, script: str | None = None
) -> Language:
    """The language of a code of ISO 639-1, ISO 639-3 or BCP 47; the other arguments override its facts."""
    langcodes = import_extra("langcodes", "add-language")
    if not langcodes.tag_is_valid(code):
        suggestion = ""
        with suppress(LookupError):
            suggestion = f" Did you mean {langcodes.find(code).to_tag()!r}?"
        forms = "Use ISO 639-1 (hi), ISO 639-3 (bho) or BCP 47 (pt-BR)."
        raise ConfigError(f"{code!r} is not a language code.{suggestion} {forms}")
    code = langcodes.standardize_tag(code)
    tag = langcodes.Language.get(code)
    if tag.language == SOURCE:
        raise ConfigError("GEST is already in English; give another language.")
    alphabet = str(tag.maximize().script or "")
    language = LANGUAGES.get(code) or Language(code, tag.display_name(), tag.to_alpha3(), script=alphabet)
    given: dict[str, Any] = {"name": name, "script": script, "family": family}
    facts = {key: value for key, value in given.items() if value is not None}
    language = dataclasses.replace(language, **facts)
    problem = f"{language.script!r} is not an ISO 15924 script. Pass one, such as --script Deva."
    with convert_errors(lambda _: ConfigError(problem)):
        _script_pattern(language.script)
    return language


def add_language(
    code: str,
    translations: str | Path | None = None,
    variants: str | Path | None = None,
    *,
    name: str | None = None,
    family: str | None = None,
    script: str | None = None,
    columns: Mapping[str, str] | None = None,
    rules: str | Path | None = None,
    parser: str = "udpipe",
    parser_model: str | Path | None = None,
    first_letter: bool | None = None,
    max_words: int = 1,
    licence: str | None = None,
    source: str | None = None,
    replace: bool = False,
    report: str | Path | None = None,
) -> AddedLanguage:
    """Check a language's files and store the valid rows as the configs `CODE_translations` and `CODE_pairs`.

    `translations` is a table with English sentences of GEST and their translations, `variants` one with a
    masculine and a feminine translation of each. `columns` maps column names to fields. The two variants may
    differ in `max_words` words. `licence` and `source` (an address or a text) are those of the user's data.
    Rejected rows are listed in `report`. If a file has no valid row, nothing is stored.
    """
    language = language_of(code, name, family, script)
    paths = {"translations": translations, "pairs": variants}
    tables = {kind: read_user_table(Path(path).expanduser()) for kind, path in paths.items() if path}
    if not tables:
        raise ConfigError("Pass a file of translations, of variants, or both.")
    rules = None if rules is None else Path(rules).expanduser()
    grammar = None if rules is None else grammars.check_rules(language.code, rules, replace)
    first_letter = language.family == "Slavic" if first_letter is None else first_letter
    sentences = gest_sentences() if OWN_SENTENCES or not OWN_TABLE else []
    reader = RowReader(language, sentences, first_letter, max_words)
    files: dict[str, FileRows] = {}
    confirmed = None
    for kind, table in tables.items():
        check_name(added_name(f"{language.code}_{kind}"))
        read = files[kind] = reader.read(table, kind, columns or {})
        if kind == "pairs" and (parser != "udpipe" or parser_model is not None):
            grammar = grammar or grammars.load_grammar(language.code)
            confirmed = _check_genders(grammar, read, language.code, parser, parser_model)
        if not read.rows:
            reasons = ", ".join(f"{number:,} {reason}" for reason, number in read.reasons.most_common(3))
            problem = f"none of its {read.number:,} rows is usable, so nothing was added: {reasons}."
            raise DataError(f"{read.path}: {problem} {read.advice}".rstrip())
    languages.add(language, replace)
    words = "one word" if max_words == 1 else f"at most {max_words} words"
    facts = asdict(language) | {"family": f", {language.family}" if language.family else "", "words": words}
    facts["stereotypes"] = ", ".join(f"{one.id} {one.name} ({one.gender})" for one in STEREOTYPES.values())
    texts = {name: getattr(_CARD, name).format(**facts) for name in ("title", "description", "limits")}
    dataset = dataclasses.replace(_CARD, name=language.code, homepage=source or _CARD.homepage, **texts)
    new = [
        NewConfig(
            name=added_name(f"{language.code}_{kind}"),
            family=dataset,
            description=f"{_CONTENT[kind]} {language.name}, added by a user",
            languages=(language.code, SOURCE),
            licence=licence or "unknown",
            kind=kind,
            dropped=dict(read.reasons),
        )
        for kind, read in files.items()
    ]
    configs = add_configs([(one, files[one.kind].rows) for one in new], replace)
    if rules is not None:
        grammars.add_rules(language.code, rules, replace)
    report = Path(report or added_data.gest_home() / FOLDER / configs[0].name / REPORT).expanduser()
    lines = [{"file": read.path.name, **row} for read in files.values() for row in read.rejected]
    cells = ([line.get(column, "") for column in _REPORT_COLUMNS] for line in lines)
    write_file(report, csv_text(_REPORT_COLUMNS, cells))
    return AddedLanguage(language, tuple(configs), files, confirmed, report)


def remove_language(code: str) -> list[str]:
    """Remove a language that was added: its configs (whose names are returned), its rules and itself."""
    home = added_data.gest_home()
    names = [added_name(f"{code}_{kind}") for kind in TEXTS]
    stored = [name for name in names if (home / FOLDER / name).exists()]
    if not stored:
        raise ConfigError(f"No data was added for {code!r}.")
    for name in stored:
        remove_config(name)
    grammars.delete_rules(code)
    used = {language for config in builders.CONFIGS.values() for language in config.languages}
    if code not in used and (home / languages.FOLDER / code).exists():
        languages.remove(code)
    return stored


def _check_genders(
    grammar: Grammar, read: FileRows, language: str, parser: str, model: str | Path | None
) -> int:
    """Reject the pairs whose genders the rules contradict, and count those that they confirm."""
    accepted, confirmed, supported = [], 0, 0
    texts = ([row[kind] for row in read.rows] for kind in TEXTS["pairs"])
    detected = (detect(variants, language, parser, model, grammar=grammar) for variants in texts)
    for row, man, woman in zip(read.rows, *detected, strict=True):
        if man.gender == FEMALE or woman.gender == MALE:
            read.reject(read.numbers[row["id"]], row, WRONG_GENDER)
        else:
            accepted.append(row)
            confirmed += (man.gender, woman.gender) == (MALE, FEMALE)
            supported += man.gender == MALE or woman.gender == FEMALE
    contradicted = len(read.rows) - len(accepted)
    if contradicted > supported:
        swapped = {read.columns["masculine"]: "feminine", read.columns["feminine"]: "masculine"}
        options = " ".join(f"--map {shlex.quote(f'{column}={field}')}" for column, field in swapped.items())
        raise DataError(
            f"{read.path}: in {contradicted:,} of {len(read.rows):,} pairs the rules find the other gender. "
            f"If the columns are swapped, use {options}."
        )
    read.rows = accepted
    return confirmed


# --- rows of a table


class RowReader:
    """Reads tables in one language; of several rows of one sentence and system the first one counts."""

    def __init__(
        self, language: Language, sentences: Sequence[GestSentence], first_letter: bool, max_words: int = 1
    ) -> None:
        self.language = language
        self.first_letter = first_letter
        self.max_words = max_words
        self._english = frozenset(word for sentence in sentences for word in words(sentence.text))
        self._by_id = {sentence.id: sentence for sentence in sentences}
        # text -> sentences by id, each with its text: a text can be of two sentences, for two stereotypes
        self._by_text: dict[str, dict[str, tuple[GestSentence, str]]] = {}
        for sentence in sentences:
            for text in (sentence.text, sentence.text_1_0):
                self._by_text.setdefault(_normalise(text), {}).setdefault(sentence.id, (sentence, text))

    def read(self, table: Table, kind: str, mapping: Mapping[str, str]) -> FileRows:
        """The valid and the rejected rows of a table; `mapping` has the fields of columns by name."""
        code = self.language.code
        columns = self._columns(table, kind, mapping)
        cells = {field: table.columns[name] for field, name in columns.items()}
        frame = pd.DataFrame(cells, dtype=object).fillna("").astype(str)
        frame.index += 1
        if "language" in frame:
            frame = frame[frame["language"] == code]
        frame = frame[frame.map(str.strip).any(axis="columns")]
        if frame.empty:
            raise DataError(f"{table.path} has no rows in {code!r}.")
        result = FileRows(table.path, columns, len(frame))
        accepted: dict[tuple[str, str], tuple[int, Row]] = {}  # by system and id of the sentence
        for number, cells in zip(frame.index, frame.to_dict("records"), strict=True):
            rows = self._rows(cells, kind)
            if not isinstance(rows, str) and len(rows) == 1 and rows.keys() <= accepted.keys():
                rows = DUPLICATE  # a row with several keys is a sentence that GEST itself has twice
            if isinstance(rows, str):
                result.reject(number, cells, rows)
                continue
            for key, row in rows.items():
                accepted.setdefault(key, (number, row))
        merged: dict[str, Row] = {}
        for number, row in (accepted[key] for key in sorted(accepted)):
            first = merged.setdefault(row["id"], row)
            if first is not row:
                first["systems"] = sorted({*first["systems"], *row["systems"]})
                result.reject(number, row, MERGED)
            result.numbers[row["id"]] = min(number, result.numbers.get(row["id"], number))
        result.rows = list(merged.values())
        return result

    def _columns(self, table: Table, kind: str, mapping: Mapping[str, str]) -> dict[str, str]:
        """The column of each field; a translation may also be in a column named like the language."""
        by_name: dict[str, str] = {}
        for column in sorted(table.columns, key=lambda column: column not in mapping):
            by_name.setdefault(mapping.get(column) or column.strip().casefold(), column)
        known = COLUMNS | {"translation": [*COLUMNS["translation"], self.language.code.casefold()]}
        fields = {name for names in known.values() for name in names}
        if unknown := set(mapping.values()) - fields:
            wrong, offered = ", ".join(sorted(unknown)), ", ".join(COLUMNS)
            raise ConfigError(f"{wrong!r} is not a field. Use --map COLUMN=FIELD with one of {offered}.")
        columns = {}
        for target, names in known.items():
            if present := [by_name[name] for name in names if name in by_name]:
                columns[target] = present[0]
        for group in [*([name] for name in TEXTS[kind]), ["source", "id"]]:
            if not columns.keys() & {*group}:
                raise ConfigError(
                    f"{table.path} has no column for {' or '.join(group)}, only {', '.join(table.columns)}. "
                    f"Use --map COLUMN={group[0]}."
                )
        return columns

    def _rows(self, cells: Mapping[str, str], kind: str) -> dict[tuple[str, str], Row] | str:
        """The rows of the config for a row of the table, by system and sentence; or why there are none."""
        matches = self._match(cells)
        if isinstance(matches, str):
            return matches
        texts = [composed(_LINE_BREAKS.sub(" ", cells[name]).strip()) for name in TEXTS[kind]]
        for text in texts:
            if problem := find_problem(text, matches[0][1], self.language.script, self._english):
                return problem
        code, system = self.language.code, cells.get("system", "").strip() or DEFAULT_SYSTEM
        rows = {}
        for sentence, source in matches:
            about = (sentence.stereotype, source)
            row: Row | str = translation_row(sentence.id, code, system, *about, texts[0])
            if kind == "pairs":
                facts = (sentence.id, code, [system], *about)
                row = pair_row(*facts, *texts, first_letter=self.first_letter, max_words=self.max_words)
            if isinstance(row, str):
                return row
            rows[system, sentence.id] = row
        return rows

    def _match(self, cells: Mapping[str, str]) -> list[tuple[GestSentence, str]] | str:
        """The sentences that a row is about, each with its text in the release that the row quotes."""
        source = cells.get("source", "").strip()
        # pandas writes 9 as 9.0 if another cell of the column is empty
        name, stereotype = (cells.get(key, "").strip().removesuffix(".0") for key in ("id", "stereotype"))
        named = self._by_id.get(sentence_id(int(name)) if regex.fullmatch("[0-9]{1,4}", name) else name)
        text = source or (named.text if named else "")
        matches = list(self._by_text.get(_normalise(text), {}).values())
        if OWN_TABLE and source and not matches and named is None and stereotype in map(str, STEREOTYPES):
            number, name = int(stereotype), pair_id("own", int(stereotype), _normalise(source), "", "")
            return [(GestSentence(name, number, source, source), source)]
        agreeing = [
            (sentence, text)
            for sentence, text in matches
            if named in (None, sentence) and stereotype in ("", str(sentence.stereotype))
        ]
        return agreeing or (DISAGREE if matches or named else UNKNOWN)


def _normalise(text: str) -> str:
    return " ".join(composed(text).translate(STRAIGHT_QUOTES).split())


def words(text: str) -> list[str]:
    return list(_WORD.findall(text.translate(STRAIGHT_QUOTES).lower()))


def find_problem(text: str, source: str, script: str, english: Container[str]) -> str:
    """Why a text is not a translation of its source, or the empty string; `english` holds English words."""
    if damaged := damage(text):
        return damaged
    in_text, in_source = words(text), set(words(source))
    limits = ((in_source, _MAX_SOURCE_WORDS), (english, _MAX_ENGLISH_WORDS))
    if any(sum(word in known for word in in_text) / (len(in_text) or 1) > most for known, most in limits):
        return ENGLISH
    letters = _LETTER.findall(text)
    in_script = len(_script_pattern(script).findall("".join(letters)))
    return SCRIPT if in_script / len(letters) < _MIN_SCRIPT_LETTERS else ""


@cache
def _script_pattern(script: str) -> regex.Pattern[str]:
    """A letter of a script; an error if Unicode has none."""
    names = _UNICODE_SCRIPTS.get(script, script).split()
    return regex.compile("[" + "".join(rf"\p{{Script={name}}}" for name in names) + "]")
