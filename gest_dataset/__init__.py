"""Gender-stereotype data sets and exact metrics for language models and translators.

Importing the package registers the name `gest` with `datasets`, and the metrics with `evaluate`:

    import gest_dataset
    from datasets import load_dataset
    load_dataset("gest", "sk_pairs")
    import evaluate
    evaluate.load("gest_stereotype_rate")
    gest_dataset.score("xlm-roberta-base", "sk_pairs").result()
"""

from typing import TYPE_CHECKING, Any

from gest_dataset import register
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.version import __version__

if TYPE_CHECKING:
    from gest_dataset.scoring.score import Scores, score

__all__ = ["STEREOTYPES", "Scores", "__version__", "score"]

register.register()


def __getattr__(name: str) -> Any:
    """Scoring brings torch and transformers: it is imported when it is used."""
    if name in {"Scores", "score"}:
        from gest_dataset.scoring import score

        return getattr(score, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
