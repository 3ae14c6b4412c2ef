"""EuroGEST as configs of ours: pairs, and neutral sentences in frames (Rowe et al., 2025).

On the Hub it is one data set with a split for each language, a file named by it (`Slovak.csv`) with the
columns GEST_ID, Source, Stereotype_ID, Masculine, Feminine and Neutral. A row has either a pair (its
translation shows the speaker's gender) or a neutral translation. A local copy may be such a file, or a folder
with files whose path names a language by its English name or its code. Google Translate made all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gest_dataset import languages
from gest_dataset.builders import frames, neutral, pairs
from gest_dataset.builders.added import NewConfig
from gest_dataset.builders.config import Config, Dropped, Fields, Row
from gest_dataset.builders.families import EUROGEST
from gest_dataset.builders.keeping import keep
from gest_dataset.builders.neutral import neutral_row
from gest_dataset.builders.pairs import MERGED, pair_row
from gest_dataset.custom.codes import language_of
from gest_dataset.data import sources
from gest_dataset.data.tables import Table, read_table
from gest_dataset.errors import ConfigError, DataError, SourceError
from gest_dataset.languages import LANGUAGES
from gest_dataset.stereotypes import STEREOTYPES

HUB_ID = "utter-project/EuroGEST"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
COLUMNS = ("Source", "Stereotype_ID", "Masculine", "Feminine", "Neutral")
SYSTEM = "google"  # who translated them
LICENCE = "Apache-2.0"
EMPTY = "neither a pair nor a neutral sentence"
HALF = "a pair of which one side is missing"
_PART = re.compile(r"-\d{5}-of-\d{5}$")  # of a Parquet file that is one of several

# The languages of EuroGEST that this package has itself, and the name and the kin of the others
_OURS = ("en", "de", "fr", "es", "tr", "ru", "uk", "hr", "sl", "cs", "pl", "sk", "bg")
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


@dataclass(frozen=True)
class Imported:
    """What became of one language: the configs that are kept, rows left out by reason, and by which frames.

    `refused` says why its neutral sentences are no config, where there are some.
    """

    language: str
    configs: tuple[Config, ...]
    dropped: Mapping[str, int]
    refused: str = ""


@dataclass(frozen=True)
class _Line:
    """A row of EuroGEST; what is not there is the empty text."""

    source: str
    stereotype: int
    masculine: str
    feminine: str
    neutral: str


def names() -> dict[str, str]:
    """The code of each language of EuroGEST, and its English name."""
    own = {code: LANGUAGES[code].name for code in _OURS}
    return own | {code: name for code, (name, _) in _OTHERS.items()}


def download() -> Path:
    """The Hub's copy, in its cache; it is gated, so that its terms have to be accepted there once."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError

    page = f"https://huggingface.co/datasets/{HUB_ID}"
    try:
        return Path(
            snapshot_download(HUB_ID, repo_type="dataset", allow_patterns=[f"*{s}" for s in SUFFIXES])
        )
    except GatedRepoError as error:
        raise SourceError(
            f"{HUB_ID} is gated. Accept its terms on {page}, log in with `hf auth login`, and try again; or "
            f"give a copy with --data."
        ) from error
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise SourceError(
            f"{HUB_ID} cannot be downloaded ({type(error).__name__}). Connect to the Hub and try again, or "
            f"give a copy with --data: a folder with a file for each language, from {page}."
        ) from error


def files_by_language(data: Path) -> dict[str, list[Path]]:
    """The files of a copy by the language that their path names; one file may be given itself."""
    if not data.exists():
        raise ConfigError(f"There is no file or folder {data}.")
    data = data.resolve()
    files = [data] if data.is_file() else sorted(p for p in data.rglob("*") if p.suffix.lower() in SUFFIXES)
    codes = {name.casefold(): code for code, name in names().items()} | {code: code for code in names()}
    found: dict[str, list[Path]] = {}
    for file in files:
        folders = file.relative_to(data.parent).parts[-2::-1]  # the nearest first
        parts = [_PART.sub("", file.stem), *folders]
        named = next((codes[part.casefold()] for part in parts if part.casefold() in codes), None)
        if named is not None:
            found.setdefault(named, []).append(file)
    if not found:
        raise ConfigError(
            f"{data} has no file of EuroGEST. The name of each says its language, like Slovak.csv and "
            f"sk.parquet, and ends with {', '.join(SUFFIXES)}."
        )
    return found


def read_lines(files: Sequence[Path]) -> Iterator[_Line]:
    """The rows of a language's files."""
    for path in files:
        table = read_table(path)
        columns = {name: _column(table, name) for name in COLUMNS}
        texts = {name: table.texts(columns[name]) for name in COLUMNS if name != "Stereotype_ID"}
        for place, number in enumerate(table.columns[columns["Stereotype_ID"]]):
            source, *rest = (texts[name][place].strip() for name in texts)
            where = f"row {place + 1}"
            if not source:
                raise DataError.at(path, where, "empty Source")
            yield _Line(source, _stereotype(number, path, where), *rest)


def _column(table: Table, wanted: str) -> str:
    """The column of that name, whatever the case of its letters."""
    for name in table.columns:
        if name.casefold() == wanted.casefold():
            return name
    raise DataError(
        f"{table.path} is no file of EuroGEST: it has no column {wanted}, only {', '.join(table.columns)}. "
        f"Needed are {', '.join(COLUMNS)}."
    )


def _stereotype(value: Any, path: Path, where: str) -> int:
    """The number of a stereotype; tables with empty cells hold it as 7.0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if number not in STEREOTYPES:
        raise DataError.at(path, where, f"unknown stereotype {value!r}, expected 1 to {len(STEREOTYPES)}")
    return int(number)


def pair_rows(language: str, lines: Sequence[_Line], first_letter: bool, dropped: Dropped) -> list[Row]:
    """The pairs that keep the rules of `pairs`; that of the first letter was made for Slavic languages."""
    make = partial(pair_row, language, [SYSTEM], first_letter=first_letter)
    made = (
        make(line.stereotype, line.source, line.masculine, line.feminine)
        for line in lines
        if line.masculine and line.feminine
    )
    return _merged(made, dropped)


def neutral_rows(
    language: str, lines: Sequence[_Line], found: Sequence[frames.Frame], dropped: Dropped
) -> list[Row]:
    """The neutral sentences of rows without a pair, in frames."""
    made = (
        neutral_row(
            language,
            [SYSTEM],
            line.stereotype,
            line.source,
            line.neutral,
            frames.frame_for(line.neutral, found),
        )
        for line in lines
        if line.neutral and not (line.masculine and line.feminine)
    )
    return _merged(made, dropped)


def _merged(made: Iterable[Row | str], dropped: Dropped) -> list[Row]:
    """Each row once; a rule that one breaks is counted, and so are copies."""
    rows: dict[str, Row] = {}
    for row in made:
        reason = row if isinstance(row, str) else MERGED if row["id"] in rows else ""
        if reason:
            dropped[reason] += 1
        elif not isinstance(row, str):
            rows[row["id"]] = row
    return list(rows.values())


def import_eurogest(
    data: str | Path | None = None,
    chosen: Sequence[str] | None = None,
    kind: str = "pronoun",
    *,
    replace: bool = False,
    told: Callable[[Imported], None] = lambda imported: None,
) -> list[Imported]:
    """Keep EuroGEST's languages as `eurogest_LANG_pairs` and `eurogest_LANG_neutral`.

    `data` is a local copy, else the Hub's is downloaded; `chosen` are codes of languages, else all that are
    there; `kind` says who speaks in the frames (`frames.KINDS`). `told` hears of each language as it is done.
    """
    if kind not in frames.KINDS:
        raise ConfigError(f"There are no frames {kind!r}: choose one of {', '.join(frames.KINDS)}.")
    unknown = [code for code in chosen or () if code not in names()]
    if unknown:
        raise ConfigError(
            f"EuroGEST has no language {unknown[0]!r}: choose from {', '.join(sorted(names()))}."
        )
    files = files_by_language(Path(data) if data is not None else download())
    absent = [code for code in chosen or () if code not in files]
    if absent:
        raise ConfigError(f"There is no file of {', '.join(absent)}, only of {', '.join(sorted(files))}.")
    done = []
    for code in chosen or sorted(files):
        done.append(_import_one(code, list(read_lines(files[code])), kind, replace))
        told(done[-1])
    if not any(one.configs for one in done):
        raise ConfigError("Nothing was imported.\n" + "\n".join(one.refused for one in done if one.refused))
    return done


def _import_one(code: str, lines: Sequence[_Line], kind: str, replace: bool) -> Imported:
    of_pairs, of_neutral = Counter[str](), Counter[str]()
    nothing = sum(not (line.masculine or line.feminine or line.neutral) for line in lines)
    half = sum(bool(line.masculine) != bool(line.feminine) for line in lines)
    of_pairs |= Counter({EMPTY: nothing, HALF: half})
    name, refused = names()[code], ""
    rows = pair_rows(code, lines, _kin(code) == "Slavic", of_pairs)
    made = [_new(code, "pairs", f"Pairs of EuroGEST in {name}, one word apart", pairs.FIELDS, of_pairs)]
    every = [rows]
    if any(line.neutral for line in lines):
        try:
            own = {key: sources.fetch(key) for key in frames.sources_of(code)}
            every.append(neutral_rows(code, lines, frames.frames_of(code, own, kind), of_neutral))
            said = f"Neutral sentences of EuroGEST in {name}, in frames with a {kind} for who speaks"
            made.append(_new(code, "neutral", said, neutral.FIELDS, of_neutral))
        except ConfigError as error:
            refused = str(error)
    if any(every) and code not in LANGUAGES:
        languages.keep(language_of(code, *_OTHERS[code]))
    kept = tuple(keep(new, rows, replace) for new, rows in zip(made, every, strict=True) if rows)
    return Imported(code, kept, dict(of_pairs + of_neutral), refused)


def _kin(code: str) -> str:
    return LANGUAGES[code].family if code in _OURS else _OTHERS[code][1]


def _new(code: str, what: str, told: str, fields: Fields, dropped: Dropped) -> NewConfig:
    spoken = tuple(dict.fromkeys((code, "en")))
    left_out = dict(+dropped)
    return NewConfig(f"eurogest_{code}_{what}", EUROGEST, told, spoken, LICENCE, fields, left_out)
