"""The page of a metric's Space: samples in, scores out, the metric's card below.

`evaluate` has its own widget, but it is written for Gradio 3.
"""

import json
from pathlib import Path
from typing import Any

import evaluate
import gradio

from gest_dataset.errors import GestError
from gest_dataset.metrics.modules import read_card

EXAMPLES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("examples.json").read_text("utf-8"))


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
