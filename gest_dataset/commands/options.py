"""The options that several commands have: one name, one meaning, one help, and what the shell completes.

What a completion needs is imported when the shell asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.errors import ConfigError


def complete_configs(incomplete: str) -> list[str]:
    """Names of configs and groups, also after a comma."""
    from gest_dataset.builders import CONFIGS, GROUPS

    return _completed(incomplete, [*CONFIGS, *GROUPS])


def complete_english(incomplete: str) -> list[str]:
    """Names of configs with English sentences to translate."""
    from gest_dataset.builders import CONFIGS

    english = (name for name, config in CONFIGS.items() if "sentence" in config.features)
    return [name for name in english if name.startswith(incomplete)]


def complete_languages(incomplete: str) -> list[str]:
    """Codes of languages to translate to, and their group, also after a comma."""
    from gest_dataset.languages import LANGUAGES, SOURCE

    return _completed(incomplete, [*(code for code in LANGUAGES if code != SOURCE), "slavic"])


def complete_language(incomplete: str) -> list[str]:
    """Codes of languages that there are rules for."""
    from gest_dataset.gender import languages

    return [code for code in languages() if code.startswith(incomplete)]


def complete_numbers(incomplete: str) -> list[str]:
    """Names of numbers that a limit can be set for, up to the sign before its value."""
    from gest_dataset.measures import NUMBERS

    return [f"{name}=" for name in NUMBERS if name.startswith(incomplete)]


def _completed(incomplete: str, offered: Iterable[str]) -> list[str]:
    """The lists with commas that begin so and end with one of what is offered.

    >>> _completed("sk,c", ["cs", "cz", "sk"])
    ['sk,cs', 'sk,cz']
    """
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [f"{before}{comma}{name}" for name in offered if name.startswith(last) and name not in taken]


Config = Annotated[
    str | None,
    typer.Option(
        help="Configs and groups with commas, as in en,slavic (gest list shows them).",
        autocompletion=complete_configs,
        metavar="NAME,...",
    ),
]
English = Annotated[
    str,
    typer.Option(
        "--config",
        help="A config with English sentences: en (GEST 1.1), en_1_0, ...",
        autocompletion=complete_english,
        metavar="NAME",
    ),
]
Language = Annotated[
    str,
    typer.Option(
        help="Languages with commas, as in sk,cs; slavic stands for the nine of GEST.",
        autocompletion=complete_languages,
        metavar="CODE,...",
        show_default=False,
    ),
]
OneLanguage = Annotated[
    str,
    typer.Option(
        help="The code of one language, such as sk.",
        autocompletion=complete_language,
        metavar="CODE",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        help="The folder of the run, or of several with a folder for each (default: in gest-runs).",
        metavar="DIR",
    ),
]
OUTPUT_FILE = typer.Option("--output", help="The file to write; - is the standard output.", metavar="FILE")
OutputFile = Annotated[Path, OUTPUT_FILE]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FailUnlessBelow = Annotated[
    list[str] | None,
    typer.Option(
        help="NAME=VALUE: exit code 1 unless its upper bound is below.",
        autocompletion=complete_numbers,
        metavar="NAME=VALUE",
    ),
]
FailAbove = Annotated[
    list[str] | None,
    typer.Option(
        help="NAME=VALUE: exit code 1 where its lower bound is above.",
        autocompletion=complete_numbers,
        metavar="NAME=VALUE",
    ),
]

System = Annotated[
    str | None,
    typer.Option(help="hf:MODEL, chat:MODEL, deepl, google, amazon, or published:SYSTEM.", metavar="SYSTEM"),
]
Translations = Annotated[
    Path | None, typer.Option(help="File of translations (short for --system file:PATH).")
]
Parser = Annotated[str, typer.Option(help="udpipe, trankit, stanza, conllu or forms.")]
ParserModel = Annotated[
    Path | None,
    typer.Option(help="Model file of the parser (default: the published one is downloaded)."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Use only the first N sentences.")]
Device = Annotated[str, typer.Option(help="For hf: auto, cuda, cuda:N, mps or cpu.")]
Dtype = Annotated[str, typer.Option(help="For hf: auto, float32, float16 or bfloat16.")]
BatchTokens = Annotated[int | None, typer.Option(min=1, help="For hf: padded input tokens in a batch.")]
Revision = Annotated[str | None, typer.Option(help="For hf: a commit, branch or tag.")]
Endpoint = Annotated[
    str | None, typer.Option(help="For chat: the address of the server that has the model.", metavar="URL")
]


def system_of(system: str | None, translations: Path | None) -> str:
    """The system of --system or --translations."""
    if (system is None) == (translations is None):
        raise ConfigError("Pass either --system or --translations FILE.")
    return system if system is not None else f"file:{translations}"
