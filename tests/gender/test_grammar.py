"""Grammar files: their format, and rules that users add for a language."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

import gest_dataset
from gest_dataset.builders.pairs import differing_word
from gest_dataset.custom import remove_language
from gest_dataset.custom.language import WRONG_GENDER
from gest_dataset.errors import ConfigError, DataError, OutputError
from gest_dataset.gender import detect, languages, write_rules
from gest_dataset.gender.grammar import LANGUAGES, add_rules, load_grammar, read_grammar
from gest_dataset.translation.sentences import gest_sentences
from tests.gender.test_rules import FOLDER, PARSES, rows_of
from tests.support.new_language import write_csv

pytestmark = pytest.mark.usefixtures("home", "mirror")


def labelled(language: str) -> list[dict[str, str]]:
    return [*rows_of(FOLDER / f"{language}.jsonl"), *rows_of(FOLDER / f"unseen_{language}.jsonl")]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    write_rules("sk", tmp_path / "rules.yaml")
    return tmp_path / "rules.yaml"


@pytest.fixture
def parses(tmp_path: Path) -> Path:
    """The Slovak parses under a name that does not state a language."""
    path = tmp_path / "parses.conllu"
    path.write_bytes((PARSES / "sk.conllu").read_bytes())
    return path


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_copy_of_a_grammar_is_the_same(language: str, tmp_path: Path) -> None:
    write_rules(language, tmp_path / "rules.yaml")
    assert read_grammar(tmp_path / "rules.yaml") == load_grammar(language)


def test_added_rules_find_the_same(rules: Path, parses: Path) -> None:
    """On all labelled sentences: gender, rule, evidence, conflict."""
    add_rules("szl", rules)
    assert languages()[-1] == "szl"
    texts = [row["text"] for row in labelled("sk")]
    found = detect(texts, "szl", "conllu", parses)
    assert found == detect(texts, "sk", "conllu", PARSES / "sk.conllu")


def test_a_small_grammar_is_enough(tmp_path: Path, parses: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "pronouns: [ja]\nauxiliaries: [som]\nendings:\n  past: {male: l, female: [la], upos: [VERB, AUX]}\n"
    )
    add_rules("szl", path)
    rows = labelled("sk")
    found = detect([row["text"] for row in rows], "szl", "conllu", parses)
    right = [one.gender == row["gender"] for one, row in zip(found, rows, strict=True) if one.rule]
    assert sum(right) > 10
    assert sum(right) >= 0.9 * len(right)


@pytest.mark.parametrize("language", ["ru", "uk", "sk"])
def test_no_kind_of_word_is_required(language: str) -> None:
    """Anchors look for persons and past tenses as well."""
    grammar = load_grammar(language)
    endings = {kind: one for kind, one in grammar.endings.items() if kind != "past"}
    words = {k: one for k, one in grammar.words.items() if k not in ("person", "listed_instrumental")}
    texts = [row["text"] for row in labelled(language)]
    smaller = replace(grammar, endings=endings, words=words)
    found = detect(texts, language, "conllu", PARSES / f"{language}.conllu", grammar=smaller)
    assert any(one.rule for one in found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pronouns": "ja"}, "pronouns is not a list of words"),
        ({"reporting_verbs": "("}, "reporting_verbs is not a regular expression"),
        ({"verbs": []}, "the file has 'verbs', which is not one of auxiliaries"),
        ({"endings": []}, "endings is not a mapping"),
        ({"endings": {"future": {}}}, "endings has 'future', which is not one of"),
        ({"endings": {"past": {"male": "l", "tense": "1"}}}, "endings.past has 'tense'"),
        ({"endings": {"past": {"male": "["}}}, "male is not a regular expression"),
        ({"words": {"agreeing": {"sám": "m"}}}, "words.agreeing is not a list of words"),
    ],
)
def test_invalid_grammars(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"pronouns": ["ja"], **change}, allow_unicode=True), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        read_grammar(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("content", ["", "{", "[]", "endings: {}"])
def test_a_file_that_is_no_grammar(content: str, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(content)
    with pytest.raises(DataError, match="is not a grammar"):
        read_grammar(tmp_path / "rules.yaml")
    with pytest.raises(DataError, match="No such file"):
        read_grammar(tmp_path / "lost.yaml")


def test_rules_are_replaced_only_on_request(rules: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gest-dataset has rules for 'sk': leave out --rules"):
        add_rules("sk", rules)
    add_rules("szl", rules)
    add_rules("szl", rules)
    write_rules("cs", tmp_path / "other.yaml")
    with pytest.raises(ConfigError, match="'szl' already has different rules"):
        add_rules("szl", tmp_path / "other.yaml")
    add_rules("szl", tmp_path / "other.yaml", replace=True)
    assert load_grammar("szl") == load_grammar("cs")


def test_rules_check_the_variants_of_a_new_language(rules: Path, parses: Path, tmp_path: Path) -> None:
    """A pair whose variants are swapped is rejected."""
    texts = [(row["text"], row["gender"]) for row in labelled("sk")]
    men, women = ([text for text, gender in texts if gender == wanted] for wanted in ("male", "female"))
    couples = [(m, f) for m in men for f in women if not isinstance(differing_word(m, f), str)]
    assert len(couples) > 5
    sources = [sentence.text for sentence in gest_sentences()][2 : 2 + len(couples)]
    rows = [(source, *couple) for source, couple in zip(sources, couples, strict=True)]
    rows[1] = (rows[1][0], rows[1][2], rows[1][1])
    variants = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], rows)
    added = gest_dataset.add_language(
        "szl", variants=variants, rules=rules, parser="conllu", parser_model=parses, first_letter=True
    )
    (read,) = added.files.values()
    assert [(row["row"], row["reason"]) for row in read.rejected] == [(2, WRONG_GENDER)]
    assert added.confirmed == len(couples) - 1
    assert detect([couples[0][0]], "szl", "conllu", parses)[0].gender == "male"
    assert remove_language("szl") == ["szl_pairs"]
    assert "szl" not in languages()


def test_masculine_rates_by_added_rules(rules: Path, parses: Path, tmp_path: Path) -> None:
    """Other rules are another measurement, and nobody has measured their accuracy."""
    texts = [row["text"] for row in labelled("sk") if row["gender"] in ("male", "female")]
    sources = dict.fromkeys(sentence.text for sentence in gest_sentences())
    rows = [(source, texts[place]) for place, source in enumerate(sources)]
    translations = write_csv(tmp_path / "t.csv", ["source", "translation"], rows)
    gest_dataset.add_language("szl", translations, rules=rules)
    arguments: dict[str, Any] = {"parser": "conllu", "parser_model": parses}
    run = tmp_path / "run"
    rates = gest_dataset.masculine_rates(f"file:{translations}", "szl", **arguments, output=run)
    assert sum(rates.result()["n"]) > 20
    assert "f_s_detector_lowest" not in rates.result()
    write_rules("cs", tmp_path / "other.yaml")
    add_rules("szl", tmp_path / "other.yaml", replace=True)
    other = gest_dataset.masculine_rates(f"file:{translations}", "szl", **arguments)
    assert rates.metadata["rules"].startswith("sha256:")
    assert other.metadata["rules"] != rates.metadata["rules"]
    with pytest.raises(OutputError, match="rules"):
        gest_dataset.masculine_rates(f"file:{translations}", "szl", **arguments, output=run)


def test_invalid_rules_add_nothing(tmp_path: Path, home: Path) -> None:
    variants = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], [("a", "b", "c")])
    (tmp_path / "rules.yaml").write_text("endings: {}")
    with pytest.raises(DataError, match=r"is not a grammar: .*pronouns"):
        gest_dataset.add_language("szl", variants=variants, rules=tmp_path / "rules.yaml")
    assert not home.exists()


def test_a_model_without_rules(tmp_path: Path) -> None:
    rows = [(gest_sentences()[2].text, "मैं थका", "मैं थकी")]
    variants = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], rows)
    with pytest.raises(ConfigError, match="There are no gender rules for 'hi'; choose one of be, bg"):
        gest_dataset.add_language("hi", variants=variants, parser_model=tmp_path / "hi.udpipe")
