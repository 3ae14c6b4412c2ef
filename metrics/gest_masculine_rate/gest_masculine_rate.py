"""The evaluate module `gest_masculine_rate`: which gender a translator gives to GEST's sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import evaluate

from gest_dataset.builders.families import GEST
from gest_dataset.errors import ConfigError
from gest_dataset.languages import LANGUAGES
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
        interval, as the paper's tables print it); averages and bounds are of the same.
    model_id: instead of samples, a translation model of Hugging Face (an id or a folder), which
        translates GEST first; with config (a language, or its config such as "sk_translations"),
        device, batch_tokens, parser ("udpipe") and parser_model (a path; else the published one).
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

    def compute(
        self, *, parser: str = "udpipe", parser_model: Any = None, **kwargs: Any
    ) -> dict[str, Any] | None:
        """Compute the rates of the samples, or of the translations that `model_id` makes first."""
        self._parser = {"parser": parser, "model": parser_model}
        return super().compute(**kwargs)

    def _score(
        self, model: Any, config: Any, device: str, batch_tokens: int | None
    ) -> dict[int, base.Inputs]:
        if self.num_process > 1:
            raise ConfigError("Translate with a model in one process; num_process is for samples.")
        language = str(config).removesuffix("_translations")
        if language not in LANGUAGES:
            raise ConfigError(
                f"{self.name}.compute(model_id=…) also needs config=…, the language to translate to or its "
                f"config, such as 'sk_translations'; {config!r} is none."
            )
        if not isinstance(model, (str, Path)):
            raise ConfigError(
                f"A {type(model).__name__} cannot translate here: give a model's id or folder as model_id."
            )
        from gest_dataset.masculine_rates import measure
        from gest_dataset.translation.setup import set_up

        setup = set_up(f"hf:{model}", language, device=device, batch_tokens=batch_tokens, **self._parser)
        return {0: measure(setup).inputs()}

    def _compute(self, predictions: Any, references: Any, convention: str = "plain") -> dict[str, Any]:
        return masculine_rate(predictions, references, convention)
