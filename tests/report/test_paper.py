"""Figures and tables for papers: what the files are and say; the same runs give the same bytes."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as XML

import matplotlib
import numpy as np
import pytest
from matplotlib import font_manager, ft2font, rc_context
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexEnvironmentNode, LatexWalker

import gest_dataset
from gest_dataset.errors import ConfigError
from gest_dataset.measures.formatting import format_number
from gest_dataset.report import Panel, canvas, figures_explored, latex, page
from gest_dataset.report.explorer.beside import beside
from gest_dataset.report.explorer.profiles import profiles
from gest_dataset.report.measured import Measured, measured
from gest_dataset.report.style import COLUMNS, DOUBLE, PAGE, SINGLE, STYLE, Layout, drawn_for, layout
from gest_dataset.runs.comparison import compare
from gest_dataset.runs.reading import Run, find_runs, read_run
from tests.conftest import ROOT
from tests.support import explored, fits, report_runs

SMALL = "bert-demo_sk_pairs"
HOSTILE = r"<script> $x_1$ \input{x} % & ^^41 ~ # -- {"
DATES = rb"/(CreationDate|ModDate)|<dc:date>"
POINTS = {SINGLE.name: 7.7 / 2.54 * 72, DOUBLE.name: 16 / 2.54 * 72}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_runs.made(tmp_path_factory) / "runs"


@pytest.fixture(scope="module")
def folder(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The figures of one run of pairs, in all formats."""
    out = tmp_path_factory.mktemp("figures")
    gest_dataset.figures([runs / SMALL], out)
    return out


def named(run: Run, model: str) -> Run:
    """The run, as if its model were called so."""
    return replace(run, manifest=replace(run.manifest, subject=model))


def tables(text: str) -> list[list[list[str]]]:
    """The cells of the tables of a LaTeX file as a reader of the print sees them."""
    nodes, _, _ = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    found = []
    for node in nodes:
        if isinstance(node, LatexEnvironmentNode):
            assert node.environmentname == "table"
            (tabular,) = (child for child in node.nodelist if isinstance(child, LatexEnvironmentNode))
            body = tabular.latex_verbatim().split("\\toprule")[1].split("\\bottomrule")[0]
            lines = body.replace("\\midrule", "").split("\\\\\n")
            cells = [re.split(r"(?<!\\)&", line) for line in lines if line.strip()]
            found.append([[as_read(cell) for cell in line] for line in cells])
    return found


def as_read(cell: str) -> str:
    """The text that a cell prints; two commands are foreign to pylatexenc."""
    known = cell.replace(r"\textless{}", "<").replace(r"\textgreater{}", ">")
    return LatexNodes2Text().latex_to_text(known).strip()


# --- the files


def test_each_figure_of_the_report_is_there_at_both_widths(runs: Path, folder: Path) -> None:
    names = {panel.name for panel in page.figures(measured([read_run(runs / SMALL)]))}
    assert names == {"stereotypes-pairs", "ranks-pairs", "languages"}
    drawn = {f"{n}-{width.name}.{kind}" for n in names for width in COLUMNS for kind in ("pdf", "svg", "txt")}
    numbers = {f"{name}.csv" for name in names}
    assert {path.name for path in folder.iterdir()} == drawn | numbers | {"results.tex", "details.tex"}


def test_widths_are_those_of_the_columns(folder: Path) -> None:
    for path in folder.glob("*.pdf"):
        (box,) = re.findall(rb"/MediaBox \[ ([\d. ]+) \]", path.read_bytes())
        left, bottom, right, _ = map(float, box.split())
        assert (left, bottom) == (0, 0)
        assert right == pytest.approx(POINTS[path.stem.rpartition("-")[2]], abs=0.01)
    for path in folder.glob("*.svg"):
        root = XML.parse(path).getroot()
        width = POINTS[path.stem.rpartition("-")[2]]
        assert float(root.attrib["width"].removesuffix("pt")) == pytest.approx(width, abs=0.01)
        # what is drawn is scaled, not cut
        left, top, right, bottom = map(float, root.attrib["viewBox"].split())
        assert (left, top) == (0, 0)
        height = float(root.attrib["height"].removesuffix("pt"))
        assert right / bottom == pytest.approx(width / height, rel=1e-3)


def test_fonts_are_in_the_files(folder: Path) -> None:
    for path in folder.glob("*.pdf"):
        content = path.read_bytes()
        assert b"/FontFile2" in content  # TrueType
        assert b"/Subtype /Type3" not in content
        assert re.findall(rb"/BaseFont /([A-Z]{6}\+)?(\w+)", content)
        assert {name for _, name in re.findall(rb"/BaseFont /([A-Z]{6}\+)?([\w-]+)", content)} <= {
            b"DejaVuSans",
            b"DejaVuSans-Bold",
        }
    for path in folder.glob("*.svg"):
        assert not [element for element in XML.parse(path).iter() if element.tag.endswith("}text")]


def test_the_font_is_the_one_that_matplotlib_brings() -> None:
    with rc_context(STYLE):
        for weight in ("normal", "bold"):
            found = font_manager.findfont(font_manager.FontProperties(weight=weight))
            assert Path(found).is_relative_to(matplotlib.get_data_path())


# What the nine Slavic languages write with beside a to z
SLAVIC_LETTERS = "áäčďéěíĺľňóôŕřšťúůýž ąćęłńóśźż čćđšž абвгґдеёєжзиіїйјклљмнњопрстћуўфхцчџшщъыьэюяђ"


def test_the_font_has_the_letters_of_all_slavic_languages() -> None:
    with rc_context(STYLE):
        letters = ft2font.FT2Font(font_manager.findfont(font_manager.FontProperties())).get_charmap()
    wanted = set(SLAVIC_LETTERS + SLAVIC_LETTERS.upper()) - {" "}
    assert [letter for letter in wanted if ord(letter) not in letters] == []


def test_captions_stand_beside_the_figures_and_in_them(folder: Path) -> None:
    caption = (folder / "languages-single.txt").read_text(encoding="utf-8")
    title, empty, text, end = caption.split("\n")
    assert (title, empty, end) == ("Stereotype rate by language", "", "")
    assert "95 % interval" in text
    root = XML.parse(folder / "languages-single.svg").getroot()
    assert [element.text for element in root[:2]] == [title, text]
    content = (folder / "languages-single.pdf").read_bytes()
    assert b"/Title (Stereotype rate by language)" in content
    assert b"/Subject (" in content


def test_numbers_are_those_of_the_run(runs: Path, folder: Path) -> None:
    result = read_run(runs / SMALL).result["result"]
    with (folder / "languages.csv").open(encoding="utf-8", newline="") as file:
        own = [row for row in csv.DictReader(file) if row["source"] == "this report"]
    assert [float(own[0][f"g_s{end}"]) for end in ("", "_low", "_high")] == [
        result[f"g_s{end}"] for end in ("", "_low", "_high")
    ]


def test_same_runs_same_bytes_in_another_process(runs: Path, folder: Path, tmp_path: Path) -> None:
    """Also with other hashes of Python's, on which the order of sets hangs."""
    script = "import sys, gest_dataset; gest_dataset.figures(sys.argv[1:2], sys.argv[2])"
    subprocess.run(
        [sys.executable, "-c", script, runs / SMALL, tmp_path / "again"],
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        check=True,
    )
    for path in folder.iterdir():
        content = path.read_bytes()
        assert content == (tmp_path / "again" / path.name).read_bytes(), path.name
        assert not re.search(DATES, content), path.name


# --- how they are drawn


def test_a_layout_holds_in_its_block_only() -> None:
    assert layout() is PAGE
    with drawn_for(SINGLE):
        figure, _ = canvas.canvas(2)
        assert figure.get_figwidth() == SINGLE.width
    assert canvas.canvas(2)[0].get_figwidth() == PAGE.width


def test_printed_letters_are_not_too_small() -> None:
    for column in COLUMNS:
        assert column.scale * STYLE["font.size"] >= 7


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_no_text_is_cut_or_lies_over_another(runs: Path, column: Layout) -> None:
    paths = [
        runs / name
        for name in (
            SMALL,
            "bert-stereoset_control_gender",
            "bert-stereoset_en_intrasentence",
            "bert-winobias_type1_test",
        )
    ]
    name = "a-model-with-a-name-that-is-long"
    found = [named(read_run(path), f"{name}-{number}") for number, path in enumerate(paths)]
    with drawn_for(column):
        panels = page.figures(measured(found))
    assert len(panels) == 8
    for panel in panels:
        fits.check(panel)


def test_narrow_figures_of_several_templates_have_numbers_for_names(runs: Path) -> None:
    panels = {}
    for column in COLUMNS:
        with drawn_for(column):
            made = page.figures(measured([read_run(runs / "bert-demo_en")]))
        panels[column.name] = next(panel for panel in made if panel.name == "stereotypes-english")
    single, double = panels["single"], panels["double"]
    assert [text.get_text() for text in single.figure.axes[0].get_yticklabels()] == [
        str(number) for number in range(1, 17)
    ]
    assert "Stereotypes: 1 Emotional and irrational, " in single.caption
    assert double.figure.axes[0].get_yticklabels()[6].get_text() == "7  Beautiful"
    assert "Stereotypes: 1" not in double.caption


def test_runs_of_one_colour_have_other_markers() -> None:
    styles = [tuple(canvas.series(number).values()) for number in range(36)]
    assert len(set(styles)) == 36


# --- what the page's script draws


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> list[Measured]:
    """Three models on the same sentences."""
    folder = tmp_path_factory.mktemp("several")
    with report_runs.small_world():
        explored.english(folder)
    return measured(find_runs([folder]))


@pytest.fixture(scope="module")
def drawn(several: list[Measured]) -> dict[str, Panel]:
    with drawn_for(SINGLE):
        made = figures_explored.panels(profiles(several), beside(several))
    return {panel.name: panel for panel in made}


def test_profiles_correlations_and_ratios_are_files_too(several: list[Measured], tmp_path: Path) -> None:
    written = gest_dataset.figures([run.run for run in several], tmp_path, ["csv"])
    assert {"profiles-q.csv", "correlations-q.csv", "ratios.csv"} <= {path.name for path in written}


def test_profiles_are_drawn_as_the_table_has_them(several: list[Measured], drawn: dict[str, Panel]) -> None:
    panel = drawn["profiles-q"]
    told = {(row[0], row[3]): row[5] for row in panel.rows}
    assert len(told) == 3 * 16
    for run in several:
        middles = []
        for part in run.templates.values():
            middle = (np.log(part["q_f"]) + np.log(part["q_m"])) / 2
            middles.append(np.log(part["q"]) - middle)
        expected = np.mean(middles, axis=0)
        assert [told[run.label, number] for number in range(1, 17)] == pytest.approx(expected.tolist())
    cells = panel.figure.axes[0].collections[0].get_array()
    assert cells.ravel().tolist() == [row[5] for row in panel.rows]
    # from top to bottom
    labels = {tick.get_position()[1]: tick.get_text() for tick in panel.figure.axes[0].get_yticklabels()}
    assert [labels[place] for place in (3, 2, 1)] == list(dict.fromkeys(row[0] for row in panel.rows))
    top, *_, bottom = panel.figure.axes[0].collections[0].get_coordinates()[:, 0, 1]
    assert (top, bottom) == (3.5, 0.5)


def test_correlations_are_of_the_profiles(drawn: dict[str, Panel]) -> None:
    panel = drawn["correlations-q"]
    values: dict[str, list[float]] = {}
    for row in drawn["profiles-q"].rows:
        values.setdefault(row[0], []).append(row[5])
    assert len(panel.rows) == 9
    for run, other, value in panel.rows:
        assert value == pytest.approx(np.corrcoef(values[run], values[other])[0, 1])
    assert panel.figure.axes[0].collections[0].get_array().ravel().tolist() == [row[2] for row in panel.rows]


def test_ratios_are_those_of_the_comparison(several: list[Measured], drawn: dict[str, Panel]) -> None:
    panel = drawn["ratios"]
    found = compare([run.run for run in several]).differences
    expected = [own.times for difference in found for own in difference.by_stereotype]
    assert [tuple(row[4:]) for row in panel.rows] == expected
    assert {row[1] for row in panel.rows} == {several[0].label}
    dots = [float(line.get_xdata()[0]) for ax in panel.figure.axes for line in ax.lines if line.get_url()]
    assert dots == [row[4] for row in panel.rows]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_they_fit_whatever_runs_are_called(several: list[Measured], column: Layout) -> None:
    name = "a-model-with-a-name-that-is-longer-than-a-column-is-wide"
    runs = measured([named(run.run, f"{name}-{number}") for number, run in enumerate(several)])
    with drawn_for(column):
        for panel in figures_explored.panels(profiles(runs), beside(runs)):
            fits.check(panel)


# --- LaTeX


def test_tables_have_the_numbers_of_the_runs(runs: Path, folder: Path) -> None:
    result = read_run(runs / SMALL).result["result"]
    (found,) = tables((folder / "results.tex").read_text(encoding="utf-8"))
    headings, row = found
    assert headings == ["Model", "Config", "g_s", "95 %", "Verdict"]
    assert row[:3] == ["bert", "demo_sk_pairs", format_number(result["g_s"])]
    assert row[3] == f"{format_number(result['g_s_low'])} to {format_number(result['g_s_high'])}"
    assert row[4] == result["verdict"]
    (details,) = tables((folder / "details.tex").read_text(encoding="utf-8"))
    assert len(details) == 1 + 16 + 3
    assert details[1][:3] == [
        "1 Emotional and irrational",
        format_number(result["q"][0]),
        f"{format_number(result['q_low'][0])} to {format_number(result['q_high'][0])}",
    ]


def test_templates_have_a_table_each(runs: Path) -> None:
    (run,) = measured([read_run(runs / "bert-demo_en")])
    text = latex.details([run])
    assert len(tables(text)) == len(run.templates) == 4
    labels = re.findall(r"\\label\{(.*)\}", text)
    assert labels == [f"tab:gest-run-1-{template}" for template in run.templates]


def hostile(runs: Path) -> list[Measured]:
    return measured([named(read_run(runs / SMALL), HOSTILE), named(read_run(runs / SMALL), "b")])


def test_hostile_names_are_text_in_tables(runs: Path) -> None:
    for text in (latex.results(hostile(runs)), latex.details(hostile(runs))):
        bare = re.sub(r"\\[\\a-zA-Z]+|\\[&%$#_{}]", "", text)
        assert "\\" not in bare
        assert not set(bare.removeprefix(text.partition("\n")[0])) & set("$#^~_<>|")
        assert r"\input" not in text
    (found,) = tables(latex.results(hostile(runs)))
    assert len(found[1]) == 5
    assert found[1][0].replace("ˆ", "^") == HOSTILE  # the sign that pylatexenc has for it


def test_hostile_names_are_text_in_drawings(runs: Path, tmp_path: Path) -> None:
    gest_dataset.figures([named(read_run(runs / SMALL), HOSTILE)], tmp_path)
    for path in tmp_path.glob("*.svg"):
        root = XML.parse(path).getroot()
        assert not [element for element in root.iter() if element.tag.endswith("script")]
    for path in tmp_path.glob("*.pdf"):
        assert b"/JavaScript" not in path.read_bytes()
        assert b"/Annot " not in path.read_bytes()


def test_latex_takes_the_tables(runs: Path, tmp_path: Path) -> None:
    """A real LaTeX prints every name as it is; where there is none, `tables` above has parsed them."""
    if shutil.which("pdflatex") is None or shutil.which("pdftotext") is None:
        pytest.skip("pdflatex is not installed (apt-get install texlive-latex-recommended poppler-utils)")
    (tmp_path / "results.tex").write_text(latex.results(hostile(runs)), encoding="utf-8")
    (tmp_path / "details.tex").write_text(latex.details(hostile(runs)), encoding="utf-8")
    (tmp_path / "all.tex").write_text(
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{textcomp,booktabs}"
        r"\begin{document}\input{results}\input{details}\end{document}",
        encoding="utf-8",
    )
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "all"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    read = subprocess.run(
        ["pdftotext", "-layout", "all.pdf", "-"], cwd=tmp_path, capture_output=True, text=True
    )
    wanted = "".join(HOSTILE.split())
    assert wanted in "".join(read.stdout.split())


# --- the command


def gest(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gest_dataset", "figures", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_command_writes_the_formats_that_are_asked_for(runs: Path, folder: Path, tmp_path: Path) -> None:
    done = gest(runs / SMALL, "--out", tmp_path, "--format", "csv,tex")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.endswith(f"5 files: {tmp_path}\n")
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes()


@pytest.mark.parametrize("formats", [["png"], ["pdf", "docx"], []])
def test_formats_that_do_not_exist(runs: Path, tmp_path: Path, formats: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"Choose from pdf, svg, csv, tex\."):
        gest_dataset.figures([runs / SMALL], tmp_path / "out", formats)
    assert not (tmp_path / "out").exists()
