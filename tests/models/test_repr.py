"""What a REPL shows of scores: one line with the model, the config, counts and the headline."""

from __future__ import annotations

import warnings

import pytest

import gest_dataset
from gest_dataset.builders.demo import TOY_MODEL
from gest_dataset.measures.formatting import format_number

pytestmark = pytest.mark.usefixtures("one_thread")
MODEL = str(TOY_MODEL)


def test_one_line_with_the_headline_and_its_interval() -> None:
    scores = gest_dataset.score(MODEL, "demo_sk_pairs")
    result = scores.result()
    g_s, low, high = (format_number(result[name]) for name in ("g_s", "g_s_low", "g_s_high"))
    assert repr(scores) == (
        f"Scores(model={scores.metadata['model']!r}, config='demo_sk_pairs', scored=80, skipped=0, "
        f"g_s={g_s} ({low} to {high}))"
    )
    assert type(result) is dict


def test_quadruplets_have_their_own_headline() -> None:
    scores = gest_dataset.score(MODEL, "demo_controls")
    result = scores.result()
    assert f"f_mu={format_number(result['f_mu'])} ({format_number(result['f_mu_low'])} to " in repr(scores)


def test_without_a_value_it_says_why_and_does_not_warn() -> None:
    scores = gest_dataset.score(MODEL, "demo_sk_pairs", limit=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(scores).endswith("scored=3, skipped=0, g_s=too few samples)")


def test_templates_have_their_mean() -> None:
    scores = gest_dataset.score(MODEL, "demo_en", templates=[1, 2], multi_token=True)
    assert f"mean g_s={format_number(scores.result()['g_s'])} (" in repr(scores)
