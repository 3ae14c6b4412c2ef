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
    """Translate WinoMT or MT-GenEval, and compute accuracy, F1, ΔG and ΔS of the genders of its persons.

    Translations and parses are cached: rerun the same command to resume. The run's folder
    (gest-runs/SYSTEM/DATA-LANGUAGE) holds run.json, result.json, report.html and detections.parquet with the
    translation of each person and the words that show its gender. [bold]{language}[/bold] in a system, a
    file or a parser model is replaced by the language code.
    """
    from gest_dataset.statistics.checks import check_choice
    from gest_dataset.translation.entity_genders import DATA

    check_choice("data", data, tuple(DATA))
    masculine_rate.run(
        language,
        system,
        translations,
        parser,
        parser_model,
        "plain",
        output,
        limit,
        as_json,
        data=data,
        **loading,
    )
