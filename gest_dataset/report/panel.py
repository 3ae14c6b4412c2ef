"""A panel of a page: a figure with its caption and numbers, as SVG in the page or as a file.

Figures are drawn in the light palette. A file keeps those colours; on a page each becomes a CSS variable, so
that the same drawing can be read in light and dark.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as XML

import yaml
from matplotlib import rc_context
from matplotlib.backends import backend_pdf
from matplotlib.figure import Figure

from gest_dataset.display import printable
from gest_dataset.measures.formatting import format_number
from gest_dataset.report.plots import TOOLTIP
from gest_dataset.report.style import LIGHT, PAGE, PALETTE, RC, Layout
from gest_dataset.storage import csv_text
from gest_dataset.version import __version__

OWN, PUBLISHED = "this report", "published"  # the sources of a panel's numbers
_TEXTS: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "panels.yaml").read_text(encoding="utf-8")
)
_PDF: Any = backend_pdf  # has no types
_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_COLOURS = {light.lower(): f"var(--{name})" for name, (light, _) in PALETTE.items()}
XML.register_namespace("", _SVG)
XML.register_namespace("xlink", "http://www.w3.org/1999/xlink")


@dataclass(frozen=True)
class Panel:
    """A figure with what belongs to it.

    `name` is its anchor and the stem of its files: lower-case letters, digits and dashes. `alt` describes the
    figure for people who do not see it. `columns` and `rows` are all numbers of the figure.
    """

    name: str
    title: str
    figure: Figure
    caption: str
    alt: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"The name of a panel has lower-case letters, digits and dashes: {self.name!r}")

    @property
    def svg(self) -> str:
        """The figure as an element of the page."""
        return inline_svg(self.figure, self.name, self.title, self.alt)

    @property
    def csv(self) -> str:
        """The numbers in full."""
        return csv_text(self.columns, self.rows)

    @property
    def cells(self) -> list[list[str]]:
        """The numbers as text for the table on the page."""
        return [[format_number(value) for value in row] for row in self.rows]


def make_panel(
    key: str,
    figure: Figure,
    rows: Sequence[Sequence[Any]],
    name: str = "",
    columns: Sequence[str] = (),
    **values: Any,
) -> Panel:
    """A panel with the texts of `key` in panels.yaml, filled in with `values`; published rows come last."""
    texts = _TEXTS[key]
    words = {name: text.format_map(defaultdict(str, values)) for name, text in _TEXTS["phrases"].items()}
    title, caption, alt = (
        " ".join(texts[part].format_map(words | values).split()) for part in ("title", "caption", "alt")
    )
    rows = sorted(rows, key=lambda row: row[0] == PUBLISHED)
    return Panel(name or key, title, figure, caption, alt, columns or texts["columns"], rows)


def file_bytes(figure: Figure, kind: str, layout: Layout = PAGE, title: str = "", text: str = "") -> bytes:
    """The figure as an `svg`, `pdf` or `png` file in light colours; equal figures give equal bytes.

    Title and text go into the file's metadata. Fonts are embedded in a PDF (TrueType); letters of an SVG
    are paths, since not every program reads fonts in SVG.
    """
    title, text = printable(title), printable(text)
    if kind == "svg":
        return _svg_file(figure, layout, title, text)
    if kind == "pdf":
        return _pdf_file(figure, layout, title, text)
    buffer = io.BytesIO()
    metadata = {"Software": None, "Title": title, "Description": text}
    with rc_context(RC):
        figure.savefig(
            buffer, format=kind, dpi=200 * layout.scale, facecolor=LIGHT["paper"], metadata=metadata
        )
    return buffer.getvalue()


def _svg_file(figure: Figure, layout: Layout, title: str, text: str) -> bytes:
    root = _svg_tree(figure, LIGHT["paper"], letters="path")
    for element in root.iter():
        _add_tooltip(element)
    for name, inches in zip(("width", "height"), figure.get_size_inches(), strict=True):
        root.set(name, f"{72 * layout.scale * inches:.2f}pt")
    for position, (tag, content) in enumerate((("title", title), ("desc", text))):
        if content:
            element = XML.Element(f"{{{_SVG}}}{tag}")
            element.text = content
            root.insert(position, element)
    return bytes(XML.tostring(root, encoding="utf-8", xml_declaration=True))


def _pdf_file(figure: Figure, layout: Layout, title: str, text: str) -> bytes:
    """What matplotlib's `savefig` does, on a page of the printed size."""
    buffer = io.BytesIO()
    metadata = {"Title": title, "Subject": text, "Creator": f"gest-dataset {__version__}"}
    width, height = figure.get_size_inches()
    scale = layout.scale
    with rc_context(RC):
        file = _PDF.PdfFile(buffer, {**metadata, "CreationDate": None, "Producer": None})
        file.newPage(width * scale, height * scale)
        file.output(scale, 0, 0, scale, 0, 0, _PDF.Op.concat_matrix)
        file.width, file.height = width, height  # clips at the unscaled size
        dpi, figure.dpi = figure.dpi, 72
        try:
            renderer = _PDF.RendererPdf(file, 72, height, width)
            figure.draw(renderer)
            renderer.finalize()
        finally:
            figure.dpi = dpi
        file.finalize()
        file.close()
    return buffer.getvalue()


def inline_svg(figure: Figure, prefix: str, label: str, description: str) -> str:
    """The figure as an SVG element of a page, in the page's colours, with a name for screen readers."""
    root = _svg_tree(figure, "none")
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag == f"{{{_SVG}}}style"]:
            parent.remove(child)  # would apply to the whole page
    for element in root.iter():
        _use_theme(element, prefix)
        _add_tooltip(element)
    for attribute in ("width", "height"):
        root.attrib.pop(attribute)
    ids = f"{prefix}-label", f"{prefix}-description"
    root.attrib |= {"role": "img", "aria-labelledby": ids[0], "aria-describedby": ids[1]}
    for text, identifier, tag in ((description, ids[1], "desc"), (label, ids[0], "title")):
        element = XML.Element(f"{{{_SVG}}}{tag}", {"id": identifier})
        element.text = printable(text)
        root.insert(0, element)
    return XML.tostring(root, encoding="unicode")


def _svg_tree(figure: Figure, background: str, letters: str = "none") -> XML.Element:
    """The figure as matplotlib writes it, without its metadata."""
    buffer = io.BytesIO()
    with rc_context({**RC, "svg.fonttype": letters}):
        figure.savefig(buffer, format="svg", facecolor=background, metadata={"Date": None})
    root = XML.fromstring(buffer.getvalue())
    for child in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(child)
    return root


def _add_tooltip(element: XML.Element) -> None:
    """Turn a link with a tooltip, which is all that matplotlib can write, into a group with a title."""
    link = element.get(_LINK, "")
    if link.startswith(TOOLTIP):
        del element.attrib[_LINK]
        element.attrib.pop("target", None)
        element.tag = f"{{{_SVG}}}g"
        title = XML.Element(f"{{{_SVG}}}title")
        title.text = link.removeprefix(TOOLTIP)
        element.insert(0, title)


def _use_theme(element: XML.Element, prefix: str) -> None:
    """Colours become CSS variables, styles attributes (as the page's CSP demands), ids get a prefix."""
    declarations = element.attrib.pop("style", "").split(";")
    for key, _, value in (declaration.partition(":") for declaration in declarations):
        if key.strip():
            element.set(key.strip(), value.strip())
    element.attrib.pop("font-family", None)
    for key, value in list(element.attrib.items()):
        if key in ("fill", "stroke"):
            element.set(key, _COLOURS.get(value.lower(), value))
        elif key in ("d", "x", "y"):
            element.set(key, _DECIMALS.sub(r"\1", value))  # a third of the bytes, and no visible change
        elif key == "id":
            element.set(key, f"{prefix}-{value}")
        elif key == _LINK and value.startswith("#"):
            element.set(key, f"#{prefix}-{value[1:]}")
        else:
            element.set(key, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))
