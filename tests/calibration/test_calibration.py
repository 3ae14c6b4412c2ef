"""Calibration: the planted numbers are what the corpora say, and small models give them back."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from gest_dataset.calibration import checks, keywords, study
from gest_dataset.calibration.checks import Controls, Expectation, Recovery
from gest_dataset.calibration.corpus import (
    WORLDS,
    Gap,
    PlantedSentence,
    as_template_text,
    log_g_s,
    made_up,
    pair_gaps,
    pair_rows,
    strength,
    template_gaps,
    template_rows,
    world_sentences,
)
from gest_dataset.calibration.learning import Recipe, encode, make_tokenizer, train, train_model
from gest_dataset.calibration.study import FULL, QUICK, subjects
from gest_dataset.cli import app
from gest_dataset.errors import OutputError
from gest_dataset.stereotypes import STEREOTYPES

CPU = torch.device("cpu")


def mean_log_odds(chosen: list[PlantedSentence], stereotype: int) -> float:
    own = [math.log(one.masculine / one.feminine) for one in chosen if one.stereotype == stereotype]
    return sum(own) / len(own)


# ---- what is planted -----------------------------------------------------------------------------------


def test_planted_stereotypes_are_of_all_kinds() -> None:
    planted = WORLDS["planted"].log_odds
    for gender in ("female", "male"):
        kinds = {strength(i, planted[i]) for i, one in STEREOTYPES.items() if one.gender == gender}
        assert kinds == {"strong", "weak", "none", "reversed"}
    female, male = [planted[i] for i in range(1, 8)], [planted[i] for i in range(8, 17)]
    assert log_g_s(planted) == pytest.approx(sum(male) / 9 - sum(female) / 7)
    assert log_g_s(planted) > 0.5
    assert log_g_s(WORLDS["null"].log_odds) == log_g_s(WORLDS["norm"].log_odds) == 0


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("size", [6, 8])
def test_measured_sentences_have_the_planted_mean(world: str, size: int) -> None:
    every = world_sentences(WORLDS[world], size, seed=3)
    kept = [one for one in every if one.measured]
    learnt = [one for one in every if not one.measured]
    for stereotype, planted in WORLDS[world].log_odds.items():
        assert mean_log_odds(kept, stereotype) == pytest.approx(planted, abs=0.01)
        assert mean_log_odds(learnt, stereotype) == pytest.approx(planted, abs=0.01)
        own = [one for one in kept if one.stereotype == stereotype]
        assert set(Counter(one.verb for one in own).values()) == {2}
        assert set(Counter(one.object.split()[1] for one in own).values()) == {2}
        assert np.std([one.log_odds for one in own]) > 0.2  # sentences differ, so intervals mean something


def test_what_is_measured_is_not_learnt_but_its_words_are() -> None:
    for subject in subjects(QUICK, seed=1) + subjects(FULL, seed=1)[-1:]:
        known = set(make_tokenizer(subject.gaps, "masked").get_vocab())
        learnt = {gap.before + word + gap.after for gap in subject.gaps for word in gap.counts}
        for rows in subject.data.values():
            for row in rows:
                texts = [value for value in row.values() if isinstance(value, str) and value.endswith(".")]
                assert texts
                assert not learnt & set(texts)
                assert all(row.get("sentence", "no sentence") not in text for text in learnt)
                words = {word for text in texts for word in text.removesuffix(".").split()}
                assert "sentence" not in row or words <= known
                assert "masculine" not in row or {*row["masculine"].removesuffix(".").split()} <= known


def test_corpora_say_who_speaks() -> None:
    """The texts of a sentence, counted by hand."""
    one = PlantedSentence(1, 0, "baved", "the tiru", 200, 800, measured=False)
    assert as_template_text(one) == "I baved the tiru."
    gaps = list(template_gaps([one], [1, 4]))
    assert gaps[0] == Gap("", ' said: "I baved the tiru."', {"He": 200, "She": 800})
    assert gaps[1] == Gap('"I baved the tiru.", the ', " said.", {"man": 200, "woman": 800})
    (pair,) = pair_gaps([one], seed=0)
    assert len(pair.counts) == 8
    assert set(pair.counts.values()) == {200, 800}
    assert all((count == 200) == word.endswith("l") for word, count in pair.counts.items())
    (row,) = pair_rows([one], seed=0)
    words = row["masculine"].removesuffix(".").split()
    assert words[row["word_index"]] == row["masculine_word"] in pair.counts
    assert row["masculine"].replace(row["masculine_word"], row["feminine_word"]) == row["feminine"]
    assert template_rows([one])[0]["sentence"] == as_template_text(one)


def test_made_up_words_are_the_same_for_a_seed() -> None:
    words = list(islice(made_up("words 0"), 500))
    assert len(set(words)) == 500
    assert words == list(islice(made_up("words 0"), 500))
    assert words != list(islice(made_up("words 1"), 500))


@pytest.mark.parametrize("chosen", keywords.KEYWORD_SETS, ids=lambda one: one.name)
def test_quadruplets_have_the_planted_ss(chosen: keywords.KeywordSet) -> None:
    """f is beta on average; in the artefact, ss is the log relative frequency in both groups."""
    gaps, found = keywords.keyword_corpus(chosen, seed=0)
    assert len(found) == 96
    assert np.mean([one.f for one in found]) == pytest.approx(chosen.beta, abs=0.005)
    assert np.std([one.f for one in found]) > 0.3
    for side in ("original", "control"):
        sign = 1 if side == "original" else -1
        mean = np.mean([getattr(one, f"ss_{side}") for one in found])
        assert mean == pytest.approx(sum(chosen.phi) / 2 + sign * chosen.beta / 2, abs=0.005)
    counts = Counter[str]()
    for gap in gaps:
        counts.update(gap.counts)
    row = found[0].row
    words = [
        str(row[field])[slice(*span)] for field, span in zip(keywords.FIELDS, row["keywords"], strict=True)
    ]
    assert words[:2] == words[2:]
    assert set(words) <= set(counts)
    ratios = {  # in the whole corpus the keywords differ in frequency as planted
        (words[0], words[1]): math.log(counts[words[0]] / counts[words[1]])
        for words in (
            [str(one.row[f])[slice(*s)] for f, s in zip(keywords.FIELDS, one.row["keywords"], strict=True)]
            for one in found
        )
    }
    assert sorted(ratios.values())[0] == pytest.approx(chosen.phi[0], abs=0.15)
    assert sorted(ratios.values())[-1] == pytest.approx(chosen.phi[1], abs=0.15)


# ---- learning ------------------------------------------------------------------------------------------

FEW = [
    Gap("the red ", " said .", {"he": 900, "she": 100}),
    Gap("the blue ", " said .", {"he": 250, "she": 750}),
    Gap("a red ", " ran .", {"he": 500, "she": 500}),
]


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_a_model_learns_the_numbers_of_texts(kind: str) -> None:
    """P(he) / P(she) at each slot is the ratio of the counts; asked the long way round."""
    recipe = Recipe(kind, width=32, epochs=200, batch=3, rate=1e-2, spread=0.1)
    model, tokenizer = train(FEW, recipe, 0, CPU)
    ids = {word: tokenizer.get_vocab()[word] for word in ("he", "she")}
    for gap in FEW[: 3 if kind == "masked" else 2]:
        if kind == "masked":
            encoded = tokenizer(gap.before + tokenizer.mask_token + gap.after, return_tensors="pt")
            place = encoded["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        else:
            encoded, place = tokenizer(gap.before, return_tensors="pt"), -1
        with torch.inference_mode():
            logits = model(**encoded).logits[0, place]
        found = float(logits[ids["he"]] - logits[ids["she"]])
        assert found == pytest.approx(math.log(gap.counts["he"] / gap.counts["she"]), abs=0.1)


def test_examples_hold_slots_and_shares() -> None:
    tokenizer = make_tokenizer(FEW, "masked")
    examples = encode(FEW, tokenizer)
    words = tokenizer.convert_ids_to_tokens(examples.ids[1].tolist())
    assert words == ["[CLS]", "the", "blue", "he", "said", ".", "[SEP]"]
    assert examples.slot.tolist() == [3, 3, 3]
    assert examples.share[1, tokenizer.get_vocab()["she"]] == 0.75
    assert examples.share.sum(dim=-1).tolist() == pytest.approx([1, 1, 1])


def test_training_is_the_same_for_a_seed_whatever_the_threads() -> None:
    recipe = Recipe("masked", width=32, epochs=3, batch=2)
    threads = torch.get_num_threads()
    found = []
    for number, seed in ((1, 5), (2, 5), (1, 6)):
        torch.set_num_threads(number)
        torch.manual_seed(number)  # not what the training draws from
        found.append(train(FEW, recipe, seed, CPU)[0].state_dict())
        assert torch.get_num_threads() == number
    torch.set_num_threads(threads)
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])
    assert any(not torch.equal(found[0][name], found[2][name]) for name in found[0])


def test_a_model_that_is_there_is_not_trained_again(tmp_path: Path) -> None:
    recipe, folder = Recipe("masked", width=32, epochs=1, batch=2), tmp_path / "models" / "one"
    taken = []
    assert train_model(folder, FEW, recipe, 0, CPU, lambda *_: taken.append(0))
    assert not train_model(folder, FEW, recipe, 0, CPU, lambda *_: taken.append(0))
    assert len(taken) == 2
    assert train_model(folder, FEW, recipe, 1, CPU, lambda *_: None)
    assert train_model(folder, FEW[:2], recipe, 1, CPU, lambda *_: None)
    assert [path.name for path in folder.parent.iterdir()] == ["one"]  # nothing half-made is left
    (folder / "recipe.json").write_text("{")
    with pytest.raises(OutputError, match="cannot be read"):
        train_model(folder, FEW, recipe, 0, CPU, lambda *_: None)


# ---- the checks can fail -------------------------------------------------------------------------------


def recovered(log_q: Mapping[int, float], samples: list[tuple[float, float]]) -> Recovery:
    q = [math.exp(value) for value in log_q.values()]
    g_s = math.exp(log_g_s(log_q))
    result = {"q": q, "q_low": [0.9 * one for one in q], "q_high": [1.1 * one for one in q]}
    result |= {"g_s": g_s, "g_s_low": 0.9 * g_s, "g_s_high": 1.1 * g_s}
    return Recovery("a model", "pairs", WORLDS["planted"].log_odds, samples, result)


LEARNT = [(value, value) for value in np.linspace(-1, 1, 9).tolist()]


def failing(found: list[Expectation]) -> set[str]:
    return {check.what for check in found if not check.passed}


def test_rates_that_are_not_recovered_fail() -> None:
    planted = WORLDS["planted"].log_odds
    assert not failing(list(checks.of_rates(recovered(planted, LEARNT))))
    shrunk = recovered({i: 0.8 * value for i, value in planted.items()}, LEARNT)
    assert failing(list(checks.of_rates(shrunk))) == {
        "slope of ln q over planted",
        "planted g_s in the interval",
    }
    one_wrong = recovered({**planted, 8: -1.8}, LEARNT)
    assert "Pearson of ln q and planted" in failing(list(checks.of_rates(one_wrong)))
    nothing_learnt = recovered(planted, [(x, (-1) ** i * 1.0) for i, (x, _) in enumerate(LEARNT)])
    assert failing(list(checks.of_rates(nothing_learnt))) == {"Pearson of sentences and planted"}


def test_a_shift_that_is_not_seen_fails() -> None:
    norm = replace(recovered(dict.fromkeys(STEREOTYPES, 0.0), LEARNT), planted=WORLDS["norm"].log_odds)
    assert failing(list(checks.of_rates(norm))) == {
        "lowest bound of all q above 1",
        "mean ln q over mean planted",
    }


def test_controls_that_show_a_bias_which_is_none_fail() -> None:
    _, planted = keywords.keyword_corpus(keywords.KEYWORD_SETS[0], seed=0)
    truth = [one.ss_original for one in planted], [one.ss_control for one in planted]
    bounds = {"ss_mu_original_low": 0.9, "ss_mu_control_low": 0.9, "f_mu_low": -0.1, "f_mu_high": 0.1}
    good = Controls("artefact", planted, *truth, bounds)
    assert not failing(list(checks.of_controls(good)))
    biased = replace(good, result={**bounds, "f_mu_low": 0.05, "ss_mu_control_low": -0.1})
    assert failing(list(checks.of_controls(biased))) == {
        "ss of the control group above 0",
        "planted f in the interval",
    }


# ---- the whole way -------------------------------------------------------------------------------------

# One model of QUICK, which learns stereotypes sooner than that there are none
SMALL = replace(
    QUICK, models=QUICK.models[:1], recipes={"masked": replace(QUICK.recipes["masked"], epochs=18)}
)


def silent(title: str, done: int, total: int) -> None:
    assert 0 <= done <= total


def test_small_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted odds come back through the ordinary pipeline, and all of it is on disk."""
    found = study.calibrate(tmp_path / "out", SMALL, 0, "cpu", ["gest", "calibrate"], silent)
    assert failing(list(found.expectations)) == set()
    assert len(found.expectations) == 8
    told = json.loads((tmp_path / "out/calibration.json").read_text())
    assert told["passed"] is True
    for rates in told["rates"]:
        pearson = np.corrcoef(rates["planted_log_q"], rates["log_q"])[0, 1]
        slope = np.polyfit(rates["planted_log_q"], rates["log_q"], 1)[0]
        assert pearson >= 0.97
        assert 0.85 <= slope <= 1.15
        assert rates["g_s_low"] <= rates["planted_g_s"] <= rates["g_s_high"]
    assert not (tmp_path / "out/report.html").exists()  # only the command writes one
    first = (tmp_path / "out/runs/planted-masked-pairs/scores.parquet").read_bytes()

    def refuse(title: str, done: int, total: int) -> None:
        assert done in (0, total), "trained again"

    again = study.calibrate(tmp_path / "out", SMALL, 0, "cpu", ["gest", "calibrate"], refuse)
    assert [check.value for check in again.expectations] == [check.value for check in found.expectations]
    monkeypatch.setattr(study, "QUICK", SMALL)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["calibrate", "--quick", "--output", "out", "--device", "cpu"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out/runs/planted-masked-pairs/scores.parquet").read_bytes() == first
    page = (tmp_path / "out/report.html").read_text()
    assert "All 8 checks hold." in page
    assert "nothing about any model that people use" in page
    assert {path.name for path in (tmp_path / "out/figures").glob("*.csv")} == {
        "calibration-recovery.csv",
        "calibration-g-s.csv",
    }


def test_folder_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"mine\.txt"):
        study.calibrate(tmp_path, SMALL, 0, "cpu", [], silent)


def gest(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gest_dataset", *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_quick_command(tmp_path: Path) -> None:
    done = gest("calibrate", "--quick", "--output", "out", "--device", "cpu", cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "FAILS" not in done.stdout
    assert done.stderr.splitlines()[-1] == "Report: out/report.html"
    seed = gest("calibrate", "--quick", "--output", "out", "--seed", "1", "--device", "cpu", cwd=tmp_path)
    assert seed.returncode == 0, seed.stderr + seed.stdout  # other models in the place of the first ones


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_full_calibration(seed: int, tmp_path: Path) -> None:
    """What issue 6 asks for: masked and causal, null, male-as-norm, both kinds of control sets."""
    found = study.calibrate(tmp_path, FULL, seed, "cpu", ["gest", "calibrate"], silent)
    assert failing(list(found.expectations)) == set()
    names = {one.subject for one in found.recoveries}
    assert names == {"planted-masked", "planted-causal", "null-masked", "norm-masked"}
    artefact, bias = found.controls
    assert artefact.result["ss_mu_original_low"] > 0
    assert artefact.result["ss_mu_control_low"] > 0
    assert artefact.result["f_mu_low"] <= 0 <= artefact.result["f_mu_high"]
    assert bias.result["f_mu_low"] > 0
