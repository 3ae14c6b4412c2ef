"""`add_language`: checks a user's files and stores the valid rows as two configs."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from datasets import List

from gest_dataset import builders, languages, user_data
from gest_dataset.builders.config import KIND_FIELDS, STRING, Config, Field
from gest_dataset.builders.custom_configs import FOLDER
from gest_dataset.builders.families import FAMILIES
from gest_dataset.custom.codes import language_of
from gest_dataset.custom.rows import COLUMNS, FileRows, SentenceIndex, read_rows
from gest_dataset.custom.store import NewConfig, add_configs, check_name, remove_config
from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.gender import TextWarning, detect
from gest_dataset.gender.grammar import (
    FEMALE,
    MALE,
    Grammar,
    add_rules,
    check_rules,
    delete_rules,
    load_grammar,
)
from gest_dataset.languages import Language
from gest_dataset.storage import atomic_path, csv_text
from gest_dataset.translation.sentences import gest_sentences

REPORT = "rejected.csv"
WRONG_GENDER = "a variant has the other gender, according to the rules"
_REPORT_COLUMNS = ("file", "row", "reason", "system", "id", "source", "translation", "masculine", "feminine")
# The systems are free texts
_FIELDS = {
    "translations": KIND_FIELDS["translations"]
    | {"system": Field("the translation system, as the file names it", STRING)},
    "pairs": KIND_FIELDS["pairs"]
    | {"systems": Field("the translation systems that gave this pair, as the file names them", List(STRING))},
}
_CONTENT = {"translations": "GEST translated", "pairs": "Gender-swapped pairs"}


@dataclass(frozen=True)
class GenderCheck:
    """The number of pairs in which the rules confirmed both genders, and of pairs that they cannot judge."""

    confirmed: int
    unknown: int


@dataclass(frozen=True)
class AddedLanguage:
    """A language that was added.

    Attributes:
        files: What became of the rows of each file, by file name.
        sentences, translated, pairs: Numbers of sentences by stereotype: of GEST, those with a translation,
            and those with a pair.
        first_letter: Whether the two words of a pair have to start with the same letter.
        other_letters: The number of pairs whose two words start with different letters.
        genders: The result of checking the genders of the variants, if a parser's model was given.
        report: The CSV file with the rejected rows.
    """

    language: Language
    configs: tuple[Config, ...]
    files: Mapping[str, FileRows]
    sentences: Counter[int]
    translated: Counter[int]
    pairs: Counter[int]
    first_letter: bool
    other_letters: int
    genders: GenderCheck | None
    report: Path


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
    licence: str | None = None,
    replace: bool = False,
    report: str | Path | None = None,
) -> AddedLanguage:
    """Check a language's files and store the valid rows as the configs `CODE_translations` and `CODE_pairs`.

    `translations` is a table with English sentences of GEST and their translations, `variants` one with a
    masculine and a feminine translation of each. `columns` maps column names to fields. Rejected rows are
    listed in `report`. If a file has no valid row, nothing is stored.
    """
    language = language_of(code, name, family, script)
    paths = {"translations": translations, "pairs": variants}
    tables = {kind: read_table(Path(path).expanduser()) for kind, path in paths.items() if path is not None}
    if not tables:
        raise ConfigError("Pass a file of translations, of variants, or both.")
    rules = None if rules is None else Path(rules).expanduser()
    grammar = None if rules is None else check_rules(language.code, rules, replace)
    first_letter = language.family == "Slavic" if first_letter is None else first_letter
    mapping = columns or {}
    _check_mapping(mapping, {column for table in tables.values() for column in table.columns})
    index = SentenceIndex(gest_sentences())
    files: dict[str, FileRows] = {}
    genders = None
    for kind, table in tables.items():
        check_name(f"{language.code}_{kind}")
        read = files[kind] = read_rows(table, kind, mapping, language, index, first_letter)
        if kind == "pairs" and parser_model is not None:
            grammar = grammar or load_grammar(language.code)
            genders = _check_genders(grammar, read, language.code, parser, parser_model)
        if not read.rows:
            reasons = ", ".join(f"{number:,} {reason}" for reason, number in read.reasons.most_common(3))
            raise DataError(
                f"{read.path}: none of its {read.number:,} rows is usable, so nothing was added: {reasons}."
            )
    licence = licence or builders.CONFIGS["en"].licence
    languages.add(language, replace)
    new = [(_new_config(language, kind, read, licence), read.rows) for kind, read in files.items()]
    configs = add_configs(new, replace)
    if rules is not None:
        add_rules(language.code, rules, replace)
    default_report = user_data.user_data_folder() / FOLDER / configs[0].name / REPORT
    report_path = default_report if report is None else Path(report).expanduser()
    _write_report(report_path, files.values())
    accepted = {} if translations is None else files["translations"].accepted
    translated = {sentence: row["stereotype"] for (_, sentence), (row, _) in accepted.items()}
    pairs = [] if variants is None else files["pairs"].rows
    return AddedLanguage(
        language=language,
        configs=tuple(configs),
        files={read.path.name: read for read in files.values()},
        sentences=Counter(sentence.stereotype for sentence in index.sentences),
        translated=Counter(translated.values()),
        pairs=Counter(stereotype for stereotype, _ in {(row["stereotype"], row["source"]) for row in pairs}),
        first_letter=first_letter,
        other_letters=sum(row["masculine_word"][:1] != row["feminine_word"][:1] for row in pairs),
        genders=genders,
        report=report_path,
    )


def remove_language(code: str) -> list[str]:
    """Remove a language that was added: its configs (whose names are returned), its rules and itself."""
    names = [f"{code}_{kind}" for kind in ("translations", "pairs")]
    stored = [name for name in names if (user_data.user_data_folder() / FOLDER / name).exists()]
    if not stored:
        raise ConfigError(f"No data was added for {code!r}.")
    for name in stored:
        remove_config(name)
    delete_rules(code)
    used = {language for config in builders.CONFIGS.values() for language in config.languages}
    if languages.is_custom(code) and code not in used:
        languages.remove(code)
    return stored


def _check_mapping(mapping: Mapping[str, str], columns: set[str]) -> None:
    for column, name in mapping.items():
        if name not in COLUMNS:
            raise ConfigError(f"{name!r} is not a field. Use one of {', '.join(COLUMNS)}.")
        if column not in columns:
            raise ConfigError(f"--map: there is no column {column!r}.")


def _check_genders(
    grammar: Grammar, read: FileRows, language: str, parser: str, model: str | Path
) -> GenderCheck:
    """Reject the pairs whose genders the rules contradict; pairs that the rules cannot judge are accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # the texts were checked before
        masculine, feminine = (
            detect([pair[variant] for pair in read.rows], language, parser, model, grammar=grammar)
            for variant in ("masculine", "feminine")
        )
    accepted, confirmed = [], 0
    for pair, man, woman in zip(read.rows, masculine, feminine, strict=True):
        if man.gender == FEMALE or woman.gender == MALE:
            numbers = [number for row, number in read.accepted.values() if row["id"] == pair["id"]]
            read.reject(min(numbers), pair, WRONG_GENDER)
        else:
            accepted.append(pair)
            confirmed += (man.gender, woman.gender) == (MALE, FEMALE)
    read.rows[:] = accepted
    return GenderCheck(confirmed, len(accepted) - confirmed)


def _new_config(language: Language, kind: str, read: FileRows, licence: str) -> NewConfig:
    facts = asdict(language) | {"family": f", {language.family}" if language.family else ""}
    template = FAMILIES["custom"]
    family = replace(
        template,
        name=language.code,
        title=template.title.format(**facts),
        description=template.description.format(**facts),
    )
    return NewConfig(
        f"{language.code}_{kind}",
        family,
        f"{_CONTENT[kind]} in {language.name}, added by a user",
        (language.code, "en"),
        licence,
        _FIELDS[kind],
        dict(read.reasons),
    )


def _write_report(path: Path, files: Iterable[FileRows]) -> None:
    """Write the rejected rows of all files as CSV."""
    lines = [
        (read.path.name, one.row, one.reason, *(one.cells.get(name, "") for name in _REPORT_COLUMNS[3:]))
        for read in files
        for one in read.rejected
    ]
    with atomic_path(path) as partial:
        partial.write_text(csv_text(_REPORT_COLUMNS, lines), encoding="utf-8")
