"""Makes docs/reproduce.md from the list of the papers' tables and figures, gest_dataset/studies/papers.json.

`python docs/reproduce.py` writes the page. `--compute` first makes every check anew, with GEST_MIRROR and
GEST_PAPER_SCORES, and keeps what they gave in docs/reproduced.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from gest_dataset.storage import write_json
from gest_dataset.studies.papers import STATUSES, Item, check, listed
from gest_dataset.studies.printed.pair import score_folder

HERE = Path(__file__).resolve().parent
PAGE, FOUND = HERE / "reproduce.md", HERE / "reproduced.json"


def computed() -> dict[str, Any]:
    """What every check of the list gives; one that cannot be made is an error."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for item in listed()[1] for name in item.checks):
        one = check(name, score_folder())
        if one.lacking:
            raise SystemExit(f"{name}: {one.lacking}")
        found[name] = {
            "numbers": len(one.pairs),
            "agree": one.agreeing,
            "differences": [
                {"what": pair.what, "ours": f"{pair.ours:.4g}", "printed": pair.printed, "why": pair.why}
                for pair in one.differing
            ],
        }
    return found


def page() -> str:
    """The page."""
    papers, items = listed()
    found = json.loads(FOUND.read_text(encoding="utf-8"))

    def agreement(item: Item) -> str:
        own = [found[name] for name in item.checks]
        agree, numbers = (sum(one[key] for one in own) for key in ("agree", "numbers"))
        return f"{agree:,} of {numbers:,}" if own else ""

    template = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    ).from_string((HERE / "reproduce.md.jinja").read_text(encoding="utf-8"))
    told = {"papers": papers, "items": items, "statuses": STATUSES, "found": found, "agreement": agreement}
    return template.render(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compute", action="store_true", help="make every check anew")
    if parser.parse_args().compute:
        write_json(FOUND, computed())
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
