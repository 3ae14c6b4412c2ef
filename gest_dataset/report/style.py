"""The style of all figures, on pages and in papers: colours, fonts, marks and widths.

The font is DejaVu Sans, which comes with matplotlib, so figures look the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

# Name of the CSS variable -> its light and its dark colour; no light colour occurs twice
PALETTE: dict[str, tuple[str, str]] = {
    "ink": ("#1c2330", "#e7eaf0"),
    "quiet": ("#566073", "#a4aec0"),
    "line": ("#dde2ea", "#323a49"),
    "paper": ("#fefefe", "#171c26"),
    "published": ("#848fa3", "#7d89a0"),
    "female": ("#a84a00", "#f3a660"),
    "male": ("#0b6979", "#5cc6d6"),
    "series-1": ("#3d43b4", "#a6adff"),
    "series-2": ("#b5362d", "#ff9c8f"),
    "series-3": ("#2c7345", "#82d3a0"),
    "series-4": ("#83389f", "#dba6f2"),
    "series-5": ("#7a5c00", "#e3c05c"),
    "series-6": ("#20639b", "#83c0f0"),
}
GROUND = ("#f5f6f9", "#10141c")  # the page behind the cards
LIGHT = {name: light for name, (light, _) in PALETTE.items()}
SERIES = [LIGHT[name] for name in PALETTE if name.startswith("series")]
MARKERS = "osD^vP"
# Reference lines: a null value, and the diagonal
DASHED: dict[str, Any] = {"color": LIGHT["quiet"], "linewidth": 1, "linestyle": (0, (4, 3))}
DOTTED: dict[str, Any] = {"color": LIGHT["quiet"], "linewidth": 1, "linestyle": (0, (1, 2))}
TICK: dict[str, Any] = {"marker": "|", "color": LIGHT["published"]}  # a published model


def css_variables(theme: int) -> str:
    """The palette as CSS variables, light (0) or dark (1)."""
    return "".join(f"--{name}:{colours[theme]};" for name, colours in PALETTE.items())


@dataclass(frozen=True)
class Layout:
    """The size of a figure: it is drawn `width` inches wide and printed at `scale` of that.

    A figure with several axes puts `share` of them in one row.
    """

    name: str
    width: float
    scale: float = 1.0
    share: float = 1.0


_PRINT_SCALE = 0.75  # 9.5 points become 7, the least that publishers accept


def _column(name: str, centimetres: float, share: float) -> Layout:
    return Layout(name, centimetres / 2.54 / _PRINT_SCALE, _PRINT_SCALE, share)


PAGE = Layout("page", 10.0)
# One column and the full text width of the ACL style
SINGLE = _column("single", 7.7, 0.5)
DOUBLE = _column("double", 16.0, 1.0)
COLUMNS = (SINGLE, DOUBLE)

_layout: ContextVar[Layout] = ContextVar("layout", default=PAGE)


def current_layout() -> Layout:
    """The layout of new figures: the page, except inside `use_layout`."""
    return _layout.get()


@contextmanager
def use_layout(layout: Layout) -> Iterator[None]:
    """Figures made in the `with` block have this layout."""
    token = _layout.set(layout)
    try:
        yield
    finally:
        _layout.reset(token)


_TICKS = {
    "color": LIGHT["line"],
    "labelcolor": LIGHT["quiet"],
    "major.size": 0,
    "minor.size": 0,
    "major.pad": 6,
}
# matplotlib's settings
RC: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gest",
    "pdf.fonttype": 42,
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlepad": 10,
    "axes.labelsize": 9.5,
    "axes.labelpad": 7,
    "axes.labelcolor": LIGHT["quiet"],
    "axes.edgecolor": LIGHT["line"],
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "grid.color": LIGHT["line"],
    "grid.linewidth": 0.7,
    "text.color": LIGHT["ink"],
    **{f"{axis}.{name}": value for axis in ("xtick", "ytick") for name, value in _TICKS.items()},
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
