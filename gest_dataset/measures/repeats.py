"""What is said of answers to one prompt that were drawn again (`statistics.repeats`)."""

from __future__ import annotations

from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.measures.words import shown, spoken_percent


def drawn_again(result: Result) -> list[str]:
    """How far repeats differ, beside how far all answers about a stereotype do; nothing without repeats."""
    if not result.get("n_repeated"):
        return []
    return [
        f"Of two answers to the same prompt {spoken_percent(result['repeat_agreement'])} are the same; the "
        f"variance of repeats is {Estimate.of(result, 'repeat_variance')}, that of all answers about a "
        f"stereotype {shown(result['answer_variance'])}."
    ]
