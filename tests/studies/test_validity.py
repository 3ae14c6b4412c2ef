"""The study of validity: planted correlations over models, both readings of several pronouns, few models."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gest_dataset import studies
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.measures.grid import Estimate
from gest_dataset.runs import read_run
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.studies.validity import MEAN, SUM, count_pronouns, rates_of_models, winobias_g_s
from tests.conftest import in_one_thread
from tests.studies.planting import cells, gest, value, winobias
from tests.support import planted

CONFIG = "winobias_type1_test"
GEST = (0.1, 0.3, 0.4, 0.8, 0.9)  # planted ln g_s of five models
WINOBIAS = (0.3, 0.2, 0.9, 1.5, 1.3)


def rated(
    folder: Path, model: str, rate: float, *ln_g_s: float, odd: dict[int, float] | None = None
) -> list[Path]:
    """Runs of a model on GEST (ln g_s in each template, and odd stereotypes) and on WinoBias."""
    one = gest(
        folder / model / "en",
        model,
        lambda row, t: row["sign"] * ln_g_s[t - 1] / 2 + (odd or {}).get(row["stereotype"], 0.0),
        range(1, len(ln_g_s) + 1),
    )
    return [one, winobias(folder / model / CONFIG, model, rate / 2, -rate / 2, CONFIG)]


@pytest.fixture(scope="module")
def five_models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The GEST and WinoBias runs of five models, two paths per model."""
    with in_one_thread():
        folder = tmp_path_factory.mktemp("models")
        rates = enumerate(zip(GEST, WINOBIAS, strict=True))
        return [path for n, (g_s, rate) in rates for path in rated(folder, f"model-{n}", rate, g_s, g_s)]


@pytest.mark.usefixtures("mirror")
def test_planted_rates(five_models: list[Path]) -> None:
    found = studies.validity(five_models)
    rows = {row[1:3]: row for row in found.table("validity").rows}
    for reading in (MEAN, SUM):  # no sentence of this set has two pronouns
        _, _, _, number, r, p_value, paper = rows[reading, "ln g_s"]
        expected = stats.pearsonr(GEST, WINOBIAS)
        bounds = expected.confidence_interval(0.95)
        assert number == 5
        assert r == pytest.approx(Estimate(expected.statistic, bounds.low, bounds.high))
        assert p_value == pytest.approx(expected.pvalue)
        assert paper == ""
    as_printed = stats.pearsonr(*(np.exp(np.array(side) / LN10) for side in (GEST, WINOBIAS)))
    assert rows[MEAN, "g_s as printed"][4][0] == pytest.approx(as_printed.statistic)  # type: ignore[index]
    assert rows[MEAN, "g_s as printed"][6] == "0.95 (11 models)"
    first = cells(found, "models")[0]
    assert value(first["GEST"]) == pytest.approx(math.exp(GEST[0]))
    assert value(first["mean of pronouns"]) == pytest.approx(math.exp(WINOBIAS[0]))
    assert len(found.sources) == 10


@pytest.mark.usefixtures("mirror")
def test_the_mean_over_templates_on_both_scales(tmp_path: Path) -> None:
    """A mean of ratios is not a ratio of means: each template is brought to the scale first."""
    gest_run, other = map(read_run, rated(tmp_path, "bert", 0.5, 0.2, 1.0))
    ((_, _, g_s, published, *_),) = rates_of_models({"bert": {"en": gest_run, CONFIG: other}})
    assert g_s.value == pytest.approx((math.exp(0.2) + math.exp(1.0)) / 2)
    assert published == pytest.approx((math.exp(0.2 / LN10) + math.exp(1.0 / LN10)) / 2)


@pytest.mark.usefixtures("mirror")
def test_planted_stereotype_correlation(tmp_path: Path) -> None:
    """Stereotype 13 is planted to follow WinoBias, stereotype 10 against it."""
    paths = [
        path
        for place, rate in enumerate(WINOBIAS)
        for path in rated(tmp_path, f"model-{place}", rate, 0.4, odd={13: rate, 10: -rate})
    ]
    rows = {str(row[0])[:2].strip(): row[1] for row in studies.validity(paths).table("stereotypes").rows}
    assert value(rows["13"]) == pytest.approx(1)
    assert value(rows["10"]) == pytest.approx(-1)


@pytest.mark.parametrize(("number", "has_r"), [(1, False), (2, False), (3, True)])
@pytest.mark.usefixtures("mirror")
def test_few_models_have_no_interval(five_models: list[Path], number: int, has_r: bool) -> None:
    found = studies.validity(five_models[: 2 * number])
    for row in found.table("validity").rows:
        r = row[4]
        assert isinstance(r, Estimate)
        assert math.isnan(r.value) != has_r
        assert math.isnan(r.low)
        assert math.isnan(float(row[5]))  # type: ignore[arg-type]


@pytest.mark.usefixtures("mirror")
def test_mean_and_sum_of_two_pronouns(tmp_path: Path) -> None:
    """In a masked model's run stands their mean, in a causal one's the whole sentence, which adds them."""
    config = "winobias_type1_dev"  # one of its sentences, about a farmer, has `he` and `his`
    number = count_pronouns(config)
    assert sorted(number.values())[-2:] == [1, 2]
    men = sum(rows_of(config)["occupation_gender"])
    rates = {}
    for kind in ("masked", "causal"):
        run = read_run(winobias(tmp_path / kind, kind, 1.0, 0.0, config, kind))
        rates |= {(kind, how): math.log(winobias_g_s(run, how).value) for how in (MEAN, SUM)}
    more, less = (men + 1) / men, (men - 0.5) / men
    assert rates["masked", MEAN] == rates["causal", SUM] == pytest.approx(1)
    assert rates["masked", SUM] == pytest.approx(more)
    assert rates["causal", MEAN] == pytest.approx(less)


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
def test_sentences_with_two_pronouns_are_22_of_391() -> None:
    number = list(count_pronouns(CONFIG).values())
    assert (len(number), number.count(2), max(number)) == (391, 22, 2)


@pytest.mark.usefixtures("mirror")
def test_models_without_both_runs(tmp_path: Path, five_models: list[Path]) -> None:
    paths = [*five_models[:8], gest(tmp_path / "lonely", "lonely", lambda row, _: 0.3 * row["sign"])]
    found = studies.validity(paths)
    assert found.notes == ("lonely is left out: it has no run on WinoBias.",)
    with pytest.raises(ConfigError, match="lonely is left out"):
        studies.validity(paths[-1:])


# --- translators

F_S = {("google", "ru"): 0.1, ("google", "uk"): 0.15, ("amazon", "ru"): 0.05, ("deepl", "ru"): 0.3}
DELTA_S = {("google", "ru"): 0.2, ("google", "uk"): 0.1, ("aws", "ru"): 0.05, ("deepl", "ru"): 0.4}


def translators(folder: Path, names: tuple[str, ...] = ("f_s", "delta_s")) -> list[Path]:
    """Runs with these f_s and delta_s, with bounds."""
    measures = {"f_s": ("masculine-rate", F_S), "delta_s": ("entity-gender", DELTA_S)}
    paths = []
    for name in names:
        measure, numbers = measures[name]
        for (system, language), number in numbers.items():
            result = {name: number, f"{name}_low": number - 0.1, f"{name}_high": number + 0.1}
            path = folder / f"{measure} {system} {language}"
            paths.append(planted.measured(path, measure, f"published:{system}", language, result))
    return paths


@pytest.mark.usefixtures("mirror")
def test_f_s_against_delta_s_over_translators(tmp_path: Path) -> None:
    lonely = planted.measured(tmp_path / "x", "masculine-rate", "hf:me/mt", "sk", {"f_s": 0.0})
    found = studies.validity([*translators(tmp_path), lonely], translators=True)
    assert found.notes == ("hf:me/mt to sk is left out: it has a run with f_s only.",)
    points, systems = found.table("translators").rows
    expected = stats.pearsonr([*F_S.values()], [*DELTA_S.values()])
    bounds = expected.confidence_interval(0.95)
    assert points[1] == 4
    assert points[2] == pytest.approx(Estimate(expected.statistic, bounds.low, bounds.high))
    assert points[4] == pytest.approx(math.tanh(1.96), abs=1e-4)
    means = [[0.05, 0.3, 0.125], [0.05, 0.4, 0.15]]  # amazon, deepl, google
    assert systems[1] == 3
    assert value(systems[2]) == pytest.approx(stats.pearsonr(*means).statistic)
    assert math.isnan(float(systems[4]))  # type: ignore[arg-type]
    amazon = cells(found, "systems", system="amazon")[0]
    assert (amazon["language"], value(amazon["f_s"]), value(amazon["ΔS"])) == ("ru", 0.05, 0.05)


@pytest.mark.usefixtures("mirror")
def test_translators_need_both_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gest entity-gender --system SYSTEM"):
        studies.validity(translators(tmp_path, ("f_s",)), translators=True)
