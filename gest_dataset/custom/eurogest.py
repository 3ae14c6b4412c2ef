"""EuroGEST as configs: pairs, and neutral sentences in frames (Rowe et al., 2025).

On the Hub it is one data set with a split for each language, a file named after it (`Slovak.csv`) with the
columns GEST_ID, Source, Stereotype_ID, Masculine, Feminine and Neutral. A row has a pair (its translation
shows the speaker's gender) or a neutral translation. A local copy is such a file, or a folder with files whose
path has a language's English name or code. All translations are by Google Translate.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError

from gest_dataset import languages
from gest_dataset.builders import frames, neutral, pairs
from gest_dataset.builders.config import Config, Fields, Row
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
COLUMNS = ("Source", "Stereotype_ID", "Masculine", "Feminine", "Neutral")
SYSTEM = "google"
LICENCE = "Apache-2.0"
EMPTY = "neither a pair nor a neutral sentence"
HALF = "a pair with one side missing"
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")  # of a Parquet file that is one of several

# The languages of EuroGEST that are built in, and the name and the family of the others
_BUILT_IN = ("en", "de", "fr", "es", "tr", "ru", "uk", "hr", "sl", "cs", "pl", "sk", "bg")
_OTHERS = {
    "da": ("Danish", "Germanic"),
    "nl": ("Dutch", "Germanic"),
    "et": ("Estonian", "Uralic"),
    "fi": ("Finnish", "Uralic"),
    "el": ("Greek", "Hellenic"),
    "hu": ("Hungarian", "Uralic"),
    "ga": ("Irish", "Celtic"),
    "it": ("Italian", "Romance"),
    "lv": ("Latvian", "Baltic"),
    "lt": ("Lithuanian", "Baltic"),
    "mt": ("Maltese", "Semitic"),
    "pt": ("Portuguese", "Romance"),
    "ro": ("Romanian", "Romance"),
    "sv": ("Swedish", "Germanic"),
    "ca": ("Catalan", "Romance"),
    "gl": ("Galician", "Romance"),
    "no": ("Norwegian", "Germanic"),
}
NAMES = {code: LANGUAGES[code].name for code in _BUILT_IN} | {
    code: name for code, (name, _) in _OTHERS.items()
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


@dataclass(frozen=True)
class _Line:
    """A row of EuroGEST; a missing text is empty."""

    source: str
    stereotype: int
    masculine: str
    feminine: str
    neutral: str


def import_eurogest(
    data: str | Path | None = None,
    languages: Sequence[str] | None = None,
    frame_kind: str = "pronoun",
    *,
    replace: bool = False,
    on_import: Callable[[ImportedLanguage], None] = lambda imported: None,
) -> list[ImportedLanguage]:
    """Store EuroGEST's languages as the configs `eurogest_LANG_pairs` and `eurogest_LANG_neutral`.

    Args:
        data: A local copy; the default is to download it from the Hub.
        languages: Codes of languages; the default is all that the copy has.
        frame_kind: Who speaks in the frames of neutral sentences: `pronoun` or `noun`.
        replace: Replace imported configs that differ.
        on_import: Called with each language as soon as it is stored.
    """
    if frame_kind not in frames.KINDS:
        raise ConfigError(f"There are no frames {frame_kind!r}. Choose from {', '.join(frames.KINDS)}.")
    unknown = [code for code in languages or () if code not in NAMES]
    if unknown:
        raise ConfigError(f"EuroGEST has no language {unknown[0]!r}. Choose from {', '.join(sorted(NAMES))}.")
    files = files_by_language(Path(data) if data is not None else download())
    missing = [code for code in languages or () if code not in files]
    if missing:
        raise ConfigError(f"There is no file for {', '.join(missing)}, only for {', '.join(sorted(files))}.")
    imported = []
    for code in languages or sorted(files):
        imported.append(_import_language(code, files[code], frame_kind, replace))
        on_import(imported[-1])
    if not any(one.configs for one in imported):
        raise ConfigError("Nothing was imported.\n" + "\n".join(one.problem for one in imported))
    return imported


def download() -> Path:
    """Download EuroGEST from the Hub, where its terms have to be accepted first."""
    page = f"https://huggingface.co/datasets/{HUB_ID}"
    try:
        patterns = [f"*{suffix}" for suffix in SUFFIXES]
        return Path(snapshot_download(HUB_ID, repo_type="dataset", allow_patterns=patterns))
    except GatedRepoError as error:
        raise SourceError(
            f"{HUB_ID} is gated. Accept its terms on {page} and log in with `hf auth login`, or pass a copy "
            f"with --data."
        ) from error
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise SourceError(
            f"{HUB_ID} cannot be downloaded ({type(error).__name__}). Try again, or pass a copy of {page} "
            f"with --data."
        ) from error


def files_by_language(data: Path) -> dict[str, list[Path]]:
    """The files of a copy by the language in their path; `data` may be a single file."""
    if not data.exists():
        raise ConfigError(f"There is no file or folder {data}.")
    data = data.resolve()
    files = [data] if data.is_file() else sorted(p for p in data.rglob("*") if p.suffix.lower() in SUFFIXES)
    codes = {name.casefold(): code for code, name in NAMES.items()} | {code: code for code in NAMES}
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


def _read_lines(path: Path) -> list[_Line]:
    table = read_table(path)
    by_name = {name.casefold(): name for name in table.columns}
    missing = [name for name in COLUMNS if name.casefold() not in by_name]
    if missing:
        raise DataError(f"{path} is not a file of EuroGEST: it has no column {missing[0]}.")
    columns = {name: by_name[name.casefold()] for name in COLUMNS}
    texts = [table.texts(columns[name]) for name in COLUMNS if name != "Stereotype_ID"]
    lines = []
    for row, (value, *cells) in enumerate(zip(table.columns[columns["Stereotype_ID"]], *texts, strict=True)):
        try:
            stereotype = int(float(value))  # tables with empty cells hold 7.0
        except (TypeError, ValueError):
            stereotype = 0
        if stereotype not in STEREOTYPES or not cells[0].strip():
            raise DataError.at(path, f"row {row + 1}", f"no source, or unknown stereotype {value!r}")
        source, masculine, feminine, neutral_text = (cell.strip() for cell in cells)
        lines.append(_Line(source, stereotype, masculine, feminine, neutral_text))
    return lines


def _import_language(code: str, files: Sequence[Path], frame_kind: str, replace: bool) -> ImportedLanguage:
    lines = [line for file in files for line in _read_lines(file)]
    pairs_dropped = Counter({EMPTY: 0, HALF: 0})
    neutral_dropped: Counter[str] = Counter()
    name, problem = NAMES[code], ""
    with_pair = [line for line in lines if line.masculine and line.feminine]
    with_neutral = [line for line in lines if line.neutral and not (line.masculine and line.feminine)]
    pairs_dropped[EMPTY] = sum(not (line.masculine or line.feminine or line.neutral) for line in lines)
    pairs_dropped[HALF] = sum(bool(line.masculine) != bool(line.feminine) for line in lines)
    pair_rows = pairs.merge_rows(_pair_rows(code, with_pair), pairs_dropped)
    neutral_rows: list[Row] = []
    if any(line.neutral for line in lines):
        try:
            found = {key: sources.fetch(key) for key in frames.frame_sources(code)}
            choices = frames.read_frames(code, found, frame_kind)
            neutral_rows = pairs.merge_rows(_neutral_rows(code, with_neutral, choices), neutral_dropped)
        except ConfigError as error:
            problem = str(error)
    if (pair_rows or neutral_rows) and code not in LANGUAGES:
        languages.add(language_of(code, *_OTHERS[code]))
    configs = []
    for kind, rows, fields, dropped, description in (
        ("pairs", pair_rows, pairs.FIELDS, pairs_dropped, f"Pairs of EuroGEST in {name}, one word apart"),
        (
            "neutral",
            neutral_rows,
            neutral.FIELDS,
            neutral_dropped,
            f"Neutral sentences of EuroGEST in {name}, in frames with a {frame_kind} for the speaker",
        ),
    ):
        if rows:
            configs.append(add_config(_new_config(code, kind, description, fields, dropped), rows, replace))
    return ImportedLanguage(code, tuple(configs), dict(pairs_dropped + neutral_dropped), problem)


def _pair_rows(code: str, lines: Sequence[_Line]) -> list[Row | str]:
    """The pairs; the rule of the first letter was made for Slavic languages."""
    family = LANGUAGES[code].family if code in _BUILT_IN else _OTHERS[code][1]
    return [
        pairs.pair_row(
            code,
            [SYSTEM],
            line.stereotype,
            line.source,
            line.masculine,
            line.feminine,
            first_letter=family == "Slavic",
        )
        for line in lines
    ]


def _neutral_rows(code: str, lines: Sequence[_Line], choices: Sequence[frames.Frame]) -> list[Row]:
    return [
        neutral.neutral_row(
            code,
            [SYSTEM],
            line.stereotype,
            line.source,
            line.neutral,
            frames.choose_frame(line.neutral, choices),
        )
        for line in lines
    ]


def _new_config(code: str, kind: str, description: str, fields: Fields, dropped: Counter[str]) -> NewConfig:
    spoken = tuple(dict.fromkeys((code, "en")))
    return NewConfig(
        f"eurogest_{code}_{kind}", EUROGEST, description, spoken, LICENCE, fields, dict(+dropped)
    )
