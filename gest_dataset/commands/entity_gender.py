"""`gest entity-gender`: whether a translator keeps the gender that a sentence states."""

from pathlib import Path
from typing import Any

from gest_dataset.commands import masculine_rate


def run(
    language: str,
    system: str | None = None,
    data: str = "winomt",
    translations: Path | None = None,
    parser: str = "udpipe",
    parser_model: Path | None = None,
    output: Path | None = None,
    limit: int | None = None,
    as_json: bool = False,
    **loading: Any,
) -> None:
    from gest_dataset.statistics.checks import check_choice
    from gest_dataset.translation.entity_genders import DATA

    check_choice("data", data, tuple(DATA))
    options = language, system, translations, parser, parser_model, None, "plain", output, limit, as_json
    masculine_rate.run(*options, data=data, **loading)
