"""What all figures are drawn on, in the house style (`style`), and SVG that follows the page's theme.

Figures are drawn with matplotlib in the light palette. A file on its own keeps those colours; inside
the page each colour becomes a CSS variable, so that the same drawing is readable in light and dark.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as XML

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends import backend_pdf
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from gest_dataset.display import printable

# What draws a figure takes the style from here
from gest_dataset.report.style import DASHED as DASHED
from gest_dataset.report.style import DOTTED as DOTTED
from gest_dataset.report.style import LIGHT as LIGHT
from gest_dataset.report.style import MARKERS as MARKERS
from gest_dataset.report.style import PAGE, STYLE, Layout, layout
from gest_dataset.report.style import PALETTE as PALETTE
from gest_dataset.report.style import SERIES as SERIES
from gest_dataset.report.style import TICK as TICK
from gest_dataset.version import __version__

_PDF: Any = backend_pdf  # which has no types
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
_LETTERS = 12.0  # of a name, in an inch
_NOTES = 5.5  # letters of a note, in an inch of the figure
_NAMES = 0.45  # of the width at most is that of the names of rows
TITLES = 0.73  # of the width is that of the titles of axes in a row
_SHORTEST = 12  # letters of a name in a legend
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
XML.register_namespace("", _SVG)
XML.register_namespace("xlink", "http://www.w3.org/1999/xlink")
_COLOURS = {light.lower(): f"var(--{name})" for name, (light, _) in PALETTE.items()}


class Drawing(Figure):
    """A figure that a notebook shows by itself; those of matplotlib need pyplot for that."""

    def _repr_svg_(self) -> str:
        return file_bytes(self, "svg").decode()


def canvas(height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure in the house style, as wide as the layout says, and its axes, row by row."""
    with rc_context(STYLE):
        figure = Drawing(figsize=(layout().width, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def in_a_row(most: int) -> int:
    """How many axes stand side by side where a page has so many."""
    return max(1, int(most * layout().share))


def is_narrow() -> bool:
    """Whether there is no room for names beside several axes."""
    return layout().share < 1


def fitting(text: str, share: float) -> str:
    """A text that is to have this share of the figure's width, cut where it is longer."""
    return cut(text, int(share * layout().width * _LETTERS))


def series(number: int) -> dict[str, Any]:
    """The colour and marker of one of the runs; those of the same colour have another marker."""
    place = number + number // len(SERIES)
    return {"color": SERIES[number % len(SERIES)], "marker": MARKERS[place % len(MARKERS)]}


def mark(axes: Axes, x: Any, y: Any, text: str, **style: Any) -> None:
    """A dot, or several of one model, with what a browser says of it under the pointer."""
    (dots,) = axes.plot(x, y, linestyle="", **style)
    dots.set_url(f"{_TOOLTIP}{printable(text)}")


def note(axes: Axes, text: str, x: float, y: float, away: tuple[float, float], fontsize: float) -> None:
    """Some quiet words beside a place, in lines where the figure is narrow."""
    style: Any = {"textcoords": "offset points", "fontsize": fontsize, "color": LIGHT["quiet"]}
    lines = textwrap.fill(text, int(_NOTES * layout().width))
    axes.annotate(lines, (x, y), away, annotation_clip=True, **style).set_in_layout(False)


def key(label: str, **style: Any) -> Line2D:
    """An entry of the legend: a mark, with a line where that has a width."""
    return Line2D([], [], label=label, **{"linestyle": "-" if "linewidth" in style else "", **style})


def rows_axis(axes: Axes, names: Sequence[str], colours: Sequence[str], per_row: int = 1) -> None:
    """Named rows from top to bottom, the last one at 1; so many axes in a row have names of their own."""
    axes.set_yticks(range(len(names), 0, -1), [fitting(name, _NAMES / per_row) for name in names])
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
    """One legend above all axes, in as many columns as there is room for; without handles none.

    Names that are too long for a column of their own are cut.
    """
    if not handles:
        return
    names = [str(handle.get_label()) for handle in handles]
    longest = max(map(len, names))
    tries = [(number, longest) for number in range(columns, 0, -1)]
    tries += [(1, letters) for letters in range(longest - 2, _SHORTEST, -2)]
    with rc_context(STYLE):
        for number, letters in tries:
            made = figure.legend(
                handles=list(handles),
                labels=[cut(name, letters) for name in names],
                loc="outside upper left",
                ncols=number,
                handletextpad=0.5,
            )
            if made.get_window_extent().width <= figure.bbox.width:
                return
            made.remove()
    raise ValueError(f"a legend of {len(names)} names does not fit into {figure.get_figwidth()} inches")


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


def file_bytes(figure: Figure, kind: str, made_for: Layout = PAGE, title: str = "", text: str = "") -> bytes:
    """The figure as a file of its own, `svg`, `pdf` or `png`, in light colours; the same bytes each time.

    It is printed at the scale of its layout. Title and text stand in what the file says of itself. A PDF has
    the font in it (TrueType, so that words can be found and edited); in an SVG letters are shapes, for no
    format of fonts in it is read by all programs.
    """
    return _KINDS[kind](figure, made_for, printable(title), printable(text))


def _svg_file(figure: Figure, made_for: Layout, title: str, text: str) -> bytes:
    root = _drawn(figure, LIGHT["paper"], letters="path")
    for element in root.iter():
        _titled(element)
    for name, inches in zip(("width", "height"), figure.get_size_inches(), strict=True):
        root.set(name, f"{72 * made_for.scale * inches:.2f}pt")
    for place, (tag, said) in enumerate((("title", title), ("desc", text))):
        if said:
            element = XML.Element(f"{{{_SVG}}}{tag}")
            element.text = said
            root.insert(place, element)
    return bytes(XML.tostring(root, encoding="utf-8", xml_declaration=True))


def _pdf_file(figure: Figure, made_for: Layout, title: str, text: str) -> bytes:
    """As matplotlib's own way to a PDF goes, but on a page of the printed size."""
    buffer = io.BytesIO()
    told = {"Title": title, "Subject": text, "Creator": f"gest-dataset {__version__}"}
    width, height = figure.get_size_inches()
    scale = made_for.scale
    with rc_context(STYLE):
        file = _PDF.PdfFile(buffer, {**told, "CreationDate": None, "Producer": None})
        file.newPage(width * scale, height * scale)
        file.output(scale, 0, 0, scale, 0, 0, _PDF.Op.concat_matrix)
        file.width, file.height = width, height  # what is drawn beyond them is left out
        dots, figure.dpi = figure.dpi, 72  # points, which PDF counts in
        try:
            renderer = _PDF.RendererPdf(file, 72, height, width)
            figure.draw(renderer)
            renderer.finalize()
        finally:
            figure.dpi = dots
        file.finalize()
        file.close()
    return buffer.getvalue()


def _png_file(figure: Figure, made_for: Layout, title: str, text: str) -> bytes:
    buffer = io.BytesIO()
    with rc_context(STYLE):
        figure.savefig(
            buffer,
            format="png",
            dpi=200 * made_for.scale,
            facecolor=LIGHT["paper"],
            metadata={"Software": None, "Title": title, "Description": text},
        )
    return buffer.getvalue()


_KINDS = {"svg": _svg_file, "pdf": _pdf_file, "png": _png_file}


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


def _drawn(figure: Figure, background: str, letters: str = "none") -> XML.Element:
    """The drawing as matplotlib makes it, without a word of when and by what."""
    buffer = io.BytesIO()
    with rc_context({**STYLE, "svg.fonttype": letters}):
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
