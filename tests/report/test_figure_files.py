"""Figures and tables for papers: widths, fonts, captions, numbers, LaTeX."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as XML

import pytest
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexEnvironmentNode, LatexWalker

import gest_dataset
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.report.labels import LabelledRun, label_runs
from gest_dataset.report.page import results_table
from gest_dataset.report.panels import panels_of
from gest_dataset.report.style import COLUMNS, Layout, use_layout
from gest_dataset.runs.folder import Run, read_run
from tests.support import fits, report_runs

SMALL = "bert-demo_sk_pairs"
HOSTILE = r"<script> $x_1$ \input{x} % & ^^41 ~ # -- {"
POINTS = {layout.name: layout.width * 72 for layout in COLUMNS}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_runs.made(tmp_path_factory) / "runs"


@pytest.fixture(scope="module")
def folder(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The figures of one run of pairs."""
    out = tmp_path_factory.mktemp("figures")
    gest_dataset.report([runs / SMALL], out / "r.html", out / "figures")
    return out / "figures"


def named(run: Run, model: str) -> Run:
    return replace(run, manifest=replace(run.manifest, model=model))


def tables(text: str) -> list[list[list[str]]]:
    """The cells of the tables of a LaTeX file as they are printed."""
    nodes, _, _ = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    found = []
    for node in nodes:
        if isinstance(node, LatexEnvironmentNode):
            (tabular,) = (child for child in node.nodelist if isinstance(child, LatexEnvironmentNode))
            body = tabular.latex_verbatim().split("\\toprule")[1].split("\\bottomrule")[0]
            lines = body.replace("\\midrule", "").split("\\\\\n")
            cells = [re.split(r"(?<!\\)&", line) for line in lines if line.strip()]
            found.append([[printed(cell) for cell in line] for line in cells])
    return found


def printed(cell: str) -> str:
    """The text of a cell; pylatexenc does not know two of the commands."""
    cell = cell.replace(r"\textless{}", "<").replace(r"\textgreater{}", ">")
    return LatexNodes2Text().latex_to_text(cell).strip()


# --- the files


def test_each_figure_has_files_at_both_widths(runs: Path, folder: Path) -> None:
    names = {panel.name for panel in panels_of(label_runs([read_run(runs / SMALL)]))}
    assert names == {"stereotypes-pairs", "ranks-pairs", "languages"}
    drawn = {f"{n}-{width.name}.{kind}" for n in names for width in COLUMNS for kind in ("pdf", "svg", "txt")}
    numbers = {f"{name}.csv" for name in names}
    assert {path.name for path in folder.iterdir()} == drawn | numbers | {"results.tex"}
    for path in folder.glob("*.pdf"):
        content = path.read_bytes()
        (box,) = re.findall(rb"/MediaBox \[ ([\d. ]+) \]", content)
        assert float(box.split()[2]) == pytest.approx(POINTS[path.stem.rpartition("-")[2]], abs=0.01)
        assert b"/FontFile2" in content  # TrueType, embedded
        assert b"/Subtype /Type3" not in content
    for path in folder.glob("*.svg"):
        root = XML.parse(path).getroot()
        width = POINTS[path.stem.rpartition("-")[2]]
        assert float(root.attrib["width"].removesuffix("pt")) == pytest.approx(width, abs=0.01)
        assert not [element for element in root.iter() if element.tag.endswith("}text")]
        assert "var(--" not in XML.tostring(root, encoding="unicode")


@pytest.mark.slow
def test_equal_runs_give_equal_bytes_in_another_process(runs: Path, folder: Path, tmp_path: Path) -> None:
    script = "import sys, gest_dataset; gest_dataset.report([sys.argv[1]], *sys.argv[2:])"
    arguments = [runs / SMALL, tmp_path / "r.html", tmp_path / "again"]
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    subprocess.run([sys.executable, "-c", script, *map(str, arguments)], env=environment, check=True)
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


# --- the layout


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_no_text_is_cut_off_or_overlaps(runs: Path, column: Layout) -> None:
    others = ("stereoset_control_gender", "stereoset_en_intrasentence", "winobias_type1_test")
    paths = [runs / SMALL, *(runs / f"bert-{config}" for config in others)]
    found = [named(read_run(path), f"a-model-with-a-long-name-{n}") for n, path in enumerate(paths)]
    with use_layout(column):
        panels = panels_of(label_runs(found))
    assert len(panels) == 8
    for panel in panels:
        fits.check(panel)


# --- LaTeX


def test_tables_have_the_numbers_of_the_runs(runs: Path, folder: Path) -> None:
    result = read_run(runs / SMALL).result["result"]
    (found,) = tables((folder / "results.tex").read_text(encoding="utf-8"))
    interval = f"{format_number(result['g_s_low'])} to {format_number(result['g_s_high'])}"
    assert found == [
        ["Model", "Config", "g_s", "95 %", "d", "Verdict"],
        [
            *("bert", "demo_sk_pairs", format_number(result["g_s"]), interval),
            *(str(Estimate.of(result, "d")).replace("−", "-"), result["verdict"]),
        ],
    ]
    with (folder / "languages.csv").open(encoding="utf-8", newline="") as file:
        [own] = [row for row in csv.DictReader(file) if row["source"] == "this report"]
    assert float(own["g_s"]) == result["g_s"]


def test_an_effect_that_was_shown_without_placebo_words_says_so(runs: Path) -> None:
    run = read_run(runs / SMALL)
    run.result["result"]["verdict"] = "shown"
    run.result["result"].pop("placebo", None)
    (found,) = tables(results_table(label_runs([run])))
    assert found[1][-1] == "shown (no placebo)"


def hostile(runs: Path) -> list[LabelledRun]:
    return label_runs([named(read_run(runs / SMALL), HOSTILE), named(read_run(runs / SMALL), "b")])


def test_hostile_names_are_escaped_in_tables(runs: Path) -> None:
    text = results_table(hostile(runs))
    bare = re.sub(r"\\[\\a-zA-Z]+|\\[&%$#_{}]", "", text)
    assert "\\" not in bare
    assert not set(bare.removeprefix(text.partition("\n")[0])) & set("$#^~_<>|")
    assert r"\input" not in text
    (found,) = tables(results_table(hostile(runs)))
    assert found[1][0].replace("ˆ", "^") == HOSTILE  # as pylatexenc prints it
