"""Options shared by several commands, with their help and shell completion.

Completion functions import what they need when the shell calls them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.errors import ConfigError


def complete_configs(incomplete: str) -> list[str]:
    """Complete names of configs and groups in a comma-separated list."""
    from gest_dataset.builders import CONFIGS, GROUPS

    return _complete_list(incomplete, [*CONFIGS, *GROUPS])


def complete_english(incomplete: str) -> list[str]:
    """Complete names of configs with English sentences."""
    from gest_dataset.builders import CONFIGS

    english = (name for name, config in CONFIGS.items() if "sentence" in config.features)
    return [name for name in english if name.startswith(incomplete)]


def complete_languages(incomplete: str) -> list[str]:
    """Complete codes of target languages in a comma-separated list."""
    from gest_dataset.languages import LANGUAGES, SOURCE

    return _complete_list(incomplete, [*(code for code in LANGUAGES if code != SOURCE), "slavic"])


def complete_language(incomplete: str) -> list[str]:
    """Complete codes of languages with a grammar."""
    from gest_dataset.gender import languages

    return [code for code in languages() if code.startswith(incomplete)]


def complete_numbers(incomplete: str) -> list[str]:
    """Complete `NAME=` for the numbers that a gate can limit."""
    from gest_dataset.measures import NUMBERS

    return [f"{name}=" for name in NUMBERS if name.startswith(incomplete)]


def _complete_list(incomplete: str, names: Iterable[str]) -> list[str]:
    """Complete the last name of a comma-separated list.

    >>> _complete_list("sk,c", ["cs", "cz", "sk"])
    ['sk,cs', 'sk,cz']
    """
    before, comma, last = incomplete.rpartition(",")
    used = before.split(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last) and name not in used]


Config = Annotated[
    str | None,
    typer.Option(
        help="Configs and groups, separated by commas, e.g. en,slavic (see gest list).",
        autocompletion=complete_configs,
        metavar="NAME,...",
    ),
]
English = Annotated[
    str,
    typer.Option(
        "--config",
        help="The config with the English sentences: en (GEST 1.1), en_1_0, ...",
        autocompletion=complete_english,
        metavar="NAME",
    ),
]
Language = Annotated[
    str,
    typer.Option(
        help="Languages, separated by commas, e.g. sk,cs; slavic means all nine of GEST.",
        autocompletion=complete_languages,
        metavar="CODE,...",
        show_default=False,
    ),
]
OneLanguage = Annotated[
    str,
    typer.Option(
        help="The language code, e.g. sk.",
        autocompletion=complete_language,
        metavar="CODE",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        help="The folder of the run; several configs get a folder each (default: in gest-runs).",
        metavar="DIR",
    ),
]
OUTPUT_FILE = typer.Option("--output", help="The file to write; - for standard output.", metavar="FILE")
OutputFile = Annotated[Path, OUTPUT_FILE]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FailUnlessBelow = Annotated[
    list[str] | None,
    typer.Option(
        help="Exit with 1 unless the upper bound of NAME is below VALUE.",
        autocompletion=complete_numbers,
        metavar="NAME=VALUE",
    ),
]
FailAbove = Annotated[
    list[str] | None,
    typer.Option(
        help="Exit with 1 if the lower bound of NAME is above VALUE.",
        autocompletion=complete_numbers,
        metavar="NAME=VALUE",
    ),
]

System = Annotated[
    str | None,
    typer.Option(help="hf:MODEL, chat:MODEL, deepl, google, amazon, or published:SYSTEM.", metavar="SYSTEM"),
]
Translations = Annotated[
    Path | None, typer.Option(help="A file with translations (same as --system file:PATH).")
]
Parser = Annotated[str, typer.Option(help="The parser: udpipe, trankit, stanza, conllu or forms.")]
ParserModel = Annotated[
    Path | None, typer.Option(help="The parser's model file (default: download the published one).")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Use only the first N sentences.")]
Device = Annotated[str, typer.Option(help="Device of an hf: system: auto, cuda, cuda:N, mps or cpu.")]
Dtype = Annotated[str, typer.Option(help="Number type of an hf: system: auto, float32, float16 or bfloat16.")]
BatchTokens = Annotated[
    int | None, typer.Option(min=1, help="Padded input tokens per batch of an hf: system.")
]
Revision = Annotated[str | None, typer.Option(help="Commit, branch or tag of an hf: system.")]
Endpoint = Annotated[str | None, typer.Option(help="Address of the server of a chat: system.", metavar="URL")]


def system_of(system: str | None, translations: Path | None) -> str:
    """The system that --system or --translations selects."""
    if (system is None) == (translations is None):
        raise ConfigError("Pass either --system or --translations FILE.")
    return system if system is not None else f"file:{translations}"
