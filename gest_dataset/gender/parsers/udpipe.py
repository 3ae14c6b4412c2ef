"""UDPipe 1, the parser for a CPU: the path of a model, or the published UD 2.5 model of a language."""

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, SourceError, import_extra
from gest_dataset.gender.parsers import workers
from gest_dataset.gender.parsers.conllu import Parser
from gest_dataset.storage import write_file

_BATCH = 64
_TEXTS_PER_WORKER = 200  # texts that are worth a process
# LINDAT's repository, handle 11234/1-3131: the address of its present software and the older one
_REPOSITORIES = (
    "https://lindat.mff.cuni.cz/repository/server/api/core/bitstreams/handle/11234/1-3131",
    "https://lindat.mff.cuni.cz/repository/xmlui/bitstream/handle/11234/1-3131",
)
_MAGIC = b"\x12morphodita_parsito"  # the first bytes of a model of UDPipe 1


def open_parser(language: str, model: Path | None) -> Parser:
    """The parser with the model at a path, or with the published model of the language."""
    import_extra("ufal.udpipe", "gender")  # in this process, which can say so better than the workers
    path = published_model(language) if model is None else model
    if not path.is_file():
        raise ConfigError(
            f"There is no UDPipe model {path}. Give the path of a .udpipe file, or leave it out to "
            f"download the published model."
        )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()

    def parse(texts: Sequence[str]) -> Iterator[Mapping[str, str]]:
        number = max(1, min(os.cpu_count() or 1, len(texts) // _TEXTS_PER_WORKER))
        command = [sys.executable, str(workers.SCRIPT), "udpipe", str(path)]
        return workers.parse_with_workers(command, texts, number, _BATCH)

    return Parser(f"udpipe {digest}", parse)


def published_model(language: str, directory: Path | None = None) -> Path:
    """The published model of a language, which is downloaded once."""
    treebanks = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    if language not in treebanks:
        raise ConfigError(f"No UDPipe model is published for {language!r}. Give the path of a .udpipe file.")
    folder = directory or sources.cache_directory().parent / "udpipe"
    path = folder / f"{treebanks[language]}-ud-2.5-191206.udpipe"
    if path.exists():
        return path
    advice = "Download it from https://hdl.handle.net/11234/1-3131 and give its path as the model."
    errors = []
    for repository in _REPOSITORIES:
        url = f"{repository}/{path.name}"
        try:
            content = sources.download(url, advice)
        except SourceError as error:
            errors.append(str(error).splitlines()[0])
            continue
        if content.startswith(_MAGIC):
            write_file(path, content)
            return path
        errors.append(f"{url} is not a UDPipe model, perhaps a web page.")
    reasons = "\n".join(f"  {error}" for error in errors)
    raise SourceError(f"The UDPipe model {path.name} cannot be downloaded:\n{reasons}\n{advice}")
