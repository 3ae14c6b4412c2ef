"""The page of a metric's Space: samples in, scores out, the metric's card below.

`evaluate` has a widget of its own, but it is written for Gradio 3.
"""

from __future__ import annotations

import json
from typing import Any

import evaluate
import gradio

from gest_dataset.errors import GestError
from gest_dataset.metrics.base import card_of


def interface(name: str, example: dict[str, Any]) -> gradio.Interface:
    """A page to try the metric of that name on."""
    metric = evaluate.load(name)

    def compute(samples: str) -> str:
        try:
            return json.dumps(metric.compute(**json.loads(samples)), indent=1)
        except (GestError, json.JSONDecodeError) as error:
            raise gradio.Error(str(error)) from error

    return gradio.Interface(
        compute,
        inputs=gradio.Code(json.dumps(example, indent=1), language="json", label="Input of compute(…)"),
        outputs=gradio.Code(language="json", label="Scores"),
        title=name,
        description=metric.description,
        article=card_of(name).text,
        flagging_mode="never",
    )
