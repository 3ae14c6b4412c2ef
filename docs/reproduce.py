"""Make docs/reproduce.md from gest_dataset/studies/papers.json, the list of the papers' tables and figures.

`python docs/reproduce.py` writes the page. `--compute` first runs all checks, which need GEST_MIRROR and
GEST_PAPER_SCORES, and stores their results in docs/reproduced.json.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from gest_dataset.published.released import Released
from gest_dataset.storage import write_json
from gest_dataset.studies.papers import SCORES, load_papers, run_checks

HERE = Path(__file__).resolve().parent
PAGE, RESULTS = HERE / "reproduce.md", HERE / "reproduced.json"


def compute() -> dict[str, Any]:
    """The result of every check."""
    pairs, _ = run_checks(Released(os.environ[SCORES]))
    results: dict[str, Any] = {}
    for name in load_papers()["checks"]:
        own = pairs[pairs["check"] == name]
        differing = own[~own["agrees"].astype(bool)]
        results[str(name)] = {
            "numbers": len(own),
            "agree": len(own) - len(differing),
            "differences": [
                {"what": p.label, "ours": f"{p.computed:.4g}", "printed": p.printed, "why": p.why}
                for p in differing.itertuples()
            ],
        }
    return results


def page() -> str:
    """The page."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))

    def agreement(item: dict[str, Any]) -> str:
        own = [found[name] for name in item["checks"]]
        agree, numbers = (sum(one[key] for one in own) for key in ("agree", "numbers"))
        return f"{agree:,} of {numbers:,}" if own else ""

    template = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    ).from_string((HERE / "reproduce.md.jinja").read_text(encoding="utf-8"))
    return template.render(**load_papers(), found=found, agreement=agreement)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compute", action="store_true", help="run all checks first")
    if parser.parse_args().compute:
        write_json(RESULTS, compute())
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
