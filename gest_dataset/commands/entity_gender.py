"""`gest entity-gender`: whether a translator keeps the gender that a sentence states."""

from pathlib import Path
from typing import Any

from gest_dataset.commands import options
from gest_dataset.commands.masculine_rate import measure_languages
from gest_dataset.languages import target_languages


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
    from gest_dataset.measures.gest import ENTITY_GENDER
    from gest_dataset.translation.entity_genders import check_data, measure_as_run

    languages = target_languages(language)
    check_data(data, languages)
    measure_languages(
        ENTITY_GENDER,
        f"Genders of {data}",
        lambda experiment, *place: measure_as_run(experiment, data, *place),
        languages,
        options.system_of(system, translations),
        parser_model,
        output,
        as_json,
        {"parser": parser, "limit": limit, "data": data, **loading},
    )
