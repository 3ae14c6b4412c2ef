"""GEST's sentences, and what a system has made of each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.data.tables import is_table, read_lines
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.translation.translator import Translation

_FILE = "file:"
SAME = "not translated: still the English sentence"


@dataclass(frozen=True)
class GestSentence:
    """A sentence of GEST: its text in 1.1, and in 1.0, which older files of translations are keyed by."""

    id: str
    stereotype: int
    text: str
    text_1_0: str


@dataclass(frozen=True)
class TranslatedSentence:
    """A sentence with its translation; where there is none, `problem` says why."""

    id: str
    stereotype: int
    source: str
    translation: str
    problem: str = ""


def checked_limit(limit: int | None) -> None:
    """No limit, or a number of sentences that leaves some."""
    if limit is not None and limit < 1:
        raise ConfigError(f"A limit of {limit} leaves nothing to translate: use 1 or more.")


def sentences(limit: int | None = None) -> list[GestSentence]:
    """GEST's sentences, or the first `limit` of them."""
    from gest_dataset.data.rows import rows_of

    new, old = (rows_of(name).to_list() for name in ("en", "en_1_0"))
    return [
        GestSentence(row["id"], row["stereotype"], row["sentence"], before["sentence"])
        for row, before in zip(new[:limit], old[:limit], strict=True)
    ]


def is_file(system: str) -> bool:
    """Whether a system is a file of translations, which has what it has."""
    return system.startswith(_FILE)


def lines_of(system: str) -> Path | None:
    """The text of a system that is one, with a translation a line (`-` is the standard input), or None."""
    path = Path(system.removeprefix(_FILE)).expanduser()
    return path if is_file(system) and not is_table(path) else None


def aligned_lines(path: Path, limit: int | None) -> list[str]:
    """The lines of a text, one for each of GEST's sentences, or of the first `limit` of them."""
    lines, number = read_lines(path), len(sentences())
    if len(lines) not in {number, limit}:
        first = f", or the first {limit:,} of them" if limit is not None and limit < number else ""
        raise DataError(
            f"{path} has {len(lines):,} lines. It has to have {number:,}: the translations of the lines of "
            f"`gest build --format txt`, in their order{first}."
        )
    return lines


def aligned(given: Iterable[GestSentence], lines: Iterable[str], name: str) -> list[TranslatedSentence]:
    """Each sentence with the line in its place."""
    samples = []
    for number, (sentence, line) in enumerate(zip(given, lines, strict=False), start=1):
        same = SAME if line.strip() == sentence.text.strip() else ""
        problem = same if line.strip() else f"{name}, line {number} is empty"
        samples.append(TranslatedSentence(sentence.id, sentence.stereotype, sentence.text, line, problem))
    return samples


def wanted(given: Iterable[GestSentence], system: str) -> list[str]:
    """The texts to ask a system for: 1.1, and of a file also 1.0."""
    texts = [text for s in given for text in ((s.text, s.text_1_0) if is_file(system) else (s.text,))]
    return list(dict.fromkeys(texts))


def join(given: Iterable[GestSentence], translations: Mapping[str, Translation]) -> list[TranslatedSentence]:
    """Each sentence with the translation of its text in 1.1, or else in 1.0."""
    samples = []
    for sentence in given:
        new, old = (translations.get(text) for text in (sentence.text, sentence.text_1_0))
        better = old if new is None or (new.problem and old and not old.problem) else new
        made = better or Translation(sentence.text, "", "not translated")
        same = made.translation.strip() == made.source.strip()
        problem = made.problem or (SAME if same else "")
        samples.append(
            TranslatedSentence(sentence.id, sentence.stereotype, made.source, made.translation, problem)
        )
    return samples
