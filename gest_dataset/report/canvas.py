"""What all figures are drawn on: one palette, one style, and SVG that follows the page's theme.

Figures are drawn with matplotlib in the light palette. A file on its own keeps those colours; inside
the page each colour becomes a CSS variable, so that the same drawing is readable in light and dark.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as XML

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from gest_dataset.printable import printable

# Name of the CSS variable -> its colour in light and in dark; no colour of light occurs twice
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
LIGHT = {name: light for name, (light, _) in PALETTE.items()}
SERIES = [LIGHT[name] for name in PALETTE if name.startswith("series")]
MARKERS = "osD^vP"
# Lines to compare with: a null, and the diagonal
DASHED: dict[str, Any] = {"color": LIGHT["quiet"], "linewidth": 1, "linestyle": (0, (4, 3))}
DOTTED: dict[str, Any] = {"color": LIGHT["quiet"], "linewidth": 1, "linestyle": (0, (1, 2))}
TICK: dict[str, Any] = {"marker": "|", "color": LIGHT["published"]}  # of a published model
WIDTH = 10.0  # inches; one inch is 72 units of the drawing

_TICKS = {
    "color": LIGHT["line"],
    "labelcolor": LIGHT["quiet"],
    "major.size": 0,
    "minor.size": 0,
    "major.pad": 6,
}
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gest",
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
_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
# Ticks of a logarithmic axis within a decade, from fine to coarse; the first that are few enough serve
_STEPS: tuple[tuple[float, ...], ...] = (
    (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 9.5),
    (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8),
    (1, 2, 3, 5),
    (1, 3),
    (1,),
)
_TOOLTIP = "tooltip:"
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
XML.register_namespace("", _SVG)
XML.register_namespace("xlink", "http://www.w3.org/1999/xlink")
_COLOURS = {light.lower(): f"var(--{name})" for name, (light, _) in PALETTE.items()}


def canvas(
    height: float, rows: int = 1, columns: int = 1, width: float = WIDTH, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure in the style of the report and its axes, row by row."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def series(number: int) -> dict[str, Any]:
    """The colour and marker of one of the runs."""
    return {"color": SERIES[number % len(SERIES)], "marker": MARKERS[number % len(MARKERS)]}


def mark(axes: Axes, x: Any, y: Any, text: str, **style: Any) -> None:
    """A dot, or several of one model, with what a browser says of it under the pointer."""
    (dots,) = axes.plot(x, y, linestyle="", **style)
    dots.set_url(f"{_TOOLTIP}{printable(text)}")


def note(axes: Axes, text: str, x: float, y: float, away: tuple[float, float], fontsize: float) -> None:
    """Some quiet words beside a place."""
    style: Any = {"textcoords": "offset points", "fontsize": fontsize, "color": LIGHT["quiet"]}
    axes.annotate(text, (x, y), away, annotation_clip=True, **style)


def key(label: str, **style: Any) -> Line2D:
    """An entry of the legend: a mark, with a line where that has a width."""
    return Line2D([], [], label=label, **{"linestyle": "-" if "linewidth" in style else "", **style})


def rows_axis(axes: Axes, names: Sequence[str], colours: Sequence[str]) -> None:
    """Named rows from top to bottom; the last one is at 1."""
    axes.set_yticks(range(len(names), 0, -1), names)
    for tick, colour in zip(axes.get_yticklabels(), colours, strict=True):
        tick.set_color(colour)
    axes.set_ylim(0.4, len(names) + 0.6)
    axes.grid(axis="y", visible=False)


# A number, or a number with the bounds of its interval; a bound is None or nan where there is none
Bounded = tuple[float, float | None, float | None]


def interval_mark(
    axes: Axes,
    x: float | Bounded,
    y: float | Bounded,
    text: str,
    color: str,
    linewidth: float = 2.6,
    faint: float = 1,
    **dot: Any,
) -> None:
    """A dot with what a browser says of it, and the intervals of those coordinates that have one."""
    x_value, *x_bounds = x if isinstance(x, tuple) else (x,)
    y_value, *y_bounds = y if isinstance(y, tuple) else (y,)
    line: Any = {"color": color, "linewidth": linewidth, "alpha": faint, "solid_capstyle": "butt"}
    for ends, across in ((x_bounds, True), (y_bounds, False)):
        if ends and not any(end is None or math.isnan(end) for end in ends):
            axes.plot(*((ends, [y_value] * 2) if across else ([x_value] * 2, ends)), **line)
    style = {"color": color, "marker": "o", "markeredgecolor": LIGHT["paper"], **dot}
    mark(axes, x_value, y_value, text, **style)


def cut(text: str, length: int) -> str:
    """A text that must not run into its neighbour."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def legend(figure: Figure, handles: Sequence[Any], columns: int = 4) -> None:
    """One legend above all axes; without handles none."""
    if handles:
        with rc_context(_STYLE):
            figure.legend(handles=list(handles), loc="outside upper left", ncols=columns, handletextpad=0.5)


def ratio_axis(axis: Any, values: Sequence[float], most_ticks: int = 8) -> str:
    """Ratios on a logarithmic axis, with ticks that people count in and not powers of ten.

    The axis shows all `values` and some room beside them. An interval of few samples can reach over
    many powers of ten and would leave no room for anything else: it is cut, and the text says so.
    """
    axes: Axes = axis.axes
    across = axis.axis_name == "x"
    (axes.set_xscale if across else axes.set_yscale)("log")
    low, high = whole = sorted(axes.get_xlim() if across else axes.get_ylim())
    there = [value for value in values if 0 < value < math.inf]
    if there:
        room = max(math.sqrt(max(there) / min(there)), 2.0)
        low, high = max(low, min(there) / room), min(high, max(there) * room)
        (axes.set_xlim if across else axes.set_ylim)(low, high)
    for steps in _STEPS:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        # written and read again: 7 * 0.1 is not 0.7
        ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
        ticks = sorted({tick for tick in ticks if low <= tick <= high})
        if len(ticks) <= most_ticks:
            axis.set_ticks(ticks)
            break
    axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    return "" if [low, high] == whole else "Intervals that reach past the axis are cut off there."


def file_bytes(figure: Figure, kind: str) -> bytes:
    """The figure as a file of its own, `svg` or `png`: light colours on white, the same bytes each time."""
    if kind == "svg":
        root = _drawn(figure, LIGHT["paper"])
        for element in root.iter():
            _titled(element)
        return bytes(XML.tostring(root, encoding="utf-8", xml_declaration=True))
    buffer = io.BytesIO()
    with rc_context(_STYLE):
        figure.savefig(buffer, format=kind, dpi=200, facecolor=LIGHT["paper"], metadata={"Software": None})
    return buffer.getvalue()


def inline_svg(figure: Figure, prefix: str, label: str, description: str) -> str:
    """The figure as an element of the page: themed, named for screen readers, ids with a prefix."""
    root = _drawn(figure, "none")
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag == f"{{{_SVG}}}style"]:
            parent.remove(child)  # it would hold for the whole page
    for element in root.iter():
        _theme(element, prefix)
        _titled(element)
    for attribute in ("width", "height"):
        root.attrib.pop(attribute)
    ids = f"{prefix}-label", f"{prefix}-description"
    root.attrib |= {"role": "img", "aria-labelledby": ids[0], "aria-describedby": ids[1]}
    for text, identifier, tag in ((description, ids[1], "desc"), (label, ids[0], "title")):
        element = XML.Element(f"{{{_SVG}}}{tag}", {"id": identifier})
        element.text = printable(text)
        root.insert(0, element)
    return XML.tostring(root, encoding="unicode")


def _drawn(figure: Figure, background: str) -> XML.Element:
    """The drawing as matplotlib makes it, without a word of when and by what."""
    buffer = io.BytesIO()
    with rc_context(_STYLE):
        figure.savefig(buffer, format="svg", facecolor=background, metadata={"Date": None})
    root = XML.fromstring(buffer.getvalue())
    for child in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(child)
    return root


def _titled(element: XML.Element) -> None:
    """A mark with a tooltip, which matplotlib can only write as a link, as a group with a title."""
    link = element.get(_LINK, "")
    if link.startswith(_TOOLTIP):
        del element.attrib[_LINK]
        element.attrib.pop("target", None)
        element.tag = f"{{{_SVG}}}g"
        title = XML.Element(f"{{{_SVG}}}title")
        title.text = link.removeprefix(_TOOLTIP)
        element.insert(0, title)


def _theme(element: XML.Element, prefix: str) -> None:
    """Palette colours as variables, styles as attributes (the page's policy allows none), own ids."""
    declarations = element.attrib.pop("style", "").split(";")
    for key, _, value in (declaration.partition(":") for declaration in declarations):
        if key.strip() == "font":  # as matplotlib wrote it before 3.10: weight size family
            element.set("font-size", value.split("px")[0].split()[-1])
            element.set("font-weight", "700" if {"bold", "700"} & set(value.split()) else "400")
        elif key.strip():
            element.set(key.strip(), value.strip())
    element.attrib.pop("font-family", None)
    for key, value in list(element.attrib.items()):
        if key in ("fill", "stroke"):
            element.set(key, _COLOURS.get(value.lower(), value))
        elif key in ("d", "x", "y"):
            element.set(key, _DECIMALS.sub(r"\1", value))  # a third of the bytes, and nobody sees it
        elif key == "id":
            element.set(key, f"{prefix}-{value}")
        elif key == _LINK and value.startswith("#"):
            element.set(key, f"#{prefix}-{value[1:]}")
        else:
            element.set(key, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))
