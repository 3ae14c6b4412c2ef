"""The commands of the studies, made from the list in `studies.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml

from gest_dataset.commands.console import command_line, err, out, show_json, show_table, silence_libraries
from gest_dataset.errors import ConfigError, convert_errors

if TYPE_CHECKING:
    from gest_dataset.studies import Study

# Annotation and default by the `type` of an option in studies.yaml
_TYPES: dict[str, tuple[Any, Any]] = {
    "text": (str | None, None),
    "texts": (list[str] | None, None),
    "path": (Path | None, None),
    "paths": (list[Path] | None, None),
    "number": (int | None, None),
    "flag": (bool, False),
    "auto": (str, "auto"),
}
_TEXTS = yaml.safe_load(Path(__file__).with_name("studies.yaml").read_text(encoding="utf-8"))


def _parameter(name: str) -> Parameter:
    """An option that `studies.yaml` describes; options.yaml has the help of the shared ones."""
    text = dict(_TEXTS["options"][name])
    annotation, default = _TYPES[text.pop("type")]
    argument = text.pop("argument", None)
    if argument:
        annotation = Annotated[annotation, typer.Argument(metavar=argument, **text)]
    elif text:
        names = [text.pop("name")] if "name" in text else []
        annotation = Annotated[annotation, typer.Option(*names, **text)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _list(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _words(text: str) -> list[str]:
    """Words with commas, or the lines of a file."""
    if Path(text).is_file():
        with convert_errors(lambda error: ConfigError(f"{text} cannot be read: {error}.")):
            text = Path(text).read_text(encoding="utf-8").replace("\n", ",")
    return _list(text)


def _checkpoints(pairs: list[str]) -> dict[str, str]:
    """MODEL=CHECKPOINT of each model."""
    if not all("=" in pair.strip("=") for pair in pairs):
        raise ConfigError("--nsp takes MODEL=CHECKPOINT once per model, such as t5-base=./t5-nsp.")
    return dict(pair.split("=", 1) for pair in pairs)


_PARSERS: dict[str, Callable[[Any], Any]] = {"words": _words, "language": _list, "nsp": _checkpoints}


def _make_command(name: str, text: Mapping[str, Any]) -> SimpleNamespace:
    """The command of a study: a call of its function in `gest_dataset.studies`."""
    shared = _TEXTS["shared"] if "scores_models" in text else []
    parameters = [*map(_parameter, [*shared, *text["options"], "output", "as_json"])]

    def run(output: Path | None, as_json: bool, **values: Any) -> None:
        from gest_dataset import studies

        own = {key: values[key] for key in text["options"] if values[key] is not None}
        own |= {key: parse(own[key]) for key, parse in _PARSERS.items() if key in own}
        folder = output or studies.HOME / name
        silence_libraries(models=bool(values.get("models")))
        if name == "heuristics":
            _heuristics(own, folder, as_json)
        elif name == "all":
            _show(studies.papers_study(own.get("scores")), folder, as_json)
        else:
            loading = {key: values[key] for key in ("device", "dtype", "batch_tokens")}
            given = (values["runs"] or (), values["models"] or (), folder, values["limit"])
            inputs = studies.Inputs(*given, loading, command_line())
            _show(getattr(studies, name)(inputs, **own), folder, as_json)

    run.__doc__ = text["help"]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__dict__["__signature__"] = Signature(parameters)
    return SimpleNamespace(run=run)


def _show(study: Study, folder: Path, as_json: bool) -> None:
    page = study.write(folder, command_line())
    if as_json:
        show_json(study.to_json())
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
        raise ConfigError(
            "Either draw a sheet (--draw FILE.csv, from runs or --swaps FILE) or evaluate a labelled one "
            "(--sheet FILE)."
        )
    if "sheet" in values:
        _show(studies.heuristics(values["sheet"]), folder, as_json)
        return
    sheet = values.pop("draw")
    counts = studies.draw_sheet(sheet, **values)
    if as_json:
        show_json([[*stratum, *drawn] for stratum, drawn in counts.items()])
        return
    rows = [(*stratum, *numbers) for stratum, numbers in counts.items()]
    show_table(f"Drawn into {sheet}", ("language", "outcome", "drawn", "of"), rows)
    out.print(f"Fill in the column label, then run: gest study heuristics --sheet {sheet}")


COMMANDS = {name: _make_command(name, text) for name, text in _TEXTS["commands"].items()}
