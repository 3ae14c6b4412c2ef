"""Gender-stereotype datasets and exact metrics for language models and translators.

Importing the package registers the name `gest` with `datasets`, and the metrics with `evaluate`:

    import gest_dataset
    from datasets import load_dataset
    load_dataset("gest", "sk_pairs")
    gest_dataset.score("xlm-roberta-base", "sk_pairs", output="mine").result()
    gest_dataset.masculine_rates("deepl", "sk", output="deepl-sk").result()
    gest_dataset.report(["mine"], "report.html")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gest_dataset import register
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.version import __version__

if TYPE_CHECKING:
    from gest_dataset.custom import add_language as add_language
    from gest_dataset.custom import import_eurogest as import_eurogest
    from gest_dataset.hub.push import push as push
    from gest_dataset.hub.results import push_results as push_results
    from gest_dataset.models.chat.ask import Answers as Answers
    from gest_dataset.models.chat.ask import ask as ask
    from gest_dataset.models.score import score as score
    from gest_dataset.models.score_run import Scores as Scores
    from gest_dataset.report.page import report as report
    from gest_dataset.runs.comparison import compare as compare
    from gest_dataset.translation.masculine_rates import masculine_rates as masculine_rates

# Names that are imported when they are used, as they bring torch, transformers or matplotlib
_LATER = {
    "Answers": "gest_dataset.models.chat.ask",
    "Scores": "gest_dataset.models.score_run",
    "add_language": "gest_dataset.custom",
    "ask": "gest_dataset.models.chat.ask",
    "compare": "gest_dataset.runs.comparison",
    "import_eurogest": "gest_dataset.custom",
    "masculine_rates": "gest_dataset.translation.masculine_rates",
    "push": "gest_dataset.hub.push",
    "push_results": "gest_dataset.hub.results",
    "score": "gest_dataset.models.score",
}
_PACKAGES = ("gender", "published", "report", "statistics", "studies")  # the package `report` can be called
__all__ = ["STEREOTYPES", "__version__", "report", *_LATER]

register.register()


def __dir__() -> list[str]:
    """The public names, also those that are not imported yet."""
    return [*__all__, *_PACKAGES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is used."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name in _PACKAGES:
        return import_module(f"gest_dataset.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
