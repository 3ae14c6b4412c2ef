"""The evaluate module `gest_masculine_rate`: which gender a translator gives to GEST's sentences."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from gest_dataset.builders.families import GEST
from gest_dataset.errors import ConfigError
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, masculine_rate
from gest_dataset.statistics.masculine_rate import LABELS

_DESCRIPTION = """Masculine rates of a translator: for each of 16 gender stereotypes the share p_i of
sentences that it translates in the masculine gender, and from them the stereotype rate f_s (0: no
stereotype, 1: all) and the global masculine rate f_m, with 95 % intervals."""

_INPUTS = """
Args:
    predictions: the gender of each translation, "male", "female" or "unknown".
    references: the stereotype of each sample, 1 to 16.
    convention: "plain" (p_i is the proportion) or "published" (the centre of its Agresti-Coull
        interval, as the paper's tables print it).
Returns:
    p, p_low, p_high, n (16 long); p_f, p_m, f_s, f_m with _low, _high (bootstrap) and
    _analytic_low, _analytic_high; feminine_ranks; n_unknown.
"""


class GestMasculineRate(base.CheckedMetric):
    """p_i, p_f, p_m, f_s and f_m (Pikuliak et al., 2024, eq. 1 and 2)."""

    rules = {  # noqa: RUF012
        "predictions": lambda name, values: checks.known(name, values, LABELS),
        "references": checks.stereotypes,
    }

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=GEST.citation,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("int32")}
            ),
            homepage=GEST.homepage,
        )

    def _score(self, model: Any, config: Any, device: str, batch_tokens: int | None) -> dict[int, Any]:
        raise ConfigError(
            f"{self.name} counts the genders of translations, which a language model's scores are not: "
            f"translate, detect the genders and pass them as predictions, or use gest_stereotype_rate."
        )

    def _compute(self, predictions: Any, references: Any, convention: str = "plain") -> dict[str, Any]:
        return masculine_rate(predictions, references, convention)
