"""The measures, one record each: what is scored, computed, shown and cited.

measure     the fields of a record          measures.yaml       texts and constants of the records
result      results, power analysis     formatting, grid    results as text and tables
gest, stereoset: the records
"""

from collections.abc import Sequence

from gest_dataset.errors import SettingError
from gest_dataset.measures import gest, stereoset
from gest_dataset.measures.measure import Measure
from gest_dataset.probes.probe import Probe

# In order: a dataset belongs to the first measure whose probe has all of its fields, and `neutral` rows
# have those of `templates` too
_OF_GEST = (gest.NEUTRAL, gest.TEMPLATES, gest.PAIRS, gest.WINOBIAS)
_OF_STEREOSET = (stereoset.QUADRUPLETS, stereoset.CROWS, stereoset.INTRASENTENCE, stereoset.INTERSENTENCE)
_OF_TEXTS = (gest.MASCULINE_RATE, gest.ENTITY_GENDER, gest.CHOICE, gest.FIRST_PERSON, gest.STORY)
_ALL = (*_OF_GEST, *_OF_STEREOSET, *_OF_TEXTS, stereoset.CONTROL_CHOICE)
MEASURES: dict[str, Measure] = {one.name: one for one in _ALL}
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
