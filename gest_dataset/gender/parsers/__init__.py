"""The parsers by name."""

import re
from collections.abc import Callable
from pathlib import Path

from gest_dataset.errors import ConfigError
from gest_dataset.gender.parsers import conllu, models
from gest_dataset.gender.parsers.conllu import Parser
from gest_dataset.languages import LANGUAGES

LLM = "llm"  # a chat model in the place of a parser and rules (models/chat/gender.py)
PARSERS: dict[str, Callable[[str, Path | None], Parser]] = {
    "udpipe": models.open_udpipe,
    "conllu": conllu.open_parser,
    "trankit": models.open_trankit,
}


def open_parser(name: str, language: str, model: str | Path | None = None) -> Parser:
    """The parser of a language; docs/gender.md says what `model` is for each parser."""
    if name not in PARSERS:
        raise ConfigError(f"There is no parser {name!r}; choose one of {', '.join(PARSERS)}.")
    path = Path(model).expanduser() if model is not None else None
    # models do not state their language, so compare the file name: `cs.udpipe`, `czech-pdt.udpipe`
    first, separator = re.findall(r"^([a-z]*)(.?)", path.name.lower() if path else "")[0]
    for other in LANGUAGES.values():
        named = first == other.name.lower() or (first == other.code and separator in ("", ".", "_"))
        if named and other.code != language:
            right = f"a {LANGUAGES[language].name} model" if language in LANGUAGES else "its model"
            raise ConfigError(
                f"{path} looks like a {other.name} model (by its file name), but the language is "
                f"{language!r}. Use {right}, or rename the file."
            )
    return PARSERS[name](language, path)
