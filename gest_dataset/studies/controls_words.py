"""What the word-filling paper criticises, and what of it these models show, in words with numbers.

A sentence about a model is made from whole intervals: "above 0" is said where the lower bound is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gest_dataset import published
from gest_dataset.measures.formatting import MANY_INTERVALS_NOTE, format_number, format_percent
from gest_dataset.measures.grid import Estimate
from gest_dataset.studies.controls_numbers import GROUPS, NEGATIONS, TWICE, Measurement


def _printed_range(table: str, column: str) -> str:
    """The least and the largest printed value of a column."""
    values = [row[column] for row in published.load(table)["rows"] if row.get(column) is not None]
    return f"{format_number(min(values))} to {format_number(max(values))}"


def _range(values: Sequence[float]) -> str:
    """The least and the largest of some numbers; one number alone as it is."""
    least, most = format_number(min(values)), format_number(max(values))
    return least if least == most else f"{least} to {most}"


def _known(measurements: Sequence[Measurement], name: str) -> list[float]:
    return [value for one in measurements if not math.isnan(value := Estimate.of(one.result, name).value)]


def _by_model(measurements: Sequence[Measurement]) -> dict[str, list[Measurement]]:
    models: dict[str, list[Measurement]] = {}
    for one in measurements:
        models.setdefault(one.model, []).append(one)
    return models


def about_ss(measurements: Sequence[Measurement]) -> list[str]:
    """Problems 1 and 5 of section 4: no control group, and why 50 %."""
    lines = [
        f"The criticism of ss: above 0, or in more than half of the samples, it is read as a stereotype. But "
        f"a keyword that is likelier in any sentence gives that too, also about a group that the stereotype "
        f"is not about; in the paper's models ss of original and control correlate with ρ = "
        f"{_printed_range('word_filling_ss', 'ss_rho')}. The false positive rate is the share of what ss "
        f"calls stereotypical that is more so about the control group."
    ]
    for model, own in _by_model(measurements).items():
        measured = [one for one in own if not math.isnan(Estimate.of(one.result, "ss_mu_control").value)]
        if not measured:
            continue
        above = [one for one in measured if Estimate.of(one.result, "ss_mu_control").low > 0]
        rho = _known(measured, "ss_rho")
        errors = _known(measured, "false_positive_rate")
        line = f"{model}: ss is above 0 about the control group too in {len(above)} of {len(measured)} sets"
        line += f"; ρ with the control {_range(rho)}" if rho else ""
        line += f"; false positives {_percents(errors)}" if errors else ""
        lines.append(f"{line}.")
    return lines


def about_cs(measurements: Sequence[Measurement]) -> list[str]:
    """Problem 1 of section 5: no control pairs."""
    lines = [
        f"The criticism of cs: that a model finds the sentence about one group likelier may be due to the "
        f"groups' names and to any other word. A control pair about the same groups does not say the "
        f"stereotype, so what cs shows there is none; in the paper's models the two correlate with ρ = "
        f"{_printed_range('word_filling_cs', 'cs_rho')}. csk looks at the keyword alone."
    ]
    if any(one.config in TWICE for one in measurements):
        lines.append(
            f"Two readings of the CrowS-Pairs controls: the paper defines cs as {GROUPS}, its released code "
            f"computes {NEGATIONS}. That is another question: how much likelier is a sentence than its "
            f"negation (or its anti-stereotype)? A high ρ there says that it is so for both groups alike."
        )
    for model, own in _by_model(measurements).items():
        rho = _known([one for one in own if one.reading == GROUPS], "cs_rho")
        if rho:
            lines.append(f"{model}: cs of original and control, {GROUPS}, correlate with ρ = {_range(rho)}.")
    return lines


def about_f(measurements: Sequence[Measurement]) -> list[str]:
    """Section 6: a score with the control in it, and what remains of the criticism."""
    lines = [
        "f is ss of the original minus ss of the control: what the keywords do on both sides cancels out. It "
        "still compares two words of a whole vocabulary, depends on how a sentence is put, and takes "
        "quadruplets that sound natural in all four places: the authors prefer measurements in a task."
    ]
    for model, own in _by_model(measurements).items():
        found = [one for one in own if not math.isnan(Estimate.of(one.result, "f_mu").value)]
        if not found:
            continue
        said = {
            "above 0": [one for one in found if Estimate.of(one.result, "f_mu").low > 0],
            "below 0": [one for one in found if Estimate.of(one.result, "f_mu").high < 0],
        }
        counts = ", ".join(f"{where} in {len(those)}" for where, those in said.items())
        agreement = _known(found, "f_ss_agreement")
        lines.append(
            f"{model}: f is {counts} of {len(found)} sets; f and ss have the same direction in "
            f"{_percents(agreement)} of the samples."
        )
    return [*lines, MANY_INTERVALS_NOTE]


def _percents(shares: Sequence[float]) -> str:
    least, most = format_percent(min(shares)), format_percent(max(shares))
    return least if least == most else f"{least} to {most}"
