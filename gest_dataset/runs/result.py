"""The interface of a measurement that can be written as a run and shown in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


class RunResult(ABC):
    """A table of samples and metadata, from which `result` computes the statistic.

    `skipped` are the samples without a score, with the reasons; `signature` is one line to report beside a
    number.
    """

    if TYPE_CHECKING:  # dataclass fields or properties of the subclasses

        @property
        def table(self) -> pa.Table: ...

        @property
        def skipped(self) -> pa.Table: ...

        @property
        def metadata(self) -> dict[str, Any]: ...

        @property
        def signature(self) -> str: ...

    @abstractmethod
    def result(self) -> dict[str, Any]:
        """The statistic of the measure with its intervals (docs/metrics.md)."""

    def plot(self) -> Figure:
        """A matplotlib figure of the result in the style of the report."""
        from gest_dataset.report.notebook import plot  # imports matplotlib

        return plot(self)

    def _repr_html_(self) -> str:
        """The verdict, the figure and the numbers for a notebook."""
        from gest_dataset.report.notebook import html  # imports matplotlib

        return html(self)
