"""A new language from a user's files: what is kept, and why each other row is not."""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset import languages
from gest_dataset.builders import CONFIGS, pairs
from gest_dataset.builders.words import core_span
from gest_dataset.custom import Addition, remove_language
from gest_dataset.custom.checks import EMPTY, ENGLISH, GARBLED, SCRIPT, TOO_LONG, problem
from gest_dataset.custom.reading import ANOTHER, DOUBLED
from gest_dataset.custom.sentences import DISAGREE, NO_SOURCE, STEREOTYPE, UNKNOWN
from gest_dataset.custom.told import notes
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import LANGUAGES, Language
from gest_dataset.translation.samples import sentences
from tests.support.new_language import LANGUAGES as WRITTEN
from tests.support.new_language import translations_file, variants_file, variants_of, write_csv

pytestmark = pytest.mark.usefixtures("mirror", "home")
TIRED = "I was sure of myself on the stage."
HINDI, FEMININE = "मैं थक गया हूँ", "मैं थक गई हूँ"


def left_out(added: Addition) -> list[tuple[int, str]]:
    with added.report.open(encoding="utf-8", newline="") as file:
        return [(int(row["row"]), row["reason"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("code", WRITTEN)
def test_every_script(code: str, tmp_path: Path) -> None:
    """From two files to two configs: nothing is lost of letters with marks, nor of what runs to the left."""
    added = gest_dataset.add_language(
        code, translations_file(tmp_path / "t.csv", code), variants_file(tmp_path / "v.csv", code)
    )
    assert [config.name for config in added.configs] == [f"{code}_translations", f"{code}_pairs"]
    assert not left_out(added)
    written = {(s.text_1_0, m, f) for s, m, f in variants_of(code)}
    made = load_dataset("gest", f"{code}_pairs", split="test").to_list()
    assert {(row["source"], row["masculine"], row["feminine"]) for row in made} == written
    spoken = load_dataset("gest", f"{code}_translations", split="test")
    assert spoken.num_rows == len(sentences())
    for row in made:
        for variant in ("masculine", "feminine"):
            start, end = core_span(row[variant], row["word_index"])
            assert row[variant][start:end] == row[f"{variant}_word"]
            assert not unicodedata.category(row[variant][end : end + 1] or " ").startswith("M"), (
                "a sign is cut"
            )
    assert LANGUAGES[code].script == WRITTEN[code].script


def test_what_a_language_is(tmp_path: Path) -> None:
    added = gest_dataset.add_language("hin", translations_file(tmp_path / "t.csv", "hi"), family="Indo-Aryan")
    assert added.language == Language("hi", "Hindi", "hin", script="Deva", family="Indo-Aryan")
    family = CONFIGS["hi_translations"].family
    assert family.title == "GEST in Hindi"
    assert "Indo-Aryan" in family.description
    again = gest_dataset.add_language("hi", tmp_path / "t.csv")
    assert again.language == added.language, "what is known of it need not be said again"
    with pytest.raises(ConfigError, match="was added with other facts"):
        gest_dataset.add_language("hi", tmp_path / "t.csv", name="Hindustani")
    assert CONFIGS["hi_translations"].family == family


TRANSLATIONS = [
    # id, source, translation, stereotype -> reason
    ("gest-0003", "", HINDI, "", None),
    ("3", "", HINDI, "", DOUBLED),
    ("", TIRED, "मैं और थक गया हूँ", "", ANOTHER),
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


def test_every_row_that_is_left_out_has_its_reason(tmp_path: Path) -> None:
    rows = [row[:4] for row in TRANSLATIONS]
    path = write_csv(tmp_path / "t.csv", ["id", "source", "translation", "stereotype"], rows)
    added = gest_dataset.add_language("hi", path, report=tmp_path / "why.csv")
    expected = [(number, row[4]) for number, row in enumerate(TRANSLATIONS, start=1) if row[4]]
    assert left_out(added) == expected
    assert added.report == tmp_path / "why.csv"
    read = added.files["t.csv"]
    assert read.kept_rows == 3
    assert read.rejected.counts == Counter(reason for _, reason in expected)
    assert CONFIGS["hi_translations"].published_rows == 3
    dropped: Counter[str] = Counter()
    loaded = list(CONFIGS["hi_translations"].read({}, dropped))
    assert dropped == read.rejected.counts
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
def test_how_much_english_is_too_much(text: str, english: tuple[str, ...], wrong: str | None) -> None:
    assert problem(text, "I went bungee-jumping.", "Latn", english) == wrong


def test_pairs_that_are_none(tmp_path: Path) -> None:
    texts = [
        (HINDI, HINDI, pairs.SAME),
        (HINDI, "मैं थक गई", pairs.WORD_COUNT),
        ("मैं थका आया हूँ", "मैं थकी आई हूँ", pairs.SEVERAL_WORDS),
        ("मैं थका हूँ।", "मैं थका हूँ!", pairs.PUNCTUATION),
        (HINDI, "I am tired", ENGLISH),
        ("", FEMININE, EMPTY),
        (HINDI, FEMININE, None),
    ]
    given = [sentence.text for sentence in sentences()]
    rows = [(given[place], *row[:2]) for place, row in enumerate(texts, start=2)]
    path = write_csv(tmp_path / "v.csv", ["original", "male", "female"], rows)
    added = gest_dataset.add_language("hi", variants=path)
    assert left_out(added) == [(n, row[2]) for n, row in enumerate(texts, start=1) if row[2]]
    (row,) = load_dataset("gest", "hi_pairs", split="test").to_list()
    assert (row["masculine_word"], row["feminine_word"], row["word_index"]) == ("गया", "गई", 2)


def test_the_rule_of_the_first_letter(tmp_path: Path) -> None:
    """On for Slavic languages, whose endings show the gender; off where it may be an article."""
    rows = [(TIRED, "Soy el líder", "Soy la líder")]
    path = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], rows)
    added = gest_dataset.add_language("gl", variants=path)
    assert (added.first_letter, added.other_letters) == (False, 1)
    assert any("words of 1 pairs begin with different letters" in note for note in notes(added))
    with pytest.raises(DataError, match=rf"not one of its 1 rows stands.*{pairs.FIRST_LETTER}"):
        gest_dataset.add_language("ast", variants=path, first_letter=True)
    with pytest.raises(DataError, match=pairs.FIRST_LETTER):
        gest_dataset.add_language("szl", variants=path, family="Slavic")


def test_the_upstream_file_as_it_is(mirror: Path, tmp_path: Path) -> None:
    """Its columns map by themselves, other languages are passed over; the rules are those of `*_pairs`."""
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
    assert read.others > 0
    assert {reason: number for reason, number in dropped.items() if reason in pairs.RULES} == {
        reason: number for reason, number in read.rejected.counts.items() if reason in pairs.RULES
    }


def test_two_ways_to_write_the_same_signs(tmp_path: Path) -> None:
    """A text in NFD is the same text; it is kept in NFC, and that is told."""
    rows = []
    for place, (sentence, masculine, feminine) in enumerate(variants_of("vi")[:20]):
        form = "NFD" if place % 2 else "NFC"
        rows.append((sentence.text, masculine, unicodedata.normalize(form, feminine)))
    path = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine"], rows)
    added = gest_dataset.add_language("vi", variants=path)
    (read,) = added.files.values()
    half = 10
    assert (read.composed, read.unlike) == (half, half)
    for row in load_dataset("gest", "vi_pairs", split="test"):
        assert unicodedata.is_normalized("NFC", row["feminine"])
    assert any(f"{half} rows were not in Unicode's form NFC" in note for note in notes(added))
    same = [(TIRED, "Hôm nay tôi mệt", unicodedata.normalize("NFD", "Hôm nay tôi mệt"))]
    write_csv(path, ["source", "masculine", "feminine"], same)
    with pytest.raises(DataError, match=pairs.SAME):
        gest_dataset.add_language("vi", variants=path, replace=True)


def test_systems(tmp_path: Path) -> None:
    rows = [(TIRED, HINDI, FEMININE, system) for system in ("google", "nllb", "google")]
    path = write_csv(tmp_path / "v.csv", ["source", "masculine", "feminine", "translator"], rows)
    added = gest_dataset.add_language("hi", variants=path)
    (row,) = load_dataset("gest", "hi_pairs", split="test").to_list()
    assert row["systems"] == ["google", "nllb"]
    assert sorted(left_out(added)) == [(2, pairs.MERGED), (3, DOUBLED)]
    many = [(TIRED, HINDI, FEMININE, f"system {number}") for number in range(101)]
    write_csv(path, ["source", "masculine", "feminine", "translator"], many)
    with pytest.raises(DataError, match=r"row 101: more than 100 systems: is 'translator' the translator\?"):
        gest_dataset.add_language("hi", variants=path, replace=True)


def test_thai_is_told_of(tmp_path: Path) -> None:
    added = gest_dataset.add_language("th", variants=variants_file(tmp_path / "v.csv", "th"))
    assert any("written without spaces between words" in note for note in notes(added))


def test_few_pairs_are_told_of_and_kept(tmp_path: Path) -> None:
    added = gest_dataset.add_language("hi", variants=variants_file(tmp_path / "v.csv", "hi"))
    said = " ".join(notes(added))
    assert "Fewer than 20 sentences with a pair have stereotypes 1 (2), 2 (2)" in said
    assert "standard deviations of ln r" in said
    path = write_csv(tmp_path / "one.csv", ["source", "male", "female"], [(TIRED, HINDI, FEMININE)])
    one = gest_dataset.add_language("hi", variants=path, replace=True)
    assert "without all q_i there is no g_s" in " ".join(notes(one))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("notacode", "'notacode' is no code of a language"),
        ("zz", "'zz' is no code of a language"),
        ("", "is no code of a language"),
        ("../hi", "is no code of a language"),
        ("Hindi", "Hindi is hi."),
        ("en", "GEST is in English"),
        ("en-GB", "GEST is in English"),
        ("sk", "sk_translations is a name that gest-dataset has itself"),
    ],
)
def test_a_code_that_cannot_be_added(code: str, said: str, tmp_path: Path, home: Path) -> None:
    path = translations_file(tmp_path / "t.csv", "hi")
    with pytest.raises(ConfigError) as caught:
        gest_dataset.add_language(code, path)
    assert said in str(caught.value)
    assert not home.exists()


@pytest.mark.parametrize(
    ("columns", "own", "said"),
    [
        (
            ["Satz", "Hindi"],
            {},
            "no column for translation: looked for translation, to, target, translated; there are Satz, "
            "Hindi. Say which it is with --map COLUMN=translation.",
        ),
        (["Satz", "hi"], {}, "no column for source or id: looked for source, original, from"),
        (["translation", "x"], {"translation": "source"}, "no column for translation"),
        (["Satz", "hi"], {"Sotz": "source"}, "there is no column 'Sotz'. t.csv has Satz, hi"),
        (["Satz", "hi"], {"Satz": "quelle"}, "'quelle' is no field: use one of source, id"),
        (["Satz", "hi"], {"Satz": "source", "hi": "source"}, "gives source to several columns"),
    ],
)
def test_columns_with_other_names(
    columns: list[str], own: dict[str, str], said: str, tmp_path: Path, home: Path
) -> None:
    path = write_csv(tmp_path / "t.csv", columns, [(TIRED, HINDI)])
    with pytest.raises(ConfigError) as caught:
        gest_dataset.add_language("hi", path, columns=own)
    assert said in str(caught.value)
    assert not home.exists(), "nothing is written where all of it is refused"
    gest_dataset.add_language("hi", path, columns={columns[0]: "source", columns[1]: "translation"})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty: it names no columns"),
        (b"source,translation\n", "has no rows, only the names of its columns"),
        ("source,translation\nx,ÿþ\n".encode("latin-1"), "line 2: this is not UTF-8"),
        ("source,translation\na,b\n".encode("utf-16"), "line 1: this is not UTF-8"),
        (b"source;translation\na;b\n", "the separator is a semicolon, not a comma"),
        (b"source,translation\nno such sentence,b\n", f"so nothing is added: 1 {UNKNOWN} (first: row 1)"),
        (b"source,translation,language\na,b,fr\n", "has no row of 'hi', only of other languages"),
    ],
)
def test_a_file_of_which_nothing_stands(content: bytes, said: str, tmp_path: Path, home: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises((DataError, ConfigError)) as caught:
        gest_dataset.add_language("hi", path)
    assert said in str(caught.value)
    assert not home.exists()
    assert "hi" not in LANGUAGES


def test_one_file_that_is_refused_refuses_both(tmp_path: Path, home: Path) -> None:
    translations = translations_file(tmp_path / "t.csv", "hi")
    variants = write_csv(tmp_path / "v.csv", ["source", "male", "female"], [(TIRED, HINDI, HINDI)])
    with pytest.raises(DataError, match="so nothing is added"):
        gest_dataset.add_language("hi", translations, variants)
    assert not home.exists()


def test_a_language_twice(tmp_path: Path) -> None:
    path = translations_file(tmp_path / "t.csv", "hi")
    (first,) = gest_dataset.add_language("hi", path).configs
    (second,) = gest_dataset.add_language("hi", path).configs
    assert second.added == first.added
    write_csv(path, ["source", "translation"], [(TIRED, HINDI)])
    with pytest.raises(
        ConfigError, match=r"hi_translations was added before, and is another one\. Replace it"
    ):
        gest_dataset.add_language("hi", path)
    gest_dataset.add_language("hi", path, replace=True)
    assert CONFIGS["hi_translations"].published_rows == 1


def test_a_language_does_not_stay_without_its_configs(tmp_path: Path) -> None:
    path = translations_file(tmp_path / "t.csv", "hi")
    gest_dataset.add_language("hi", path)
    languages.remove("hi")  # as where somebody has removed its folder
    write_csv(path, ["source", "translation"], [(TIRED, HINDI)])
    with pytest.raises(ConfigError, match="was added before"):
        gest_dataset.add_language("hi", path)
    assert "hi" not in LANGUAGES


def test_bulgarian_gets_pairs_only(tmp_path: Path) -> None:
    """Its translations are there in part already."""
    rows = [(TIRED, "Бях сигурен в себе си.", "Бях сигурна в себе си.")]
    path = write_csv(tmp_path / "v.csv", ["source", "male", "female"], rows)
    added = gest_dataset.add_language("bg", variants=path)
    assert [config.name for config in added.configs] == ["bg_pairs"]
    assert added.first_letter
    assert remove_language("bg") == ["bg_pairs"]
    assert "bg" in LANGUAGES


def test_removed(tmp_path: Path) -> None:
    gest_dataset.add_language(
        "hi", translations_file(tmp_path / "t.csv", "hi"), variants_file(tmp_path / "v.csv", "hi")
    )
    assert remove_language("hi") == ["hi_translations", "hi_pairs"]
    assert not {"hi_translations", "hi_pairs"} & CONFIGS.keys()
    assert "hi" not in LANGUAGES
    with pytest.raises(ConfigError, match="Nothing of a language 'hi' was added"):
        remove_language("hi")


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet"])
def test_tables_of_every_kind(kind: str, tmp_path: Path) -> None:
    frame = pd.read_csv(translations_file(tmp_path / "t.csv", "ar"))
    path = tmp_path / f"t.{kind}"
    write = {
        "tsv": lambda: frame.to_csv(path, sep="\t", index=False),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True, force_ascii=False),
        "parquet": lambda: frame.to_parquet(path),
    }
    write[kind]()
    assert gest_dataset.add_language("ar", path).configs[0].published_rows == len(frame)
