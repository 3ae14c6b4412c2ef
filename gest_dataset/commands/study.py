"""`gest study`: the studies of the papers, made from the list in `study.yaml`, and two that make new data."""

from collections.abc import Mapping
from inspect import Parameter, Signature
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from gest_dataset.commands import options
from gest_dataset.commands.console import command_line, err, out, show_json, show_table, silence_libraries
from gest_dataset.errors import ConfigError, convert_errors
from gest_dataset.storage import read_yaml

if TYPE_CHECKING:
    from gest_dataset.studies import Study

_TYPES: dict[str, Any] = {
    "text": str | None,
    "texts": list[str] | None,
    "path": Path | None,
    "paths": list[Path] | None,
    "number": int | None,
    "flag": bool,
}
_TEXTS = read_yaml(Path(__file__).with_name("study.yaml"))


def _words(text: str) -> list[str]:
    """Words with commas, or the lines of a file."""
    if Path(text).is_file():
        with convert_errors(lambda error: ConfigError(f"{text} cannot be read: {error}.")):
            text = Path(text).read_text(encoding="utf-8").replace("\n", ",")
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _make_command(name: str, text: Mapping[str, Any]) -> SimpleNamespace:
    """The command of a study: a call of its function in `gest_dataset.studies`."""
    parameters = []
    for option in (*text["options"], "output", "as_json"):
        kind = _TEXTS["types"][option]
        default = False if kind == "flag" else None
        parameters.append(Parameter(option, Parameter.KEYWORD_ONLY, default=default, annotation=_TYPES[kind]))

    def run(output: Path | None, as_json: bool, **values: Any) -> None:
        from gest_dataset import studies

        own = {key: value for key, value in values.items() if value is not None}
        folder = output or studies.HOME / name
        silence_libraries(models=False)
        if name == "heuristics":
            _heuristics(own, folder, as_json)
        elif name == "all":
            _write_and_show(studies.papers_study(own.get("released")), folder, as_json)
        else:
            if "words" in own:
                own["words"] = _words(own["words"])
            _write_and_show(getattr(studies, name)(**own), folder, as_json)

    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__dict__["__signature__"] = Signature(parameters)
    return SimpleNamespace(run=run, HELP=text["help"])


def _write_and_show(study: "Study", folder: Path, as_json: bool) -> None:
    """Write the study to its folder, and print its tables or its JSON."""
    page = study.write(folder, command_line())
    if as_json:
        show_json(study.to_dict())
    else:
        for table in study.tables:
            headings, rows = table.texts()
            show_table(table.title, headings, rows)
            if table.note:
                out.print(table.note)
        out.print(study.signature, style="dim")
    for note in study.notes:
        err.print(f"Note: {note}")
    err.print(f"Report: {page}")


def _heuristics(values: dict[str, Any], folder: Path, as_json: bool) -> None:
    """Draw a sheet, or evaluate a labelled one."""
    from gest_dataset import studies

    if ("draw" in values) == ("sheet" in values) or ("sheet" in values and {"runs", "swaps"} & {*values}):
        raise ConfigError("Either draw a sheet (--draw, from runs or --swaps) or evaluate one (--sheet).")
    if "sheet" in values:
        _write_and_show(studies.heuristics(values["sheet"]), folder, as_json)
        return
    sheet = values.pop("draw")
    rows = [(*stratum, *numbers) for stratum, numbers in studies.draw_sheet(sheet, **values).items()]
    if as_json:
        show_json(rows)
        return
    show_table(f"Drawn into {sheet}", ("language", "outcome", "drawn", "of"), rows)
    out.print(f"Fill in the column `label`, then run: gest study heuristics --sheet {sheet}")


def nsp(
    model: str,
    data: list[str],
    output: Path,
    text: str = "text",
    learning_rate: float | None = None,
    head_learning_rate: float = 1e-3,
    batch_size: int = 16,
    accumulate: int = 4,
    epochs: int = 1,
    max_steps: int = 15_625,
    device: str = "auto",
    dtype: str = "auto",
    seed: int = 0,
    prefix: str = "",
    text_to_text: bool = False,
) -> None:
    silence_libraries()
    from gest_dataset.studies.nsp import Plan, train

    rates = (learning_rate, head_learning_rate)
    sizes = (batch_size, accumulate, epochs, max_steps)
    plan = Plan(model, data, text, *rates, *sizes, dtype, seed, prefix, text_to_text)
    result = train(plan, output, device=device, command=command_line())
    interval = f"{result['accuracy_low']:.1%} to {result['accuracy_high']:.1%}"
    out.print(f"Accuracy {result['accuracy']:.1%} (95 %: {interval}; chance: 50 %)")
    err.print(f"{output}: gest score {output} --config stereoset_en_intersentence")


def translate_stereoset(
    language: str,
    output: Path,
    system: str | None = None,
    translations: Path | None = None,
    corrections: Path | None = None,
    limit: int | None = None,
    **loading: Any,
) -> None:
    silence_libraries(models=False)
    from gest_dataset.studies import stereoset_translation as translation

    system = options.system_of(system, translations)
    command = command_line()
    tests = translation.translate_stereoset(language, system, output, corrections, limit, command, **loading)
    rows = [
        (one.test, *(one.counts[name] for name in ("samples", "rows", "corrected_texts"))) for one in tests
    ]
    columns = ("test", "samples", "translated", "texts corrected")
    show_table(f"StereoSet, {system} to {language}", columns, rows)
    if problems := sum(len(one.problems) for one in tests):
        err.print(f"{output / translation.PROBLEMS_FILE}: {problems:,} problems to check")


COMMANDS = {name: _make_command(name, text) for name, text in _TEXTS["commands"].items()}
COMMANDS |= {"nsp": SimpleNamespace(run=nsp), "translate-stereoset": SimpleNamespace(run=translate_stereoset)}
