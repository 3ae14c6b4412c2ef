"""Write the parses that the tests of the rules read: tests/gender/parses/LANGUAGE.conllu.

    python tests/gender/make_parses.py DIR_WITH_LANGUAGE.udpipe

They are UDPipe's, of the labelled and the unseen sentences and the examples of the rules. Columns that
no rule reads (lemma, XPOS, enhanced dependencies) are left empty.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ufal.udpipe import Model, Pipeline

from gest_dataset.gender.grammar import LANGUAGES, load_grammar
from gest_dataset.gender.parsers import conllu
from gest_dataset.gender.parsing import to_latin

HERE = Path(__file__).resolve().parent
PARSES = HERE / "parses"
UNREAD = (2, 4, 8)  # lemma, XPOS, DEPS


def labelled(language: str) -> list[dict[str, str]]:
    """All labelled sentences of a language: LANGUAGE.jsonl, unseen_LANGUAGE.jsonl, speech/LANGUAGE.jsonl."""
    paths = sorted(path for path in HERE.glob("**/*.jsonl") if _language(path) == language)
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def _language(path: Path) -> str:
    return path.stem.removeprefix("unseen_").partition("-")[0]


def unseen(language: str) -> list[dict[str, str]]:
    """The sentences of LANGUAGE.tsv in unseen (set A), unseen_b, unseen_c and further."""
    rows: list[dict[str, str]] = []
    for folder in ("unseen", "unseen_b", "unseen_c", "further"):
        path = HERE / folder / f"{language}.tsv"
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                rows += csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return rows


def texts(language: str) -> list[str]:
    """All texts to parse, in the letters of the parser."""
    marked = [text for example in load_grammar(language).examples.values() for text in example.values()]
    examples = [re.sub(r"[][]", "", text) for text in marked]
    texts = [*(row["text"] for row in [*labelled(language), *unseen(language)]), *examples]
    return list(dict.fromkeys(to_latin(text)[0] if language == "sr" else text for text in texts))


def parse(model: Path, sentences: list[str]) -> Iterator[str]:
    """One paragraph per text."""
    loaded = Model.load(str(model))  # the pipeline does not keep it alive
    pipeline = Pipeline(loaded, "tokenize", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    for text in sentences:
        yield "# newpar\n" + "".join(_trees(pipeline.process(text)))


def _trees(document: str) -> Iterator[str]:
    for block in conllu.blocks(document):
        for _, line in block:
            cells = line.split("\t")
            if line.startswith("# text ="):
                yield f"{line}\n"
            elif len(cells) > 1:
                kept = ("_" if place in UNREAD else cell for place, cell in enumerate(cells))
                yield "\t".join(kept) + "\n"
        yield "\n"


def main(models: Path) -> None:
    PARSES.mkdir(exist_ok=True)
    for language in LANGUAGES:
        model = models / f"{language}.udpipe"
        if model.is_file():
            content = "".join(parse(model, texts(language)))
            (PARSES / f"{language}.conllu").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
