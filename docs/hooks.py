"""Pages of the site that are generated from the package, so that they are never out of date.

These are a page for each config, for each metric (its card) and for the commands (their `--help`), and
CONTRIBUTING.md and CHANGELOG.md.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import reference
from datasets import ClassLabel, Features, List, Value
from jinja2 import Environment, StrictUndefined
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import Config, Row
from gest_dataset.cli import LINES
from gest_dataset.errors import ScoringError
from gest_dataset.languages import LANGUAGES
from gest_dataset.measures import measure_of
from gest_dataset.register import METRICS

ROOT = Path(__file__).resolve().parent.parent
_MIRROR = ROOT / "tests" / "mirror"
# Statistic of a measure -> metric
_METRIC_OF = {"stereotype_rate": "gest_stereotype_rate", "control_bias": "gest_control_bias"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the generated pages to the navigation."""
    generated = {
        "configs": {"Configs": [{name: f"configs/{name}.md"} for name in CONFIGS]},
        "metrics": {"Metrics": [{name: f"metrics/{name}.md"} for name in METRICS]},
    }
    config.nav = [_fill(entry, generated) for entry in config.nav or []]
    return config


def _fill(entry: Any, generated: dict[str, Any]) -> Any:
    if isinstance(entry, str):
        return generated.get(entry, entry)
    return {
        title: [_fill(child, generated) for child in children] if isinstance(children, list) else children
        for title, children in entry.items()
    }


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in _pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Append the API reference to the page on Python."""
    return f"{markdown}\n{reference.markdown()}" if page.file.src_uri == "python.md" else markdown


def _pages() -> Iterator[tuple[str, str]]:
    template = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(
        (Path(__file__).parent / "config.md.jinja").read_text(encoding="utf-8")
    )
    for name, config in CONFIGS.items():
        scored, metric = _measured(config)
        yield (
            f"configs/{name}.md",
            template.render(
                config=config,
                languages=[LANGUAGES[code].name for code in config.languages],
                type=_type,
                example={field: _shown(value) for field, value in _example(config).items()},
                files=config.sources,
                scored=scored,
                metric=metric,
            ),
        )
    for name in METRICS:
        card = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")
        yield f"metrics/{name}.md", re.sub(r"\A---\n.*?\n---\n", "", card, flags=re.DOTALL)
    yield "commands.md", _commands()
    yield "notebook.md", _notebook()
    yield "contributing.md", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](docs/", "](")
    yield "changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def _measured(config: Config) -> tuple[str, str]:
    """The measure of a config and its metric; both are empty if the config is not scored."""
    if config.family.name == "translations":
        return "the gender that each translation gives to the speaker", "gest_masculine_rate"
    try:
        measure, _ = measure_of(list(config.features), config.name)
    except ScoringError:
        return "", ""
    statistic = measure.statistic.__name__
    return measure.name.replace("_", ", "), _METRIC_OF.get(statistic, statistic)


def _type(feature: Any) -> str:
    match feature:
        case ClassLabel():
            return "one of " + ", ".join(f"`{name}`" for name in feature.names)
        case Value():
            return str(feature.dtype)
        case List():
            return f"list of {_type(feature.feature)}"
        case dict() | Features():
            return ", ".join(f"{name}: {_type(inner)}" for name, inner in feature.items())
    return str(feature)


def _example(config: Config) -> Row:
    """The first row of the tests' files, whose texts were all written for this project."""
    return next(config.read({key: _MIRROR / key for key in config.sources}, Counter()))


def _shown(value: Any) -> str:
    """A value for a table cell: a text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else f"`{json.dumps(value)}`"
    return text.replace("|", "\\|")


def _commands() -> str:
    """The help of every command, 88 columns wide."""
    parts = [
        "# Commands",
        "Exit codes: 0 done, 1 failed, 2 wrong usage, 70 unexpected error, 130 interrupted. `NO_COLOR=1` "
        "prints plainly; without a terminal that is the default.",
    ]
    environment = {**os.environ, "COLUMNS": "88", "NO_COLOR": "1", "TERM": "dumb"}
    for name in LINES:
        shown = subprocess.run(
            [sys.executable, "-m", "gest_dataset", *name.split(), "--help"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        parts.append(f"## gest {name}\n\n```text\n{shown.stdout.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def _notebook() -> str:
    """The notebook with its stored outputs; `python docs/notebook.py` runs it again."""
    book = json.loads((Path(__file__).parent / "notebook.ipynb").read_text(encoding="utf-8"))
    parts = []
    for cell in book["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            parts.append(_output({kind: "".join(text) for kind, text in output["data"].items()}))
    return "\n\n".join(parts) + "\n"


def _output(data: Mapping[str, str]) -> str:
    """The best representation of an output. HTML is one line because Markdown ends it at an empty line."""
    if "text/html" in data:
        one_line = re.sub(r"\s*\n\s*", " ", data["text/html"])
        return f'<div class="shown">{one_line}</div>'
    if "image/svg+xml" in data:
        drawing = base64.b64encode(data["image/svg+xml"].encode()).decode()
        return f'<div class="shown"><img alt="" src="data:image/svg+xml;base64,{drawing}"></div>'
    return f"```text\n{data['text/plain']}\n```"
