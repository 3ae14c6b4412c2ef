"""Adding a language from a user's files: accepted rows, and the reasons for rejected ones."""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.builders import CONFIGS, pairs
from gest_dataset.builders.words import core_span
from gest_dataset.custom import AddedLanguage, remove_language
from gest_dataset.custom.checks import EMPTY, ENGLISH, GARBLED, SCRIPT, TOO_LONG, find_problem
from gest_dataset.custom.rows import DISAGREE, DUPLICATE, NO_SOURCE, STEREOTYPE, UNKNOWN
from gest_dataset.custom.summary import notes
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import LANGUAGES, Language
from gest_dataset.translation.sentences import gest_sentences
from tests.support.new_language import LANGUAGES as WRITTEN
from tests.support.new_language import translations_file, variants_file, variants_of, write_csv

pytestmark = pytest.mark.usefixtures("mirror", "home")
TIRED = "I was sure of myself on the stage."
HINDI, FEMININE = "मैं थक गया हूँ", "मैं थक गई हूँ"


def rejected(added: AddedLanguage) -> list[tuple[int, str]]:
    with added.report.open(encoding="utf-8", newline="") as file:
        return [(int(row["row"]), row["reason"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("code", WRITTEN)
def test_every_script(code: str, tmp_path: Path) -> None:
    added = gest_dataset.add_language(
        code, translations_file(tmp_path / "t.csv", code), variants_file(tmp_path / "v.csv", code)
    )
    assert [config.name for config in added.configs] == [f"{code}_translations", f"{code}_pairs"]
    assert not rejected(added)
    written = {(s.text_1_0, m, f) for s, m, f in variants_of(code)}
    made = load_dataset("gest", f"{code}_pairs", split="test").to_list()
    assert {(row["source"], row["masculine"], row["feminine"]) for row in made} == written
    spoken = load_dataset("gest", f"{code}_translations", split="test")
    assert spoken.num_rows == len(gest_sentences())
    for row in made:
        for variant in ("masculine", "feminine"):
            start, end = core_span(row[variant], row["word_index"])
            assert row[variant][start:end] == row[f"{variant}_word"]
            assert not unicodedata.category(row[variant][end : end + 1] or " ").startswith("M"), (
                "a sign is cut"
            )
    assert LANGUAGES[code].script == WRITTEN[code].script


def test_facts_of_the_language(tmp_path: Path) -> None:
    added = gest_dataset.add_language("hin", translations_file(tmp_path / "t.csv", "hi"), family="Indo-Aryan")
    assert added.language == Language("hi", "Hindi", "hin", script="Deva", family="Indo-Aryan")
    family = CONFIGS["hi_translations"].family
    assert family.title == "GEST in Hindi"
    assert "Indo-Aryan" in family.description
    again = gest_dataset.add_language("hi", tmp_path / "t.csv")
    assert again.language == added.language, "what is known of it need not be said again"
    with pytest.raises(ConfigError, match="hi already exists"):
        gest_dataset.add_language("hi", tmp_path / "t.csv", name="Hindustani")
    assert CONFIGS["hi_translations"].family == family


TRANSLATIONS = [
    # id, source, translation, stereotype -> reason
    ("gest-0003", "", HINDI, "", None),
    ("3", "", HINDI, "", DUPLICATE),
    ("", TIRED, "मैं और थक गया हूँ", "", DUPLICATE),
    ("", "I slept in forest without a tent.", HINDI, "", None),  # the text of 1.0
    ("", "I’m not in GEST.", HINDI, "", UNKNOWN),
    ("gest-9999", "", HINDI, "", UNKNOWN),
    ("", " ", HINDI, "", NO_SOURCE),
    ("gest-0001", TIRED, HINDI, "", DISAGREE),
    ("", "I carried the piano up the stairs.", " ", "", EMPTY),
    ("", "I carried the piano up the stairs.", "!?", "", EMPTY),
    ("", "I carried the piano up the stairs.", "i CARRIED the piano, up the stairs!", "", ENGLISH),
    ("", "I carried the piano up the stairs.", "Я нёс пианино", "", SCRIPT),
    ("", "I carried the piano up the stairs.", "मैं �क गया", "", GARBLED),
    ("", "I carried the piano up the stairs.", "मैं " * 3000, "", TOO_LONG),
    ("", "I carried  the piano up the stairs. ", HINDI, "5", STEREOTYPE),
    ("", "I carried  the piano up the stairs. ", HINDI, "16", None),
]


def test_every_rejected_row_has_a_reason(tmp_path: Path) -> None:
    rows = [row[:4] for row in TRANSLATIONS]
    path = write_csv(tmp_path / "t.csv", ["id", "source", "translation", "stereotype"], rows)
    added = gest_dataset.add_language("hi", path, report=tmp_path / "why.csv")
    expected = [(number, row[4]) for number, row in enumerate(TRANSLATIONS, start=1) if row[4]]
    assert rejected(added) == expected
    assert added.report == tmp_path / "why.csv"
    read = added.files["t.csv"]
    assert read.reasons == Counter(reason for _, reason in expected)
    assert CONFIGS["hi_translations"].published_rows == 3
    dropped: Counter[str] = Counter()
    loaded = list(CONFIGS["hi_translations"].read({}, dropped))
    assert dropped == read.reasons
    assert {row["source"] for row in loaded} == {
        TIRED,
        "I slept in forest without a tent.",
        "I carried the piano up the stairs.",
    }


@pytest.mark.parametrize(
    ("text", "english", "wrong"),
    [
        ("I went bungee jumping", (), ENGLISH),
        ("Fui I went", (), ENGLISH),
        ("Fui I went mesmo", (), None),  # half of the words are those of the source
        ("She is a model", ("she", "is", "a"), ENGLISH),
        ("Ela is a modelo", ("is", "a"), None),
        ("Батман Bruce", (), SCRIPT),
    ],
)
def test_find_problem(text: str, english: tuple[str, ...], wrong: str | None) -> None:
    assert find_problem(text, "I went bungee-jumping.", "Latn", english) == wrong


def test_rejected_pairs(tmp_path: Path) -> None:
    texts = [
        (HINDI, HINDI, pairs.SAME),
        (HINDI, "मैं थक गई", pairs.WORD_COUNT),
        ("मैं थका आया हूँ", "मैं थकी आई हूँ", pairs.SEVERAL_WORDS),
        ("मैं थका हूँ।", "मैं थका हूँ!", pairs.PUNCTUATION),
        (HINDI, "I am tired", ENGLISH),
        ("", FEMININE, EMPTY),
        (HINDI, FEMININE, None),
    ]
    given = [sentence.text for sentence in gest_sentences()]
    rows = [(given[place], *row[:2]) for place, row in enumerate(texts, start=2)]
    path = write_csv(tmp_path / "v.csv", ["original", "male", "female"], rows)
    added = gest_dataset.add_language("hi", variants=path)
    assert rejected(added) == [(n, row[2]) for n, row in enumerate(texts, start=1) if row[2]]
    (row,) = load_dataset("gest", "hi_pairs", split="test").to_list()
    assert (row["masculine_word"], row["feminine_word"], row["word_index"]) == ("गया", "गई", 2)


def test_first_letter_rule(tmp_path: Path) -> None:
    rows = [(TIRED, "Soy el líder", "Soy la líder")]
    path = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], rows)
    added = gest_dataset.add_language("gl", variants=path)
    assert (added.first_letter, added.other_letters) == (False, 1)
    assert any("words of 1 pairs start with different letters" in note for note in notes(added))
    with pytest.raises(DataError, match=rf"none of its 1 rows is usable.*{pairs.FIRST_LETTER}"):
        gest_dataset.add_language("ast", variants=path, first_letter=True)
    with pytest.raises(DataError, match=pairs.FIRST_LETTER):
        gest_dataset.add_language("szl", variants=path, family="Slavic")


def test_the_upstream_file(mirror: Path, tmp_path: Path) -> None:
    file = mirror / "kinit-sk/gest/data/gender_variants.csv"
    text = pd.read_csv(file)
    text["language"] = text["language"].replace("sk", "szl")
    config = CONFIGS["sk_pairs"]
    dropped: Counter[str] = Counter()
    expected = list(config.read({key: sources.fetch(key) for key in config.sources}, dropped))
    text.to_csv(tmp_path / "gender_variants.csv", index=False)
    added = gest_dataset.add_language("szl", variants=tmp_path / "gender_variants.csv", family="Slavic")
    made = load_dataset("gest", "szl_pairs", split="test").to_list()
    told = [(row["stereotype"], row["source"], row["masculine"], row["feminine"]) for row in made]
    assert sorted(told) == sorted(
        (row["stereotype"], row["source"], row["masculine"], row["feminine"]) for row in expected
    )
    (read,) = added.files.values()
    assert read.other_languages > 0
    assert {reason: number for reason, number in dropped.items() if reason in pairs.RULES} == {
        reason: number for reason, number in read.reasons.items() if reason in pairs.RULES
    }


def test_texts_are_stored_in_normal_form(tmp_path: Path) -> None:
    masculine, feminine = "Hôm nay ông mệt", unicodedata.normalize("NFD", "Hôm nay bà mệt")
    columns = ["source", "masculine", "feminine"]
    path = write_csv(tmp_path / "v.csv", columns, [(TIRED, masculine, feminine)])
    gest_dataset.add_language("vi", variants=path)
    (row,) = load_dataset("gest", "vi_pairs", split="test").to_list()
    assert row["feminine"] == "Hôm nay bà mệt"
    write_csv(path, columns, [(TIRED, masculine, unicodedata.normalize("NFD", masculine))])
    with pytest.raises(DataError, match=pairs.SAME):
        gest_dataset.add_language("vi", variants=path, replace=True)


def test_notes_on_few_pairs(tmp_path: Path) -> None:
    added = gest_dataset.add_language("hi", variants=variants_file(tmp_path / "v.csv", "hi"))
    said = " ".join(notes(added))
    assert "Fewer than 20 sentences have a pair for the stereotypes 1 (2), 2 (2)" in said
    assert "standard deviations of ln r" in said
    path = write_csv(tmp_path / "one.csv", ["source", "male", "female"], [(TIRED, HINDI, FEMININE)])
    one = gest_dataset.add_language("hi", variants=path, replace=True)
    assert "g_s needs all q_i" in " ".join(notes(one))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("notacode", "'notacode' is not a language code"),
        ("zz", "'zz' is not a language code"),
        ("", "is not a language code"),
        ("../hi", "is not a language code"),
        ("Hindi", "Did you mean 'hi'?"),
        ("en", "GEST is in English"),
        ("en-GB", "GEST is in English"),
        ("sk", "sk_translations is built into gest-dataset"),
    ],
)
def test_invalid_codes(code: str, said: str, tmp_path: Path, home: Path) -> None:
    path = translations_file(tmp_path / "t.csv", "hi")
    with pytest.raises(ConfigError) as caught:
        gest_dataset.add_language(code, path)
    assert said in str(caught.value)
    assert not home.exists()


@pytest.mark.parametrize(
    ("columns", "mapping", "message"),
    [
        (["Satz", "Hindi"], {}, "no column for translation, only Satz, Hindi. Use --map COLUMN=translation."),
        (["Satz", "hi"], {}, "no column for source or id"),
        (["translation", "x"], {"translation": "source"}, "no column for translation"),
        (["Satz", "hi"], {"Sotz": "source"}, "there is no column 'Sotz'"),
        (["Satz", "hi"], {"Satz": "quelle"}, "'quelle' is not a field. Use one of source, id"),
        (["Satz", "hi"], {"Satz": "source", "hi": "source"}, "gives source to several columns"),
    ],
)
def test_columns_with_other_names(
    columns: list[str], mapping: dict[str, str], message: str, tmp_path: Path, home: Path
) -> None:
    path = write_csv(tmp_path / "t.csv", columns, [(TIRED, HINDI)])
    with pytest.raises(ConfigError) as caught:
        gest_dataset.add_language("hi", path, columns=mapping)
    assert message in str(caught.value)
    assert not home.exists(), "nothing is stored"
    gest_dataset.add_language("hi", path, columns={columns[0]: "source", columns[1]: "translation"})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"source,translation\n", "has no rows"),
        ("source,translation\nx,ÿþ\n".encode("latin-1"), "line 2: this is not UTF-8"),
        (b"source;translation\na;b\n", "the separator is a semicolon"),
        (b"source,translation\nno such sentence,b\n", f"so nothing was added: 1 {UNKNOWN}"),
        (b"source,translation,language\na,b,fr\n", "has no rows in 'hi', only in other languages"),
    ],
)
def test_files_without_valid_rows(content: bytes, said: str, tmp_path: Path, home: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises((DataError, ConfigError)) as caught:
        gest_dataset.add_language("hi", path)
    assert said in str(caught.value)
    assert not home.exists()
    assert "hi" not in LANGUAGES


def test_adding_again(tmp_path: Path) -> None:
    path = translations_file(tmp_path / "t.csv", "hi")
    (first,) = gest_dataset.add_language("hi", path).configs
    (second,) = gest_dataset.add_language("hi", path).configs
    assert second.custom == first.custom
    write_csv(path, ["source", "translation"], [(TIRED, HINDI)])
    with pytest.raises(ConfigError, match="hi_translations already exists with different rows"):
        gest_dataset.add_language("hi", path)
    gest_dataset.add_language("hi", path, replace=True)
    assert CONFIGS["hi_translations"].published_rows == 1


def test_remove_language(tmp_path: Path) -> None:
    gest_dataset.add_language(
        "hi", translations_file(tmp_path / "t.csv", "hi"), variants_file(tmp_path / "v.csv", "hi")
    )
    assert remove_language("hi") == ["hi_translations", "hi_pairs"]
    assert not {"hi_translations", "hi_pairs"} & CONFIGS.keys()
    assert "hi" not in LANGUAGES
    with pytest.raises(ConfigError, match="No data was added for 'hi'"):
        remove_language("hi")
