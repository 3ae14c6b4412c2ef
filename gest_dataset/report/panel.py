"""A panel of a page: a figure with its caption and numbers, as SVG in the page or as a file.

Figures are drawn in the light palette. A file keeps those colours; on a page each becomes a CSS variable, so
that the same drawing can be read in light and dark.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as XML

from matplotlib import rc_context
from matplotlib.figure import Figure

from gest_dataset.display import printable
from gest_dataset.measures.measure import Result, render_text
from gest_dataset.report.style import LIGHT, PALETTE, RC, TOOLTIP
from gest_dataset.storage import csv_text, read_yaml
from gest_dataset.version import __version__

Record = dict[str, Any]  # the cells of a row by column, and what is drawn of it
OWN, PUBLISHED = "this report", "published"  # the sources of records
TEXTS: dict[str, dict[str, Any]] = read_yaml(Path(__file__).parent / "panels.yaml")
_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
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

    @property
    def csv(self) -> str:
        """The numbers in full."""
        return csv_text(self.columns, self.rows)


def make_panel(
    key: str,
    figure: Figure,
    records: Sequence[Record],
    name: str = "",
    results: Sequence[Result] = (),
    **values: Any,
) -> Panel:
    """A panel with the texts and columns of `key` in panels.yaml; published numbers come last.

    The texts are filled in with `values`, with the records of this report's runs (`own`) and with what the
    bands of the `results` are.
    """
    spec = TEXTS[key]
    values |= {"own": [record for record in records if record.get("source") == OWN]}
    values |= {"copies": baseline_copies(results), "placebo": any("placebo" in one for one in results)}
    values |= {phrase: render_text(text, values) for phrase, text in TEXTS["phrases"].items()}
    texts = {part: " ".join(render_text(spec[part], values).split()) for part in ("title", "caption", "alt")}
    ordered = sorted(records, key=lambda record: record.get("source") == PUBLISHED)
    rows = [[record.get(column) for column in spec["columns"]] for record in ordered]
    return Panel(name or key, figure=figure, columns=spec["columns"], rows=rows, **texts)


def baseline_copies(results: Sequence[Result]) -> str:
    """How many untrained copies of the models the random baselines of some results have."""
    sizes = {len(result["null"]["values"]) for result in results if "null" in result}
    return " or ".join(map(str, sorted(sizes)))


def file_bytes(figure: Figure, kind: str, title: str = "", text: str = "") -> bytes:
    """The figure as an `svg` or `pdf` file in light colours; equal figures give equal bytes.

    Title and text go into the file's metadata. Fonts are embedded in a PDF (TrueType); letters of an SVG
    are paths, since not every program reads fonts in SVG.
    """
    title, text = printable(title), printable(text)
    if kind == "svg":
        texts = {tag: content for tag, content in (("title", title), ("desc", text)) if content}
        root = _svg_tree(figure, LIGHT["paper"], "path", texts)
        return bytes(XML.tostring(root, encoding="utf-8", xml_declaration=True))
    buffer = io.BytesIO()
    creator = f"gest-dataset {__version__}"
    metadata = {"Title": title, "Subject": text, "Creator": creator, "Producer": None, "CreationDate": None}
    with rc_context(RC):
        figure.savefig(buffer, format=kind, facecolor=LIGHT["paper"], metadata=metadata)
    return buffer.getvalue()


def inline_svg(figure: Figure, prefix: str, label: str, description: str) -> str:
    """The figure as an SVG element of a page, in the page's colours, with a name for screen readers."""
    root = _svg_tree(figure, "none", "none", {"title": printable(label), "desc": printable(description)})
    for parent in list(root.iter()):
        for child in parent.findall(f"{{{_SVG}}}style"):
            parent.remove(child)  # would apply to the whole page
    for element, name in zip(root, ("label", "description"), strict=False):
        element.set("id", name)
    for element in root.iter():
        _use_theme(element, prefix)
    del root.attrib["width"], root.attrib["height"]
    names = {"aria-labelledby": f"{prefix}-label", "aria-describedby": f"{prefix}-description"}
    root.attrib |= {"role": "img", **names}
    return XML.tostring(root, encoding="unicode")


def _svg_tree(figure: Figure, background: str, letters: str, texts: dict[str, str]) -> XML.Element:
    """The figure as matplotlib writes it, with other metadata, and with titles for the links of tooltips."""
    buffer = io.BytesIO()
    with rc_context({**RC, "svg.fonttype": letters}):
        figure.savefig(buffer, format="svg", facecolor=background, metadata={"Date": None})
    root = XML.fromstring(buffer.getvalue())
    for child in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(child)
    for element in list(root.iter()):
        link = element.get(_LINK, "")
        if link.startswith(TOOLTIP):  # links are all that matplotlib can write
            del element.attrib[_LINK]
            element.attrib.pop("target", None)
            element.tag = f"{{{_SVG}}}g"
            _insert_first(element, "title", link.removeprefix(TOOLTIP))
    for tag, text in reversed(texts.items()):
        _insert_first(root, tag, text)
    return root


def _insert_first(element: XML.Element, tag: str, text: str) -> None:
    child = XML.Element(f"{{{_SVG}}}{tag}")
    child.text = text
    element.insert(0, child)


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
