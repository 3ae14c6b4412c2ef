"""What the page's script gets: JSON of columns, compressed, as text that can stand in HTML.

The script undoes it with the browser's own `DecompressionStream`. Each text is there once, by its place in
one list; base64 has no letter that HTML would read, so that no text of others is ever markup.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gest_dataset.display import printable
from gest_dataset.statistics.checks import Floats


class Texts:
    """The texts of the page, each once: `texts[place]`."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Where a text stands; what would not be seen is shown as an escape."""
        return self._places.setdefault(printable(text), len(self._places))

    def column(self, texts: Iterable[str | None]) -> list[int]:
        """The places of some texts; -1 where there is none."""
        return [-1 if text is None else self.place(text) for text in texts]

    def all(self) -> list[str]:
        return list(self._places)


def whole_numbers(values: Floats | Sequence[float], decimals: int) -> list[int | None]:
    """Scores as whole numbers of their last decimal, which pack well; None where there is no score."""
    parts = 10**decimals
    return [round(value * parts) if np.isfinite(value) else None for value in np.asarray(values).tolist()]


def packed(content: dict[str, Any]) -> str:
    """The same content always gives the same text."""
    plain = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(plain.encode(), compresslevel=9, mtime=0)).decode()
