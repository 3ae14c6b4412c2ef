"""Every rule on its examples, every language on labelled sentences.

The parses are UDPipe's (tests/gender/make_parses.py writes them), so that no model is needed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gest_dataset.gender import Detection, detect
from gest_dataset.gender.grammar import ACCURACY, KINDS, LANGUAGES, load_grammar
from gest_dataset.gender.parsers import conllu
from gest_dataset.gender.parsing import to_latin
from gest_dataset.gender.rules.engine import RULES, decide, rules_for
from tests.support.outside import require

FOLDER = Path(__file__).resolve().parent
MODELS = "GEST_UDPIPE_MODELS"
PARSES = FOLDER / "parses"
LABELLED = sorted(FOLDER.glob("*.jsonl"))
EXAMPLES = [
    pytest.param(language, rule, gender, text, id=f"{language}-{rule}")
    for language in LANGUAGES
    for rule, example in load_grammar(language).examples.items()
    for gender, text in example.items()
]


def language_of(path: Path) -> str:
    return path.stem.removeprefix("unseen_").partition("-")[0]


def rows_of(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(texts: list[str], language: str) -> list[Detection]:
    """Detect with the parses of the repository."""
    return detect(texts, language, "conllu", PARSES / f"{language}.conllu")


def test_every_rule_has_an_example_in_its_languages() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert {rule.kind for rule in RULES} == KINDS
    examples = {language: load_grammar(language).examples for language in LANGUAGES}
    assert set().union(*examples.values()) == set(names)
    for language, rules in examples.items():
        assert rules.keys() <= {rule.name for rule in rules_for(load_grammar(language))}


@pytest.mark.parametrize(("language", "rule", "gender", "text"), EXAMPLES)
def test_examples(language: str, rule: str, gender: str, text: str) -> None:
    """The rule alone finds the marked words and their gender, and all rules agree on the gender."""
    grammar = load_grammar(language)
    plain = re.sub(r"[][]", "", text)
    latin = to_latin(plain)[0] if language == "sr" else plain
    documents = conllu.read_file(PARSES / f"{language}.conllu")
    sentences = conllu.parse_conllu(documents[conllu.normalized(latin)], latin)
    decision = decide(sentences, [one for one in RULES if one.name == rule], grammar)
    words = dict.fromkeys(token.surface.strip(".") for token in decision.tokens)
    assert (decision.gender, decision.rule, list(words)) == (gender, rule, re.findall(r"\[(.+?)\]", text))
    decision = decide(sentences, rules_for(grammar), grammar)
    assert (decision.gender, decision.conflict) == (gender, False)


@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.stem)
def test_labelled_sentences(path: Path) -> None:
    """Precision of male and female at least 99 %, recall at least 95 %."""
    rows = rows_of(path)
    gold = [row["gender"] for row in rows]
    assert min(gold.count("male"), gold.count("female")) >= 16
    assert gold.count("unknown") >= 8
    found = run([row["text"] for row in rows], language_of(path))
    pairs = list(zip(rows, found, strict=True))
    judged = [(row, detection) for row, detection in pairs if detection.gender != "unknown"]
    wrong = [(row["text"], d.gender, d.rule) for row, d in judged if row["gender"] != d.gender]
    right = len(judged) - len(wrong)
    missed = [row["text"] for row, d in pairs if d.gender == "unknown" != row["gender"]]
    assert right >= 0.99 * len(judged), wrong
    assert right >= 0.95 * (len(rows) - gold.count("unknown")), missed
    assert not any(detection.conflict or detection.problem for detection in found)
    for row, detection in pairs:
        for word, (start, end) in zip(detection.evidence, detection.spans, strict=True):
            assert row["text"][start:end] == word


def test_every_language_has_labelled_sentences_of_its_own() -> None:
    """A sentence that was used to improve the rules may not count as unseen."""
    assert {language_of(path) for path in LABELLED} == set(LANGUAGES)
    assert {f"unseen_{language}" for language in ACCURACY} | {"sr-Cyrl"} <= {path.stem for path in LABELLED}
    for language in LANGUAGES:
        texts = [row["text"] for path in LABELLED if language_of(path) == language for row in rows_of(path)]
        assert len(set(texts)) == len(texts)


def test_reported_speech_is_not_the_speakers() -> None:
    rows = rows_of(FOLDER / "speech" / "sk.jsonl")
    found = run([row["text"] for row in rows], "sk")
    assert [detection.gender for detection in found] == [row["gender"] for row in rows]


def test_serbian_in_both_scripts() -> None:
    """The parser reads Latin letters; the evidence is as it is written."""
    pair = [rows_of(FOLDER / f"{name}.jsonl") for name in ("sr", "sr-Cyrl")]
    latin, cyrillic = (run([row["text"] for row in rows], "sr") for rows in pair)
    assert [to_latin(row["text"])[0] for row in pair[1]] == [row["text"] for row in pair[0]]
    for one, other in zip(latin, cyrillic, strict=True):
        assert (one.gender, one.rule) == (other.gender, other.rule)
        assert tuple(to_latin(word)[0] for word in other.evidence) == one.evidence
        assert not any(word in other.evidence for word in one.evidence)


@pytest.mark.upstream
@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_parses_are_those_of_the_models(language: str, tmp_path: Path) -> None:
    model = require(MODELS) / f"{language}.udpipe"
    if not model.is_file():
        pytest.skip(f"no UDPipe model {model}")
    texts = [row["text"] for path in LABELLED if language_of(path) == language for row in rows_of(path)]
    assert detect(texts, language, "udpipe", model, cache=tmp_path / "parses") == run(texts, language)
