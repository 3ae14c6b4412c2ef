"""`add_language`: checks a user's files and stores the valid rows as two configs."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from datasets import List

from gest_dataset import builders, languages, user_data
from gest_dataset.builders import pairs as pair_configs
from gest_dataset.builders import translations as translation_configs
from gest_dataset.builders.config import STRING, Config, Family, Field, Row
from gest_dataset.builders.custom_configs import FOLDER
from gest_dataset.builders.families import GEST
from gest_dataset.custom.codes import language_of
from gest_dataset.custom.rows import (
    COLUMNS,
    FileRows,
    SentenceIndex,
    pair_cells,
    read_translations,
    read_variants,
)
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
from gest_dataset.languages import LANGUAGES, Language
from gest_dataset.storage import atomic_path, csv_text
from gest_dataset.translation.samples import sentences

REPORT = "rejected.csv"
WRONG_GENDER = "a variant has the other gender, according to the rules"
_REPORT_COLUMNS = ("file", "row", "reason", "system", "id", "source", "translation", "masculine", "feminine")
# Fields whose systems are free texts
_TRANSLATION_FIELDS = {
    **translation_configs.FIELDS,
    "system": Field("the translation system, as the file names it", STRING),
}
_PAIR_FIELDS = {
    **pair_configs.FIELDS,
    "systems": Field("the translation systems that gave this pair, as the file names them", List(STRING)),
}


@dataclass(frozen=True)
class GenderCheck:
    """The number of pairs in which the rules confirmed both genders, and of the others that were accepted."""

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
    sentences: Mapping[int, int]
    translated: Mapping[int, int]
    pairs: Mapping[int, int]
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
    model: str | Path | None = None,
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
    if translations is None and variants is None:
        raise ConfigError("Pass a file of translations, of variants, or both.")
    translations_name, pairs_name = (f"{language.code}_{kind}" for kind in ("translations", "pairs"))
    for config, path in ((translations_name, translations), (pairs_name, variants)):
        if path is not None:
            check_name(config)
    rules = None if rules is None else Path(rules).expanduser()
    grammar = None if rules is None else check_rules(language.code, rules, replace)
    if first_letter is None:
        first_letter = language.family == "Slavic"
    index = SentenceIndex(sentences())
    mapping = columns or {}
    files: dict[str, FileRows] = {}
    rows: dict[str, list[Row]] = {}
    genders = None
    tables = [read_table(Path(path).expanduser()) for path in (translations, variants) if path is not None]
    _check_mapping(mapping, [name for table in tables for name in table.columns])
    if translations is not None:
        read = files[translations_name] = read_translations(tables[0], mapping, language, index)
        rows[translations_name] = [read.accepted[key][0] for key in sorted(read.accepted)]
    if variants is not None:
        read = files[pairs_name] = read_variants(tables[-1], mapping, language, index, first_letter)
        rows[pairs_name] = read.pairs
        if model is not None:
            grammar_to_check = grammar or load_grammar(language.code)
            rows[pairs_name], genders = _check_genders(grammar_to_check, read, language.code, parser, model)
    for config, read in files.items():
        if not rows[config]:
            reasons = ", ".join(f"{number:,} {reason}" for reason, number in read.reasons.most_common(3))
            raise DataError(
                f"{read.path}: none of its {read.rows:,} rows is usable, so nothing was added: {reasons}."
            )
    configs = _store(language, files, rows, licence or builders.CONFIGS["en"].licence, replace)
    if rules is not None:
        add_rules(language.code, rules, replace)
    default_report = user_data.user_data_folder() / FOLDER / configs[0].name / REPORT
    report_path = Path(report).expanduser() if report is not None else default_report
    _write_report(report_path, files.values())
    translated: dict[str, int] = {}
    if translations_name in files:
        accepted = files[translations_name].accepted.items()
        translated = {sentence: row["stereotype"] for (_, sentence), (row, _) in accepted}
    with_pair = {(row["stereotype"], row["source"]) for row in rows.get(pairs_name, [])}
    return AddedLanguage(
        language=language,
        configs=configs,
        files={read.path.name: read for read in files.values()},
        sentences=Counter(sentence.stereotype for sentence in index.sentences),
        translated=Counter(translated.values()),
        pairs=Counter(stereotype for stereotype, _ in with_pair),
        first_letter=first_letter,
        other_letters=sum(
            row["masculine_word"][:1] != row["feminine_word"][:1] for row in rows.get(pairs_name, [])
        ),
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


def _check_mapping(mapping: Mapping[str, str], columns: Sequence[str]) -> None:
    for column, name in mapping.items():
        if name not in COLUMNS:
            raise ConfigError(f"{name!r} is not a field. Use one of {', '.join(COLUMNS)}.")
        if column not in columns:
            raise ConfigError(f"--map: there is no column {column!r}, only {', '.join(columns)}.")


def _check_genders(
    grammar: Grammar, read: FileRows, language: str, parser: str, model: str | Path
) -> tuple[list[Row], GenderCheck]:
    """Reject the pairs whose genders the rules contradict; pairs that the rules cannot judge are accepted."""
    detected = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # the texts were checked before
        for variant in ("masculine", "feminine"):
            texts = [pair[variant] for pair in read.pairs]
            detected[variant] = detect(texts, language, parser, model, grammar=grammar)
    accepted, confirmed = [], 0
    for i, pair in enumerate(read.pairs):
        masculine, feminine = detected["masculine"][i].gender, detected["feminine"][i].gender
        if masculine == FEMALE or feminine == MALE:
            numbers = [number for row, number in read.accepted.values() if row["id"] == pair["id"]]
            read.reject(min(numbers), pair_cells(pair), WRONG_GENDER)
        else:
            accepted.append(pair)
            confirmed += (masculine, feminine) == (MALE, FEMALE)
    return accepted, GenderCheck(confirmed, len(accepted) - confirmed)


def _store(
    language: Language,
    files: Mapping[str, FileRows],
    rows: Mapping[str, list[Row]],
    licence: str,
    replace: bool,
) -> tuple[Config, ...]:
    """Store the language and its configs, all of them or none."""
    family = _family(language)
    new = []
    for config, read in files.items():
        is_pairs = config.endswith("_pairs")
        content = "Gender-swapped pairs" if is_pairs else "GEST translated"
        new_config = NewConfig(
            config,
            family,
            f"{content} in {language.name}, added by a user",
            (language.code, "en"),
            licence,
            _PAIR_FIELDS if is_pairs else _TRANSLATION_FIELDS,
            dict(read.reasons),
        )
        new.append((new_config, rows[config]))
    is_new = language.code not in LANGUAGES
    languages.add(language, replace)
    try:
        return tuple(add_configs(new, replace))
    except ConfigError:
        if is_new:
            languages.remove(language.code)
        raise


def _family(language: Language) -> Family:
    family = f", {language.family}" if language.family else ""
    return Family(
        name=language.code,
        title=f"GEST in {language.name}",
        description=(
            f"The sentences of GEST in {language.name} ({language.iso3}, script {language.script}{family}), "
            f"added with `gest add-language`: every row translates a GEST sentence; rows left in English or "
            f"in another script were rejected. The two variants of a pair differ in one word."
        ),
        homepage=GEST.homepage,
        citation=GEST.citation,
        limits=(
            "The translations were contributed by a user; the authors of GEST have not reviewed them. The "
            "stereotypes were defined with European experts: review them before you apply them to another "
            "culture. Only sentences whose gender shows in a single word become pairs."
        ),
    )


def _write_report(path: Path, files: Sequence[FileRows]) -> None:
    """Write the rejected rows of all files as CSV."""
    lines = []
    for read in files:
        for one in read.rejected:
            cells = (one.cells.get(name, "") for name in _REPORT_COLUMNS[3:])
            lines.append((read.path.name, one.row, one.reason, *cells))
    with atomic_path(path) as partial:
        partial.write_text(csv_text(_REPORT_COLUMNS, lines), encoding="utf-8")
