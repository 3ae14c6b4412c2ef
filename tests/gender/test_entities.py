"""The gender of a person in a translation: nouns, alignment, agreement, and labelled translations."""

from __future__ import annotations

import csv
from itertools import permutations
from pathlib import Path

import pytest

from gest_dataset.data.rows import rows_of
from gest_dataset.gender.entities import Persons, align, entity_genders, load_persons, read_gender
from gest_dataset.gender.grammar import LANGUAGES, load_grammar
from gest_dataset.gender.rules.context import Context
from gest_dataset.gender.tokens import Token, Tree
from tests.conftest import ROOT
from tests.support.outside import require

LABELLED = sorted((ROOT / "tests" / "data" / "entity_gender").glob("*.csv"))


@pytest.mark.parametrize(
    ("language", "form", "noun", "gender"),
    [
        ("ru", "продавца", "продавец", "male"),
        ("ru", "учительницей", "учитель", "female"),
        ("ru", "рабочему", "рабочий", ""),  # its ending decides
        ("ru", "судьёй", "судья", "epicene"),
        ("ru", "шеф-повара", "шеф-повар", "male"),
        ("uk", "вчительці", "вчитель", "female"),
        ("uk", "присутнього", "присутній", ""),
        ("uk", "учня", "учн", "male"),
        ("uk", "портьє", "портьє", "male"),
        ("uk", "пані", "пані", "female"),
        ("uk", "керівництва", "", ""),  # not *керівниця*
        ("pl", "nastolatka", "nastolatek", ""),
        ("pl", "świadkiem", "świadek", "male"),
        ("cs", "oběti", "oběti", "unknown"),
        ("sk", "sudkyni", "sudca", "female"),
        ("bg", "лекарката", "лекар", "female"),
        ("sk", "stôl", "", ""),
    ],
)
def test_forms_of_nouns(language: str, form: str, noun: str, gender: str) -> None:
    assert load_persons(language).find(form) == (noun, gender)


def test_every_language_has_the_same_persons() -> None:
    assert len({frozenset(load_persons(language).entries) for language in LANGUAGES}) == 1


def tree(text: str) -> Tree:
    """A tree of `form|part of speech|head|relation|features` for each word."""
    tokens = []
    for number, word in enumerate(text.split(), start=1):
        form, upos, head, relation, feats = [*word.split("|"), "", "", "", ""][:5]
        facts = dict(pair.split("=") for pair in feats.split(",") if pair)
        tokens.append(Token(number, form, upos or "NOUN", facts, int(head or 0), relation, form))
    return Tree(tuple(tokens))


def test_the_aligner_learns_from_other_translations() -> None:
    """No noun is known: that some translations have the other order shows in the other ones only."""
    english, esperanto = (
        "baker nurse guard clerk cook judge",
        "bakisto flegisto gardisto oficisto kuiristo juĝisto",
    )
    names = dict(zip(english.split(), esperanto.split(), strict=True))
    pairs = list(permutations(names, 2))
    sources = [["the", one, "saw", "the", other] for one, other in pairs]
    swapped = pairs[::4]
    orders = [(other, one) if (one, other) in swapped else (one, other) for one, other in pairs]
    trees = [tree(f"{names[first]} vidis|VERB {names[second]}") for first, second in orders]
    found = align(sources, [1] * len(pairs), [one.tokens for one in trees], Persons({}))
    assert [token.form if token else None for token in found] == [names[one] for one, _ in pairs]


def test_a_word_that_is_no_person_is_not_aligned() -> None:
    for text in ("ona|PRON ,|PUNCT", ""):  # the second one is not translated
        assert align([["the", "nurse"]], [1], [tree(text).tokens], Persons({})) == [None]


CASES = {
    "masculine noun": ("lekár|NOUN|2|nsubj|Case=Nom,Gender=Masc prišiel|VERB", "male"),
    "feminine predicate": ("lekár|NOUN|2|nsubj|Case=Nom,Gender=Masc prišla|VERB", "female"),
    "the object of a feminine verb": (
        "lekára|NOUN|2|nsubj|Case=Nom,Gender=Masc videla|VERB sestra|NOUN|2|nsubj|Case=Nom",
        "male",
    ),
    "feminine noun": ("lekárka|NOUN|2|nsubj|Case=Nom,Gender=Fem prišiel|VERB", "female"),
    "attribute before predicate": (
        "náš|DET|2|det|Case=Nom,Gender=Masc lekár|NOUN|3|nsubj|Case=Nom prišla|VERB",
        "female",
    ),
    "title": ("pani|NOUN|2|nmod lekár|NOUN|3|nsubj|Case=Nom,Gender=Masc príde|VERB", "female"),
    "relative pronoun": (
        "lekára|NOUN|0|obj|Gender=Masc ,|PUNCT ktorá|DET|4|nsubj|PronType=Rel,Gender=Fem odišla|VERB|1|acl",
        "female",
    ),
    "neuter noun": ("dieťa|NOUN|2|nsubj|Case=Nom,Gender=Neut prišla|VERB", "neutral"),
    "noun of a fixed gender": ("obeť|NOUN|2|nsubj|Case=Nom,Gender=Fem prišla|VERB", "unknown"),
    "no agreement": ("CEO|X|2|obj čaká|VERB", "unknown"),
    "a pronoun of only one person": (
        "lekár|NOUN|2|nsubj|Gender=Masc videl|VERB CEO|X|2|obj ,|PUNCT lebo|SCONJ spala|VERB",
        "female",
    ),
    "an ambiguous pronoun": (
        "lekárka|NOUN|2|nsubj|Gender=Fem videla|VERB CEO|X|2|obj ,|PUNCT lebo|SCONJ spala|VERB",
        "unknown",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_rules(case: str) -> None:
    text, gender = CASES[case]
    sentence = tree(text)
    persons = load_persons("sk")
    forms = [token for token in sentence.tokens if persons.find(token.form)[0]]
    token = next((t for t in sentence.tokens if t.form == "ceo"), None) or forms[-1 if case == "title" else 0]
    assert read_gender(Context(sentence, token, load_grammar("sk")), persons)[0] == gender


@pytest.mark.parametrize(
    ("form", "gender"), [("чергову", "female"), ("черговій", "female"), ("присутнім", "male")]
)
def test_nouns_declined_like_adjectives(form: str, gender: str) -> None:
    sentence = tree(f"{form}|NOUN|0|obj")
    context = Context(sentence, sentence.tokens[0], load_grammar("uk"))
    assert read_gender(context, load_persons("uk")) == (gender, [])


@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.stem)
def test_labelled_translations(path: Path, tmp_path: Path) -> None:
    """docs/entity-gender.md has the agreement of each language."""
    model = require("GEST_UDPIPE_MODELS") / f"{path.stem}.udpipe"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = ([row[name] for row in rows] for name in ("source", "entity_index", "translation"))
    sources, indices, texts = columns
    found = entity_genders(sources, [*map(int, indices)], texts, path.stem, model=model, cache=tmp_path / "c")
    right = sum(row["gender"] == one.gender for row, one in zip(rows, found, strict=True))
    assert right >= 59, f"{right} of {len(rows)}"
    assert len(rows) == 64


@pytest.mark.slow
@pytest.mark.usefixtures("upstream")
def test_labels_of_native_speakers(upstream: Path, tmp_path: Path) -> None:
    """Of the translations that they labelled with one gender, at least 95 % are read like that."""
    model = require("GEST_UDPIPE_MODELS") / "ru.udpipe"
    sentences = rows_of("winomt").to_pandas().set_index("id")
    made = rows_of("winomt_translations").to_pandas().query("language == 'ru' and system == 'google'")
    indices = sentences.loc[made["sentence_id"], "entity_index"].to_list()
    texts = made["translation"].to_list()
    found = entity_genders(made["source"].to_list(), indices, texts, "ru", model=model, cache=tmp_path / "c")
    genders = dict(zip(made["sentence_id"], found, strict=True))
    folder = upstream / "gabrielStanovsky" / "mt_gender" / "data" / "human_annotations"
    with next(folder.glob("*.csv")).open(encoding="utf-8", newline="") as file:
        labels = {f"winomt-{int(row[0]):04d}": row[4].strip() for row in [*csv.reader(file)][1:]}
    known = {"M": "male", "F": "female", "N": "neutral"}
    right = [genders[name].gender == known[label] for name, label in labels.items() if label in known]
    assert len(right) == 90
    assert sum(right) >= 0.95 * len(right)
