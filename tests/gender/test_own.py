"""Rules of a user's own: a file that says what a grammar says, kept with a language and asked like ours."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.builders.pairs import differing_word
from gest_dataset.custom import remove_language
from gest_dataset.custom.language import WRONG_GENDER
from gest_dataset.errors import ConfigError, DataError, OutputError
from gest_dataset.gender import detect, languages, own, write_rules
from gest_dataset.gender.detect import detect_by
from gest_dataset.gender.grammars import GRAMMARS
from gest_dataset.gender.parsers import table
from gest_dataset.gender.rules import RULES, rules_of
from gest_dataset.translation.samples import sentences
from tests.gender.test_rules import PARSES
from tests.support.new_language import write_csv
from tests.support.outside import require

pytestmark = pytest.mark.usefixtures("home", "mirror")
FOLDER = Path(__file__).parent


def labelled(language: str) -> list[dict[str, str]]:
    files = [FOLDER / f"{language}.jsonl", FOLDER / f"unseen_{language}.jsonl"]
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_grammar_that_is_written_and_read_is_the_same(language: str, tmp_path: Path) -> None:
    write_rules(language, tmp_path / "rules.json")
    read = own.read_rules(tmp_path / "rules.json")
    assert read == GRAMMARS[language]
    assert rules_of(read) == RULES[language]


@pytest.mark.parametrize("language", ["sk", "bg"])
def test_rules_of_a_file_find_what_those_of_the_package_find(language: str, tmp_path: Path) -> None:
    """On all labelled sentences: gender, rule, evidence, conflict."""
    write_rules(language, tmp_path / "rules.json")
    own.keep_rules("szl", own.read_rules(tmp_path / "rules.json"))
    assert languages()[-1] == "szl"
    texts = [row["text"] for row in labelled(language)]
    parses = tmp_path / "parses.conllu"  # another name: the file of a language is refused for another one
    parses.write_bytes((PARSES / f"{language}.conllu").read_bytes())
    found = detect(texts, "szl", "conllu", parses)
    assert found == detect(texts, language, "conllu", PARSES / f"{language}.conllu")
    assert sum(one.gender == row["gender"] for one, row in zip(found, labelled(language), strict=True)) > 60


def test_the_same_with_a_real_parser(tmp_path: Path) -> None:
    models = require("GEST_UDPIPE_MODELS")
    write_rules("sk", tmp_path / "rules.json")
    own.keep_rules("szl", own.read_rules(tmp_path / "rules.json"))
    model = tmp_path / "some.udpipe"
    model.write_bytes((models / "sk.udpipe").read_bytes())
    texts = [row["text"] for row in labelled("sk")]
    cache = tmp_path / "parses.sqlite3"
    assert detect(texts, "szl", "udpipe", model, cache=cache) == detect(
        texts, "sk", "udpipe", models / "sk.udpipe", cache=cache
    )


SMALL: dict[str, Any] = {
    "pronouns": ["ja"],
    "auxiliaries": ["som"],
    "forms": {"past": {"male": "l", "female": "la", "upos": ["VERB", "AUX"]}},
}


def test_a_small_grammar_is_enough(tmp_path: Path) -> None:
    """What the rules of the package's languages always have, a user's may lack."""
    (tmp_path / "rules.json").write_text(json.dumps(SMALL), encoding="utf-8")
    own.keep_rules("szl", own.read_rules(tmp_path / "rules.json"))
    parses = tmp_path / "parses.conllu"
    parses.write_bytes((PARSES / "sk.conllu").read_bytes())
    rows = labelled("sk")
    found = detect([row["text"] for row in rows], "szl", "conllu", parses)
    right = [one.gender == row["gender"] for one, row in zip(found, rows, strict=True) if one.rule]
    assert sum(right) > 10
    assert sum(right) >= 0.9 * len(right)


@pytest.mark.parametrize("language", ["ru", "uk", "sk"])
def test_no_kind_of_word_has_to_be_there(language: str) -> None:
    """Conditions of rules ask for persons and past tenses as well."""
    whole = GRAMMARS[language]
    forms = {kind: one for kind, one in whole.forms.items() if kind != "past"}
    words = {k: one for k, one in whole.words.items() if k not in ("person", "known_instrumental")}
    texts = [row["text"] for row in labelled(language)]
    found = detect_by(
        replace(whole, forms=forms, words=words), texts, language, "conllu", PARSES / f"{language}.conllu"
    )
    assert any(one.rule for one in found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pronouns": None}, "pronouns is None, not a list of texts"),
        ({"pronouns": [1]}, "pronouns is [1], not a list of texts"),
        ({"saying": ["a"]}, "saying is ['a'], not a text"),
        ({"saying": "("}, "saying is no regular expression"),
        ({"first": "(?i)am"}, "first is no regular expression"),  # a flag has to stand in front of all
        ({"verbs": []}, "the file has 'verbs', which is none of auxiliaries, certain"),
        ({"forms": []}, "forms is [], not an object"),
        ({"forms": {"future": {}}}, "forms has 'future', which is none of"),
        ({"forms": {"past": {"male": "l"}}}, "forms.past lacks 'female'"),
        ({"forms": {"past": {"male": "l", "female": "la", "tense": 1}}}, "forms.past has 'tense'"),
        ({"forms": {"past": {"male": "[", "female": "la"}}}, "forms.past.male is no regular expression"),
        ({"forms": {"past": {"male": "l", "female": "la", "surface": 1}}}, "surface is 1, not true or false"),
        ({"words": {"agreeing": {"sám": "m"}}}, "words.agreeing.sám is 'm', not male or female"),
        ({"words": {"nonsense": {}}}, "words has 'nonsense', which is none of"),
    ],
)
def test_a_file_that_is_no_grammar(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(SMALL | change), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(said)) as caught:
        own.read_rules(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pronouns": []}', '{"forms": {}}'])
def test_a_file_that_is_no_json_or_no_grammar(content: str, tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text(content)
    with pytest.raises(DataError, match=r"is no JSON|not an object|lacks"):
        own.read_rules(tmp_path / "rules.json")
    with pytest.raises(ConfigError, match="There is no file of rules"):
        own.read_rules(tmp_path / "lost.json")


def test_what_rules_cannot_be_kept_for(tmp_path: Path) -> None:
    write_rules("sk", tmp_path / "rules.json")
    grammar = own.read_rules(tmp_path / "rules.json")
    with pytest.raises(ConfigError, match="gest-dataset has rules for 'sk': leave out --rules"):
        own.keep_rules("sk", grammar)
    own.keep_rules("szl", grammar)
    own.keep_rules("szl", grammar)
    with pytest.raises(ConfigError, match="Other rules for 'szl' were added before"):
        own.keep_rules("szl", GRAMMARS["cs"])
    own.keep_rules("szl", GRAMMARS["cs"], replace=True)
    assert own.grammar_of("szl") == GRAMMARS["cs"]


def test_a_language_with_rules(tmp_path: Path) -> None:
    """The variants' genders are looked at: a pair whose variants stand in each other's place is left out."""
    texts = [(row["text"], row["gender"]) for row in labelled("sk")]
    men, women = ([text for text, gender in texts if gender == wanted] for wanted in ("male", "female"))
    couples = [(m, f) for m in men for f in women if not isinstance(differing_word(m, f), str)]
    assert len(couples) > 5
    given = [sentence.text for sentence in sentences()][2 : 2 + len(couples)]
    rows = [(source, *couple) for source, couple in zip(given, couples, strict=True)]
    rows[1] = (rows[1][0], rows[1][2], rows[1][1])
    variants = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], rows)
    write_rules("sk", tmp_path / "rules.json")
    parses = tmp_path / "parses.conllu"
    parses.write_bytes((PARSES / "sk.conllu").read_bytes())
    added = gest_dataset.add_language(
        "szl",
        variants=variants,
        rules=tmp_path / "rules.json",
        parser="conllu",
        model=parses,
        first_letter=True,
    )
    (read,) = added.files.values()
    assert [(rejected.row, rejected.reason) for rejected in read.rejected] == [(2, WRONG_GENDER)]
    assert added.genders is not None
    assert added.genders.confirmed == len(couples) - 1
    assert detect([couples[0][0]], "szl", "conllu", parses)[0].gender == "male"
    assert remove_language("szl") == ["szl_pairs"]
    assert "szl" not in languages()


def test_masculine_rates_by_rules_of_a_file(tmp_path: Path) -> None:
    """The language is one like others; only how often its rules are wrong nobody has measured."""
    texts = [row["text"] for row in labelled("sk") if row["gender"] in ("male", "female")]
    given = [sentence.text for sentence in sentences()]
    rows = [(source, texts[place]) for place, source in enumerate(dict.fromkeys(given))]
    translations = write_csv(tmp_path / "t.csv", ["source", "translation"], rows)
    write_rules("sk", tmp_path / "rules.json")
    parses = tmp_path / "parses.conllu"
    parses.write_bytes((PARSES / "sk.conllu").read_bytes())
    gest_dataset.add_language("szl", translations, rules=tmp_path / "rules.json")
    run = tmp_path / "run"
    rates = gest_dataset.masculine_rates(
        f"file:{translations}", "szl", parser="conllu", model=parses, output=run
    )
    result = rates.result()
    assert sum(result["n"]) > 20
    assert "f_s_corrected" not in result
    # other rules are another measurement: the run is not replaced under the same name
    own.keep_rules("szl", GRAMMARS["cs"], replace=True)
    other = gest_dataset.masculine_rates(f"file:{translations}", "szl", parser="conllu", model=parses)
    assert rates.metadata["rules"].startswith("sha256:")
    assert other.metadata["rules"] != rates.metadata["rules"]
    assert other.signature != rates.signature
    with pytest.raises(OutputError, match="rules"):
        gest_dataset.masculine_rates(f"file:{translations}", "szl", parser="conllu", model=parses, output=run)
    gest_dataset.report([run], tmp_path / "report.html")
    assert "Silesian" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_rules_that_are_refused_leave_nothing(tmp_path: Path, home: Path) -> None:
    variants = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], [("a", "b", "c")])
    (tmp_path / "rules.json").write_text("{}")
    with pytest.raises(DataError, match="lacks 'forms'"):
        gest_dataset.add_language("szl", variants=variants, rules=tmp_path / "rules.json")
    assert not home.exists()


def test_a_model_without_rules(tmp_path: Path) -> None:
    source = sentences()[2].text
    rows = [(source, "मैं थका", "मैं थकी")]
    variants = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], rows)
    with pytest.raises(ConfigError, match="There are no rules for the language 'hi'; choose one of ru, uk"):
        gest_dataset.add_language("hi", variants=variants, model=tmp_path / "hi.udpipe")


def test_another_language_with_a_published_model_needs_none() -> None:
    with pytest.raises(ConfigError, match=r"No UDPipe model is published for 'hi'.*Give the path"):
        table.open_parser("udpipe", "hi", None)
