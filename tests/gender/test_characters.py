"""The gender of a story's character by verbs, on labelled texts that were written before the rule was run."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from gest_dataset.gender.detect import GenderDetector
from gest_dataset.probes.pronouns import FIRST_PERSON, NO_PRONOUN, TWO
from tests.support.outside import require

STORIES = Path(__file__).parent / "stories" / "texts.jsonl"
TEXTS = [json.loads(line) for line in STORIES.read_text(encoding="utf-8").splitlines()]
VERBS = yaml.safe_load(STORIES.with_name("verbs.yaml").read_text(encoding="utf-8"))
LANGUAGES = tuple(dict.fromkeys(row["language"] for row in TEXTS))


def test_labelled_texts() -> None:
    """The numbers of the first run."""
    models = require("GEST_UDPIPE_MODELS")
    found: Counter[tuple[str, str]] = Counter()
    for language in LANGUAGES:
        rows = [row for row in TEXTS if row["language"] == language]
        detector = GenderDetector(language, model=models / f"{language}.udpipe")
        told = detector.characters([row["text"] for row in rows])
        found.update((row["gender"], one.value) for row, one in zip(rows, told, strict=True))
    assert len(LANGUAGES) == 10
    assert found == {
        **{("male", "male"): 17, ("male", "unknown"): 3},
        **{("female", "female"): 19, ("female", "unknown"): 1},
        **{("unknown", "unknown"): 24, ("unknown", "male"): 2, ("unknown", "female"): 4},
    }


# A word a line, as UDPipe gives it: number, word, its kind, gender, head, relation
def conllu(path: Path, *sentences: tuple[str, str]) -> Path:
    """Parses of our own making: `word/UPOS/Gender/head/relation`, blank features for none."""
    blocks = []
    for text, words in sentences:
        lines = [f"# text = {text}"]
        for number, entry in enumerate(words.split(), start=1):
            word, upos, gender, head, relation = entry.split("/")
            feats = f"Gender={gender}|Number=Sing" if gender else "_"
            if upos == "VERB":
                feats += "|Tense=Past|VerbForm=Part"
            lines.append("\t".join([str(number), word, word, upos, "_", feats, head, relation, "_", "_"]))
        blocks.append("\n".join(lines) + "\n")
    path.write_text("\n".join(blocks) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("text", "words", "gender", "evidence"), VERBS)
def test_whose_verb_it_is(text: str, words: str, gender: str, evidence: list[str], tmp_path: Path) -> None:
    parses = conllu(tmp_path / "parses.conllu", (text, words))
    (found,) = GenderDetector("sk", "conllu", parses).characters([text])
    assert (found.value, list(found.evidence)) == (gender, evidence)


def test_the_reasons(tmp_path: Path) -> None:
    parses = conllu(
        tmp_path / "parses.conllu",
        ("Spal som", "Spal/VERB/Masc/0/root som/AUX//1/aux"),
        ("Prší", "Prší/ADV//0/root"),
        ("Eva spala Ivan spal", "Eva/PROPN/Fem/2/nsubj spala/VERB/Fem/0/root Ivan/PROPN/Masc/4/nsubj "
         "spal/VERB/Masc/2/parataxis"),
    )  # fmt: skip
    detector = GenderDetector("sk", "conllu", parses)
    found = detector.characters(["Spal som", "Prší", "Eva spala Ivan spal", ""])
    assert [one.problem for one in found] == [FIRST_PERSON, NO_PRONOUN, TWO, "empty"]


def test_what_is_quoted_does_not_count(tmp_path: Path) -> None:
    text = "Eva spala „Ivan spal“"
    words = (
        "Eva/PROPN/Fem/2/nsubj spala/VERB/Fem/0/root „/PUNCT//2/punct Ivan/PROPN/Masc/5/nsubj "
        "spal/VERB/Masc/2/parataxis “/PUNCT//5/punct"
    )
    (found,) = GenderDetector("sk", "conllu", conllu(tmp_path / "parses.conllu", (text, words))).characters(
        [text]
    )
    assert (found.value, found.evidence) == ("female", ("spala 1",))
