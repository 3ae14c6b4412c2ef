"""The options of commands, whose help is in `options.yaml`, and the checks that several commands share."""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_origin, get_type_hints

import typer

from gest_dataset.errors import ConfigError
from gest_dataset.storage import read_yaml

_OPTIONS = read_yaml(Path(__file__).with_suffix(".yaml"))


def add_help(run: Callable[..., None], line: str) -> Callable[..., None]:
    """Add the help in `options.yaml` to the parameters of a command and of its `**loading`."""
    hints = get_type_hints(run, include_extras=True) | get_type_hints(_loading)
    entries = _OPTIONS["shared"] | _OPTIONS.get(line, _OPTIONS.get(line.split()[0], {}))
    given = list(signature(run).parameters.values())
    if given[-1].kind is Parameter.VAR_KEYWORD:
        given[-1:] = signature(_loading).parameters.values()
    parameters = []
    for parameter in given:
        name, hint = parameter.name, hints[parameter.name]
        if name in entries and get_origin(hint) is not Annotated:
            hint = Annotated[hint, _option(name, parameter.default, entries[name])]
        parameters.append(parameter.replace(annotation=hint))
    run.__dict__["__signature__"] = signature(run).replace(parameters=parameters)
    return run


def _loading(
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    revision: str | None = None,
    endpoint: str | None = None,
) -> None:
    """The options of commands that open a translator: `**loading` of `open_translator`."""


def _option(name: str, default: Any, entry: str | Mapping[str, Any]) -> Any:
    given: dict[str, Any] = {"help": entry} if isinstance(entry, str) else dict(entry)
    if default is False:
        given["metavar"] = ""  # typer would show <bool>
    flags = given.pop("flags", [f"--{name.replace('_', '-')}"] if default is False else [])
    is_argument = given.pop("argument", default is Parameter.empty and not flags)
    return typer.Argument(**given) if is_argument else typer.Option(*flags, **given)


def system_of(system: str | None, translations: Path | None) -> str:
    """The system that --system or --translations selects."""
    if (system is None) == (translations is None):
        raise ConfigError("Pass either --system or --translations FILE.")
    return system if system is not None else f"file:{translations}"


def check_model(model: str | None, endpoint: str | None, served: str | None) -> None:
    """Require either a model to load or the address of a served one."""
    if (model is None) == (endpoint is None) or (served is not None and endpoint is None):
        raise ConfigError("Give either MODEL, or --endpoint URL with --model NAME.")
