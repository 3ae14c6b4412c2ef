"""Calibration: the planted numbers are what the corpora say, and small models give them back."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from gest_dataset.calibration import checks, faults, keywords, naive, study
from gest_dataset.calibration import subjects as of_subjects
from gest_dataset.calibration.checks import Controls, Expectation, Limits, Recovery
from gest_dataset.calibration.corpus import (
    WORLDS,
    Gap,
    PlantedSentence,
    Question,
    as_template_text,
    log_g_s,
    made_up,
    pair_gaps,
    pair_questions,
    pair_rows,
    strength,
    template_gaps,
    template_questions,
    template_rows,
    unbalanced,
    world_sentences,
)
from gest_dataset.calibration.learning import Recipe, encode, train, train_model
from gest_dataset.calibration.subjects import FULL, QUICK, Size, subjects
from gest_dataset.calibration.vocabulary import make_tokenizer, pieces_of
from gest_dataset.cli import app
from gest_dataset.errors import OutputError
from gest_dataset.models.scores import measure
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
        for data in subject.data.values():
            for row in data.rows:
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
    (asked,) = pair_questions([one], seed=0, copies=1)
    (row,) = pair_rows([asked])
    assert (row["masculine"], row["feminine"]) == (
        f"Ven baved the tiru {asked.masculine}.",
        f"Ven baved the tiru {asked.masculine}a.",
    )
    words = row["masculine"].removesuffix(".").split()
    assert words[row["word_index"]] == row["masculine_word"] in pair.counts
    assert row["masculine"].replace(row["masculine_word"], row["feminine_word"]) == row["feminine"]
    assert template_rows([one])[0]["sentence"] == as_template_text(one)


def test_questions_are_the_texts_of_the_corpus() -> None:
    """Literal texts with the truth; copies of a sentence are one unit, and other words."""
    one = PlantedSentence(1, 2, "baved", "the tiru", 200, 800, measured=True)
    first, second = template_questions([one], [1, 3])
    assert first.before + first.feminine + first.after == 'She said: "I baved the tiru."'
    assert second.before + second.masculine + second.after == '"I baved the tiru.", he said.'
    assert first.log_odds == second.log_odds == math.log(200 / 800)
    copies = pair_questions([one], seed=0, copies=4)
    assert len({asked.masculine for asked in copies}) == len({asked.id for asked in copies}) == 4
    assert len({asked.unit for asked in copies}) == 1
    assert len(set(pair_rows(copies)["source"])) == 1
    (own,) = pair_gaps([one], seed=0, own_stem=True)
    assert list(own.counts) == [copies[0].masculine, copies[0].feminine]


def test_unbalanced_samples_tell_means_of_stereotypes_from_means_of_samples() -> None:
    kept = [one for one in world_sentences(WORLDS["planted"], 6, seed=0) if one.measured]
    chosen = unbalanced(kept)
    numbers = Counter(one.stereotype for one in chosen)
    assert len(set(numbers.values())) > 4
    assert min(numbers.values()) >= 4
    of_stereotypes = log_g_s({i: mean_log_odds(chosen, i) for i in STEREOTYPES})
    male, female = ([one.log_odds for one in chosen if (one.stereotype > 7) == is_male] for is_male in (1, 0))
    assert abs(of_stereotypes - (np.mean(male) - np.mean(female))) > 0.05


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


# ---- tokens --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["masked", "causal", "seq2seq"])
def test_words_in_pieces(kind: str) -> None:
    """The tokeniser cuts as `pieces_of`, and the masculine word is the beginning of the feminine one."""
    subject = next(one for one in subjects(QUICK, seed=0) if one.recipe.pieces)
    tokenizer = make_tokenizer(subject.gaps, kind, pieces=True, start=kind != "causal")
    for gap in subject.gaps:
        for text in (gap.before, *gap.counts, gap.after):
            cut = [pieces_of(word) for word in re.findall(r"\w+|[^\w\s]", text)]
            expected = [piece if first else f"##{piece}" for word in cut for first, piece in marked(word)]
            assert tokenizer.tokenize(text) == expected
        words = [tokenizer.tokenize(word) for word in gap.counts if word.endswith(("l", "la"))]
        for masculine, feminine in zip(words[::2], words[1::2], strict=True):
            assert feminine == [*masculine, "##a"]
    special = tokenizer("He said")["input_ids"][:1]
    assert (special == [tokenizer.convert_tokens_to_ids("He")]) == (kind != "masked")
    assert tokenizer.bos_token is None


def marked(word: list[str]) -> list[tuple[bool, str]]:
    return [(place == 0, piece) for place, piece in enumerate(word)]


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


UNITS = 12  # of each stereotype


def recovered(
    log_q: Mapping[int, float], planted: Mapping[int, float] = WORLDS["planted"].log_odds
) -> Recovery:
    """Of sentences that scatter around log_q; the naive reading finds the same, and so does the interval."""
    scatter = np.linspace(-1, 1, UNITS).tolist()
    questions = [
        Question(f"{i}-{n}", 0, i, f"{i}-{n}", "", "", "he", "she", value + scatter[n])
        for i, value in planted.items()
        for n in range(UNITS)
    ]
    measured = {f"{i}-{n}": value + scatter[n] for i, value in log_q.items() for n in range(UNITS)}
    read = list(measured.values())
    q = [math.exp(value) for value in log_q.values()]
    g_s, half = math.exp(log_g_s(log_q)), math.exp(naive.half_width(questions, read))
    result = {"q": q, "q_low": [0.9 * one for one in q], "q_high": [1.1 * one for one in q]}
    result |= {"g_s": g_s, "g_s_low": g_s / half, "g_s_high": g_s * half}
    return Recovery("a model", "pairs", questions, read, measured, result)


def failing(found: list[Expectation]) -> set[str]:
    return {check.what for check in found if not check.passed}


def test_rates_that_are_not_recovered_fail() -> None:
    planted = WORLDS["planted"].log_odds
    good = recovered(planted)
    assert not failing(list(checks.of_rates(good)))
    shrunk = recovered({i: 0.8 * value for i, value in planted.items()})
    assert "slope of ln q over planted" in failing(list(checks.of_rates(shrunk)))
    one_wrong = recovered({**planted, 8: -1.8})
    assert "Pearson of ln q and planted" in failing(list(checks.of_rates(one_wrong)))
    nothing = dict.fromkeys(STEREOTYPES, 0.0)
    mixed = {name: (-1) ** n * 1.0 for n, name in enumerate(good.measured)}
    nothing_learnt = replace(recovered(nothing, nothing), measured=mixed, naive=list(mixed.values()))
    assert failing(list(checks.of_rates(nothing_learnt))) >= {"Pearson of sentences and planted"}


def test_a_shift_that_is_not_seen_fails() -> None:
    norm = recovered(dict.fromkeys(STEREOTYPES, 0.0), WORLDS["norm"].log_odds)
    assert failing(list(checks.of_rates(norm))) == {
        "lowest bound of all q above 1",
        "mean ln q over mean planted",
    }


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_an_instrument_that_is_five_percent_off_fails(factor: float) -> None:
    """Of sentences, of q, or of g_s alone; the planted odds would not show it."""
    good = recovered(WORLDS["planted"].log_odds)
    stretched = {name: factor * value for name, value in good.measured.items()}
    assert "slope of sentences over the naive reading" in failing(
        list(checks.of_rates(replace(good, measured=stretched)))
    )
    wrong_q = {**good.result, "q": [q**factor for q in good.result["q"]]}
    assert failing(list(checks.of_rates(replace(good, result=wrong_q)))) == {"ln q off the naive reading"}
    ends = ("g_s", "g_s_low", "g_s_high")
    wrong_g_s = {**good.result, **{end: good.result[end] ** factor for end in ends}}
    assert failing(list(checks.of_rates(replace(good, result=wrong_g_s)))) == {"ln g_s off the naive reading"}


def test_an_interval_that_is_too_short_or_a_sentence_that_is_lost_fails() -> None:
    good = recovered(WORLDS["planted"].log_odds)
    g_s = good.result["g_s"]
    short = {**good.result, "g_s_low": 0.99 * g_s, "g_s_high": 1.01 * g_s}
    assert failing(list(checks.of_rates(replace(good, result=short)))) == {
        "width of g_s's interval over the textbook's"
    }
    lost = dict(list(good.measured.items())[1:])
    assert failing(list(checks.of_rates(replace(good, measured=lost)))) == {"sentences that are not measured"}


def test_the_textbook_interval_counts_a_unit_once() -> None:
    """1.96 sqrt(2 / (7 n) + ...) by hand; copies change nothing."""
    values = [-1.0, 1.0, 3.0]
    single = [
        Question(f"{i}-{n}", 0, i, f"{i}-{n}", "", "", "", "", 0) for i in STEREOTYPES for n in range(3)
    ]
    copies = [replace(asked, id=f"{asked.id}-{copy}") for asked in single for copy in range(5)]
    by_hand = 1.96 * math.sqrt((1 / 7 + 1 / 9) * 4 / 3)
    assert naive.half_width(single, values * 16) == pytest.approx(by_hand)
    repeated = [value for value in values * 16 for _ in range(5)]
    assert naive.half_width(copies, repeated) == pytest.approx(by_hand)


def test_controls_that_show_a_bias_which_is_none_fail() -> None:
    _, planted = keywords.keyword_corpus(keywords.KEYWORD_SETS[0], seed=0)
    truth = [one.ss_original for one in planted], [one.ss_control for one in planted]
    bounds = {
        "f_mu": float(np.mean(truth[0]) - np.mean(truth[1])),
        "ss_mu_original_low": 0.9,
        "ss_mu_control_low": 0.9,
        "f_mu_low": -0.1,
        "f_mu_high": 0.1,
    }
    good = Controls("artefact", planted, list(zip(*truth, strict=True)), *truth, bounds)
    assert not failing(list(checks.of_controls(good)))
    stretched = replace(good, ss_control=[1.05 * ss for ss in good.ss_control])
    assert "ss off the naive reading" in failing(list(checks.of_controls(stretched)))
    biased = replace(good, result={**bounds, "f_mu_low": 0.05, "ss_mu_control_low": -0.1})
    assert failing(list(checks.of_controls(biased))) == {
        "ss of the control group above 0",
        "planted f in the interval",
    }


# ---- the whole way -------------------------------------------------------------------------------------

# The models of QUICK on fewer sentences. One learns them; the others are trained for a second or two: what
# the instrument reads in them is compared as strictly as ever, and their corpora with nothing
SMALL = Size(
    models=tuple(
        replace(
            plan,
            templates=plan.templates[::2],
            copies=4 if plan.recipe.kind == "masked" else 1,
            recipe=replace(plan.recipe, epochs=epochs, batch=32),
            limits=limits,
        )
        for plan, epochs, limits in zip(
            QUICK.models, (30, 12, 6, 6), (Limits(sentences=0.85, g_s=False), None, None, None), strict=True
        )
    ),
    words=4,
    keywords=None,
)


def silent(title: str, done: int, total: int) -> None:
    assert 0 <= done <= total


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, study.Calibration]:
    """A calibration with its folder."""
    folder = tmp_path_factory.mktemp("calibration") / "out"
    return folder, study.calibrate(folder, SMALL, 0, "cpu", ["gest", "calibrate"], silent)


Small = tuple[Path, study.Calibration]


def test_small_calibration(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted odds come back through the ordinary pipeline, and all of it is on disk."""
    folder, found = small
    assert failing(list(found.expectations)) == set()
    told = json.loads((folder / "calibration.json").read_text())
    assert told["passed"] is True
    for rates in told["rates"]:
        assert rates["log_q"] == pytest.approx(rates["naive_log_q"], abs=1e-3)
        if rates["model"] == "planted-masked":
            assert np.corrcoef(rates["planted_log_q"], rates["log_q"])[0, 1] >= 0.97
    first = (folder / "runs/planted-masked-pairs/scores.parquet").read_bytes()

    def refuse(title: str, done: int, total: int) -> None:
        assert done in (0, total), "trained again"

    again = study.calibrate(folder, SMALL, 0, "cpu", ["gest", "calibrate"], refuse)
    assert [check.value for check in again.expectations] == [check.value for check in found.expectations]
    monkeypatch.setattr(of_subjects, "QUICK", SMALL)
    monkeypatch.chdir(folder.parent)
    done = CliRunner().invoke(app, ["calibrate", "--quick", "--output", "out", "--device", "cpu"])
    assert done.exit_code == 0, done.output
    assert (folder / "runs/planted-masked-pairs/scores.parquet").read_bytes() == first
    page = (folder / "report.html").read_text()
    assert f"All {len(found.expectations)} checks hold." in page
    assert "nothing about any model that people use" in page
    assert {path.name for path in (folder / "figures").glob("*.csv")} == {
        "calibration-recovery.csv",
        "calibration-g-s.csv",
        "calibration-levels.csv",
    }


# Which check must notice a fault first: what it is about, and not a consequence that happens to be seen
CAUGHT_BY = {
    "swapped words": "template",
    "unscored sentinel": "planted-spans, pairs",
    "no start of text": "planted-no-start, pairs",
    "pooled samples": "planted-no-start, template 3: ln g_s off the naive reading",
    "pairs reversed": "planted-masked, pairs",
    "clustered as independent": "planted-masked, pairs: width of g_s's interval over the textbook's",
}


@pytest.mark.parametrize("fault", faults.FAULTS, ids=lambda one: one.name)
def test_each_fault_is_caught(fault: faults.Fault, small: Small) -> None:
    _, calibration = small
    check = faults.first_failed(calibration.ready, fault)
    assert check is not None
    assert CAUGHT_BY.get(fault.name, "") in f"{check.where}: {check.what}"


def test_no_fault_stays_planted(small: Small) -> None:
    """Behind all of them the honest instrument gives what it gave before, and passes."""
    assert len({fault.name for fault in faults.FAULTS}) == len(faults.FAULTS) >= 12
    _, calibration = small
    before = scores_of(calibration)
    for fault in faults.FAULTS:
        with fault.plant():
            pass
    assert scores_of(calibration) == before
    assert faults.first_failed(calibration.ready, faults.Fault("", "", nullcontext)) is None


def scores_of(calibration: study.Calibration) -> list[object]:
    """What the pipeline gives of all data, asked anew."""
    found: list[object] = []
    for ready in calibration.ready:
        for where in ready.subject.data:
            measured = measure(ready.loaded, study.request_of(ready, where))
            found += [measured.table.to_pylist(), measured.result()]
    return found


def test_a_fault_that_nothing_catches_fails_the_command(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = small
    caught = next(fault for fault in faults.FAULTS if fault.name == "scaled contrast")
    harmless = faults.Fault("no fault at all", "nothing is changed", nullcontext)
    monkeypatch.setattr(of_subjects, "QUICK", SMALL)
    monkeypatch.chdir(folder.parent)
    command = ["calibrate", "--faults", "--output", "out", "--device", "cpu"]
    monkeypatch.setattr(faults, "FAULTS", (caught,))
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    told = json.loads((folder / "faults.json").read_text())
    assert told["passed"] is told["honest_passed"] is True
    (of_caught,) = told["faults"]
    assert of_caught["caught_by"]["passed"] is False
    assert of_caught["caught_by"]["value"] == pytest.approx(1.05, abs=0.001)
    monkeypatch.setattr(faults, "FAULTS", (caught, harmless))
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert "NOT CAUGHT" in done.output
    told = json.loads((folder / "faults.json").read_text())
    assert told["passed"] is False
    assert told["faults"][1]["caught_by"] is None


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
    assert names == {f"planted-{plan.name}" for plan in FULL.models[:5]} | {"null-masked", "norm-masked"}
    artefact, bias = found.controls
    assert artefact.result["ss_mu_original_low"] > 0
    assert artefact.result["ss_mu_control_low"] > 0
    assert artefact.result["f_mu_low"] <= 0 <= artefact.result["f_mu_high"]
    assert bias.result["f_mu_low"] > 0
