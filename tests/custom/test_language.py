"""Adding a language from a user's files: accepted rows, and the reasons for rejected ones."""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from datasets import concatenate_datasets, load_dataset

import gest_dataset
from gest_dataset.builders import CONFIGS, pairs
from gest_dataset.builders.words import core_span
from gest_dataset.custom import AddedLanguage, language, remove_language
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, DataError, ScoringError
from gest_dataset.gender import parsing, write_rules
from gest_dataset.languages import LANGUAGES, Language
from gest_dataset.translation.sentences import gest_sentences
from tests.support import zoo
from tests.support.new_language import LANGUAGES as WRITTEN
from tests.support.new_language import translations_file, variants_file, variants_of, write_csv

pytestmark = pytest.mark.usefixtures("mirror", "home")
CASES = yaml.safe_load(Path(__file__).with_name("rows.yaml").read_text(encoding="utf-8"))
TIRED = "I was sure of myself on the stage."
PIANO = "I carried the piano up the stairs."
HINDI, FEMININE = "मैं थक गया हूँ", "मैं थक गई हूँ"
COLUMNS = ["source", "masculine", "feminine"]
REASONS = {**vars(parsing), **vars(language), **vars(pairs)}  # by the name of their constant


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
    assert len(added.files["translations"].rows) == len(gest_sentences())
    written = {(s.text_1_0, m, f) for s, m, f in variants_of(code)}
    made = load_dataset("gest", f"{code}_pairs", split="test").to_list()
    assert {(row["source"], row["masculine"], row["feminine"]) for row in made} == written
    assert load_dataset("gest", f"{code}_translations", split="test").num_rows == len(gest_sentences())
    for row in made:
        for variant in ("masculine", "feminine"):
            start, end = core_span(row[variant], row["word_index"])
            assert row[variant][start:end] == row[f"{variant}_word"]
            following = row[variant][end : end + 1] or " "
            assert not unicodedata.category(following).startswith("M"), "a sign is cut"
    assert LANGUAGES[code].script == WRITTEN[code].script
    for kind in ("translations", "pairs"):
        names = [f"{code}_{kind}", f"sk_{kind}"]
        both = concatenate_datasets([load_dataset("gest", name, split="test") for name in names]).to_pandas()
        assert set(both["language"]) == {code, "sk"}
        texts = {s.id: (s.text, s.text_1_0) for s in gest_sentences()}
        assert all(row.source in texts[row.sentence_id] for row in both.itertuples())


def test_a_language_is_added_again_and_removed(tmp_path: Path) -> None:
    path = translations_file(tmp_path / "t.csv", "hi")
    added = gest_dataset.add_language("hin", path, family="Indo-Aryan")
    assert added.language == Language("hi", "Hindi", "hin", script="Deva", family="Indo-Aryan")
    family = CONFIGS["hi_translations"].family
    assert family.title == "GEST in Hindi"
    assert "Indo-Aryan" in family.description
    again = gest_dataset.add_language("hi", path)
    assert again.language == added.language, "what is known of it need not be said again"
    assert again.configs[0].custom == added.configs[0].custom
    with pytest.raises(ConfigError, match="hi already exists"):
        gest_dataset.add_language("hi", path, name="Hindustani")
    write_csv(path, ["source", "translation"], [(TIRED, HINDI)])
    with pytest.raises(ConfigError, match="hi_translations already exists with different rows"):
        gest_dataset.add_language("hi", path)
    gest_dataset.add_language("hi", path, variants_file(tmp_path / "v.csv", "hi"), replace=True)
    assert CONFIGS["hi_translations"].published_rows == 1
    assert remove_language("hi") == ["hi_translations", "hi_pairs"]
    assert not {"hi_translations", "hi_pairs"} & CONFIGS.keys()
    assert "hi" not in LANGUAGES
    with pytest.raises(ConfigError, match="No data was added for 'hi'"):
        remove_language("hi")


def test_every_rejected_row_has_a_reason(tmp_path: Path) -> None:
    table = [*CASES["translations"], ["", PIANO, "मैं " * 3000, "", "TOO_LONG"]]
    path = write_csv(
        tmp_path / "t.csv", ["id", "source", "translation", "stereotype"], [r[:4] for r in table]
    )
    added = gest_dataset.add_language("hi", path, report=tmp_path / "why.csv")
    expected = [(number, REASONS[row[4]]) for number, row in enumerate(table, start=1) if row[4]]
    assert rejected(added) == expected
    assert f'"{language.DISAGREE}",,,I carried  the piano up the stairs. ,5,' in added.report.read_text(
        encoding="utf-8"
    )
    read = added.files["translations"]
    assert read.reasons == Counter(reason for _, reason in expected)
    dropped: Counter[str] = Counter()
    loaded = list(CONFIGS["hi_translations"].read({}, dropped))
    assert dropped == read.reasons
    assert {row["source"] for row in loaded} == {TIRED, "I slept in forest without a tent.", PIANO}


def test_blank_rows_are_no_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"source,translation,note\n,,\n{TIRED},{HINDI},\n\n , ,x\n{PIANO},,\n")
    added = gest_dataset.add_language("hi", tmp_path / "t.csv")
    assert (added.files["translations"].number, added.files["translations"].accepted) == (2, 1)
    assert rejected(added) == [(5, parsing.EMPTY)]


def test_whole_numbers_may_be_floats(tmp_path: Path) -> None:
    """As pandas writes a column of numbers with an empty cell."""
    names = [sentence.id for sentence in gest_sentences() if sentence.text == PIANO]
    numbers = [float(names[0].removeprefix("gest-")), None]
    table = pd.DataFrame(
        {"id": numbers, "source": [None, TIRED], "translation": HINDI, "stereotype": [16, None]}
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    for path in (tmp_path / "t.csv", tmp_path / "t.parquet"):
        added = gest_dataset.add_language("hi", path, replace=True)
        assert {row["source"] for row in added.files["translations"].rows} == {TIRED, PIANO}


def test_accepted_rows(tmp_path: Path) -> None:
    """A row that is merged with the same pair of another system is accepted, a wrong one counts once."""
    masculine, feminine = "Аз бях уморен.", "Аз бях уморена."
    twice = "I liked to decide quickly."  # for two stereotypes
    table = [(TIRED, masculine, feminine, system) for system in ("own", "other")]
    table += [(PIANO, "Бил съм там.", "Била съм там.", "own"), (twice, feminine, masculine, "own")]
    path = write_csv(tmp_path / "v.csv", [*COLUMNS, "system"], table)
    parses: Any = {"parser": "conllu", "parser_model": Path(__file__).with_name("bulgarian.conllu")}
    added = gest_dataset.add_language("bg", variants=path, **parses)
    read = added.files["pairs"]
    assert read.reasons == {pairs.MERGED: 1, language.WRONG_GENDER: 2}
    assert (read.number, read.accepted, len(read.rows)) == (4, 3, 2)
    assert len(repr(added)) < 1500, "the rows and the fields are left out"


def test_different_facts_are_not_different_rows(tmp_path: Path) -> None:
    path = translations_file(tmp_path / "t.csv", "hi")
    gest_dataset.add_language("hi", path)
    with pytest.raises(ConfigError, match=r"different metadata, such as the licence\. Use --replace"):
        gest_dataset.add_language("hi", path, licence="MIT")
    gest_dataset.add_language("hi", path, licence="MIT", replace=True)


def test_a_model_of_another_language_is_refused(tmp_path: Path) -> None:
    """Also for a language that is not added yet."""
    path = write_csv(tmp_path / "v.csv", COLUMNS, [(TIRED, "Bol som tam.", "Bola som tam.")])
    write_rules("sk", tmp_path / "rules.yaml")
    with pytest.raises(ConfigError, match=r"like a Slovak model .* is 'szl'\. Use its model, or rename"):
        gest_dataset.add_language(
            "szl", variants=path, rules=tmp_path / "rules.yaml", parser_model=tmp_path / "sk.udpipe"
        )


@pytest.mark.parametrize(("text", "english", "wrong"), CASES["texts"])
def test_find_problem(text: str, english: list[str], wrong: str | None) -> None:
    reason = REASONS[wrong] if wrong else ""
    assert language.find_problem(text, "I went bungee-jumping.", "Latn", english) == reason


def test_rejected_pairs(tmp_path: Path) -> None:
    given = [sentence.text for sentence in gest_sentences()][2:]
    table = [(given[place], *row[:2]) for place, row in enumerate(CASES["pairs"])]
    path = write_csv(tmp_path / "v.csv", ["original", "male", "female"], table)
    added = gest_dataset.add_language("hi", variants=path)
    assert rejected(added) == [
        (number, REASONS[row[2]]) for number, row in enumerate(CASES["pairs"], start=1) if row[2]
    ]
    (row,) = load_dataset("gest", "hi_pairs", split="test").to_list()
    assert (row["masculine_word"], row["feminine_word"], row["word_index"]) == ("गया", "गई", 2)


def test_several_words(tmp_path: Path) -> None:
    """In Hindi the participle and the auxiliary agree with the speaker."""
    texts = [sentence.text for sentence in gest_sentences()]
    table = [(text, *row[:2]) for text, row in zip(texts[2:], CASES["several"], strict=False)]
    path = write_csv(tmp_path / "v.csv", COLUMNS, table)
    added = gest_dataset.add_language("hi", variants=path)
    assert added.files["pairs"].reasons == {pairs.SEVERAL_WORDS: 4, pairs.WORD_COUNT: 1}
    alone = write_csv(tmp_path / "alone.csv", COLUMNS, table[:2])
    with pytest.raises(DataError, match=r"nothing was added: 2 more than one word differs\. .*--max-words"):
        gest_dataset.add_language("hi", variants=alone, replace=True)
    added = gest_dataset.add_language("hi", variants=path, max_words=2, replace=True)
    assert added.files["pairs"].reasons == {"more than 2 words differ": 1, pairs.WORD_COUNT: 1}
    assert "differ in at most 2 words." in CONFIGS["hi_pairs"].family.description
    made = {row["masculine"]: row for row in load_dataset("gest", "hi_pairs", split="test").to_list()}
    for masculine, _, words in CASES["several"]:
        if words is not None:
            row = made.pop(masculine)
            assert [row["masculine_word"], row["feminine_word"], row["word_index"]] == words
    assert not made


@pytest.mark.usefixtures("one_thread")
def test_several_words_are_scored(tmp_path: Path) -> None:
    """A masked model scores them only as several tokens, other models score the text."""
    texts = [sentence.text for sentence in gest_sentences()]
    table = [(text, *row[:2]) for text, row in zip(texts[2:], CASES["several"], strict=False) if row[2]]
    path = write_csv(tmp_path / "v.csv", COLUMNS, table)
    gest_dataset.add_language("hi", variants=path, max_words=2)
    masked = zoo.load("roberta")
    with pytest.raises(ScoringError, match="tokens"):
        gest_dataset.score(masked, "hi_pairs", device="cpu")
    for model, options in (
        (masked, {"multi_token": True}),
        (zoo.load("llama"), {}),
        (zoo.load("t5-bytes"), {}),
    ):
        scores = gest_dataset.score(model, "hi_pairs", device="cpu", **options)
        assert len(scores.table) == len(table), scores.skipped
        assert np.isfinite(scores.table["log_ratio"].to_numpy()).all()


BULGARIAN = [("Аз бях уморен.", "Аз бях уморена."), ("Бил съм там.", "Била съм там.")]


def test_swapped_columns_are_noticed(tmp_path: Path) -> None:
    """Where the rules know the language and a parser is given."""
    texts = [sentence.text for sentence in gest_sentences()][2:]
    table = [
        (text, feminine, masculine) for text, (masculine, feminine) in zip(texts, BULGARIAN, strict=False)
    ]
    path = write_csv(tmp_path / "v.csv", ["source", "muž", "his wife"], table)
    columns = {"muž": "masculine", "his wife": "feminine"}
    parses: Any = {"parser": "conllu", "parser_model": Path(__file__).with_name("bulgarian.conllu")}
    with pytest.raises(DataError) as raised:
        gest_dataset.add_language("bg", variants=path, columns=columns, **parses)
    assert "in 2 of 2 pairs the rules find the other gender" in str(raised.value)
    assert "use --map 'muž=feminine' --map 'his wife=masculine'." in str(raised.value)
    assert "bg_pairs" not in CONFIGS
    columns = {"muž": "feminine", "his wife": "masculine"}
    assert gest_dataset.add_language("bg", variants=path, columns=columns, **parses).confirmed == 2


def test_first_letter_rule(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "v.csv", COLUMNS, [(TIRED, "Soy el líder", "Soy la líder")])
    assert gest_dataset.add_language("gl", variants=path).configs[0].published_rows == 1
    with pytest.raises(DataError, match=rf"none of its 1 rows is usable.*{pairs.FIRST_LETTER}"):
        gest_dataset.add_language("ast", variants=path, first_letter=True)
    with pytest.raises(DataError, match=pairs.FIRST_LETTER):
        gest_dataset.add_language("szl", variants=path, family="Slavic")


def test_the_upstream_file(mirror: Path, tmp_path: Path) -> None:
    text = pd.read_csv(mirror / "kinit-sk/gest/data/gender_variants.csv")
    text["language"] = text["language"].replace("sk", "szl")
    config = CONFIGS["sk_pairs"]
    dropped: Counter[str] = Counter()
    expected = list(config.read({key: sources.fetch(key) for key in config.sources}, dropped))
    text.to_csv(tmp_path / "gender_variants.csv", index=False)
    added = gest_dataset.add_language("szl", variants=tmp_path / "gender_variants.csv", family="Slavic")
    made = load_dataset("gest", "szl_pairs", split="test").to_list()
    fields = ("stereotype", "source", "masculine", "feminine")
    assert sorted([row[name] for name in fields] for row in made) == sorted(
        [row[name] for name in fields] for row in expected
    )
    (read,) = added.files.values()
    assert read.number < len(text)
    assert {reason: dropped[reason] for reason in pairs.RULES} == {
        reason: read.reasons[reason] for reason in pairs.RULES
    }


def test_texts_are_stored_in_normal_form(tmp_path: Path) -> None:
    masculine, feminine = "Hôm nay ông mệt", unicodedata.normalize("NFD", "Hôm nay bà mệt")
    path = write_csv(tmp_path / "v.csv", COLUMNS, [(TIRED, masculine, feminine)])
    gest_dataset.add_language("vi", variants=path)
    (row,) = load_dataset("gest", "vi_pairs", split="test").to_list()
    assert row["feminine"] == "Hôm nay bà mệt"
    write_csv(path, COLUMNS, [(TIRED, masculine, unicodedata.normalize("NFD", masculine))])
    with pytest.raises(DataError, match=pairs.SAME):
        gest_dataset.add_language("vi", variants=path, replace=True)


@pytest.mark.parametrize(("code", "said"), CASES["codes"].items())
def test_invalid_codes(code: str, said: str, tmp_path: Path, home: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        gest_dataset.add_language(code, translations_file(tmp_path / "t.csv", "hi"))
    assert said in str(caught.value)
    assert not home.exists()


@pytest.mark.parametrize(
    ("columns", "mapping", "message"),
    [
        (["Satz", "Hindi"], {}, "no column for translation, only Satz, Hindi. Use --map COLUMN=translation."),
        (["Satz", "hi"], {}, "no column for source or id"),
        (["translation", "x"], {"translation": "source"}, "no column for translation"),
        (["Satz", "hi"], {"Sotz": "source"}, "no column for source or id"),
        (["Satz", "hi"], {"Satz": "quelle"}, "'quelle' is not a field. Use --map COLUMN=FIELD with one of"),
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
        ("source,translation\n", "has no rows in 'hi'"),
        ("source,translation\nno such sentence,b\n", f"so nothing was added: 1 {language.UNKNOWN}"),
        ("source,translation,language\na,b,fr\n", "has no rows in 'hi'"),
    ],
)
def test_files_without_valid_rows(content: str, said: str, tmp_path: Path, home: Path) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises((DataError, ConfigError)) as caught:
        gest_dataset.add_language("hi", tmp_path / "t.csv")
    assert said in str(caught.value)
    assert not home.exists()
    assert "hi" not in LANGUAGES


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    ("code", "animal"), [("hi", "roberta"), ("ar", "gpt2"), ("bn", "llama"), ("vi", "t5-bytes")]
)
def test_a_new_language_is_scored(code: str, animal: str, tmp_path: Path) -> None:
    """Every pair has a score with real architectures whose vocabularies know the bytes at least."""
    added = gest_dataset.add_language(code, variants=variants_file(tmp_path / "v.csv", code))
    model, tokenizer = zoo.load(animal)
    scores = gest_dataset.score((model, tokenizer), f"{code}_pairs", multi_token=True, device="cpu")
    assert len(scores.table) == added.configs[0].published_rows, scores.skipped
    assert np.isfinite(scores.table["log_ratio"].to_numpy()).all()
