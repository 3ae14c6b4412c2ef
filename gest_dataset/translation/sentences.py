"""English sentences to translate, GEST's sentences with their translations, and files of translations."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from gest_dataset.builders import CONFIGS, get_config
from gest_dataset.data.rows import rows_of
from gest_dataset.data.user_tables import is_table, read_lines, read_user_table
from gest_dataset.errors import ConfigError, DataError, UnsupportedLanguageError, convert_errors
from gest_dataset.gender import languages, parsing
from gest_dataset.stereotypes import OWN_TABLE
from gest_dataset.storage import update_hash
from gest_dataset.translation.translator import Batches, Translation, TranslationError, Translator

TEXT = "sentence"  # the column that is translated
SAME = "not translated: still the English sentence"
_FILE = "file:"
# Columns of the files of `gest translate`, of GEST's own files, and of those of `gest build --format csv`
_COLUMNS = (("source", "translation"), ("from", "to"), ("sentence", "translation"))


@dataclass(frozen=True)
class GestSentence:
    """A sentence of GEST: its text in 1.1, and in 1.0, which older files of translations use."""

    id: str
    stereotype: int
    text: str
    text_1_0: str


@dataclass(frozen=True)
class TranslatedSentence:
    """A sentence of GEST with its translation; without one, `problem` says why."""

    id: str
    stereotype: int
    source: str
    translation: str
    problem: str = ""


def read_sentences(source: str | Path) -> pd.DataFrame:
    """English sentences with their `id` and `stereotype` (empty if it is unknown).

    They are those of a config, of a table with a column `sentence`, or of a text with one per line.
    """
    if isinstance(source, str):
        if TEXT not in get_config(source).features:
            offered = ", ".join(config.name for config in CONFIGS.values() if TEXT in config.features)
            raise ConfigError(f"The config {source!r} has no English sentences. Use one of {offered}.")
        columns = rows_of(source).to_dict()
    elif is_table(source):
        table = read_user_table(source)
        columns = {**table.columns, TEXT: table.texts(TEXT)}
    else:
        columns = {TEXT: [line.strip() for line in read_lines(source)]}
    number = len(columns[TEXT])
    defaults = {"id": range(1, number + 1), "stereotype": [""] * number}
    chosen = {name: columns.get(name, defaults.get(name)) for name in ("id", TEXT, "stereotype")}
    return pd.DataFrame(chosen).astype({"id": str, "stereotype": str})


def problem_of(made: Translation, language: str) -> str:
    """Why a translation is missing, or looks wrong: the source, English, garbled. Empty if it is fine."""
    if made.problem:
        return made.problem
    if made.translation == made.source:
        return "not translated: the same as the source"
    return parsing.problem(made.translation, language) if language in languages() else ""


def gest_sentences(limit: int | None = None, data: str = "en") -> list[GestSentence]:
    """The sentences of GEST, or of another config (with one text and no stereotype), or the first `limit`."""
    older = "en_1_0" if data == "en" and not OWN_TABLE else data
    new, old = (rows_of(name).to_list()[:limit] for name in (data, older))
    return [
        GestSentence(row["id"], row.get("stereotype", 0), row[TEXT], before[TEXT])
        for row, before in zip(new, old, strict=True)
    ]


def is_file(system: str) -> bool:
    """Whether a system is a file of translations."""
    return system.startswith(_FILE)


def text_file(system: str) -> Path | None:
    """The text file (or `-`) of a system with a translation per line; None for any other system."""
    path = Path(system.removeprefix(_FILE)).expanduser()
    if is_file(system) and str(path) != "-" and not path.exists():
        raise ConfigError(f"There is no file {path}.")
    return path if is_file(system) and not is_table(path) else None


def read_aligned_lines(path: Path, limit: int | None, data: str) -> list[str]:
    """The lines of a text with a translation for each sentence of a config, or the first `limit` of them."""
    lines, number = read_lines(path), len(rows_of(data))
    if len(lines) not in {number, limit}:
        first = f", or for the first {limit:,}" if limit is not None and limit < number else ""
        raise DataError(
            f"{path} has {len(lines):,} lines; it needs one for each of the {number:,} lines of "
            f"`gest build --config {data} --format txt`{first}."
        )
    return lines


def align(sentences: Iterable[GestSentence], lines: Iterable[str], name: str) -> list[TranslatedSentence]:
    """Each sentence with its line of the text `name`."""
    samples = []
    for number, (sentence, line) in enumerate(zip(sentences, lines, strict=False), start=1):
        problem = SAME if line.strip() == sentence.text.strip() else ""
        problem = problem if line.strip() else f"{name}, line {number} is empty"
        samples.append(TranslatedSentence(sentence.id, sentence.stereotype, sentence.text, line, problem))
    return samples


def texts_to_translate(sentences: Iterable[GestSentence], system: str) -> list[str]:
    """The distinct texts of GEST 1.1, and for a file also those of 1.0."""
    both = is_file(system)
    texts = [text for s in sentences for text in ((s.text, s.text_1_0) if both else (s.text,))]
    return list(dict.fromkeys(texts))


def join_translations(
    sentences: Iterable[GestSentence], translations: Mapping[str, Translation]
) -> list[TranslatedSentence]:
    """Each sentence with the translation of its text in 1.1, or else in 1.0."""
    samples = []
    for one in sentences:
        new, old = (translations.get(text) for text in (one.text, one.text_1_0))
        better = old if new is None or (new.problem and old and not old.problem) else new
        made = better or Translation(one.text, "", "not translated")
        problem = made.problem or (SAME if made.translation.strip() == made.source.strip() else "")
        samples.append(TranslatedSentence(one.id, one.stereotype, made.source, made.translation, problem))
    return samples


# ---- translations that were made elsewhere: CSV, TSV, JSONL or Parquet -------------------------------------


def open_file(name: str, language: str) -> Translator:
    """The translator that looks texts up in a file."""
    path = Path(name).expanduser()
    if not path.exists():
        raise ConfigError(f"There is no file {path}.")
    digest = hashlib.sha256()
    with convert_errors(lambda error: TranslationError(f"{path} cannot be read: {error}.")):
        update_hash(digest, path)

    def translate(texts: Sequence[str]) -> Batches:
        rows: dict[str, dict[str, int]] = {}  # source -> translation -> number of its first row
        for number, source, translation in read_translations(path, language).itertuples():
            rows.setdefault(source, {}).setdefault(translation, number)
        yield [_look_up(text, rows.get(text, {}), path.name) for text in texts]

    return Translator(f"file:{path.name}", f"sha256:{digest.hexdigest()[:16]}", "", translate, cached=False)


def _look_up(text: str, row_of: Mapping[str, int], name: str) -> Translation:
    """The one translation of a text that is not empty; `row_of` has the row of each translation."""
    different = [translation for translation in row_of if translation.strip()]
    if len(different) == 1:
        return Translation(text, different[0])
    if different:
        rows = " and ".join(str(row_of[translation]) for translation in different)
        return Translation(text, "", f"{name} has {len(different)} different translations, in rows {rows}")
    if row_of:
        return Translation(text, "", f"{name} has an empty translation, in row {min(row_of.values())}")
    return Translation(text, "", f"{name} has no translation of the sentence")


def read_translations(path: Path, language: str) -> pd.DataFrame:
    """The columns `source` and `translation` by the number of the row, from 1.

    With a column `language` only the rows of the language count; a column `system` must name one system.
    """
    table = read_user_table(path)
    names = next((pair for pair in _COLUMNS if set(pair) <= set(table.columns)), None)
    if names is None:
        raise ConfigError(
            f"{path} has the columns {', '.join(table.columns)}; a file of translations needs "
            f"{' or '.join(' and '.join(pair) for pair in _COLUMNS)}."
        )
    rows = pd.DataFrame(dict(zip(_COLUMNS[0], map(table.texts, names), strict=True)), dtype=object)
    rows.index += 1
    if "language" in table.columns:
        codes = pd.Series(table.columns["language"], index=rows.index, dtype=object)
        rows = rows[codes == language]
        if rows.empty:
            offered = sorted({str(code) for code in codes} - {"", "None"})
            raise UnsupportedLanguageError(
                f"{path} has no row in {language!r}; its languages: {', '.join(offered) or 'none'}."
            )
    if "system" in table.columns:
        systems = sorted({str(table.columns["system"][row - 1]) for row in rows.index} - {"None"})
        if len(systems) > 1:
            raise TranslationError(
                f"{path} has translations of several systems ({', '.join(systems)}); use a file with one."
            )
    return rows
