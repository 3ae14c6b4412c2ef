"""`gest ask`: ask a chat model."""

import math
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from gest_dataset.commands.console import command_line, err, out, show_json, show_problems, silence_libraries
from gest_dataset.commands.options import check_model

if TYPE_CHECKING:
    from gest_dataset.models.chat.ask import Answers


def run(
    model: str | None = None,
    probe: str = "choice",
    language: str = "en",
    endpoint: str | None = None,
    served: str | None = None,
    limit: int | None = None,
    stop_early: bool = False,
    repeats: int = 1,
    temperature: float | None = None,
    seed: int = 0,
    max_tokens: int | None = None,
    enable_thinking: bool | None = None,
    reasoning_effort: str | None = None,
    thinking_tokens: int | None = None,
    parser: str = "udpipe",
    parser_model: Path | None = None,
    prompts: Path | None = None,
    connections: int = 32,
    price_in: float | None = None,
    price_out: float | None = None,
    max_cost: float = math.inf,
    device: str = "auto",
    dtype: str = "auto",
    revision: str | None = None,
    reread: Path | None = None,
    output: Path | None = None,
    as_json: bool = False,
) -> None:
    arguments = locals()

    from gest_dataset.models.chat import ask
    from gest_dataset.models.chat.ask import AskSettings
    from gest_dataset.report import report
    from gest_dataset.runs.folder import REPORT, default_folder

    silence_libraries()
    if reread is not None:
        _show(ask.reread(reread, parser, parser_model), as_json, None)
        return
    check_model(model, endpoint, served)
    settings = AskSettings(**{field.name: arguments[field.name] for field in fields(AskSettings)})
    name = probe if language == "en" else f"{probe}-{language}"
    folder = output or default_folder(str(model or served or endpoint), revision, limit) / name

    answers = ask.run(model or served, settings, folder, command_line())
    report([folder], folder / REPORT)
    _show(answers, as_json, folder)
    if not as_json:
        err.print(f"Report: {folder / REPORT}")


def _show(answers: "Answers", as_json: bool, folder: Path | None) -> None:
    from gest_dataset.commands import result_tables
    from gest_dataset.measures import MEASURES
    from gest_dataset.storage import json_value

    result, facts = answers.result(), answers.metadata
    if as_json:
        content = {"path": folder and str(folder), "result": result, "metadata": facts}
        show_json(json_value({**content, "signature": answers.signature}))
        return
    measure = MEASURES[facts["measure"]]
    result_tables.show_result(measure, result, f"{facts['config']}: {facts['model']}")
    undefined = math.isnan(result[measure.headline(result).name])
    for line in [] if undefined else measure.describe(result, facts):
        out.print(line)
    out.print(f"{facts['scored']:,} of {facts['asked']:,} answers could be read.")
    cost = f", cost {facts['cost']:.3g}" if facts.get("cost") else ""
    out.print(f"{facts['tokens_in']:,} tokens in, {facts['tokens_out']:,} out{cost}.")
    show_problems(facts["skipped"], console=out)
    out.print(answers.signature, style="dim")
