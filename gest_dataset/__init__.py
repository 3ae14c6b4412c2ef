"""Gender-stereotype data sets and exact metrics for language models and translators.

Importing the package registers the name `gest` with `datasets`, and the metrics with `evaluate`:

    import gest_dataset
    from datasets import load_dataset
    load_dataset("gest", "sk_pairs")
    import evaluate
    evaluate.load("gest_stereotype_rate")
    gest_dataset.score("xlm-roberta-base", "sk_pairs", output="mine").result()
    gest_dataset.masculine_rates("deepl", "sk", output="deepl-sk").result()
    gest_dataset.compare(["theirs", "mine"]).differences
    gest_dataset.report(["theirs", "mine"], "report.html")
    gest_dataset.add_language("hi", "hi.csv", "hi_variants.csv")
    gest_dataset.import_eurogest("EuroGEST", ["sk"])
    gest_dataset.push("your-name/gest", "sk_pairs")
    gest_dataset.push_results("mine", "your-name/my-model", dataset="your-name/gest")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gest_dataset import register
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.version import __version__

if TYPE_CHECKING:
    from gest_dataset.custom import add_language, import_eurogest
    from gest_dataset.hub.push import push
    from gest_dataset.hub.results import push_results
    from gest_dataset.models.chat.answers import Answers
    from gest_dataset.models.chat.ask import ask
    from gest_dataset.models.score import score
    from gest_dataset.models.scores import Scores
    from gest_dataset.report.page import report
    from gest_dataset.runs.comparison import compare
    from gest_dataset.translation.masculine_rates import masculine_rates

__all__ = [
    "STEREOTYPES",
    "Answers",
    "Scores",
    "__version__",
    "add_language",
    "ask",
    "compare",
    "import_eurogest",
    "masculine_rates",
    "push",
    "push_results",
    "report",
    "score",
]

# What is imported when it is used, as it brings torch, transformers or matplotlib
_LATER = {
    "Answers": "gest_dataset.models.chat.answers",
    "Scores": "gest_dataset.models.scores",
    "ask": "gest_dataset.models.chat.ask",
    "score": "gest_dataset.models.score",
    "masculine_rates": "gest_dataset.translation.masculine_rates",
    "compare": "gest_dataset.runs.comparison",
    "add_language": "gest_dataset.custom",
    "import_eurogest": "gest_dataset.custom",
    "push": "gest_dataset.hub.push",
    "push_results": "gest_dataset.hub.results",
}
# Rooms that are there without an import of their own; that of the reports can be called
_ROOMS = {
    "gender": "gest_dataset.gender",
    "published": "gest_dataset.published",
    "report": "gest_dataset.report",
    "statistics": "gest_dataset.statistics",
    "studies": "gest_dataset.studies",
}

register.register()


def __getattr__(name: str) -> Any:
    """What is not imported yet."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
