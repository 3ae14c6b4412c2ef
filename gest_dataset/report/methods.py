"""The methods paragraphs, ready to paste, and the works to cite."""

from __future__ import annotations

from collections.abc import Sequence

from gest_dataset.builders import CONFIGS
from gest_dataset.report.measured import Measured
from gest_dataset.version import __version__

_INTERVALS = (
    "Intervals are at 95 %: stratified bootstrap-t with 2,000 seeded draws for means and what is made of "
    "them ({drawn}), Agresti-Coull for single proportions. They speak of other samples of the same kind, not "
    "of other templates or training runs."
)


def paragraphs(runs: Sequence[Measured]) -> list[str]:
    """What was measured and how, in words that can be pasted."""
    models, configs, methods, units = (
        list(dict.fromkeys(values))
        for values in zip(
            *((run.model, run.config, run.measure.methods, run.measure.unit.words) for run in runs),
            strict=True,
        )
    )
    opening = f"We measured {_listed(models)} on {_listed(configs)} with gest-dataset {__version__}."
    drawn = f"drawn is each {' or '.join(units)}"
    return [opening, *(text.strip() for text in methods), _INTERVALS.format(drawn=drawn)]


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def citations(runs: Sequence[Measured]) -> list[str]:
    """BibTeX entries of the measures and of the data, each once."""
    entries: dict[str, None] = {}
    for run in runs:
        data = [CONFIGS[run.config].family] if run.config in CONFIGS else []
        for family in (*run.measure.families, *data):
            entries |= dict.fromkeys(family.citation.split("\n\n"))
    return list(entries)
