"""The parsers with models: UDPipe 1, and Trankit 1.1.2, the papers' parser.

Both run in worker processes. Trankit pins torch <= 2.0.1 and imports `AdamW` from transformers,
which current versions lack, so it needs an environment of its own: `GEST_TRANKIT_PYTHON` names its Python
(docs/gender.md).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, SourceError, import_extra
from gest_dataset.gender.parsers.conllu import Parser, ParserError
from gest_dataset.languages import LANGUAGES
from gest_dataset.storage import read_yaml, sha256, write_file

SCRIPT = Path(__file__).with_name("worker.py")
_MAX_MESSAGE = 1500  # characters of a dead worker's output that an error shows
_UDPIPE_BATCH = 64
_TEXTS_PER_WORKER = 200  # fewer texts are not worth another process
_TABLE = read_yaml(Path(__file__).with_suffix(".yaml"))
_TEXTS: dict[str, str] = _TABLE["messages"]
_REPOSITORIES: list[str] = _TABLE["repositories"]
_MAGIC = b"\x12morphodita_parsito"  # the first bytes of a model of UDPipe 1
PYTHON_VARIABLE = "GEST_TRANKIT_PYTHON"
EMBEDDING = "xlm-roberta-base"
PACKAGES: list[str] = _TABLE["packages"]
VERSION = PACKAGES[0].partition("==")[2]  # of Trankit
_TRANKIT_BATCH = 16  # Trankit parses one text at a time: a batch sets how often parses are cached


def open_udpipe(language: str, model: Path | None) -> Parser:
    """UDPipe, the parser for a CPU, with the model at a path or the published one of the language."""
    import_extra("ufal.udpipe", "gender")  # a missing package is reported here, not by each worker
    path = published_model(language) if model is None else model
    if not path.is_file():
        raise ConfigError(_TEXTS["no_model"].format(path=path))
    digest = sha256(path.read_bytes())

    def parse(texts: Sequence[str]) -> Iterator[Mapping[str, str]]:
        number = max(1, min(os.cpu_count() or 1, len(texts) // _TEXTS_PER_WORKER))
        command = [sys.executable, str(SCRIPT), "udpipe", str(path)]
        return parse_with_workers(command, texts, number, _UDPIPE_BATCH)

    return Parser(f"udpipe {digest}", parse)


def published_model(language: str, directory: Path | None = None) -> Path:
    """The published model of a language, which is downloaded once."""
    treebanks = read_yaml(Path(__file__).with_name("udpipe.yaml"))
    if language not in treebanks:
        raise ConfigError(f"No UDPipe model is published for {language!r}. Pass --parser-model FILE.udpipe.")
    folder = directory or sources.cache_directory().parent / "udpipe"
    path = folder / f"{treebanks[language]}-ud-2.5-191206.udpipe"
    if path.exists():
        return path
    advice, errors = _TEXTS["download"], []
    for repository in _REPOSITORIES:
        url = f"{repository}/{path.name}"
        try:
            content = sources.download(url, advice)
            if not content.startswith(_MAGIC):
                raise SourceError(f"{url} returned something other than a UDPipe model, perhaps a web page.")
        except SourceError as error:
            errors.append(f"  {str(error).splitlines()[0]}\n")
            continue
        write_file(path, content)
        return path
    raise SourceError(f"The UDPipe model {path.name} cannot be downloaded:\n{''.join(errors)}{advice}")


def trankit_environment() -> Path:
    """The folder of the environment that `install_trankit` makes."""
    return sources.cache_directory().parent / "trankit" / "environment"


def install_trankit(confirm: Callable[[str], object]) -> None:
    """Make an environment for Trankit; `confirm` is told what that downloads and where, and may raise."""
    names = _TABLE["pythons"]
    python = next(filter(None, map(shutil.which, names)), None)
    if python is None:
        raise ConfigError(f"Trankit needs {' or '.join(names)}, and neither is on the PATH. Install one.")
    folder = trankit_environment()
    confirm(_TEXTS["install"].format(folder=folder, python=python, packages=", ".join(PACKAGES)))
    for command in (["-m", "venv", str(folder)], ["-m", "pip", "install", *PACKAGES]):
        if subprocess.run([python, *command], check=False).returncode:
            raise ConfigError(f"{python} {' '.join(command[:3])} failed; remove {folder} and try again.")
        python = str(folder / "bin" / "python")


def open_trankit(language: str, model: Path | None) -> Parser:
    """Trankit's published pipeline of a language, or one that its TPipeline has trained.

    `model` is then the `save_dir` of the training, with `<embedding>/customized` or
    `<embedding>/customized-mwt`.
    """
    value = os.environ.get(PYTHON_VARIABLE, "")
    python = Path(value or trankit_environment() / "bin" / "python").expanduser()
    if not python.exists():
        raise ConfigError(_TEXTS["no_environment"].format(value=value or "not set", package=PACKAGES[0]))
    name, embedding, trained = LANGUAGES[language].name.lower(), EMBEDDING, "published"
    directory = sources.cache_directory().parent / "trankit" / "models"
    if model is not None:
        taggers = sorted(model.glob("*/customized*/customized*.tagger.mdl"))
        if not taggers:
            raise ConfigError(_TEXTS["no_pipeline"].format(model=model))
        name, directory, embedding = taggers[0].parent.name, model, taggers[0].parent.parent.name
        trained = sha256(taggers[0].read_bytes())
    command = [str(python), str(SCRIPT), "trankit", name, str(directory), embedding]
    parse = partial(parse_with_workers, command, workers=1, batch=_TRANKIT_BATCH)
    return Parser(f"trankit {VERSION} {name} {embedding} {trained}", parse)


def parse_with_workers(
    command: Sequence[str], texts: Sequence[str], workers: int, batch: int
) -> Iterator[Mapping[str, str]]:
    """Parse texts in worker processes (see worker.py), each of which has one batch at a time."""
    batches = deque(texts[start : start + batch] for start in range(0, len(texts), batch))
    working: deque[tuple[subprocess.Popen[str], Sequence[str]]] = deque()
    processes: list[subprocess.Popen[str]] = []

    def send(process: subprocess.Popen[str]) -> None:
        if batches:
            working.append((process, batches[0]))
            with suppress(OSError):  # a worker that has stopped may have said why in its last answer
                print(json.dumps(batches.popleft()), file=process.stdin, flush=True)

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as messages:
        try:
            for _ in range(min(workers, len(batches))):
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=messages,
                    env={**os.environ, "PYTHONIOENCODING": "utf-8"},
                    encoding="utf-8",
                    start_new_session=True,  # Ctrl-C reaches only the main process, which kills the workers
                )
                processes.append(process)
                send(process)
            while working:
                process, given = working.popleft()
                assert process.stdout is not None
                line = process.stdout.readline()
                if not line.endswith("\n"):
                    code = process.wait()
                    messages.seek(0)
                    output = messages.read()[-_MAX_MESSAGE:].strip() or "no output; perhaps out of memory"
                    name = " ".join(command[:2])
                    raise ParserError(f"The parser ({name}) stopped with exit code {code}: {output}")
                answer = json.loads(line)
                if "error" in answer:
                    raise ParserError(answer["error"])
                send(process)
                yield dict(zip(given, answer["documents"], strict=True))
        finally:
            for process in processes:
                process.kill()
                process.communicate()
