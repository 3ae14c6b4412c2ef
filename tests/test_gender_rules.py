"""Every rule on its own examples, every language on labelled sentences, with the real parser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gest_dataset.gender import Detection, detect
from gest_dataset.gender.anchors import ANCHORS
from gest_dataset.gender.engine import Example, Rule, decide
from gest_dataset.gender.rules import GRAMMARS, RULES
from gest_dataset.gender.rules.east import RULES as EAST
from gest_dataset.gender.rules.south import RULES as SOUTH
from gest_dataset.gender.rules.west import RULES as WEST

# issue 5 is not finished: by request only
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT.parent / "shared" / "models" / "udpipe"
LABELLED = sorted((ROOT / "tests" / "gender").glob("*.jsonl"))
FAMILIES = {"west": WEST, "south": SOUTH, "east": EAST}
EXAMPLES = [
    pytest.param(rule, example, id=f"{family}-{rule.name}-{example.language}")
    for family, rules in FAMILIES.items()
    for rule in rules
    for example in rule.examples
]


def run(texts: list[str], language: str, cache: Path) -> list[Detection]:
    """Detect with the UDPipe model of the language; Bulgarian has none here, and its own parser."""
    if language == "bg":
        return detect(texts, "bg", "forms")
    model = MODELS / f"{language}.udpipe"
    if not model.is_file():
        pytest.skip(f"no UDPipe model {model}")
    return detect(texts, language, "udpipe", model, cache=cache)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parses") / "parses.sqlite3"


def test_rules_are_well_formed() -> None:
    for family, rules in FAMILIES.items():
        names = [rule.name for rule in rules]
        assert len(set(names)) == len(names), family
        languages = [language for language, found in RULES.items() if found is rules]
        for rule in rules:
            assert rule.anchor in ANCHORS
            assert rule.rank in (1, 2)
            assert rule.examples, f"{family}: {rule.name} has no example"
            kinds = [GRAMMARS[language] for language in languages]
            assert any(rule.word in grammar.forms or rule.word in grammar.words for grammar in kinds)


@pytest.mark.upstream
@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_examples(rule: Rule, example: Example, cache: Path) -> None:
    """The rule alone finds the example's gender in the example's words; all rules agree with it."""
    from gest_dataset.gender import conllu
    from gest_dataset.gender.detect import _parse

    found = run([example.text], example.language, cache)[0]
    assert (found.gender, found.conflict) == (example.gender, False)
    model = None if example.language == "bg" else MODELS / f"{example.language}.udpipe"
    parser = "forms" if example.language == "bg" else "udpipe"
    document = _parse([example.text], example.language, parser, model, cache)[example.text]
    verdict = decide(conllu.read(document, example.text), [rule], GRAMMARS[example.language])
    words = dict.fromkeys(token.surface.strip(".") for token in verdict.tokens)
    assert (verdict.gender, verdict.rule, tuple(words)) == (example.gender, rule.name, example.evidence)


@pytest.mark.upstream
@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.stem)
def test_labelled_sentences(path: Path, cache: Path) -> None:
    """Precision of male and female at least 99 %, recall at least 95 %, on sentences of our own."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    gold = [row["gender"] for row in rows]
    assert len(rows) >= 40
    assert min(gold.count("male"), gold.count("female")) >= 16
    assert gold.count("unknown") >= 8
    found = run([row["text"] for row in rows], path.stem.partition("-")[0], cache)
    said = [
        (row, detection) for row, detection in zip(rows, found, strict=True) if detection.gender != "unknown"
    ]
    right = [row for row, detection in said if row["gender"] == detection.gender]
    wrong = [(row["text"], d.gender, d.rule) for row, d in said if row["gender"] != d.gender]
    assert len(right) >= 0.99 * len(said), wrong
    assert len(right) >= 0.95 * (len(rows) - gold.count("unknown")), len(right)
    assert not any(detection.conflict for detection in found)
    for row, detection in zip(rows, found, strict=True):
        for word, (start, end) in zip(detection.evidence, detection.spans, strict=True):
            assert row["text"][start:end] == word


def test_labelled_sentences_of_every_language() -> None:
    assert {path.stem.partition("-")[0] for path in LABELLED} == set(GRAMMARS)
    assert (ROOT / "tests" / "gender" / "sr-Cyrl.jsonl") in LABELLED
