"""The public board: the runs of a sweep beside every number that the papers print for a model.

SITE/index.html          a page that filters by language, size, family, kind, number and origin
SITE/board.csv           all numbers, one per line, also of single stereotypes and templates; board.parquet
SITE/items.parquet       the scores of single samples of the runs
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from markupsafe import Markup

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.data.folder import write_parquet
from gest_dataset.measures.grid import EFFECT_SIZE, Estimate
from gest_dataset.measures.result import template_results
from gest_dataset.published.models import english_models, language_models, slavic_models
from gest_dataset.report.labels import LabelledRun, label_runs, verdict_of
from gest_dataset.report.page import load_template, page_assets
from gest_dataset.runs.folder import find_runs
from gest_dataset.storage import check_folder, csv_text, read_yaml, write_file
from gest_dataset.sweep.run import RUNS
from gest_dataset.sweep.suite import Suite, find_suite, read_suite
from gest_dataset.version import __version__

FILES = ("index.html", "board.csv", "board.parquet", "items.parquet")
PUBLISHED, OWN = "published", "this board"
_TABLES: dict[str, Any] = read_yaml(Path(__file__).with_suffix(".yaml"))
COLUMNS: dict[str, str] = _TABLES["columns"]  # with their types
_CONFIGS: dict[str, str] = _TABLES["configs"]
_NAMES: list[str] = _TABLES["names"]
_ENDS = ("_low", "_high", "_pm")
Row = dict[str, Any]


def write_board(suite: Suite, output: Path, site: Path) -> int:
    """Write the site from the runs of a sweep, and return the number of rows."""
    check_folder(site, FILES, "the board of `gest sweep`")
    facts: dict[str, Row] = {}
    for one in (*read_suite(find_suite("published")).models, *suite.models):
        given = {"family": one.family, "kind": one.kind, "millions": one.size}
        facts.setdefault(one.model, {}).update({name: value for name, value in given.items() if value})
    for model in language_models().values():
        given = next((facts[name] for name in model["hub_ids"] if name in facts), {})
        facts |= dict.fromkeys((model["model"], *model["hub_ids"]), given)
    runs = label_runs(find_runs([output / RUNS]) if (output / RUNS).exists() else [])
    rows = [row for run in runs for row in _run_rows(run)] + list(_published_rows())
    rows = [dict.fromkeys(COLUMNS, "") | facts.get(row["model"], {}) | row for row in rows]
    frame = pd.DataFrame(rows, columns=[*COLUMNS], dtype=object)
    write_file(site / "board.csv", csv_text([*COLUMNS], frame.to_numpy().tolist()))
    for name, kind in COLUMNS.items():
        frame[name] = pd.to_numeric(frame[name]) if kind == "number" else frame[name].astype(str)
    write_parquet(site / "board.parquet", pa.Table.from_pandas(frame, preserve_index=False))
    write_parquet(site / "items.parquet", _items(runs))
    script = Markup(Path(__file__).with_name("board.js").read_text(encoding="utf-8"))
    values: Row = {"title": suite.title, "own": OWN, "version": __version__, "board_script": script}
    values["rows"] = [row for row in rows if row["stereotype"] == ""]
    page = load_template(Path(__file__).with_name("board.html.jinja")).render(values, **page_assets())
    write_file(site / "index.html", page)
    return len(rows)


def _published_rows() -> Iterator[Row]:
    """Every number that the papers print for a model or translator, and what follows from the numbers."""
    for table_name in published.names():
        table = published.load(table_name)
        for row in table["rows"] if table_name != "models" else []:
            model = row.get("handle") or row.get("model") or row.get("system")
            if not isinstance(model, str):
                continue
            config = row.get("config") or _CONFIGS.get(table_name, table_name).format(**row)
            language = row.get("language") or (CONFIGS[config].languages[0] if config in CONFIGS else "en")
            words = [value for name, value in row.items() if isinstance(value, str) and name not in _NAMES]
            first = {"origin": PUBLISHED, "model": model, "config": config, "language": language}
            first |= {"template": row.get("template", ""), "variant": " ".join(words)}
            first |= {"kind": "translator"} if "system" in row else {}
            for name, value in row.items():
                if name not in _NAMES and not isinstance(value, str) and not name.endswith(_ENDS):
                    yield from _numbers(first | {"reference": table["source"]}, name, row)
    first = {"origin": PUBLISHED, "variant": "ratio scale", "reference": "from the printed q"}
    for one in (*english_models(), *slavic_models()):
        place = {"config": f"{one.where}_pairs", "language": one.where}
        name, value = "g_s", one.g_s
        if isinstance(one.where, int):  # whose g_s are in the tables
            place = {"config": "en_1_0", "language": "en", "template": one.where}
            name, value = EFFECT_SIZE, one.d
        if value is not None:
            yield first | place | {"model": one.model, "kind": one.kind, "metric": name, "value": value}


def _numbers(first: Row, name: str, row: Mapping[str, Any]) -> Iterator[Row]:
    """A number of a published row with its bounds, or one for each stereotype."""
    values, lows, highs = (row.get(f"{name}{end}") for end in ("", "_low", "_high"))
    if isinstance(values, dict):
        for key, value in values.items():
            yield first | {"metric": f"{name}_{key}", "value": value}
        return
    if not isinstance(values, list):
        reach = row.get(f"{name}_pm")
        ends = {} if reach is None or values is None else {"low": values - reach, "high": values + reach}
        yield first | {"metric": name, "value": values} | ends
        return
    for number, value in enumerate(values):
        ends = {"low": lows[number], "high": highs[number]} if lows and highs else {}
        yield first | {"metric": name, "stereotype": number + 1, "value": value} | ends


def _run_rows(run: LabelledRun) -> Iterator[Row]:
    """The headline, d and q of a run, in each template too."""
    manifest, verdict = run.run.manifest, verdict_of(run)
    first: Row = {"origin": OWN, "model": run.model, "config": run.config, "language": run.language or "en"}
    first |= {"kind": run.kind or "translator", "revision": run.facts.get("revision") or ""}
    first |= {"samples": run.facts.get("scored", run.facts.get("samples", ""))}
    first |= {"signature": manifest.signature, "reference": f"{RUNS}/{run.run.path.parent.name}/{run.config}"}
    if run.facts.get("parameters"):
        first["millions"] = run.facts["parameters"] / 1e6
    names = (verdict.headline.name, EFFECT_SIZE, "q", "p")
    for number, part in {0: run.result, **template_results(run.result)}.items():
        one = first | ({"template": number} if number else {})
        for name in names:
            if isinstance(part.get(name), list):
                yield from _numbers(one, name, part)
            elif name in part:
                ends = Estimate.of(part, name)
                more = {"metric": name, "value": ends.value, "low": ends.low, "high": ends.high}
                if name == verdict.headline.name and not number:
                    more["verdict"] = verdict.text
                    for end in ("low", "high"):
                        more[f"zone_{end}"] = part[f"zone_{end}"]
                        more[f"placebo_{end}"] = part.get("placebo", {}).get(end, "")
                yield one | more


def _items(runs: Sequence[LabelledRun]) -> pa.Table:
    """The ln ratios of single samples."""
    names = ["model", "config", "id", "template", "log_ratio"]
    frames = [
        run.run.table.to_pandas().assign(model=run.model, config=run.config).reindex(columns=names)
        for run in runs
        if "log_ratio" in run.run.table.column_names
    ]
    frame = pd.concat(frames) if frames else pd.DataFrame(columns=names)
    types = {"model": str, "config": str, "id": str, "template": "Int32", "log_ratio": float}
    return pa.Table.from_pandas(frame.astype(types), preserve_index=False)
