"""`gest score`: score a model on configs; prints tables, writes runs and a report."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer

from gest_dataset.commands import console, options
from gest_dataset.commands.console import err, out
from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.measures.result import PowerAnalysis
    from gest_dataset.models.score import Outcome
    from gest_dataset.models.score_run import ScoredRun


def run(
    model: str | None = None,
    config: str | None = None,
    data: Path | None = None,
    templates: str | None = None,
    limit: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    device_map: str | None = None,
    quantization: str | None = None,
    batch_tokens: int | None = None,
    revision: str | None = None,
    adapter: str | None = None,
    output: Path | None = None,
    trust_remote_code: bool = False,
    multi_token: bool = False,
    per_token: bool = False,
    rules: str | None = None,
    verbose: bool = False,
    chat_template: bool = False,
    where: list[str] | None = None,
    short: bool = False,
    stop_early: bool = False,
    null: int = 0,
    power: bool = False,
    as_json: bool = False,
    fail_above: list[str] | None = None,
    fail_unless_below: list[str] | None = None,
    junit: Path | None = None,
    markdown: Path | None = None,
    plan: Path | None = None,
    endpoint: str | None = None,
    served: str | None = None,
    tokenizer: str | None = None,
    connections: int = 8,
) -> None:
    arguments = locals()
    if plan is not None and model is None:
        from gest_dataset.runs.plan import read_sealed

        run(**{**arguments, **read_sealed(plan)["arguments"]})
        return
    options.check_model(model, endpoint, served)

    from gest_dataset.builders import DEFAULT_CONFIG, select_configs

    # before torch is imported, which takes seconds
    configs: Any = {} if data is not None else select_configs(config or DEFAULT_CONFIG)
    if model and not power and err.is_terminal:
        err.print(f"Loading {model} …")

    from gest_dataset.commands import gates
    from gest_dataset.measures.gest import TEMPLATES
    from gest_dataset.models import distributed
    from gest_dataset.models.base import Settings
    from gest_dataset.models.score import Outcome, score_configs
    from gest_dataset.models.user_rows import data_name, read_user_rows
    from gest_dataset.probes.templates import EXTENDED_NAME
    from gest_dataset.report import report
    from gest_dataset.runs.folder import REPORT, default_folder

    console.silence_libraries()
    limits = gates.parse_limits(gates.ABOVE, fail_above)
    limits += gates.parse_limits(gates.UNLESS_BELOW, fail_unless_below)
    several = len(configs) > 1
    if data is not None:
        configs = read_user_rows(data, config)
    if power:
        _show_power(_power_analyses(configs, limit, where), as_json)
        return
    given = {one.name: arguments[one.name] for one in fields(Settings) if one.name in arguments}
    given["where"] = tuple(where or ())
    given["gates"] = tuple((one.name, one.value) for one in limits) if stop_early else ()
    given["plan"] = plan and _followed(plan, arguments)
    settings = Settings(**{**given, "templates": _parse_templates(templates)})
    name = model or served or urlsplit(endpoint).netloc or endpoint
    folder = output or default_folder(str(name), revision, limit)
    if output is None:
        parts = [f"--{default_folder(adapter).name}"] if adapter else []
        parts += ["-chat"] * chat_template + ["-short"] * short + [f"-{one}" for one in where or ()]
        folder = folder.with_name("".join([folder.name, *parts]))
    if data is not None:
        folder = output or folder / data_name(data, config)

    def show(run: "ScoredRun") -> None:
        if not as_json:
            _show_run(run, verbose) if verbose or not several else out.print(*_fields(run))

    for line in gates.power_lines(
        limits, _power_analyses(configs, limit, where) if fail_unless_below else {}
    ):
        err.print(line)
    flat, command = output is not None, console.command_line()
    outcome = score_configs(model or served, configs, folder, command, settings, flat, show)
    held_out = Outcome()
    in_templates = {
        run.scores.metadata["config"]: True
        for run in outcome.runs
        if run.scores.metadata["measure"] == TEMPLATES.name
    }
    if fail_unless_below and data is None and templates is None and in_templates:
        # a model may have been changed at the four pairs of words that the gate asks
        other = replace(
            settings,
            templates=EXTENDED_NAME,
            short=limit is None,
            stop_early=False,
            gates=(),
            null=0,
            plan=None,
        )
        if distributed.is_main():
            err.print("The templates that the gate does not use:")
        held_out = score_configs(
            model or served, in_templates, folder.with_name(f"{folder.name}-held-out"), command, other, False
        )
    if not distributed.is_main():
        return
    page: Path | None = None
    if outcome.runs:
        page = (folder if several else outcome.runs[0].path) / REPORT
        if several or outcome.runs[0].new or not page.exists():
            report([run.path for run in outcome.runs], page)
    outcome.failed.update({f"{name} in the extended templates": e for name, e in held_out.failed.items()})
    checks = gates.check_gates(limits, outcome, held_out)
    failures = [message for check in checks for message in check.failures]
    files = {"junit": junit, "markdown": markdown}
    gates.write_files(files, str(name), list(map(_fields, outcome.runs)), outcome, checks)
    if as_json:
        console.show_json(_to_json(outcome, held_out, page, failures))
    elif several:
        console.show_counts([_fields(run) for run in outcome.runs], "configs", 2, -1)
        for caveat in dict.fromkeys(caveat for run in outcome.runs for caveat in _caveats(run)):
            out.print(caveat)
    console.show_left_out(outcome.left_out)
    console.show_failed("not scored", outcome.failed)
    for message in failures:
        console.show_error(message)
    for note in [note for check in checks for note in check.notes]:
        err.print(f"Note: {note}")
    if page:
        err.print(f"Report: {page}")
    if outcome.failed or failures:
        raise typer.Exit(max([1, *(error.exit_code for error in outcome.failed.values())]))


def _followed(path: Path, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A plan, if the arguments are those that it states."""
    from gest_dataset.runs.manifest import differences
    from gest_dataset.runs.plan import is_intact, read_sealed

    content = read_sealed(path)
    if not is_intact(content):
        raise ConfigError(f"{path} was changed after it was sealed. Use the original, or make a new plan.")
    planned = content["arguments"]
    if lines := differences(planned, {name: arguments[name] for name in planned}):
        listed = "\n".join(lines).replace("(existing)", "(plan)").replace("(new)", "(this command)")
        raise ConfigError(f"This command does not follow {path}:\n{listed}\nRun: gest score --plan {path}")
    return content


def _power_analyses(
    configs: Any, limit: int | None, where: Sequence[str] | None
) -> "dict[str, PowerAnalysis]":
    """The power analysis of each config, or of the user's own rows."""
    from gest_dataset.measures.result import power_analysis
    from gest_dataset.models.base import Settings
    from gest_dataset.models.score_run import make_request

    settings = Settings(limit=limit, where=tuple(where or ()))
    given = dict(zip(configs, configs, strict=True)) if isinstance(configs, dict) else {"data": configs}
    requests = {name: make_request(one, settings) for name, one in given.items()}
    return {name: power_analysis(one.measure, one.rows) for name, one in requests.items()}


def _show_power(plans: "Mapping[str, PowerAnalysis]", as_json: bool) -> None:
    from gest_dataset.measures.result import CORRELATION, TYPICAL_SPREAD
    from gest_dataset.storage import json_value

    if as_json:
        console.show_json(json_value({name: asdict(plan) for name, plan in plans.items()}))
        return
    columns = ("config", "samples", "units", "one", "two", "as g_s")
    rows = []
    for name, plan in plans.items():
        numbers = (plan.single, plan.paired, plan.typical)
        effects = ["none" if number == math.inf else console.format_value(number, 2) for number in numbers]
        rows.append((name, plan.samples, plan.units, *effects))
    console.show_table("Smallest detectable effects (power 80 %)", columns, rows)
    out.print(
        f"one: in one model, zone of negligible effects included, in standard deviations (SD) of its scores; "
        f"as g_s: the same at an SD of {TYPICAL_SPREAD:g}; two: between models (correlation {CORRELATION:g})."
    )
    if any(plan.single == math.inf for plan in plans.values()):
        out.print("none: some stereotype or group has too few samples for an interval, so nothing is shown.")


def _parse_templates(text: str | None) -> list[int] | str | None:
    from gest_dataset.probes.templates import EXTENDED_NAME

    if text in (None, EXTENDED_NAME) or Path(text).is_file():
        return text
    if not all(part.strip().isdecimal() for part in text.split(",")):
        raise ConfigError(f"--templates {text!r} must be numbers (1,2), 'extended' or an existing JSON file.")
    return [int(part) for part in text.split(",")]


def _fields(run: "ScoredRun") -> list[str]:
    from gest_dataset.commands.result_tables import headline_fields
    from gest_dataset.measures import MEASURES

    facts = run.scores.metadata
    headline = headline_fields(MEASURES[facts["measure"]], run.result)
    counts = f"{facts['scored']:,}/{facts['asked']:,}"
    return [facts["config"], *headline, counts, "new" if run.new else "kept"]


def _caveats(run: "ScoredRun") -> list[str]:
    from gest_dataset.builders import GROUPS
    from gest_dataset.builders.demo import NOT_VALIDATED
    from gest_dataset.measures.formatting import TOY_NOTE

    facts = run.scores.metadata
    lines = [f"{facts['model']} is {TOY_NOTE}."] if facts.get("toy") else []
    if facts["config"] in GROUPS["demo"]:
        lines.append(f"The demo_… sentences are {NOT_VALIDATED}.")
    return lines


def _show_run(run: "ScoredRun", verbose: bool) -> None:
    from gest_dataset.commands import result_tables
    from gest_dataset.measures import MEASURES
    from gest_dataset.published.models import rank_among_published

    facts = run.scores.metadata
    measure = MEASURES[facts["measure"]]
    if not run.new:
        err.print(f"{run.path} is already finished; nothing is computed again.")
    result_tables.show_result(measure, run.result, f"{facts['config']}: {facts['model']}", verbose)
    published = rank_among_published(facts, run.result)
    lines = [published.text()] if published else []
    for line in [*lines, *_caveats(run), f"{facts['scored']:,} of {facts['asked']:,} samples have a score."]:
        out.print(line)
    console.show_problems(facts["skipped"], most=5, console=out)
    for note in facts["notes"]:
        out.print(f"Note: {note}")
    out.print(run.scores.signature, style="dim")


def _to_json(outcome: "Outcome", held_out: "Outcome", page: Path | None, failures: Sequence[str]) -> Any:
    from gest_dataset.storage import json_value

    def to_json(run: "ScoredRun") -> dict[str, Any]:
        facts = run.scores.metadata
        entry = {"config": facts["config"], "path": str(run.path), "result": run.result}
        return {**entry, "signature": run.scores.signature, "metadata": facts}

    return json_value(
        {
            "runs": list(map(to_json, outcome.runs)),
            "held_out": list(map(to_json, held_out.runs)),
            "report": str(page) if page else None,
            "left_out": outcome.left_out,
            "failed": {name: str(error) for name, error in outcome.failed.items()},
            "exceeded": failures,
        }
    )
