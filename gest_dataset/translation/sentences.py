"""English sentences to translate, and GEST's sentences with their translations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from gest_dataset.builders import CONFIGS, get_config
from gest_dataset.data.rows import rows_of
from gest_dataset.data.tables import is_table, read_lines, read_table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.gender import languages, texts
from gest_dataset.storage import atomic_path
from gest_dataset.translation.translator import Translation

TEXT = "sentence"  # the column that is translated
COLUMNS = ("id", "system", "language", "source", "translation", "stereotype", "problem")
SAME = "not translated: still the English sentence"
_FILE = "file:"


@dataclass(frozen=True)
class Sentence:
    """A sentence to translate; `stereotype` is empty if it is unknown."""

    id: str
    text: str
    stereotype: str = ""


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


def read_sentences(name: str) -> list[Sentence]:
    """The English sentences of a config."""
    if TEXT not in get_config(name).features:
        offered = ", ".join(config.name for config in CONFIGS.values() if TEXT in config.features)
        raise ConfigError(f"The config {name!r} has no English sentences. Use one of {offered}.")
    return [Sentence(r["id"], r[TEXT], str(r.get("stereotype", ""))) for r in rows_of(name).to_list()]


def read_input(path: Path) -> list[Sentence]:
    """The sentences of a table with a column `sentence`, or of a text with one per line."""
    if not is_table(path):
        return [Sentence(str(number), line.strip()) for number, line in enumerate(read_lines(path), start=1)]
    table = read_table(path)
    sentences = table.texts(TEXT)
    ids = table.columns.get("id", range(1, len(sentences) + 1))
    stereotypes = table.columns.get("stereotype", [""] * len(sentences))
    return [Sentence(*row) for row in zip(map(str, ids), sentences, map(str, stereotypes), strict=True)]


def write_csv(
    path: Path,
    systems: Mapping[str, str],
    sentences: Sequence[Sentence],
    translations: Mapping[str, Sequence[Translation]],
) -> None:
    """Write the translations of all languages to one CSV file; `systems` are names by language."""
    rows = [
        (s.id, systems[language], language, made.source, made.translation, s.stereotype, made.problem)
        for language, group in translations.items()
        for s, made in zip(sentences, group, strict=True)
    ]
    with atomic_path(path) as partial:
        # a source with half of a surrogate pair is listed as a problem, and must not stop the file
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        table.to_csv(partial, index=False, lineterminator="\n", errors="backslashreplace")


def problem_of(made: Translation, language: str) -> str:
    """Why a translation is missing, or looks wrong: the source, English, garbled. Empty if it is fine."""
    if made.problem:
        return made.problem
    if made.translation == made.source:
        return "not translated: the same as the source"
    return texts.problem(made.translation, language) if language in languages() else ""


def gest_sentences(limit: int | None = None) -> list[GestSentence]:
    """GEST's sentences, or the first `limit` of them."""
    if limit is not None and limit < 1:
        raise ConfigError(f"limit must be 1 or more, not {limit}.")
    new, old = (rows_of(name).to_list() for name in ("en", "en_1_0"))
    return [
        GestSentence(row["id"], row["stereotype"], row["sentence"], before["sentence"])
        for row, before in zip(new[:limit], old[:limit], strict=True)
    ]


def is_file(system: str) -> bool:
    """Whether a system is a file of translations."""
    return system.startswith(_FILE)


def text_file(system: str) -> Path | None:
    """The text file (or `-`) of a system with a translation per line; None for any other system."""
    path = Path(system.removeprefix(_FILE)).expanduser()
    return path if is_file(system) and not is_table(path) else None


def read_aligned_lines(path: Path, limit: int | None) -> list[str]:
    """The lines of a text with a translation for each of GEST's sentences, or the first `limit` of them."""
    lines, number = read_lines(path), len(gest_sentences())
    if len(lines) not in {number, limit}:
        first = f", or for the first {limit:,}" if limit is not None and limit < number else ""
        raise DataError(
            f"{path} has {len(lines):,} lines; it needs one for each of the {number:,} lines of "
            f"`gest build --config en --format txt`{first}."
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
    for sentence in sentences:
        new, old = (translations.get(text) for text in (sentence.text, sentence.text_1_0))
        better = old if new is None or (new.problem and old and not old.problem) else new
        made = better or Translation(sentence.text, "", "not translated")
        problem = made.problem or (SAME if made.translation.strip() == made.source.strip() else "")
        samples.append(
            TranslatedSentence(sentence.id, sentence.stereotype, made.source, made.translation, problem)
        )
    return samples
