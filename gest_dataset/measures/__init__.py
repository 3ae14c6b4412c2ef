"""The measures, one record each: what is scored, computed, shown and cited.

measure     the fields of a record          measures.yaml       texts and constants of the records
result      results, power analysis     formatting, grid    results as text and tables
gest, stereoset: the records
"""

from collections.abc import Sequence

from gest_dataset.errors import SettingError
from gest_dataset.measures.gest import (
    CHOICE,
    FIRST_PERSON,
    MASCULINE_RATE,
    NEUTRAL,
    PAIRS,
    STORY,
    TEMPLATES,
    WINOBIAS,
)
from gest_dataset.measures.measure import Measure
from gest_dataset.measures.stereoset import CROWS, INTERSENTENCE, INTRASENTENCE, QUADRUPLETS
from gest_dataset.probes.probe import Probe

# In order: a dataset belongs to the first measure whose probe has all of its fields, and `neutral` rows
# have those of `templates` too
_PROBED = (NEUTRAL, TEMPLATES, PAIRS, WINOBIAS, QUADRUPLETS, CROWS, INTRASENTENCE, INTERSENTENCE)
_OF_TEXTS = (MASCULINE_RATE, CHOICE, FIRST_PERSON, STORY)
MEASURES: dict[str, Measure] = {measure.name: measure for measure in (*_PROBED, *_OF_TEXTS)}
# The numbers for which a limit can be set: headline symbols and names in a result -> names in a result
NUMBERS: dict[str, str] = {
    head.symbol: head.name for measure in MEASURES.values() for head in measure.headlines
} | {name: name for measure in MEASURES.values() for name in measure.numbers}


def measure_of(fields: Sequence[str], config: str) -> tuple[Measure, Probe]:
    """The first measure whose probe reads these fields, and that probe."""
    if "translation" in fields:
        raise SettingError(f"{config} cannot be scored: measure translations with gest masculine-rate.")
    missing = []
    for measure in MEASURES.values():
        if measure.probe is not None:
            lacking = measure.probe.fields - set(fields)
            if not lacking:
                return measure, measure.probe
            missing.append((len(lacking), f"- {measure.name}: {', '.join(sorted(lacking))}"))
    raise SettingError(
        f"{config} cannot be scored: its fields are {', '.join(fields)}. Missing fields by probe:\n"
        + "\n".join(line for _, line in sorted(missing))
    )
