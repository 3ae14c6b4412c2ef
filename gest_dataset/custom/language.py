"""`add_language`: checks a user's files and stores the valid rows as two configs."""

import dataclasses
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gest_dataset import builders, languages, user_data
from gest_dataset.builders import FOLDER
from gest_dataset.builders.config import FAMILIES, Config
from gest_dataset.custom.rows import TEXTS, FileRows, RowReader, is_script
from gest_dataset.custom.store import NewConfig, add_configs, check_name, remove_config
from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError, DataError, import_extra
from gest_dataset.gender import detect
from gest_dataset.gender import grammar as grammars
from gest_dataset.gender.grammar import FEMALE, MALE, Grammar
from gest_dataset.languages import LANGUAGES, SOURCE, Language
from gest_dataset.storage import csv_text, write_file
from gest_dataset.translation.sentences import gest_sentences

REPORT = "rejected.csv"
WRONG_GENDER = "a variant has the other gender, according to the rules"
UNKNOWN_LICENCE = "unknown"
_REPORT_COLUMNS = ("file", "row", "reason", "system", "id", "source", "translation", "masculine", "feminine")
_CARD = FAMILIES["custom"]  # with gaps for facts about the language
_CONTENT = {"translations": "GEST translated into", "pairs": "Gender-swapped pairs in"}


@dataclass(frozen=True)
class AddedLanguage:
    """A language that was added."""

    language: Language
    configs: tuple[Config, ...]
    files: Mapping[str, FileRows]  # by kind: `translations` and `pairs`
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
    given = {key: value for key, value in given.items() if value is not None}
    language = dataclasses.replace(language, **given)
    if not is_script(language.script):
        raise ConfigError(f"{language.script!r} is not a script of ISO 15924. Use --script, such as Deva.")
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
    tables = {kind: read_table(Path(path).expanduser()) for kind, path in paths.items() if path is not None}
    if not tables:
        raise ConfigError("Pass a file of translations, of variants, or both.")
    rules = None if rules is None else Path(rules).expanduser()
    grammar = None if rules is None else grammars.check_rules(language.code, rules, replace)
    first_letter = language.family == "Slavic" if first_letter is None else first_letter
    reader = RowReader(language, gest_sentences(), first_letter, max_words)
    files: dict[str, FileRows] = {}
    confirmed = None
    for kind, table in tables.items():
        check_name(f"{language.code}_{kind}")
        read = files[kind] = reader.read(table, kind, columns or {})
        if kind == "pairs" and (parser != "udpipe" or parser_model is not None):
            grammar = grammar or grammars.load_grammar(language.code)
            confirmed = _check_genders(grammar, read, language.code, parser, parser_model)
        if not read.rows:
            reasons = ", ".join(f"{number:,} {reason}" for reason, number in read.reasons.most_common(3))
            raise DataError(
                f"{read.path}: none of its {read.number:,} rows is usable, so nothing was added: {reasons}."
            )
    languages.add(language, replace)
    words = "one word" if max_words == 1 else f"at most {max_words} words"
    facts = asdict(language) | {"family": f", {language.family}" if language.family else "", "words": words}
    texts = {name: getattr(_CARD, name).format(**facts) for name in ("title", "description", "limits")}
    dataset = dataclasses.replace(_CARD, name=language.code, homepage=source or _CARD.homepage, **texts)
    new = [
        NewConfig(
            name=f"{language.code}_{kind}",
            family=dataset,
            description=f"{_CONTENT[kind]} {language.name}, added by a user",
            languages=(language.code, SOURCE),
            licence=licence or UNKNOWN_LICENCE,
            kind=kind,
            dropped=dict(read.reasons),
        )
        for kind, read in files.items()
    ]
    configs = add_configs([(one, files[one.kind].rows) for one in new], replace)
    if rules is not None:
        grammars.add_rules(language.code, rules, replace)
    report = Path(report or user_data.user_data_folder() / FOLDER / configs[0].name / REPORT).expanduser()
    lines = [{"file": read.path.name, **row} for read in files.values() for row in read.rejected]
    cells = ([line.get(column, "") for column in _REPORT_COLUMNS] for line in lines)
    write_file(report, csv_text(_REPORT_COLUMNS, cells))
    return AddedLanguage(language, tuple(configs), files, confirmed, report)


def remove_language(code: str) -> list[str]:
    """Remove a language that was added: its configs (whose names are returned), its rules and itself."""
    names = [f"{code}_{kind}" for kind in TEXTS]
    stored = [name for name in names if (user_data.user_data_folder() / FOLDER / name).exists()]
    if not stored:
        raise ConfigError(f"No data was added for {code!r}.")
    for name in stored:
        remove_config(name)
    grammars.delete_rules(code)
    used = {language for config in builders.CONFIGS.values() for language in config.languages}
    if languages.is_custom(code) and code not in used:
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
