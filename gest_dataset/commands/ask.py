"""`gest ask`: a chat model in words, with a plan before it costs anything."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands import options
from gest_dataset.commands.console import called, err, interruptible, out, quiet, show_json, show_report
from gest_dataset.commands.options import Json, Output
from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.models.chat.answered import Answers
    from gest_dataset.models.chat.cost import Estimate

EXAMPLES = (
    "Examples: [bold]gest ask HuggingFaceTB/SmolLM2-1.7B-Instruct --limit 100[/bold] (a model that is loaded "
    "here), [bold]gest ask --endpoint http://127.0.0.1:8000 --model NAME[/bold] (one behind a server), "
    "[bold]gest ask --endpoint URL --model NAME --price-in 0.15 --price-out 0.6 --max-cost 5[/bold] (a paid "
    "one; prices are of a million tokens), [bold]gest ask --endpoint URL --model NAME --probe first-person "
    "--language sk[/bold] (diary entries, whose grammar shows the gender), [bold]gest ask --reread "
    "gest-runs/NAME/choice[/bold] (read kept answers again; nothing is asked)"
)


def run(
    model: Annotated[
        str | None, typer.Argument(help="A Hub id or a folder of a chat model.", show_default=False)
    ] = None,
    probe: Annotated[
        str,
        typer.Option(
            help="choice: who would say it. first-person: what a model writes as one (Slavic languages). "
            "story: a character for a motto."
        ),
    ] = "choice",
    language: Annotated[str, typer.Option(help="en, or a language with pairs, such as sk.")] = "en",
    endpoint: Annotated[
        str | None, typer.Option(help="Instead: the address of a server that has the model.", metavar="URL")
    ] = None,
    served: Annotated[
        str | None, typer.Option("--model", help="Its name at the server.", metavar="NAME")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many sentences.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Answers to each prompt.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Default: 0, and 1 where there are repeats.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the first repeat; the next ones count on.")] = 0,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Of an answer.")] = None,
    stop: Annotated[
        list[str] | None, typer.Option(help="A text that ends an answer; several times for several.")
    ] = None,
    parser: options.Parser = "udpipe",
    parser_model: Annotated[
        Path | None,
        typer.Option(help="The parser's model for Slavic texts; else the published one is downloaded."),
    ] = None,
    prompts: Annotated[Path | None, typer.Option(help="A table of wordings of one's own (JSON).")] = None,
    connections: Annotated[
        int | None, typer.Option(min=1, help="Requests to the server at one time (default: 32).")
    ] = None,
    price_in: Annotated[float | None, typer.Option(help="Of a million tokens that are sent.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Of a million tokens that are written.")] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop before all would cost more, by those prices.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Go on after the plan without a question.")] = False,
    device: Annotated[str, typer.Option(help="auto, cuda, cuda:N, mps or cpu.")] = "auto",
    dtype: Annotated[str, typer.Option(help="auto, float32, float16 or bfloat16.")] = "auto",
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")] = None,
    reread: Annotated[
        Path | None, typer.Option(help="Instead: read the kept answers of a finished run again.")
    ] = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Ask a chat model in words: whom does it name, and whom does it write about?

    The answers are kept in a folder (gest-runs/MODEL/PROBE), each as it comes: the same command goes on
    after a stop and asks nothing twice. A few answers come first and tell what all of them will take.
    """
    from gest_dataset.runs.reading import default_folder

    here = {"MODEL": model, "--revision": revision}
    there = {"--model": served, "--connections": connections}
    name = _name(endpoint, reread, here, there)
    own = probe if language == "en" else f"{probe}-{language}"
    folder = output or default_folder(name, revision, limit) / own
    kept = f"What was answered is kept in {folder}; the same command goes on from there."
    with interruptible(kept), warnings.catch_warnings():
        from gest_dataset.models.chat import ask as asking
        from gest_dataset.models.chat import endpoint as servers
        from gest_dataset.models.chat.questions import questions
        from gest_dataset.statistics.checks import UndefinedWarning

        quiet()
        warnings.simplefilter("ignore", UndefinedWarning)  # the table and the words say it
        if reread is not None:
            _show(asking.reread(reread, parser, parser_model), as_json, None)
            return
        asked = questions(
            probe,
            language,
            prompts=prompts,
            limit=limit,
            temperature=temperature,
            seed=seed,
            repeats=repeats,
            max_tokens=max_tokens,
            stop=stop or (),
            parser=parser,
            parser_model=parser_model,
        )
        speaker = asking.speaker_of(
            served if endpoint is not None else model,
            endpoint,
            connections or servers.CONNECTIONS,
            device=device,
            dtype=dtype,
            revision=revision,
        )
        most = math.inf if max_cost is None else max_cost
        price = asking.price_of(price_in, price_out, most)

        def planned(estimate: Estimate) -> None:
            _show_plan(estimate)
            if price is not None and not yes:
                typer.confirm("Go on?", abort=True, err=True)

        answers, _ = asking.record(asked, speaker, folder, called(), price, most, planned)
        page = _report(folder)
        _show(answers, as_json, folder)
        if not as_json:
            show_report(page)


def _name(endpoint: str | None, reread: Path | None, here: dict[str, Any], there: dict[str, Any]) -> str:
    """What a run is called by default; a wrong mixture of options is refused."""
    given = [option for option, value in (there if endpoint is None else here).items() if value is not None]
    if given:
        where = "behind a server" if endpoint is None else "that is loaded here"
        raise ConfigError(f"{given[0]} is for a model {where}: give MODEL, or --endpoint URL --model NAME.")
    name = here["MODEL"] or there["--model"] or endpoint
    if name is None and reread is None:
        raise ConfigError("There is no model: give MODEL, or --endpoint URL --model NAME.")
    return str(name or reread)


def _show_plan(estimate: Estimate) -> None:
    counted = estimate.tokens_in + estimate.tokens_out > 0
    tokens = f"{estimate.tokens_in:,.0f} tokens in, {estimate.tokens_out:,.0f} out, " if counted else ""
    minutes, seconds = estimate.seconds / 60, estimate.seconds
    time = f"{minutes:,.1f} minutes" if minutes >= 1 else f"{seconds:.0f} s"
    money = "" if estimate.money is None else f", at a cost of {_money(estimate.money)}"
    err.print(
        f"{estimate.prompts:,} prompts to be asked: about {tokens}{time}{money}.",
        soft_wrap=True,
    )


def _money(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.2g}"


def _report(folder: Path) -> Path:
    from gest_dataset import report
    from gest_dataset.runs.reading import REPORT

    page = folder / REPORT
    report([folder], page)
    return page


def _show(answers: Answers, as_json: bool, folder: Path | None) -> None:
    from gest_dataset.commands import tables
    from gest_dataset.measures import MEASURES
    from gest_dataset.storage import json_value

    result, facts = answers.result(), answers.metadata
    if as_json:
        told = {"path": folder and str(folder), "result": result, "metadata": facts}
        show_json(json_value({**told, "signature": answers.signature}))
        return
    measure = MEASURES[facts["measure"]]
    for table in tables.tables(measure, result, f"{facts['config']}: {facts['model']}", out):
        out.print(table)
    if math.isnan(result[measure.headline(result).name]):
        words, sentences = measure.describe_undefined(result)
        lines = [f"{words}.", *sentences]
    else:
        lines = [*tables.verdict_lines(measure, result), *measure.describe(result, facts)]
    lines.append(f"{facts['scored']:,} of {facts['asked']:,} answers can be read.")
    for reason, count in sorted(facts["skipped"].items(), key=lambda item: -item[1]):
        lines.append(f"  {count:,} x {reason}")
        lines += [f"    such as: {text!r}" for text in facts["examples"][reason]]
    for line in [*lines, *facts["notes"]]:
        out.print(line, markup=False)
    out.print(answers.signature, style="dim", soft_wrap=True, markup=False)
