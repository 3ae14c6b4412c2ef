"""Every rule on its own examples, every language on labelled sentences.

The parses are UDPipe's and stand beside the sentences (tests/gender/make_parses.py writes them), so
that no model is needed.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from gest_dataset.gender import Detection, detect
from gest_dataset.gender.grammars import GRAMMARS
from gest_dataset.gender.parsers import conllu
from gest_dataset.gender.rules import RULES, TABLE
from gest_dataset.gender.rules.anchors import ANCHORS
from gest_dataset.gender.rules.engine import Example, Rule, decide
from gest_dataset.gender.texts import to_latin
from tests.support.outside import require

ROOT = Path(__file__).resolve().parents[2]
MODELS = "GEST_UDPIPE_MODELS"
PARSES = ROOT / "tests" / "gender" / "parses"
LABELLED = sorted((ROOT / "tests" / "gender").glob("*.jsonl"))
EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.name}-{example.language}")
    for rule in TABLE
    for example in rule.examples
]


def language_of(path: Path) -> str:
    return path.stem.removeprefix("unseen_").partition("-")[0]


def rows_of(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(texts: list[str], language: str) -> list[Detection]:
    """Detect on the parses of the project; Bulgarian by the parser without a model."""
    if language == "bg":
        return detect(texts, "bg", "forms")
    return detect(texts, language, "conllu", PARSES / f"{language}.conllu")


@functools.cache
def documents(language: str) -> dict[str, str]:
    """CoNLL-U of the language's sentences, by text."""
    return conllu.read_file(PARSES / f"{language}.conllu")


def document(text: str, language: str) -> tuple[str, str]:
    """The text in the letters of its parse, and the parse."""
    written = to_latin(text)[0] if language == "sr" else text
    return written, documents(language)[conllu.normal(written)]


def test_rules_are_well_formed() -> None:
    names = [rule.name for rule in TABLE]
    assert len(set(names)) == len(names)
    for rule in TABLE:
        assert rule.anchor in ANCHORS
        assert rule.rank in (1, 2, 3)
        assert rule.examples, f"{rule.name} has no example"
        speaking = {language for language, rules in RULES.items() if rule in rules}
        assert {example.language for example in rule.examples} <= speaking, rule.name


def test_every_anchor_is_asked() -> None:
    assert {rule.anchor for rule in TABLE} == set(ANCHORS)


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_examples(rule: Rule, example: Example) -> None:
    """The rule alone finds the example's gender in the example's words; all rules agree with it."""
    text, tree = document(example.text, example.language)
    sentences = conllu.parse_conllu(tree, text)
    verdict = decide(sentences, [rule], GRAMMARS[example.language])
    words = dict.fromkeys(token.surface.strip(".") for token in verdict.tokens)
    assert (verdict.gender, verdict.rule, tuple(words)) == (example.gender, rule.name, example.evidence)
    verdict = decide(sentences, RULES[example.language], GRAMMARS[example.language])
    assert (verdict.gender, verdict.conflict) == (example.gender, False)


@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.stem)
def test_labelled_sentences(path: Path) -> None:
    """Precision of male and female at least 99 %, recall at least 95 %, on sentences of our own."""
    rows = rows_of(path)
    gold = [row["gender"] for row in rows]
    assert len(rows) >= 40
    assert min(gold.count("male"), gold.count("female")) >= 16
    assert gold.count("unknown") >= 8
    found = run([row["text"] for row in rows], language_of(path))
    said = [
        (row, detection) for row, detection in zip(rows, found, strict=True) if detection.gender != "unknown"
    ]
    right = [row for row, detection in said if row["gender"] == detection.gender]
    wrong = [(row["text"], d.gender, d.rule) for row, d in said if row["gender"] != d.gender]
    missed = [
        row["text"] for row, d in zip(rows, found, strict=True) if d.gender == "unknown" != row["gender"]
    ]
    assert len(right) >= 0.99 * len(said), wrong
    assert len(right) >= 0.95 * (len(rows) - gold.count("unknown")), missed
    assert not any(detection.conflict or detection.problem for detection in found)
    for row, detection in zip(rows, found, strict=True):
        for word, (start, end) in zip(detection.evidence, detection.spans, strict=True):
            assert row["text"][start:end] == word


def test_labelled_sentences_of_every_language() -> None:
    named = {path.stem for path in LABELLED}
    assert {language_of(path) for path in LABELLED} == set(GRAMMARS)
    assert {f"unseen_{language}" for language in GRAMMARS} <= named
    assert "sr-Cyrl" in named


@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.stem)
def test_no_sentence_is_labelled_twice(path: Path) -> None:
    """A sentence that was used to mend the rules may not count as unseen."""
    others = [
        rows_of(other) for other in LABELLED if other != path and language_of(other) == language_of(path)
    ]
    seen = {row["text"] for rows in others for row in rows}
    texts = [row["text"] for row in rows_of(path)]
    assert len(set(texts)) == len(texts)
    assert not seen & set(texts)


def test_reported_speech_is_not_the_speakers() -> None:
    rows = rows_of(ROOT / "tests" / "gender" / "speech" / "sk.jsonl")
    found = run([row["text"] for row in rows], "sk")
    assert [detection.gender for detection in found] == [row["gender"] for row in rows]


def test_serbian_in_both_scripts() -> None:
    """The parser reads Latin letters; evidence is given as it is written."""
    pair = [rows_of(ROOT / "tests" / "gender" / f"{name}.jsonl") for name in ("sr", "sr-Cyrl")]
    latin, cyrillic = (run([row["text"] for row in rows], "sr") for rows in pair)
    assert [to_latin(row["text"])[0] for row in pair[1]] == [row["text"] for row in pair[0]]
    for ours, theirs in zip(latin, cyrillic, strict=True):
        assert (ours.gender, ours.rule) == (theirs.gender, theirs.rule)
        assert tuple(to_latin(word)[0] for word in theirs.evidence) == ours.evidence
        assert not any(word in theirs.evidence for word in ours.evidence)


@pytest.mark.upstream
@pytest.mark.slow
@pytest.mark.parametrize("language", [language for language in GRAMMARS if language != "bg"])
def test_parses_are_the_models(language: str, tmp_path: Path) -> None:
    """The parses in the repository lead where the real model's lead."""
    model = require(MODELS) / f"{language}.udpipe"
    if not model.is_file():
        pytest.skip(f"no UDPipe model {model}")
    texts = [row["text"] for path in LABELLED if language_of(path) == language for row in rows_of(path)]
    assert detect(texts, language, "udpipe", model, cache=tmp_path / "parses") == run(texts, language)
