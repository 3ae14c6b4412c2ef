"""The evaluate module `gest_masculine_rate`: which gender a translator gives to GEST's sentences."""

from pathlib import Path
from typing import Any

from datasets import Value

from gest_dataset.builders.config import FAMILIES
from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.measures.result import statistic_inputs
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, masculine_rate
from gest_dataset.statistics.masculine_rate import CONVENTIONS, LABELS


class GestMasculineRate(base.CheckedMetric):
    """p_i, p_f, p_m, f_s and f_m (Pikuliak et al., 2024, eq. 1 and 2)."""

    family = FAMILIES["gest"]
    fields = {  # noqa: RUF012
        "predictions": (Value("string"), lambda name, values: checks.label_codes(name, values, LABELS)),
        "references": (Value("int32"), checks.stereotype_codes),
    }
    options = {"convention": lambda name, value: checks.check_choice(name, value, CONVENTIONS)}  # noqa: RUF012
    statistic = staticmethod(masculine_rate)

    def _score(self, model: Any, config: Any, **arguments: Any) -> dict[int, base.Inputs]:
        from gest_dataset.gender import languages  # imports parsers

        language = str(config).removesuffix("_translations")
        if language not in LANGUAGES:
            raise ConfigError(
                f"{self.name}.compute(model_id=…) also needs config=…, a target language or its config, such "
                f"as 'sk_translations'; {config!r} is none; choose one of {', '.join(languages())}."
            )
        if not isinstance(model, (str, Path)):
            raise ConfigError(
                f"A {type(model).__name__} cannot translate here: give a model's id or folder as model_id."
            )
        from gest_dataset.translation.masculine_rates import masculine_rates  # imports parsers

        rates = masculine_rates(f"hf:{model}", language, **arguments)
        return {0: statistic_inputs(MASCULINE_RATE, rates.table, None)}
