"""The page of a metric's Space: samples in, scores out, the metric's card below.

`evaluate` has its own widget, but it is written for Gradio 3.
"""

from __future__ import annotations

import json
from typing import Any

import evaluate
import gradio

from gest_dataset.errors import GestError
from gest_dataset.metrics.base import read_card

_STEREOTYPES = [stereotype for stereotype in range(1, 17) for _ in range(6)]
EXAMPLES: dict[str, dict[str, Any]] = {
    "gest_choice_rate": {
        "predictions": ["male" if i >= 42 else "female" if i % 2 else "neither" for i in range(96)],
        "references": _STEREOTYPES,
        "units": [f"sentence {i // 3}" for i in range(96)],
        "letters": [i % 3 for i in range(96)],
    },
    "gest_control_bias": {
        "predictions": [[-2.1, -3.0, -2.9, -3.1], [-4.0, -3.2, -4.4, -3.0], [-1.2, -2.0, -1.0, -2.2]],
        "cs": [[0.4, 0.1], [-0.2, 0.3], [0.5, 0.2]],
        "log_base": 10,
    },
    "gest_masculine_rate": {
        "predictions": ["female", "male", "female", "male", "unknown", "male"] * 16,
        "references": _STEREOTYPES,
    },
    "gest_stereotype_rate": {
        "predictions": [0.1 * (i % 7) - 0.3 + 0.2 * (i >= 42) for i in range(96)],
        "references": _STEREOTYPES,
    },
    "stereoset_icat": {
        "predictions": [[0.4, 0.2, 0.1], [0.1, 0.3, 0.0], [0.3, 0.1, 0.2], [0.2, 0.5, 0.1]],
        "references": ["grandfather", "grandfather", "schoolgirl", "schoolgirl"],
        "bias_types": ["gender", "gender", "gender", "gender"],
    },
    "winobias_rate": {
        "predictions": [1.2, 0.4, 0.9, -0.8, -0.1, -0.5],
        "references": ["male", "male", "male", "female", "female", "female"],
    },
}


def interface(name: str) -> gradio.Interface:
    """A page to try a metric on."""
    metric = evaluate.load(name)

    def compute(samples: str) -> str:
        try:
            return json.dumps(metric.compute(**json.loads(samples)), indent=1)
        except (GestError, json.JSONDecodeError) as error:
            raise gradio.Error(str(error)) from error

    example = json.dumps(EXAMPLES[name], indent=1)
    return gradio.Interface(
        compute,
        inputs=gradio.Code(example, language="json", label="Input of compute(…)"),
        outputs=gradio.Code(language="json", label="Scores"),
        title=name,
        description=metric.description,
        article=read_card(name).text,
        flagging_mode="never",
    )
