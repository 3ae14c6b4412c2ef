"""The mean g_s over several templates (Pikuliak et al., 2024, figure 4), with its interval.

    mean over templates t of g_s(t) = exp(mean ln r of the male - of the female stereotypes in t)

A sample's scores in all templates are resampled together. The interval is computed on the log scale.
"""

from __future__ import annotations

import numpy as np

from gest_dataset.statistics.bootstrap import DRAWS, SEED, SmoothFunction
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.resampling import Resamples, resample
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import STEREOTYPES


def resample_templates(
    log_ratios: Floats,
    stereotypes: Ints,
    units: Ints | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Resamples:
    """Resamples for `LN_MEAN` and `LN_Q`; `log_ratios` [samples, templates] is nan where a score is missing.

    `stereotypes` counts from 0. Samples of a unit are resampled together.
    """
    known = np.isfinite(log_ratios)
    columns = np.hstack([np.where(known, log_ratios, 0.0), known])
    return resample(columns, stereotypes, len(STEREOTYPES), units, draws, seed)


def _parts(mean: Floats) -> tuple[Floats, Floats, Floats]:
    """Sums of scores, shares of samples with a score, and each template's g_s."""
    sums, shares = np.split(mean, 2, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        g_s = np.exp(np.einsum("s,...st->...t", MALE_MINUS_FEMALE, sums / shares))
    return sums, shares, g_s


def _mean_gradient(mean: Floats) -> Floats:
    sums, shares, g_s = _parts(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = (g_s / g_s.sum(axis=-1, keepdims=True))[..., None, :] * MALE_MINUS_FEMALE[:, None]
        return np.concatenate([weights / shares, -weights * sums / shares**2], axis=-1)


def _ln_q(stereotype: int) -> SmoothFunction:
    """The mean over templates of ln q of one stereotype."""
    selected = (np.arange(len(STEREOTYPES)) == stereotype)[:, None]

    def value(mean: Floats) -> Floats:
        sums, shares = np.split(mean[..., stereotype, :], 2, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((sums / shares).mean(axis=-1))

    def gradient(mean: Floats) -> Floats:
        sums, shares = np.split(mean, 2, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.concatenate([1 / shares, -sums / shares**2], axis=-1) / sums.shape[-1]
        return np.where(selected, slopes, 0.0)

    return SmoothFunction(value, gradient)


LN_MEAN = SmoothFunction(lambda mean: np.asarray(np.log(_parts(mean)[2].mean(axis=-1))), _mean_gradient)
LN_Q = tuple(_ln_q(stereotype) for stereotype in range(len(STEREOTYPES)))
