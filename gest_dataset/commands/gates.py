"""Limits that turn `gest score` into a gate for CI: `--fail-above` and `--fail-unless-below`.

`--junit` and `--markdown` write what was checked, for test reports and pull requests.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from gest_dataset.display import one_line
from gest_dataset.errors import ConfigError
from gest_dataset.measures import MEASURES, NUMBERS
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import TYPICAL_SPREAD, PowerAnalysis, estimates, within_placebo
from gest_dataset.models.score import Outcome
from gest_dataset.report.page import load_template
from gest_dataset.statistics.verdict import smallest_detectable
from gest_dataset.storage import write_file

ABOVE, UNLESS_BELOW = "--fail-above", "--fail-unless-below"
# Below it the scores of a ratio differ by less than 1 % between samples, which no trained model's do
LEAST_SPREAD = 0.01


class Limit(NamedTuple):
    """A limit of an option, for a number by its name in a result."""

    option: str
    name: str
    value: float


class Check(NamedTuple):
    """What was checked, with the messages if it failed, and notes."""

    name: str
    failures: Sequence[str] = ()
    notes: Sequence[str] = ()


def parse_limits(option: str, texts: Sequence[str] | None) -> list[Limit]:
    """The limits of an option, NAME=VALUE."""
    limits = []
    for text in texts or []:
        name, _, number = text.partition("=")
        if name not in NUMBERS:
            close = difflib.get_close_matches(name, NUMBERS, n=5) or list(NUMBERS)
            raise ConfigError(f"{option} {text!r}: unknown name {name!r}. Choose from {', '.join(close)}.")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ConfigError(f"{option} {text!r} is not NAME=VALUE with a finite number, such as g_s=1.2.")
        limits.append(Limit(option, NUMBERS[name], value))
    return limits


def check_gates(limits: Sequence[Limit], outcome: Outcome, held_out: Outcome) -> list[Check]:
    """The check of each limit, and of the templates that the gates do not use."""
    checks = [
        Check(f"{one.option} {one.name}={one.value:g}", *check_limits([one], outcome)) for one in limits
    ]
    if held_out.runs:
        checks.append(Check("held-out templates", *check_held_out(limits, outcome, held_out)))
    return checks


def check_limits(limits: Iterable[Limit], outcome: Outcome) -> tuple[list[str], list[str]]:
    """Messages on numbers that fail their limit, and notes on those that pass but may be above it."""
    failures, notes = [], []
    for option, name, limit in limits:
        found = [(run, estimate) for run in outcome.runs for estimate in estimates(run.result, name)]
        if not found and outcome.runs:
            failures.append(f"{option} {name}: no scored config has a result of this name.")
        for run, (value, low, high) in found:
            label = f"{name} of {run.scores.metadata['config']}"
            numbers = f"{value:.3f} ({low:.3f} to {high:.3f})"
            head = MEASURES[run.scores.metadata["measure"]].headline(run.result)
            spread = Estimate.of(run.result, f"{name}_spread").value if name == head.name else math.nan
            # ln g_s in standard deviations of the scores; a temperature lowers g_s, but not d
            d_high, d_limit = math.nan, math.nan
            if head.ratio and spread >= LEAST_SPREAD and min(high, limit) > 0:
                d_high, d_limit = math.log(high) / spread, math.log(limit) / TYPICAL_SPREAD
            if math.isnan(low) or math.isnan(high):
                failures.append(f"{label} has no interval, so it is not shown to be below {limit:g}.")
            elif option == UNLESS_BELOW and high >= limit:
                failures.append(f"{label} is not shown to be below {limit:g}: {numbers}.")
            elif option == UNLESS_BELOW and (low == high or (head.ratio and spread < LEAST_SPREAD)):
                failures.append(f"{label} is {numbers}, which proves nothing: the scores hardly differ.")
            elif option == UNLESS_BELOW and d_high >= d_limit > 0:
                failures.append(
                    f"{label} is below {limit:g}: {numbers}. But d may be {d_high:.2f}, and its own limit is "
                    f"{d_limit:.2f}, the d of {name}={limit:g} in a model with scores like BERT's."
                )
            elif option == ABOVE and low > limit:
                failures.append(f"{label} is above {limit:g}: {numbers}.")
                if name == "g_s" and within_placebo(run.result, value):
                    failures[-1] += " Pairs of words of the same gender show effects as large."
            elif option == ABOVE and high > limit:
                notes.append(f"{label} is inconclusive: it may be above {limit:g}. It is {numbers}.")
            elif name == head.name and run.result.get("verdict") == "shown":
                notes.append(f"{label} passes {limit:g}, but the verdict on it is *shown*.")
    return failures, notes


def check_held_out(
    limits: Iterable[Limit], outcome: Outcome, held_out: Outcome
) -> tuple[list[str], list[str]]:
    """Failures of headlines that are above their limit in held-out templates, and notes on the others."""
    failures, notes = [], []
    own = {run.scores.metadata["config"]: run.result for run in outcome.runs}
    for run in held_out.runs:
        config, measure = run.scores.metadata["config"], MEASURES[run.scores.metadata["measure"]]
        head = measure.headline(run.result)
        value, low, high = Estimate.of(run.result, head.name)
        if math.isnan(low):
            failures.append(f"{head.name} of {config} has no interval in the extended templates.")
            continue
        inside = Estimate.of(own[config], head.name).value
        message = (
            f"{head.name} of {config} is {value:.3f} ({low:.3f} to {high:.3f}) in "
            f"{len(run.scores.metadata['templates'])} templates that the gate does not use, and "
            f"{inside:.3f} in its own."
        )
        own_limits = (limit for option, name, limit in limits if (option, name) == (UNLESS_BELOW, head.name))
        least = min(own_limits, default=math.inf)
        if low > least:
            failures.append(f"{message} The former is above {least:g}.")
        else:
            notes.append(message)
    return failures, notes


def power_lines(limits: Iterable[Limit], plans: Mapping[str, PowerAnalysis]) -> list[str]:
    """For each config, the models that pass `--fail-unless-below` with 80 % power if their effect is zero."""
    lines = []
    for config, plan in plans.items():
        head = MEASURES[plan.measure].headlines[0]
        for option, name, limit in limits:
            if option == UNLESS_BELOW and name == head.name and limit > head.null:
                width = math.log(limit / head.null) if head.ratio else limit - head.null
                most = width / smallest_detectable(plan.error)
                lines.append(
                    f"The gate {name}={limit:g} on {config}: a model with a true {name} of {head.null:g} "
                    f"passes in 80 % of cases if its scores have a standard deviation of {most:.2g} within "
                    f"a stereotype or group, and less often above that."
                )
    return lines


# ---- files for CI ----------------------------------------------------------------------------------------


def write_files(
    files: Mapping[str, Path | None],
    model: str,
    rows: Sequence[Sequence[str]],
    outcome: Outcome,
    checks: Sequence[Check],
) -> None:
    """Write `junit` and `markdown` (the templates beside this module): configs, gates and signatures."""
    configs = [Check(f"score {row[0]}") for row in rows]
    failed = [Check(f"score {config}", [str(error)]) for config, error in outcome.failed.items()]
    signatures = [run.scores.signature for run in outcome.runs]
    values = {"model": model, "rows": rows, "signatures": signatures, "escape": _markdown}
    for name, path in files.items():
        if path is not None:
            shown = [*(configs if name == "junit" else []), *failed, *checks]
            template = load_template(Path(__file__).with_name(f"gates.{name}.jinja"))
            write_file(path, template.render(checks=shown, **values))


def _markdown(text: str) -> Markup:
    """A text as Markdown shows it literally, in one line."""
    return Markup(re.sub(r"([\\`*_\[\]<>|~&])", r"\\\1", one_line(text)))
