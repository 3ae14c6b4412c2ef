"""The rows of every family of configs on the test mirror, and errors for broken files."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset
from datasets.exceptions import DatasetGenerationError

from gest_dataset.builders import BUILT_IN, CONFIGS, fingerprint, get_config, pairs, select_configs
from gest_dataset.builders.controls import FIELDS, mark_keywords
from gest_dataset.builders.pairs import WordDifference, differing_word
from gest_dataset.builders.winobias import MARKS, NOT_SWAPPED, OUTSIDE, contrast
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import SLAVIC, STEREOSET
from gest_dataset.stereotypes import STEREOTYPES

pytestmark = pytest.mark.usefixtures("mirror")

GEST = "kinit-sk/gest/data"
WINOMT = "gabrielStanovsky/mt_gender"
MTGENEVAL = "amazon-science/machine-translation-gender-eval/data"
METHODOLOGY = "kinit-sk/bias-methodology/data"
Edit = Callable[[str, Callable[[bytes], bytes]], Path]


def read(name: str) -> tuple[list[dict[str, Any]], Counter[str]]:
    config = CONFIGS[name]
    dropped: Counter[str] = Counter()
    rows = list(config.read({key: sources.fetch(key) for key in config.sources}, dropped))
    return rows, dropped


def row_hash(rows: list[dict[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()[:16]


def records(key: str) -> list[dict[str, str]]:
    text = sources.fetch(key).content.decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def replace(old: str, new: str) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode(), 1)

    return change


# GEST ---------------------------------------------------------------------------------------------


def test_sentences_have_their_stereotype() -> None:
    rows, upstream = read("en")[0], records(f"{GEST}/gest_1.1.csv")
    assert [row["sentence"] for row in rows] == [record["sentence"] for record in upstream]
    for number, (row, record) in enumerate(zip(rows, upstream, strict=True)):
        stereotype = STEREOTYPES[int(record["stereotype"])]
        assert row["id"] == f"gest-{number:04d}"
        assert row["stereotype_name"] == stereotype.name
        assert row["gender"] == stereotype.gender
    assert {row["stereotype"] for row in rows} == set(range(1, 17))


def test_the_stereotypes_are_those_of_the_sentences() -> None:
    rows = load_dataset("gest", "stereotypes", split="test").to_pandas().set_index("id")
    sentences = load_dataset("gest", "en", split="test").to_pandas().drop_duplicates("stereotype")
    assert list(rows.index) == list(range(1, 17))
    for _, sentence in sentences.iterrows():
        row = rows.loc[sentence["stereotype"]]
        assert (row["name"], row["gender"]) == (sentence["stereotype_name"], sentence["gender"])
        assert row["definition"].endswith(".")
        assert len(set(row["examples"])) >= 3


def test_annotations() -> None:
    rows, upstream = read("annotations")[0], records(f"{GEST}/annotations.csv")
    for row, record in zip(rows, upstream, strict=True):
        assert record[f"gender_{row['gender_vote']}"] == "x"
        assert record[f"match_{row['match_vote']}"] == "x"
        assert row["verdict"] == (record["final_verdict"] or "none")
        final = row["final_stereotype"]
        assert record["final_stereotype"] == ("" if final is None else f"#{final}")
    assert {row["verdict"] for row in rows} == {"none", "ok", "fix", "no"}


def test_translations_are_joined_by_the_1_0_text() -> None:
    sentences = read("en_1_0")[0]
    rows, dropped = read("sk_translations")
    for system, folder in (("deepl", "deepl"), ("nllb", "nllb_3b")):
        upstream = {r["from"]: r["to"] for r in records(f"{GEST}/translations/{folder}/sk/translations.csv")}
        own = [row for row in rows if row["system"] == system]
        assert [row["source"] for row in own] == [sentence["sentence"] for sentence in sentences]
        assert [row["sentence_id"] for row in own] == [sentence["id"] for sentence in sentences]
        assert {row["language"] for row in own} == {"sk"}
        assert all(row["translation"] == upstream[row["source"]] for row in own)
        assert [row["stereotype"] for row in own] == [s["stereotype"] for s in sentences]
    assert dropped["not a GEST sentence"] > 0


# Pairs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("masculine", "feminine", "verdict"),
    [
        ("Som emotívny.", "Som emotívna.", WordDifference(1, "emotívny", "emotívna")),
        ("„Bol som tam,“ povedal.", "„Bola som tam,“ povedal.", WordDifference(0, "Bol", "Bola")),
        ("Som tu.", "Som tu.", pairs.SAME),
        ("Som tu rád.", "Som rada.", pairs.WORD_COUNT),
        ("Bol som rád.", "Bola som rada.", pairs.SEVERAL_WORDS),
        ("Ja - som tu.", "Ja – som tu.", pairs.PUNCTUATION),
        ("Bol tu, včera.", "Bol tu včera.", pairs.PUNCTUATION),
        ("Šiel som.", "Bola som.", pairs.FIRST_LETTER),
        ("Jsem tady.", "jsem tady.", pairs.FIRST_LETTER),
    ],
)
def test_pair_rules(masculine: str, feminine: str, verdict: WordDifference | str) -> None:
    assert differing_word(masculine, feminine) == verdict


def test_pairs_against_a_naive_implementation() -> None:
    """Naive: each upstream row alone, then grouped by its texts."""
    ids: dict[tuple[str, str], str] = {}
    for number, sentence in enumerate(records(f"{GEST}/gest.csv")):
        ids.setdefault((sentence["sentence"], sentence["stereotype"]), f"gest-{number:04d}")
    for language in ("sk", "be", "sr"):
        expected: dict[tuple[str, ...], set[str]] = {}
        left_out = 0
        own = [r for r in records(f"{GEST}/gender_variants.csv") if r["language"] == language]
        for record in own:
            masculine, feminine = record["male"].split(" "), record["female"].split(" ")
            unequal = [(a, b) for a, b in zip(masculine, feminine, strict=False) if a != b]
            bare = [{word.strip(string.punctuation) for word in words} for words in unequal]
            if (
                len(masculine) != len(feminine)
                or len(unequal) != 1
                or unequal[0][0][0] != unequal[0][1][0]
                or len(bare[0]) == 1
            ):
                left_out += 1
            else:
                key = (record["original"], record["stereotype"], record["male"], record["female"])
                expected.setdefault(key, set()).add(record["translator"])
        rows, dropped = read(f"{language}_pairs")
        found = {(r["source"], str(r["stereotype"]), r["masculine"], r["feminine"]): r for r in rows}
        assert set(found) == set(expected)
        names = {"amazon": "AmazonTranslate", "deepl": "DeepL", "google": "GoogleTranslate", "nllb": "NLLB"}
        for key, row in found.items():
            assert {names[system] for system in row["systems"]} == expected[key]
            assert (row["sentence_id"], row["language"]) == (ids.get(key[:2]), language)
            assert row["stereotype_name"] == STEREOTYPES[row["stereotype"]].name
            words = row["masculine"].split()[row["word_index"]], row["feminine"].split()[row["word_index"]]
            assert row["masculine_word"] in words[0]
            assert row["feminine_word"] in words[1]
        merged = dropped.pop("merged with the same pair")
        assert sum(dropped.values()) == left_out
        assert len(rows) + merged + left_out == len(own)
        assert set(dropped) >= {pairs.SEVERAL_WORDS, pairs.FIRST_LETTER, pairs.SAME}


# StereoSet and its controls -----------------------------------------------------------------------


def test_stereoset_candidates_and_words() -> None:
    for language in STEREOSET:
        for row in read(f"stereoset_{language}_intrasentence")[0]:
            for field in ("stereotype", "antistereotype", "unrelated"):
                sentence = row["context"].replace("BLANK", row[f"{field}_word"])
                assert sentence.casefold() == row[field].casefold()
    odd = next(row for row in read("stereoset_en_intrasentence")[0] if row["context"].endswith("BLANK!p"))
    assert odd["stereotype_word"] == "generous"  # upstream says generousp
    english = {row["id"]: row["target"] for row in read("stereoset_en_intersentence")[0]}
    for row in read("stereoset_fr_intersentence")[0]:
        assert row["target_en"] == english[row["id"]]


def test_ids_of_originals() -> None:
    """Ten drawn controls have that of their sample; sets without copies have their own ids."""
    english = {row["id"]: row["stereotype"] for row in read("stereoset_en_intrasentence")[0]}
    for name in ("stereoset_control_race", "stereoset_control_profession"):
        rows, _ = read(name)
        assert set(Counter(row["original"] for row in rows).values()) == {10}
        assert all(row["original_stereotype"].split() == english[row["original"]].split() for row in rows)
    for name in ("stereoset_control_gender", "slovak_gender"):
        assert all(row["original"] == row["id"] for row in read(name)[0])


def test_keywords_leave_punctuation_outside() -> None:
    assert mark_keywords("He is lazy!", "He is smart!") == ("He is <lazy>!", "He is <smart>!")
    assert mark_keywords('I say "lazy!"', 'I say "smart!"') == ('I say <"lazy>!"', 'I say <"smart>!"')
    assert mark_keywords("Poor: he is.", "Rich: he is.") == ("<Poor:> he is.", "<Rich:> he is.")
    assert mark_keywords("He is  lazy", "He is  smart") == ("He is <lazy>", "He is <smart>")
    assert mark_keywords("He is lazy", "She was lazy") == "not exactly one word differs"
    assert mark_keywords("He is lazy", "He is very lazy") == "different numbers of words"
    assert mark_keywords("He is <lazy", "He is <smart") == "angle brackets in a sentence"


# CrowS-Pairs, Slovak, WinoBias --------------------------------------------------------------------


def test_crows_controls_are_columns() -> None:
    text = sources.fetch(f"{METHODOLOGY}/crows_negation.csv").content.decode()
    table = list(csv.reader(io.StringIO(text, newline="")))
    expected = [
        (table[0][c], table[i][c], table[1][c], table[i + 1][c])
        for c in range(len(table[0]))
        for i in range(2, len(table), 2)
        if table[i][c]
    ]
    rows, dropped = read("crows_control_negation")
    assert [tuple(row[field] for field in FIELDS) for row in rows] == expected
    assert all(row["keywords"] is None for row in rows)
    assert dropped["no control pair"] == sum(not table[2][c] for c in range(len(table[0])))


def test_slovak_rows_passed_the_checks() -> None:
    own = records(f"{METHODOLOGY}/slovak_gender.csv")
    passed = [r for r in own if not r["competence?"] and not r["misogynistic?"]]
    rows, dropped = read("slovak_gender")
    assert [row["id"] for row in rows] == [f"slovak-{int(r['ID']):03d}" for r in passed]
    assert len(rows) + sum(dropped.values()) == len(own)
    for row, record in zip(rows, passed, strict=True):
        for field, (start, end), column in zip(
            FIELDS, row["keywords"], ("veta1", "veta2", "veta3", "veta4"), strict=True
        ):
            text = row[field]
            assert f"{text[:start]}<{text[start:end]}>{text[end:]}" == record[column]


@pytest.mark.parametrize(
    ("pro", "anti", "verdict"),
    [
        (
            "[The nurse] came because [she] and [her] dog slept.",
            "[The nurse] came because [he] and [his] dog slept.",
            (
                "The nurse came because he and his dog slept.",
                "The nurse came because she and her dog slept.",
                "nurse",
            ),
        ),
        ("[A cook] met [him].", "[A cook] met [her].", ("A cook met him.", "A cook met her.", "cook")),
        ("[A cook] met [him].", "[A cook] saw [her].", OUTSIDE),
        ("[A cook] met [him].", "A cook met [her].", MARKS),
        ("[A cook] met her.", "[A cook] met him.", MARKS),
        ("[A cook] met [the clerk] and [he] left.", "[A cook] met [the clerk] and [she] left.", MARKS),
        ("[A cook] met [him].", "[A cook] met [him].", NOT_SWAPPED),
        ("[A cook] met [him].", "[A cook] met [she].", NOT_SWAPPED),
    ],
)
def test_winobias_rules(pro: str, anti: str, verdict: object) -> None:
    assert contrast(pro, anti) == verdict


# Translators --------------------------------------------------------------------------------------


def test_winomt_halves_and_translations_are_joined_by_the_text() -> None:
    sentences = {row["id"]: row for row in read("winomt")[0]}
    kinds = ["pro", "anti", "anti", "pro", "anti", "anti", None, None]
    assert [row["stereotypical"] for row in sentences.values()] == kinds
    assert [row["gender"] for row in sentences.values()][-3:] == ["female", "neutral", "male"]
    templates = [sentences[f"winomt-000{number}"]["template"] for number in (0, 2, 5, 7)]
    assert templates[0] == templates[1] == "The ENTITY called the nurse because PRONOUN felt sick."
    assert templates[2] == "The ENTITY praised the teacher because PRONOUN liked the school."
    assert templates[3] == "The clerk asked ENTITY to wait until PRONOUN had a key."
    rows, dropped = read("winomt_translations")
    assert {(row["language"], row["system"]) for row in rows} == {
        *(("ru", system) for system in ("aws", "bing", "google", "systran")),
        *(("uk", system) for system in ("bing", "google", "systran")),
    }
    assert all(row["source"] == sentences[row["sentence_id"]]["sentence"] for row in rows)
    assert len(rows) == 7 * len(sentences) - dropped["not translated"] == 54
    google = next(row for row in rows if row["id"] == "winomt-0002-uk-google")
    assert google["translation"].startswith("Водійка")


def test_mtgeneval_has_references_of_both_genders() -> None:
    rows = read("mtgeneval_ru")[0]
    assert [row["kind"] for row in rows] == ["counterfactual"] * 6 + ["contextual"] * 2
    feminine, masculine = rows[4:6]
    assert feminine["pair_id"] == masculine["pair_id"]
    assert feminine["sentence"].startswith("The actress")
    assert feminine["reference"] == masculine["wrong_reference"] == "Актриса поблагодарила зрителей."
    contextual = rows[-1]
    assert (contextual["context"], contextual["gender"]) == ("He studied law in Riga.", None)
    assert contextual["sentence"].startswith("Berg was chosen")
    assert "избран " in contextual["reference"]


# Broken files, read with `load_dataset` -----------------------------------------------------------


STEREOSET_EN = "slds-lmu/stereotypes-multi/create_dataset/data/intrasentence/df_intrasentence_en.pkl"
BROKEN = [
    ("en", f"{GEST}/gest_1.1.csv", replace("sentence,stereotype", "sentence,x"), "are invalid: KeyError"),
    ("en", f"{GEST}/gest_1.1.csv", replace(",9\r\n", ",17\r\n"), r"line \d+: unknown stereotype '17'"),
    ("en", f"{GEST}/gest_1.1.csv", lambda data: data + b" ,3\n", r"line 36: empty sentence"),
    (
        "stereoset_control_gender",
        f"{METHODOLOGY}/stereoset_genderswap.txt",
        replace("<", ""),
        "line 1: expected one keyword",
    ),
    (
        "stereoset_en_intrasentence",
        STEREOSET_EN,
        replace("anti-stereotype", "anti-stereotypo"),
        "row 0: unexpected labels of the candidates",
    ),
    (
        "winomt",
        f"{WINOMT}/data/aggregates/en.txt",
        replace("\t1\t", "\t9\t"),
        "are invalid: IndexError",
    ),
    ("winomt", f"{WINOMT}/data/aggregates/en.txt", replace("male", "men"), "Invalid string class label men"),
    (
        "winomt_translations",
        f"{WINOMT}/translations/bing/en-uk.txt",
        lambda data: data + data.splitlines()[0] + b"!\n",
        "line 9: no translation, or a second one",
    ),
    (
        "mtgeneval_ru",
        f"{MTGENEVAL}/context/geneval-context-wikiprofessions-original-test.en_ru.ru",
        lambda data: data.splitlines(keepends=True)[0],
        "are invalid: ValueError",
    ),
]


@pytest.mark.parametrize(
    ("name", "key", "change", "reason"), BROKEN, ids=[f"{c[0]}-{i}" for i, c in enumerate(BROKEN)]
)
def test_error_names_file_place_and_reason(
    edited: Edit, tmp_path: Path, name: str, key: str, change: Callable[[bytes], bytes], reason: str
) -> None:
    path = edited(key, change)
    with pytest.raises(DataError, match=reason) as caught:
        load_dataset("gest", name, cache_dir=str(tmp_path / "cache"))
    assert isinstance(caught.value, DatasetGenerationError)
    assert str(path) in str(caught.value) or "invalid" in reason.lower()


# The registry -------------------------------------------------------------------------------------


def test_changed_rows_need_a_new_version() -> None:
    """The cache of `datasets` depends on `Config.version`: raise it with the rows, then update the file."""
    versions = json.loads(Path(__file__).with_name("row_versions.json").read_text(encoding="utf-8"))
    found = {name: [config.version, row_hash(read(name)[0])] for name, config in BUILT_IN.items()}
    assert found == versions


def test_a_new_version_changes_the_fingerprint_of_this_config_only() -> None:
    english = CONFIGS["en"]
    assert fingerprint(dataclasses.replace(english, version=english.version + 1)) != fingerprint(english)
    assert fingerprint(dataclasses.replace(english, description="changed")) == fingerprint(english)
    prints = {name: fingerprint(config) for name, config in CONFIGS.items()}
    assert len(set(prints.values())) == len(prints)


def test_select_configs() -> None:
    assert list(select_configs("slavic")) == [f"{code}_pairs" for code in SLAVIC]
    selected = {"en": True, "crows_gender": False, "crows_gender_revised": False}
    assert select_configs(" en , crows,en") == selected
    assert select_configs("slavic,sk_pairs")["sk_pairs"]
    no_tests = {*select_configs("demo"), *select_configs("released")}
    assert set(select_configs("all")) == {*CONFIGS} - no_tests
    assert set(select_configs("all,demo,released")) == {*CONFIGS}
    for names in ("", " , "):
        with pytest.raises(ConfigError, match="names no config"):
            select_configs(names)


@pytest.mark.parametrize(
    ("name", "meant"), [("sk_pair", "sk_pairs"), ("slavik", "slavic"), ("Crows", "crows")]
)
def test_an_unknown_config_suggests_similar_names(name: str, meant: str) -> None:
    for call in (get_config, select_configs):
        with pytest.raises(ConfigError, match=f"There is no config '{name}'.*{meant}"):
            call(name)
    with pytest.raises(ConfigError, match="is a group of configs; load one at a time"):
        load_dataset("gest", "slavic")
