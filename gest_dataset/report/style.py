"""The style of all figures, on pages and in papers: colours, marks and widths (style.yaml)."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset.storage import read_yaml

_STYLE: dict[str, Any] = read_yaml(Path(__file__).with_suffix(".yaml"))
PALETTE: dict[str, tuple[str, str]] = _STYLE["palette"]
GROUND: tuple[str, str] = _STYLE["ground"]
RC: Any = _STYLE["rc"]
STYLES: dict[str, dict[str, Any]] = _STYLE["marks"]
BOXES: dict[str, Any] = _STYLE["boxes"]
FIT: dict[str, Any] = _STYLE["fit"]
LATEX: dict[str, str] = _STYLE["latex"]
LIGHT = {name: light for name, (light, _) in PALETTE.items()}
SERIES = [light for name, light in LIGHT.items() if name.startswith("series")]
MARKERS = "osD^vP"
# Reference lines: a null value, and the diagonal
DASHED: dict[str, Any] = {"color": LIGHT["quiet"], "linewidth": 1, "linestyle": (0, (4, 3))}
DOTTED: dict[str, Any] = {"color": LIGHT["quiet"], "linewidth": 1, "linestyle": (0, (1, 2))}
TOOLTIP = "tooltip:"  # begins the links that become tooltips


def series_style(number: int) -> dict[str, Any]:
    """Colour and marker of a run; runs that share a colour have different markers."""
    marker = number + number // len(SERIES)
    return {"color": SERIES[number % len(SERIES)], "marker": MARKERS[marker % len(MARKERS)]}


def css_variables(theme: int) -> str:
    """The palette as CSS variables, light (0) or dark (1)."""
    return "".join(f"--{name}:{colours[theme]};" for name, colours in PALETTE.items())


@dataclass(frozen=True)
class Layout:
    """How wide a figure is drawn, in inches; one with several axes puts `share` of them in one row."""

    name: str
    width: float
    share: float = 1.0


PAGE = Layout("page", 10.0)
# One column (7.7 cm) and the full text width (16 cm) of the ACL style, which LaTeX scales to: 9.5 points
# become 7, the least that publishers accept
COLUMNS = (Layout("single", 7.7 / 2.54 / 0.75, share=0.5), Layout("double", 16 / 2.54 / 0.75))
LAYOUT: ContextVar[Layout] = ContextVar("layout", default=PAGE)  # of new figures


@contextmanager
def use_layout(layout: Layout) -> Iterator[None]:
    """Figures made in the `with` block have this layout."""
    token = LAYOUT.set(layout)
    try:
        yield
    finally:
        LAYOUT.reset(token)
