"""`gest ask`: ask a chat model, after an estimate of what it will cost."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands import options
from gest_dataset.commands.console import command_line, err, out, show_json, show_report, silence_libraries
from gest_dataset.commands.options import Json, Output
from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.models.chat.answers import Answers
    from gest_dataset.models.chat.collect import Estimate

EXAMPLES = (
    "Examples: [bold]gest ask HuggingFaceTB/SmolLM2-1.7B-Instruct --limit 100[/bold] (a local model), "
    "[bold]gest ask --endpoint http://127.0.0.1:8000 --model NAME[/bold] (a served model), "
    "[bold]gest ask --endpoint URL --model NAME --price-in 0.15 --price-out 0.6 --max-cost 5[/bold] (a paid "
    "API; prices per million tokens), [bold]gest ask --endpoint URL --model NAME --probe first-person "
    "--language sk[/bold] (diary entries, whose grammar shows the gender), [bold]gest ask --reread "
    "gest-runs/NAME/choice[/bold] (read the answers of a run again)"
)


def run(
    model: Annotated[
        str | None, typer.Argument(help="Hub id or folder of a chat model.", show_default=False)
    ] = None,
    probe: Annotated[
        str,
        typer.Option(
            help="choice: who would say it. first-person: a text in the first person (Slavic languages). "
            "story: a character with a motto."
        ),
    ] = "choice",
    language: Annotated[str, typer.Option(help="en, or a language with pairs, such as sk.")] = "en",
    endpoint: Annotated[
        str | None, typer.Option(help="Address of a server that has the model.", metavar="URL")
    ] = None,
    served: Annotated[
        str | None, typer.Option("--model", help="Name of the model at the server.", metavar="NAME")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Use only the first N sentences.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Number of answers to each prompt.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Sampling temperature (default: 0, with repeats 1).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the first repeat; later repeats count up.")] = 0,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Maximum tokens per answer.")] = None,
    stop: Annotated[list[str] | None, typer.Option(help="Text that ends an answer (repeatable).")] = None,
    parser: options.Parser = "udpipe",
    parser_model: options.ParserModel = None,
    prompts: Annotated[Path | None, typer.Option(help="JSON table of your own wordings.")] = None,
    connections: Annotated[
        int | None, typer.Option(min=1, help="Parallel requests to the server (default: 32).")
    ] = None,
    price_in: Annotated[float | None, typer.Option(help="Price per million input tokens.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Price per million output tokens.")] = None,
    max_cost: Annotated[float | None, typer.Option(help="Stop before the total cost exceeds this.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Continue after the estimate without asking.")] = False,
    device: Annotated[str, typer.Option(help="auto, cuda, cuda:N, mps or cpu.")] = "auto",
    dtype: Annotated[str, typer.Option(help="auto, float32, float16 or bfloat16.")] = "auto",
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")] = None,
    reread: Annotated[
        Path | None, typer.Option(help="Read the answers of a finished run again; ask nothing.")
    ] = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Lookup a chat model: whom does it name, and whom does it write about?

    Every answer is stored in the run's folder (gest-runs/MODEL/PROBE) as it comes: rerun the same command
    to resume. A few answers come first, to estimate tokens, time and cost.
    """
    from gest_dataset.models.chat import ask
    from gest_dataset.models.served.model import CHAT_CONNECTIONS
    from gest_dataset.report import report
    from gest_dataset.runs.folder import REPORT, default_folder
    from gest_dataset.statistics.checks import UndefinedWarning

    silence_libraries()
    warnings.simplefilter("ignore", UndefinedWarning)  # the table shows it
    if reread is not None:
        _show(ask.reread(reread, parser, parser_model), as_json, None)
        return
    local = {"MODEL": model, "--revision": revision}
    remote = {"--model": served, "--connections": connections}
    for name, value in (remote if endpoint is None else local).items():
        if value is not None:
            kind = "served" if endpoint is None else "local"
            raise ConfigError(
                f"{name} is for a {kind} model: pass either MODEL, or --endpoint URL --model NAME."
            )
    if model is None and endpoint is None:
        raise ConfigError("Pass MODEL, or --endpoint URL --model NAME.")
    folder = output or default_folder(str(model or served or endpoint), revision, limit) / (
        probe if language == "en" else f"{probe}-{language}"
    )
    given: dict[str, Any] = {"temperature": temperature, "seed": seed, "repeats": repeats}
    given |= {"max_tokens": max_tokens, "parser": parser, "parser_model": parser_model}
    task = ask.prepare(probe, language, prompts=prompts, limit=limit, stop=stop or (), **given)
    parallel = connections or CHAT_CONNECTIONS
    loading = {"device": device, "dtype": dtype, "revision": revision}
    chat_model = ask.open_model(model or served, endpoint, parallel, **loading)
    budget = math.inf if max_cost is None else max_cost
    price = ask.make_price(price_in, price_out, budget)

    def confirm(estimate: Estimate) -> None:
        err.print(_estimate_text(estimate), soft_wrap=True)
        if price is not None and not yes:
            typer.confirm("Continue?", abort=True, err=True)

    answers = ask.record(task, chat_model, folder, command_line(), price, budget, confirm)
    report([folder], folder / REPORT)
    _show(answers, as_json, folder)
    if not as_json:
        show_report(folder / REPORT)


def _estimate_text(estimate: Estimate) -> str:
    tokens = ""
    if estimate.tokens_in + estimate.tokens_out > 0:
        tokens = f"{estimate.tokens_in:,.0f} tokens in, {estimate.tokens_out:,.0f} out, "
    minutes = estimate.seconds / 60
    time = f"{minutes:,.1f} minutes" if minutes >= 1 else f"{estimate.seconds:.0f} s"
    cost = ""
    if estimate.money is not None:
        cost = f", cost {estimate.money:,.2f}" if estimate.money >= 1 else f", cost {estimate.money:.2g}"
    return f"{estimate.prompts:,} prompts to ask: about {tokens}{time}{cost}."


def _show(answers: Answers, as_json: bool, folder: Path | None) -> None:
    from gest_dataset.commands import tables
    from gest_dataset.measures import MEASURES
    from gest_dataset.storage import json_value

    result, facts = answers.result(), answers.metadata
    if as_json:
        content = {"path": folder and str(folder), "result": result, "metadata": facts}
        show_json(json_value({**content, "signature": answers.signature}))
        return
    measure = MEASURES[facts["measure"]]
    for table in tables.tables(measure, result, f"{facts['config']}: {facts['model']}", out):
        out.print(table)
    if math.isnan(result[measure.headline(result).name]):
        words, sentences = measure.describe_undefined(result)
        lines = [f"{words}.", *sentences]
    else:
        lines = [*tables.verdict_lines(measure, result), *measure.describe(result, facts)]
    lines.append(f"{facts['scored']:,} of {facts['asked']:,} answers could be read.")
    for reason, count in sorted(facts["skipped"].items(), key=lambda item: -item[1]):
        lines.append(f"  {count:,} x {reason}")
        lines += [f"    for example: {text!r}" for text in facts["examples"][reason]]
    for line in [*lines, *facts["notes"]]:
        out.print(line, markup=False)
    out.print(answers.signature, style="dim", soft_wrap=True, markup=False)
