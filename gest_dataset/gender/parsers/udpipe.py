"""UDPipe 1, the parser for a CPU: a model's path, or the published UD 2.5 model of a language."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, SourceError
from gest_dataset.gender.parsers import workers
from gest_dataset.gender.parsers.parser import Parser

_WORKER = Path(__file__).with_name("udpipe_worker.py")
_PER_WORKER = 200  # texts that are worth a process of their own
# LINDAT's repository, handle 11234/1-3131: the address of today's software, and of the one before
_REPOSITORIES = (
    "https://lindat.mff.cuni.cz/repository/server/api/core/bitstreams/handle/11234/1-3131",
    "https://lindat.mff.cuni.cz/repository/xmlui/bitstream/handle/11234/1-3131",
)
_MAGIC = b"\x12morphodita_parsito"  # what a model of UDPipe 1 begins with: the name of its kind
_TREEBANKS = {
    "be": "belarusian-hse",
    "ru": "russian-syntagrus",
    "uk": "ukrainian-iu",
    "hr": "croatian-set",
    "sl": "slovenian-ssj",
    "sr": "serbian-set",
    "cs": "czech-pdt",
    "pl": "polish-pdb",
    "sk": "slovak-snk",
    "bg": "bulgarian-btb",
}


class _Published(sources.Source):
    """A model of LINDAT's repository: its hash is not pinned but kept at the first download."""

    @property
    def url(self) -> str:
        return f"{self.repository}/{self.path}"


def open_parser(language: str, model: Path | None) -> Parser:
    """The parser whose model is `model`, or the published one of the language."""
    path = published(language) if model is None else model
    if not path.is_file():
        raise ConfigError(
            f"There is no UDPipe model {path}.\n"
            f"Give the path of a .udpipe file as the model, or none: then the published one is downloaded."
        )

    def parse(texts: Sequence[str]) -> Iterator[workers.Parsed]:
        number = max(1, min(os.cpu_count() or 1, len(texts) // _PER_WORKER))
        return workers.parse_with_workers([sys.executable, str(_WORKER), str(path)], texts, number)

    return Parser(signature=f"udpipe {_hash(path)}", parse=parse)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def published(language: str, directory: Path | None = None) -> Path:
    """The UD 2.5 model of a language: downloaded once, and compared with its first hash ever after."""
    if language not in _TREEBANKS:
        raise ConfigError(
            f"No UDPipe model is published for {language!r}, only for {', '.join(_TREEBANKS)}. Give the path "
            f"of a .udpipe file as the model."
        )
    from huggingface_hub.utils import WeakFileLock  # type: ignore[attr-defined]

    folder = directory or sources.cache_directory().parent / "udpipe"
    path = folder / f"{_TREEBANKS[language]}-ud-2.5-191206.udpipe"
    kept = path.with_name(f"{path.name}.sha256")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with WeakFileLock(path.with_name(f"{path.name}.lock")):
            if not path.exists() or not kept.exists():
                _download(path, kept)
            if _hash(path) != kept.read_text(encoding="utf-8").strip():
                raise SourceError(
                    f"{path} has changed since it was downloaded.\n"
                    f"Delete it and {kept.name} to download it again."
                )
    except OSError as error:
        raise SourceError(
            f"The UDPipe model cannot be stored in {folder}: {error}.\n"
            f"Set HF_HOME to a directory that can be written, or give the path of a .udpipe file."
        ) from error
    return path


def _download(path: Path, kept: Path) -> None:
    """From the first repository that has the model."""
    partial = path.with_name(f"{path.name}.incomplete")
    refused = []
    for repository in _REPOSITORIES:
        source = _Published(repository, path.name, "ud-2.5-191206", "", "CC BY-NC-SA 4.0")
        try:
            sources._download(source, partial)
        except SourceError as error:
            refused.append(str(error).splitlines()[0])
            continue
        with partial.open("rb") as file:
            is_model = file.read(len(_MAGIC)) == _MAGIC
        if is_model:
            kept.write_text(_hash(partial) + "\n", encoding="utf-8")
            partial.replace(path)
            return
        partial.unlink()
        refused.append(f"{source.url} gave something that is no UDPipe model, perhaps a web page.")
    tried = "\n".join(f"  {reason}" for reason in refused)
    raise SourceError(
        f"The UDPipe model {path.name} cannot be downloaded:\n{tried}\n"
        f"Get it elsewhere (https://hdl.handle.net/11234/1-3131 names it) and give its path as the model."
    )
