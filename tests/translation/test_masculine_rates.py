"""Masculine rates from translations to numbers: in Python, as a metric, and on the real files.

The mirror's Slovak sentences are parsed in `mirror_sk.conllu` (by UDPipe), so that no model is needed.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.errors import ConfigError
from gest_dataset.measures.gest import MASCULINE_RATE
from gest_dataset.statistics import masculine_rate
from gest_dataset.statistics.masculine_rate import detector_bounds
from gest_dataset.translation import systems
from gest_dataset.translation.masculine_rates import MasculineRates, prepare
from gest_dataset.translation.sentences import SAME, GestSentence, join_translations
from gest_dataset.translation.translator import Translation
from tests.conftest import MIRROR, ROOT
from tests.support import translators

PARSED = ROOT / "tests" / "mirror_sk.conllu"
DEEPL = MIRROR / "kinit-sk/gest/data/translations/deepl/sk/translations.csv"


def of(system: str, **options: Any) -> MasculineRates:
    return gest_dataset.masculine_rates(system, "sk", parser="conllu", parser_model=PARSED, **options)


def naive(found: MasculineRates) -> list[float]:
    """The share of masculine translations of each stereotype, counted one by one."""
    rows = found.table.to_pylist()
    rates = []
    for stereotype in range(1, 17):
        genders = [row["gender"] for row in rows if row["stereotype"] == stereotype]
        known = [gender for gender in genders if gender != "unknown"]
        rates.append(known.count("male") / len(known) if known else float("nan"))
    return rates


@pytest.mark.usefixtures("mirror")
def test_a_file_and_the_published_config_agree() -> None:
    """The same translations by two ways, and what a reader of Slovak says of them."""
    file, published = of(f"file:{DEEPL}"), of("published:deepl")
    assert file.table.drop_columns("source") == published.table.drop_columns("source")
    assert repr(file.result()) == repr(published.result())
    np.testing.assert_allclose(file.result()["p"], naive(file))
    assert file.result()["n_unknown"] == len(file.table) - file.metadata["known"]
    for row in file.table.to_pylist():
        masculine = {"som", "sa"} & {*row["translation"].split()} and row["gender"] == "male"
        assert row["evidence"] or row["gender"] == "unknown"
        assert all(word in row["translation"] for word in row["evidence"])
        if masculine:  # past tenses, and what agrees: the masculine of the speaker never ends in -a
            assert not any(word.endswith(("la", "á")) for word in row["evidence"])


@pytest.mark.usefixtures("mirror")
def test_a_result_says_what_unknown_genders_could_make_of_it() -> None:
    """One sentence of 34 shows no gender: f_s if it were masculine, and if it were feminine."""
    rates = of(f"file:{DEEPL}")
    result = rates.result()
    genders, stereotypes = rates.table["gender"].to_pylist(), rates.table["stereotype"].to_pylist()
    assert genders.count("unknown") == 1
    ends = [
        masculine_rate([gender if g == "unknown" else g for g in genders], stereotypes)["f_s"]
        for gender in ("male", "female")
    ]
    assert (result["f_s_lowest"], result["f_s_highest"]) == pytest.approx((min(ends), max(ends)))
    assert result["f_s_lowest"] < result["f_s_highest"]
    place = stereotypes[genders.index("unknown")] - 1
    assert result["p_lowest"][place] < result["p_highest"][place]
    apart = [i for i in range(16) if result["p_lowest"][i] != result["p_highest"][i]]
    assert apart == [place]


@pytest.mark.usefixtures("mirror")
def test_errors_of_the_detector_bound_the_rates() -> None:
    """No error in 25 sentences is compatible with 11.3 %; no number of errors is printed."""
    rates = of(f"file:{DEEPL}")
    result = rates.result()
    assert result["detector"]["male_as_female"] == pytest.approx(0.113, abs=0.001)
    assert result["detector"]["n"] == 64
    genders, stereotypes = rates.table["gender"].to_pylist(), rates.table["stereotype"].to_pylist()
    largest = {name: share for name, share in result["detector"].items() if name != "n"}
    direct = detector_bounds(genders, stereotypes, **largest)
    assert {name: result[name] for name in direct} == direct
    assert result["f_s_detector_lowest"] < result["f_s"] < result["f_s_detector_highest"]
    text = " ".join(MASCULINE_RATE.sentences("uncertainty", result))
    assert "in 64 labelled sentences), f_s lies between" in text
    assert " wrong" not in text


def test_what_is_wrong_shows_before_anything_is_translated(mirror: Path) -> None:
    for system, language, options, told in (
        (f"file:{DEEPL}", "de", {}, "no gender rules for 'de'"),
        (
            "published:deepl",
            "hr",
            {"parser": "conllu", "parser_model": PARSED},
            "'published:deepl' to Croatian; available systems: amazon, google, nllb",
        ),
        (f"file:{DEEPL}", "sk", {"limit": 0}, "must be 1 or more"),
        (f"file:{DEEPL}", "sk", {"parser": "x"}, "no parser 'x'"),
        (f"file:{DEEPL}", "sk", {"parser_model": mirror / "no.udpipe"}, "no UDPipe model"),
        ("nothing", "sk", {"parser": "conllu", "parser_model": PARSED}, "no system 'nothing'"),
    ):
        with pytest.raises(ConfigError, match=told):
            prepare(system, language, **options)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="has no translations of the prompts"):
        prepare("published:deepl", "sk", parser="conllu", parser_model=PARSED).translate(["I am tired."])


def test_sentences_are_joined_by_either_text() -> None:
    known = {
        text: Translation(text, translation, problem)
        for text, translation, problem in (
            ("both", "nové", ""),
            ("both, old", "staré", ""),
            ("only old, new", "", "missing"),
            ("only old", "staré", ""),
            ("none", "", "missing"),
            ("none, old", "", "missing too"),
            ("English", "English ", ""),
        )
    }
    for text, old, expected in (
        ("both", "both, old", ("both", "nové", "")),
        ("only old, new", "only old", ("only old", "staré", "")),
        ("none", "none, old", ("none", "", "missing")),
        ("English", "English", ("English", "English ", SAME)),
    ):
        (sample,) = join_translations([GestSentence("s", 1, text, old)], known)
        assert (sample.source, sample.translation, sample.problem) == expected


@pytest.mark.usefixtures("one_thread")
def test_metric_translates_with_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With random weights nothing is Slovak; with cached translations of a real system it is."""
    monkeypatch.setattr(systems, "cache_directory", lambda: tmp_path / "store" / "datasets")
    model = str(translators.directory("nllb"))
    metric = evaluate.load("gest_masculine_rate")
    options = {"model_id": model, "config": "sk_translations", "device": "cpu"}
    options |= {"parser": "conllu", "parser_model": str(PARSED)}
    noise = metric.compute(**options)
    assert noise["n_unknown"] == 34
    assert noise["p"] == [None] * 16
    entities = evaluate.load("gender_accuracy").compute(**options | {"config": "sk"})
    assert (entities["n"], entities["unknown"], entities["accuracy"]) == (8, 1, 0)
    experiment = prepare(f"hf:{model}", "sk", parser="conllu", parser_model=PARSED, device="cpu")
    by_id = {row["id"][:9]: row["translation"] for row in published()}
    by_text = {row["sentence"]: by_id[row["id"]] for row in load_dataset("gest", "en", split="test")}
    assert experiment.translator is not None
    fake = replace(
        experiment.translator,
        translate=lambda texts: iter([[Translation(t, by_text[t]) for t in texts]]),
    )
    (tmp_path / "store" / "translations" / "translations.sqlite3").unlink()
    monkeypatch.setattr(systems, "closing", nullcontext)
    systems.translate_all(list(by_text), fake, "sk")
    result = metric.compute(**options, convention="published")
    found = of("published:deepl", convention="published")
    expected = found.result()
    assert repr(result) == repr({name: expected[name] for name in result})
    rows = found.table.to_pylist()
    direct = masculine_rate([row["gender"] for row in rows], [row["stereotype"] for row in rows])
    computed = metric.compute(**{**options, "config": "sk"})
    assert repr({name: computed[name] for name in direct}) == repr(direct)


def published() -> list[dict[str, str]]:
    data = load_dataset("gest", "sk_translations", split="test")
    return [row for row in data.to_list() if row["system"] == "deepl"]


def test_metric_says_what_it_cannot_translate() -> None:
    metric = evaluate.load("gest_masculine_rate")
    for options, told in (
        ({"model_id": "m"}, "a target language or its config"),
        ({"model_id": "m", "config": "sk_pairs"}, "not 'sk_pairs'"),
        ({"model_id": object(), "config": "sk"}, "must be the id or folder of a translation model"),
        ({"model_id": "m", "config": "sk", "predictions": ["male"]}, "not both"),
        ({"model_id": "m", "config": "de"}, "no gender rules for 'de'"),
    ):
        with pytest.raises(ConfigError, match=told):
            metric.compute(**options)
    with pytest.raises(ConfigError, match="in one process"):
        evaluate.load("gest_masculine_rate", num_process=2, process_id=0).compute(model_id="m", config="sk")
