"""Masculine rates of GEST's translations, by these rules, beside the published table.

    GEST_MIRROR=DIR python benchmarks/masculine_rates.py --models DIR_WITH_LANGUAGE.udpipe

For every system and language: how many translations got a gender, here and in the paper, and the
mean and the largest difference of the sixteen p_i; a * marks a pair that is too far off or too short.
`--unknown N` also shows N translations that the rules of rank 2 decide (the ones that rules like the
paper's leave unknown), with their evidence; `--forms N` shows N whose evidence has a form that
contradicts the tagger's gender.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from datasets import disable_progress_bars, load_dataset
from rich.console import Console
from rich.table import Table

import gest_dataset  # noqa: F401  (registers the name gest)
from gest_dataset import published
from gest_dataset.gender import Detection, detect, explain
from gest_dataset.gender.parsers import open_parser
from gest_dataset.gender.parsing import DEFAULT_CACHE, parse_texts
from gest_dataset.gender.rules.engine import RULES
from gest_dataset.languages import SLAVIC
from gest_dataset.statistics.proportions import agresti_coull
from gest_dataset.stereotypes import STEREOTYPES

TAGS = {"male": "Masc", "female": "Fem"}
MEAN, LARGEST = 0.015, 0.05  # what a pair may differ by
FORMS_DECIDE = {"be"}  # where the paper's parser erred, and closeness to its table is no aim


def compare(
    rows: Sequence[dict[str, Any]], found: Sequence[Detection], entry: dict[str, Any]
) -> dict[str, Any]:
    """One pair: yield and p_i (the Agresti-Coull centre, as published) against the table's."""
    stereotypes = np.array([row["stereotype"] for row in rows])
    genders = np.array([detection.gender for detection in found])
    known = genders != "unknown"
    number = np.array([(known & (stereotypes == i)).sum() for i in STEREOTYPES], dtype=float)
    masculine = np.array([((genders == "male") & (stereotypes == i)).sum() for i in STEREOTYPES], dtype=float)
    p = agresti_coull(masculine, number)[0]
    difference = np.abs(p - np.array(entry["p"]))
    return {
        "language": entry["language"],
        "system": entry["system"],
        "n": int(known.sum()),
        "n_published": entry["n_predicted"],
        "conflicts": sum(detection.conflict for detection in found),
        "mean_difference": float(difference.mean()),
        "largest_difference": float(difference.max()),
        "p": p.round(4).tolist(),
        "p_published": entry["p"],
    }


def newly_decided(found: Sequence[Detection]) -> list[int]:
    """The rows that rules of rank 2 decide."""
    weak = {rule.name for rule in RULES if rule.rank == 2}
    return [
        place for place, detection in enumerate(found) if detection.rule in weak and not detection.conflict
    ]


def against_the_tags(
    rows: Sequence[dict[str, Any]], found: Sequence[Detection], language: str, model: Path, cache: Path | None
) -> list[tuple[str, str, str, str]]:
    """Id, word, the tag's gender and the form's, where these two differ."""
    parser, texts = open_parser("udpipe", language, model), [row["translation"] for row in rows]
    parses = parse_texts(texts, language, parser, cache or DEFAULT_CACHE)
    differing = []
    for row, detection, parse in zip(rows, found, parses, strict=True):
        for sentence in parse.sentences:
            for token in sentence.tokens:
                if parse.span(token) in detection.spans and detection.gender in TAGS:
                    tagged = token.feats.get("Gender", "none")
                    if tagged != TAGS[detection.gender]:
                        differing.append((row["id"], token.text, tagged, TAGS[detection.gender]))
    return differing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=Path, required=True, help="directory of LANGUAGE.udpipe")
    parser.add_argument("--languages", nargs="*", default=list(SLAVIC))
    parser.add_argument("--cache", type=Path, help="file of parses (default: the package's own)")
    parser.add_argument("--unknown", type=int, default=0, metavar="N")
    parser.add_argument("--forms", type=int, default=0, metavar="N")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/masculine_rates.json"))
    arguments = parser.parse_args()
    disable_progress_bars()
    console = Console()
    entries = published.load("gest_mt_masculine_rates")["rows"]
    pairs: list[dict[str, Any]] = []
    seconds: dict[str, float] = {}
    table = Table(title="masculine rates against the published table")
    for name in ("pair", "yield", "published", "conflicts", "mean |dp|", "max |dp|", ""):
        table.add_column(name, justify="left" if name == "pair" else "right")
    for language in arguments.languages:
        rows = load_dataset("gest", f"{language}_translations", split="test").to_list()
        texts = [row["translation"] for row in rows]
        start = time.perf_counter()
        found = detect(
            texts, language, "udpipe", arguments.models / f"{language}.udpipe", cache=arguments.cache
        )
        seconds[language] = time.perf_counter() - start
        for entry in (entry for entry in entries if entry["language"] == language):
            places = [place for place, row in enumerate(rows) if row["system"] == entry["system"]]
            pair = compare([rows[i] for i in places], [found[i] for i in places], entry)
            pairs.append(pair)
            close = pair["mean_difference"] <= MEAN and pair["largest_difference"] <= LARGEST
            good = close or language in FORMS_DECIDE
            table.add_row(
                f"{language} {entry['system']}",
                str(pair["n"]),
                str(pair["n_published"]),
                str(pair["conflicts"]),
                f"{pair['mean_difference']:.4f}",
                f"{pair['largest_difference']:.3f}",
                "" if good and pair["n"] >= pair["n_published"] else "*",
            )
        chosen = newly_decided(found)
        for place in random.Random(0).sample(chosen, min(arguments.unknown, len(chosen))):
            console.print(f"{language}  {explain(texts[place], found[place])}", markup=False)
        if arguments.forms:
            model = arguments.models / f"{language}.udpipe"
            differing = against_the_tags(rows, found, language, model, arguments.cache)
            by_id = {row["id"]: place for place, row in enumerate(rows)}
            console.print(f"{language}: {len(differing)} words whose form contradicts their tag")
            for name, word, tagged, form in random.Random(0).sample(
                differing, min(arguments.forms, len(differing))
            ):
                place = by_id[name]
                console.print(
                    f"{name}  {word}: {tagged}, but {form}  {explain(texts[place], found[place])}",
                    markup=False,
                )
    console.print(table)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(
        json.dumps({"pairs": pairs, "seconds": seconds}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
