"""EuroGEST as configs: pairs, and neutral sentences in frames (Rowe et al., 2025).

On the Hub it is one dataset with a split for each language, a file named after it (`Slovak.csv`) with the
columns GEST_ID, Source, Stereotype_ID, Masculine, Feminine and Neutral. A row has a pair (its translation
shows the speaker's gender) or a neutral translation. A local copy is such a file, or a folder with files
whose name, or whose folder's name, is a language or its code. All translations are by Google Translate.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from gest_dataset import languages as all_languages
from gest_dataset.builders import frames, pairs, translations
from gest_dataset.builders.config import FAMILIES, Config
from gest_dataset.builders.gest import ids_by_text
from gest_dataset.custom.language import language_of
from gest_dataset.custom.store import NewConfig, add_configs
from gest_dataset.data import sources
from gest_dataset.data.rows import rows_of
from gest_dataset.data.user_tables import read_user_table
from gest_dataset.errors import ConfigError, DataError, SourceError
from gest_dataset.languages import LANGUAGES, Language
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import read_yaml

HUB_ID = "utter-project/EuroGEST"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
SYSTEM = ["google"]
LICENCE = "Apache-2.0"
EMPTY = "neither a pair nor a neutral sentence"
HALF = "a pair with one side missing"
_TEXTS = ("source", "masculine", "feminine", "neutral")
_FAMILIES = read_yaml(Path(__file__).with_suffix(".yaml"))


@cache
def eurogest_languages() -> Mapping[str, Language]:
    return {
        code: LANGUAGES.get(code) or language_of(code, family=family)
        for family, codes in _FAMILIES.items()
        for code in codes
    }


@dataclass(frozen=True)
class ImportedLanguage:
    """The configs of one language, and the number of rows that were left out, by reason."""

    language: str
    configs: tuple[Config, ...]
    dropped: Mapping[str, int]
    problem: str = ""  # why the neutral sentences are not a config


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
    files = files_by_language(Path(data) if data is not None else download())
    codes = languages or sorted(files)
    if missing := set(codes) - files.keys():
        raise ConfigError(f"EuroGEST has no file for {min(missing)!r}, only for {', '.join(sorted(files))}.")
    ids = ids_by_text([*rows_of("en"), *rows_of("en_1_0")])
    imported = [_import_language(code, files[code], ids, frame_kind, replace) for code in codes]
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
    """The files of a copy by language; `data` may be a single file."""
    if not data.exists():
        raise ConfigError(f"There is no file or folder {data}.")
    data = data.resolve()
    codes = {language.name.casefold(): code for code, language in eurogest_languages().items()}
    codes |= {code: code for code in eurogest_languages()}
    by_language: dict[str, list[Path]] = {}
    for file in [data] if data.is_file() else sorted(data.rglob("*.*")):
        name, folder = file.stem.partition("-")[0], file.parent.name  # Slovak-00000-of-00001.parquet
        code = codes.get(name.casefold()) or codes.get(folder.casefold())
        if code and file.suffix.lower() in SUFFIXES:
            by_language.setdefault(code, []).append(file)
    if not by_language:
        raise ConfigError(
            f"{data} has no file of EuroGEST. Name the files by language, like Slovak.csv or sk.parquet."
        )
    return by_language


def read_lines(path: Path) -> pd.DataFrame:
    """The stereotypes and texts of a file; a missing text is empty."""
    table = read_user_table(path)
    names = {name.casefold(): name for name in table.columns}
    for name in ("stereotype_id", *_TEXTS):
        if name not in names:
            raise DataError(f"{path} is not a file of EuroGEST: it has no column {name}.")
    lines = pd.DataFrame({name: map(str.strip, table.texts(names[name])) for name in _TEXTS}, dtype=object)
    # tables with empty cells hold 7.0
    lines["stereotype"] = pd.to_numeric(pd.Series(table.columns[names["stereotype_id"]]), errors="coerce")
    wrong = lines[~lines["stereotype"].isin(list(STEREOTYPES)) | (lines["source"] == "")]
    if len(wrong):
        raise DataError.at(path, f"row {wrong.index[0] + 1}", "no source, or an unknown stereotype")
    return lines.astype({"stereotype": int})


def _import_language(
    code: str, files: Sequence[Path], ids: Mapping[tuple[str, int], str], frame_kind: str, replace: bool
) -> ImportedLanguage:
    lines = pd.concat([read_lines(file) for file in files], ignore_index=True)
    language, problem = eurogest_languages()[code], ""
    has = lines[["masculine", "feminine", "neutral"]] != ""
    is_pair = has.masculine & has.feminine
    counts = {EMPTY: sum(~has.any(axis=1)), HALF: sum(has.masculine != has.feminine)}
    dropped = {"pairs": Counter(counts), "neutral": Counter[str]()}

    def facts(line: Any) -> tuple[str | None, str, list[str], int, str]:
        """The first arguments of `pair_row` and `neutral_row`."""
        return ids.get((line.source, line.stereotype)), code, SYSTEM, line.stereotype, line.source

    is_slavic = language.family == "Slavic"  # whose languages have the rule of the first letter
    made = (
        pairs.pair_row(*facts(line), line.masculine, line.feminine, first_letter=is_slavic)
        for line in lines[is_pair].itertuples()
    )
    rows = {"pairs": pairs.merge_rows(made, dropped["pairs"])}
    if has.neutral.any():
        try:
            frame_files = {key: sources.fetch(key) for key in frames.frame_sources(code)}
            choices = frames.read_frames(code, frame_files, frame_kind)
            framed = (
                translations.neutral_row(
                    *facts(line), line.neutral, frames.choose_frame(line.neutral, choices)
                )
                for line in lines[has.neutral & ~is_pair].itertuples()
            )
            rows["neutral"] = pairs.merge_rows(framed, dropped["neutral"])
        except ConfigError as error:
            problem = str(error)
    if any(rows.values()) and code not in LANGUAGES:
        all_languages.add(language)
    details = {"pairs": "", "neutral": f", in frames with a {frame_kind}"}
    new = [
        NewConfig(
            name=f"eurogest_{code}_{kind}",
            family=FAMILIES["eurogest"],
            description=f"EuroGEST in {language.name}: {kind}{details[kind]}",
            languages=tuple(dict.fromkeys((code, "en"))),
            licence=LICENCE,
            kind=kind,
            dropped=dict(+dropped[kind]),
        )
        for kind in rows
        if rows[kind]
    ]
    configs = add_configs([(one, rows[one.kind]) for one in new], replace)
    return ImportedLanguage(code, tuple(configs), dict(dropped["pairs"] + dropped["neutral"]), problem)
