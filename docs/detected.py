"""Write the numbers of docs/gender.md and docs/pairs.md that come from a parser, between their markers.

`python docs/detected.py` writes them from docs/detected.json. `--compute` first computes them from the
authors' translations with small UDPipe models (GEST_MIRROR, GEST_UDPIPE_MODELS), in ten minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gest_dataset import published
from gest_dataset.builders import pairs as pair_rules
from gest_dataset.data.rows import rows_of
from gest_dataset.data.sources import fetch
from gest_dataset.gender import detect
from gest_dataset.languages import LANGUAGES, SLAVIC
from gest_dataset.storage import write_json
from gest_dataset.translation.masculine_rates import prepare
from gest_dataset.translation.pairs import NO_ANSWER, NO_GENDER, WRONG_GENDER, make_pairs
from gest_dataset.translation.sentences import gest_sentences

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "detected.json"
SLOVAK = {"Amazon": "amazon_translate", "DeepL": "deepl", "Google": "google_translate"}
BY_FORMS = "be"  # the paper's parser erred on past verbs, and the forms decide here
STEPS = {
    NO_GENDER: "the plain translation has no known gender",
    NO_ANSWER: "no translation of the prompt",
    pair_rules.SAME: "the variants are the same",
    pair_rules.WORD_COUNT: "different numbers of words",
    pair_rules.SEVERAL_WORDS: "more than one word differs",
    pair_rules.FIRST_LETTER: "different first letters",
    WRONG_GENDER: "the new variant does not have the requested gender",
    pair_rules.MERGED: "merged with the same pair",
}


def rates(language: str, rows: Sequence[dict[str, Any]], found: Sequence[Any]) -> list[dict[str, Any]]:
    """The yield and the distance of the p_i from the paper's table, of each system of a language."""
    sys.path.insert(0, str(HERE.parent / "benchmarks"))
    from masculine_rates import compare  # which prints the same numbers

    entries = [
        one for one in published.load("gest_mt_masculine_rates")["rows"] if one["language"] == language
    ]
    numbers = []
    for entry in entries:
        places = [place for place, row in enumerate(rows) if row["system"] == entry["system"]]
        whole = compare([rows[place] for place in places], [found[place] for place in places], entry)
        kept = {key: whole[key] for key in ("language", "system", "n", "n_published")}
        ends = {key: round(whole[key], 4) for key in ("mean_difference", "largest_difference")}
        numbers.append(kept | ends)
    return numbers


def pairs_of(folder: str, model: Path, cache: Path | None = None) -> dict[str, int]:
    """What becomes of the sentences in one of the authors' Slovak files."""
    file = fetch(f"kinit-sk/gest/data/translations/{folder}/sk/translations.csv")
    experiment = prepare(f"file:{file}", "sk", parser_model=model, cache=cache)
    detector = experiment.detector.genders
    found = make_pairs(gest_sentences(), experiment.system, "file", "sk", experiment.translate, detector)
    left_out = {reason: len(ids) for reason, ids in found.left_out.items() if ids}
    return {"sentences": found.sentences, **left_out, "pairs": len(found.rows)}


def compute() -> dict[str, Any]:
    """All numbers."""
    models = Path(os.environ["GEST_UDPIPE_MODELS"])
    all_rates = []
    for language in SLAVIC:
        rows = rows_of(f"{language}_translations").to_list()
        texts = [row["translation"] for row in rows]
        all_rates += rates(language, rows, detect(texts, language, "udpipe", models / f"{language}.udpipe"))
    pairs = {name: pairs_of(folder, models / "sk.udpipe") for name, folder in SLOVAK.items()}
    return {"rates": all_rates, "pairs": pairs}


def texts(found: dict[str, Any]) -> dict[str, str]:
    """What stands between the markers, by page."""
    others = [one for one in found["rates"] if one["language"] != BY_FORMS]
    means = [one["mean_difference"] for one in others]
    largest = max(one["largest_difference"] for one in others)
    more = sum(one["n"] > one["n_published"] for one in found["rates"])
    lines = ["| language | systems | genders found | in the paper | mean difference of p_i | largest |"]
    lines.append("| --- | --- | ---: | ---: | ---: | ---: |")
    for language in SLAVIC:
        own = [one for one in found["rates"] if one["language"] == language]
        n, theirs = (sum(one[key] for one in own) for key in ("n", "n_published"))
        mean = sum(one["mean_difference"] for one in own) / len(own)
        top = max(one["largest_difference"] for one in own)
        systems = ", ".join(one["system"] for one in own)
        name = LANGUAGES[language].name
        lines.append(f"| {name} | {systems} | {n:,} | {theirs:,} | {mean:.3f} | {top:.3f} |")
    gender = (
        f"Outside Belarusian, p_i differs by {min(means):.3f} to {max(means):.3f} on average and by at most\n"
        f"{largest:.3f}. In {more} of {len(found['rates'])} pairs of a system and a language "
        f"more translations get a gender than\nin the paper.\n\n"
    ) + "\n".join(lines)
    printed = json.loads((HERE.parent / "builders" / "pair_yields.json").read_text(encoding="utf-8"))
    of_paper = {name: printed["pairs_per_system_language"][name.lower()]["sk"] for name in found["pairs"]}
    head = [f"| | {' | '.join(found['pairs'])} |", "| --- |" + " ---: |" * len(found["pairs"])]
    rows = [("sentences", "sentences"), *STEPS.items(), ("pairs", "**pairs**")]
    for key, label in rows:
        cells = [f"{one.get(key, 0):,}" for one in found["pairs"].values()]
        cells = [f"**{cell}**" for cell in cells] if key == "pairs" else cells
        head.append(f"| {label} | {' | '.join(cells)} |")
    last = " | ".join(f"{of_paper[name]:,}" for name in found["pairs"])
    head.append(f"| pairs in the paper's table 7 | {last} |")
    return {"gender.md": gender, "pairs.md": "\n".join(head)}


def filled(page: str, found: dict[str, Any]) -> str:
    """A page with the current numbers."""
    text = (HERE / page).read_text(encoding="utf-8")
    marked = re.compile(r"(<!-- detected\.py -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
    return marked.sub(lambda match: match[1] + texts(found)[page] + match[2], text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compute", action="store_true", help="compute the numbers first")
    if parser.parse_args().compute:
        write_json(RESULTS, compute())
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    for page in texts(found):
        (HERE / page).write_text(filled(page, found), encoding="utf-8")


if __name__ == "__main__":
    main()
