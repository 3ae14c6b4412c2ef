"""`add_language`: a user's files are checked, and what stands is kept as two configs."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasets import List

from gest_dataset import builders, languages
from gest_dataset.builders import keeping, translations
from gest_dataset.builders import pairs as pair_rules
from gest_dataset.builders.added import FOLDER, NewConfig
from gest_dataset.builders.config import STRING, Config, Family, Field
from gest_dataset.builders.families import GEST
from gest_dataset.builders.gest import RELEASES
from gest_dataset.custom import rejected
from gest_dataset.custom.codes import language_of
from gest_dataset.custom.columns import check_used
from gest_dataset.custom.gendered import Genders, check_genders
from gest_dataset.custom.reading import Read, Seen, Wanted, merged, read_translations, read_variants
from gest_dataset.custom.rejected import Rejected
from gest_dataset.custom.sentences import Sentences
from gest_dataset.data import sources
from gest_dataset.data.tables import stream
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.gender import own
from gest_dataset.home import home
from gest_dataset.languages import LANGUAGES, Language
from gest_dataset.storage import atomic_path
from gest_dataset.translation.samples import sentences

REPORT = "rejected.csv"
_SLAVIC = "Slavic"
_SHOWN = 3  # reasons that an error names


@dataclass(frozen=True)
class Addition:
    """A language that was added: its configs, what became of the rows of each file, and counts.

    `translated` and `pairs` are the sentences of GEST, and of them those with a pair, by stereotype.
    """

    language: Language
    configs: tuple[Config, ...]
    files: Mapping[str, Read]
    sentences: Mapping[int, int]
    translated: Mapping[int, int]
    pairs: Mapping[int, int]
    first_letter: bool
    other_letters: int  # pairs whose two words begin with different letters
    genders: Genders | None
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
    seen: Seen = lambda rows: None,
) -> Addition:
    """Check files in a new language and keep what stands: `CODE_translations` and `CODE_pairs`.

    `translations` is a table with English sentences of GEST and their translations, `variants` one with a
    masculine and a feminine translation of each; `columns` says which of their columns are which fields.
    What is left out is in `report`. Where nothing of a file stands, nothing is kept.
    """
    language = language_of(code, name, family, script)
    paths = {
        f"{language.code}_{kind}": Path(path).expanduser()
        for kind, path in (("translations", translations), ("pairs", variants))
        if path is not None
    }
    if not paths:
        raise ConfigError("Give a file of translations, of variants, or both.")
    for config in paths:
        keeping.check_name(config)
    grammar = None if rules is None else own.read_rules(Path(rules).expanduser())
    if grammar is not None:
        own.check_rules(language.code, grammar, replace)
    letters = language.family == _SLAVIC if first_letter is None else first_letter
    given = Sentences(sentences())
    wanted = Wanted(language.code, language.script, given, letters)
    with tempfile.TemporaryDirectory(prefix="gest-") as folder:
        left_out = Path(folder) / REPORT
        files = _read(paths, columns or {}, wanted, left_out, seen)
        found = {config: _rows(config, read) for config, read in files.items()}
        genders = None
        pairs_name = f"{language.code}_pairs"
        if pairs_name in files and model is not None:
            by = grammar or own.grammar_of(language.code)
            with left_out.open("a", encoding="utf-8", newline="") as file:
                files[pairs_name].rejected.file = file
                found[pairs_name], genders = check_genders(
                    by, found[pairs_name], files[pairs_name], language.code, parser, model
                )
        _check_any(paths, files, found)
        configs = _keep(language, files, found, licence or _gest_licence(), replace)
        if grammar is not None:
            own.keep_rules(language.code, grammar, replace)
        kept = _report(left_out, report, configs)
    pairs = found.get(pairs_name, [])
    return Addition(
        language=language,
        configs=configs,
        files={paths[config].name: read for config, read in files.items()},
        sentences=Counter(sentence.stereotype for sentence in given.all),
        translated=_translated(files.get(f"{language.code}_translations")),
        pairs=_by_stereotype(pairs),
        first_letter=letters,
        other_letters=sum(row["masculine_word"][:1] != row["feminine_word"][:1] for row in pairs),
        genders=genders,
        report=kept,
    )


def remove_language(code: str) -> list[str]:
    """Take away what was added of a language: its configs, which are told, its rules, and itself."""
    names = [f"{code}_{kind}" for kind in ("translations", "pairs")]
    gone = [name for name in names if (home() / FOLDER / name).exists()]
    if not gone:
        raise ConfigError(f"Nothing of a language {code!r} was added.")
    for name in gone:
        keeping.forget(name)
    own.forget_rules(code)
    used = {spoken for config in builders.CONFIGS.values() for spoken in config.languages}
    if languages.is_added(code) and code not in used:
        languages.forget(code)
    return gone


def _read(
    paths: Mapping[str, Path], columns: Mapping[str, str], wanted: Wanted, left_out: Path, seen: Seen
) -> dict[str, Read]:
    tables = {config: stream(path) for config, path in paths.items()}
    check_used(columns, list(tables.values()))
    files = {}
    with left_out.open("w", encoding="utf-8", newline="") as file:
        rejected.heading(file)
        for config, table in tables.items():
            read = read_variants if config.endswith("_pairs") else read_translations
            files[config] = read(table, columns, wanted, Rejected(table.path, file), seen)
            if config.endswith("_pairs"):
                files[config].pairs = merged(files[config])
    return files


def _rows(config: str, read: Read) -> list[dict[str, Any]]:
    return read.pairs if config.endswith("_pairs") else [row for _, row in sorted(read.kept.items())]


def _check_any(
    paths: Mapping[str, Path], files: Mapping[str, Read], found: Mapping[str, Sequence[object]]
) -> None:
    for config, read in files.items():
        if not found[config]:
            reasons = ", ".join(
                f"{number:,} {reason} (first: row {read.rejected.first[reason]})"
                for reason, number in read.rejected.counts.most_common(_SHOWN)
            )
            raise DataError(
                f"{paths[config]}: not one of its {read.rows:,} rows stands, so nothing is added: {reasons}."
            )


def _translated(read: Read | None) -> dict[int, int]:
    """Sentences of GEST with a translation of any system, by stereotype."""
    kept = {} if read is None else {name: row["stereotype"] for (_, name), row in read.kept.items()}
    return Counter(kept.values())


def _by_stereotype(rows: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """English sentences with a pair, which are the units of the measure, by stereotype."""
    return Counter(number for number, _ in {(row["stereotype"], row["source"]) for row in rows})


_FREE = "as the file names it"
_TRANSLATIONS = {**translations.FIELDS, "system": Field(f"who translated it, {_FREE}", STRING)}
_PAIRS = {**pair_rules.FIELDS, "systems": Field(f"who gave this pair, {_FREE}", List(STRING))}


def _keep(
    language: Language,
    files: Mapping[str, Read],
    found: Mapping[str, list[dict[str, Any]]],
    licence: str,
    replace: bool,
) -> tuple[Config, ...]:
    """The language and its configs, all of them or none."""
    family = _family(language)
    spoken = (language.code, "en")
    new = []
    for config, read in files.items():
        pairs = config.endswith("_pairs")
        told = f"{'Gender-swapped pairs' if pairs else 'GEST translated'} in {language.name}, added by a user"
        fields, dropped = (_PAIRS if pairs else _TRANSLATIONS), dict(read.rejected.counts)
        new.append((NewConfig(config, family, told, spoken, licence, fields, dropped), found[config]))
    before = LANGUAGES.get(language.code)
    languages.keep(language, replace)
    try:
        return tuple(keeping.keep_together(new, replace))
    except ConfigError:
        if before is None:
            languages.forget(language.code)
        raise


def _family(language: Language) -> Family:
    of = f", {language.family}" if language.family else ""
    return Family(
        name=language.code,
        title=f"GEST in {language.name}",
        description=(
            f"The sentences of GEST in {language.name} ({language.iso3}, script {language.script}{of}), from "
            f"files that were added with `gest add-language`: each row is about a sentence of GEST, is not "
            f"English any more and is in that script. The two variants of a pair differ in one word."
        ),
        homepage=GEST.homepage,
        citation=GEST.citation,
        limits=(
            "The translations are those of whoever added them; nobody of GEST has read them. The stereotypes "
            "were defined with European experts: review them before you carry them to another culture. "
            "Only sentences whose gender shows in a single word are among the pairs."
        ),
    )


def _gest_licence() -> str:
    return sources.licences([RELEASES["en"]])


def _report(left_out: Path, asked: str | Path | None, configs: Sequence[Config]) -> Path:
    """Put the rows that were left out where they are asked for, or into the folder of the first config."""
    path = Path(asked).expanduser() if asked is not None else home() / FOLDER / configs[0].name / REPORT
    with atomic_path(path) as partial:
        shutil.copyfile(left_out, partial)
    return path
