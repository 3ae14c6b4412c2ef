"""What is measured: one record for each measure, with all that the package knows of it.

measure    what a record holds               grid, words    results as lines, numbers as text
templates, pairs, neutral, winobias, quadruplets, crows, stereoset, masculine_rate, choice,
written    the records
result     from a table of scores to a result, over templates
"""

from __future__ import annotations

from collections.abc import Sequence

from gest_dataset.errors import SettingError
from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.crows import CROWS
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.measures.measure import Measure
from gest_dataset.measures.neutral import NEUTRAL
from gest_dataset.measures.pairs import PAIRS
from gest_dataset.measures.quadruplets import QUADRUPLETS
from gest_dataset.measures.stereoset import INTERSENTENCE, INTRASENTENCE
from gest_dataset.measures.templates import TEMPLATES
from gest_dataset.measures.winobias import WINOBIAS
from gest_dataset.measures.written import FIRST_PERSON, STORY
from gest_dataset.probes.probe import Probe

# The order matters: a config belongs to the first measure whose probe finds all of its fields, and rows of
# `neutral` have all that `templates` needs
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        NEUTRAL,
        TEMPLATES,
        PAIRS,
        WINOBIAS,
        QUADRUPLETS,
        CROWS,
        INTRASENTENCE,
        INTERSENTENCE,
        MASCULINE_RATE,
        CHOICE,
        FIRST_PERSON,
        STORY,
    )
}
# What a limit can be set for: a number's name in a result, or the symbol of a headline -> the name
NUMBERS: dict[str, str] = {
    head.symbol: head.name for measure in MEASURES.values() for head in measure.headlines
} | {name: name for measure in MEASURES.values() for name in measure.numbers}


def measure_of(fields: Sequence[str], config: str) -> tuple[Measure, Probe]:
    """The first measure whose probe reads these fields, and that probe."""
    for measure in MEASURES.values():
        if measure.probe is not None and measure.probe.fields <= set(fields):
            return measure, measure.probe
    lacking = [
        f"- {measure.name}: also {', '.join(sorted(measure.probe.fields - set(fields)))}"
        for measure in MEASURES.values()
        if measure.probe is not None
    ]
    raise SettingError(
        f"No probe reads {config}: its fields are {', '.join(fields)}. The probes need\n" + "\n".join(lacking)
    )
