"""EuroGEST as configs: pairs, and neutral sentences in frames (Rowe et al., 2025).

On the Hub it is one data set with a split for each language, a file named after it (`Slovak.csv`) with the
columns GEST_ID, Source, Stereotype_ID, Masculine, Feminine and Neutral. A row has a pair (its translation
shows the speaker's gender) or a neutral translation. A local copy is such a file, or a folder with files
whose path has a language's English name or code. All translations are by Google Translate.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from gest_dataset import languages
from gest_dataset.builders import frames, neutral, pairs
from gest_dataset.builders.config import KIND_FIELDS, Config, Row
from gest_dataset.builders.families import EUROGEST
from gest_dataset.custom.codes import language_of
from gest_dataset.custom.store import NewConfig, add_config
from gest_dataset.data import sources
from gest_dataset.data.tables import read_table
from gest_dataset.errors import ConfigError, DataError, SourceError
from gest_dataset.languages import LANGUAGES
from gest_dataset.stereotypes import STEREOTYPES

HUB_ID = "utter-project/EuroGEST"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
SYSTEM = "google"
LICENCE = "Apache-2.0"
EMPTY = "neither a pair nor a neutral sentence"
HALF = "a pair with one side missing"
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")  # of a Parquet file that is one of several

_BUILT_IN = ("en", "de", "fr", "es", "tr", "ru", "uk", "hr", "sl", "cs", "pl", "sk", "bg")
# Language family -> the other languages of EuroGEST
_OTHERS = {
    "Baltic": ("lv", "lt"),
    "Celtic": ("ga",),
    "Germanic": ("da", "nl", "no", "sv"),
    "Hellenic": ("el",),
    "Romance": ("ca", "gl", "it", "pt", "ro"),
    "Semitic": ("mt",),
    "Uralic": ("et", "fi", "hu"),
}
EUROGEST_LANGUAGES = {code: LANGUAGES[code] for code in _BUILT_IN} | {
    code: language_of(code, family=family) for family, codes in _OTHERS.items() for code in codes
}


@dataclass(frozen=True)
class ImportedLanguage:
    """The configs of one language, and the number of rows that were left out, by reason.

    `problem` says why the neutral sentences are not a config, if there are any.
    """

    language: str
    configs: tuple[Config, ...]
    dropped: Mapping[str, int]
    problem: str = ""


class Line(NamedTuple):
    """A row of EuroGEST, with the names of its columns in lower case; a missing text is empty."""

    stereotype_id: int
    source: str
    masculine: str
    feminine: str
    neutral: str


def import_eurogest(
    data: str | Path | None = None,
    languages: Sequence[str] | None = None,
    frame_kind: str = "pronoun",
    *,
    replace: bool = False,
) -> list[ImportedLanguage]:
    """Store EuroGEST's languages as the configs `eurogest_LANG_pairs` and `eurogest_LANG_neutral`.

    Args:
        data: A local copy; the default is to download it from the Hub.
        languages: Codes of languages; the default is all that the copy has.
        frame_kind: Who speaks in the frames of neutral sentences: `pronoun` or `noun`.
        replace: Replace imported configs that differ.
    """
    if frame_kind not in frames.KINDS:
        raise ConfigError(f"There are no frames {frame_kind!r}. Choose from {', '.join(frames.KINDS)}.")
    unknown = [code for code in languages or () if code not in EUROGEST_LANGUAGES]
    if unknown:
        known = ", ".join(sorted(EUROGEST_LANGUAGES))
        raise ConfigError(f"EuroGEST has no language {unknown[0]!r}. Choose from {known}.")
    files = files_by_language(Path(data) if data is not None else download())
    missing = [code for code in languages or () if code not in files]
    if missing:
        raise ConfigError(f"There is no file for {', '.join(missing)}, only for {', '.join(sorted(files))}.")
    selected = languages or sorted(files)
    imported = [_import_language(code, files[code], frame_kind, replace) for code in selected]
    if not any(one.configs for one in imported):
        raise ConfigError("Nothing was imported.\n" + "\n".join(one.problem for one in imported))
    return imported


def download() -> Path:
    """Download EuroGEST from the Hub, where its terms have to be accepted first."""
    try:
        patterns = [f"*{suffix}" for suffix in SUFFIXES]
        return Path(snapshot_download(HUB_ID, repo_type="dataset", allow_patterns=patterns))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise SourceError(
            f"{HUB_ID} cannot be downloaded ({type(error).__name__}). Accept its terms on "
            f"https://huggingface.co/datasets/{HUB_ID} and log in with `hf auth login`, or pass a copy with "
            f"--data."
        ) from error


def files_by_language(data: Path) -> dict[str, list[Path]]:
    """The files of a copy by the language in their path; `data` may be a single file."""
    if not data.exists():
        raise ConfigError(f"There is no file or folder {data}.")
    data = data.resolve()
    files = [data] if data.is_file() else sorted(p for p in data.rglob("*") if p.suffix.lower() in SUFFIXES)
    codes = {code: code for code in EUROGEST_LANGUAGES}
    codes |= {language.name.casefold(): code for code, language in EUROGEST_LANGUAGES.items()}
    found: dict[str, list[Path]] = {}
    for file in files:
        folders = file.relative_to(data.parent).parts[-2::-1]  # the nearest first
        parts = [_SHARD.sub("", file.stem), *folders]
        code = next((codes[part.casefold()] for part in parts if part.casefold() in codes), None)
        if code is not None:
            found.setdefault(code, []).append(file)
    if not found:
        raise ConfigError(
            f"{data} has no file of EuroGEST. Name the files by language, like Slovak.csv or sk.parquet."
        )
    return found


def read_lines(path: Path) -> list[Line]:
    """Read the rows of a file."""
    table = read_table(path)
    by_name = {name.casefold(): name for name in table.columns}
    missing = [name for name in Line._fields if name.casefold() not in by_name]
    if missing:
        raise DataError(f"{path} is not a file of EuroGEST: it has no column {missing[0]}.")
    columns: list[Sequence[Any]] = [table.columns[by_name["stereotype_id"]]]
    columns += [table.texts(by_name[name.casefold()]) for name in Line._fields[1:]]
    lines = []
    for row, (value, *cells) in enumerate(zip(*columns, strict=True), start=1):
        try:
            number = float(value)  # tables with empty cells hold 7.0
        except (TypeError, ValueError):
            number = 0.0
        texts = [cell.strip() for cell in cells]
        if number not in STEREOTYPES or not texts[0]:
            raise DataError.at(path, f"row {row}", f"no source, or unknown stereotype {value!r}")
        lines.append(Line(int(number), *texts))
    return lines


def _import_language(code: str, files: Sequence[Path], frame_kind: str, replace: bool) -> ImportedLanguage:
    lines = [line for file in files for line in read_lines(file)]
    language, problem = EUROGEST_LANGUAGES[code], ""
    empty = sum(not (line.masculine or line.feminine or line.neutral) for line in lines)
    half = sum(bool(line.masculine) != bool(line.feminine) for line in lines)
    dropped = {"pairs": Counter({EMPTY: empty, HALF: half}), "neutral": Counter[str]()}
    rows = {"pairs": pairs.merge_rows(pair_rows(code, lines), dropped["pairs"])}
    if any(line.neutral for line in lines):
        try:
            frame_files = {key: sources.fetch(key) for key in frames.frame_sources(code)}
            choices = frames.read_frames(code, frame_files, frame_kind)
            rows["neutral"] = pairs.merge_rows(neutral_rows(code, lines, choices), dropped["neutral"])
        except ConfigError as error:
            problem = str(error)
    if any(rows.values()) and code not in LANGUAGES:
        languages.add(language)
    configs = []
    for kind, kind_rows in rows.items():
        name, frame = (
            f"eurogest_{code}_{kind}",
            f", in frames with a {frame_kind}" if kind == "neutral" else "",
        )
        description = f"EuroGEST in {language.name}: {kind}{frame}"
        codes = tuple(dict.fromkeys((code, "en")))
        left_out = dict(+dropped[kind])
        new = NewConfig(name, EUROGEST, description, codes, LICENCE, KIND_FIELDS[kind], left_out)
        if kind_rows:
            configs.append(add_config(new, kind_rows, replace))
    return ImportedLanguage(code, tuple(configs), dict(dropped["pairs"] + dropped["neutral"]), problem)


def pair_rows(code: str, lines: Sequence[Line]) -> Iterator[Row | str]:
    """Yield the pairs, or the rules that they break; the rule of the first letter is for Slavic languages."""
    is_slavic = EUROGEST_LANGUAGES[code].family == "Slavic"
    for line in lines:
        if line.masculine and line.feminine:
            texts = (line.source, line.masculine, line.feminine)
            yield pairs.pair_row(code, [SYSTEM], line.stereotype_id, *texts, first_letter=is_slavic)


def neutral_rows(code: str, lines: Sequence[Line], choices: Sequence[frames.Frame]) -> Iterator[Row]:
    """Yield the neutral sentences of lines without a pair, in frames."""
    for line in lines:
        if line.neutral and not (line.masculine and line.feminine):
            frame = frames.choose_frame(line.neutral, choices)
            yield neutral.neutral_row(code, [SYSTEM], line.stereotype_id, line.source, line.neutral, frame)
