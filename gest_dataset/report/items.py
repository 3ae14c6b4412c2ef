"""Which stereotypes and sentences drive g_s, and how much the rank of a model depends on choices.

Each stereotype is compared with the midpoint between the two genders:

    e (ln q_i - m) / s     with e = 1 for a stereotype about men, -1 for one about women

where m is the mean of ln q_f and ln q_m, and s the standard deviation of scores within stereotypes. And g_s
is computed again without the sentences for which the scores of published models of other families lean
against the stereotype (config `item_quality`). That is a sensitivity analysis: the result of a model is that
of all sentences.
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from gest_dataset.builders.released import AGAINST, FAMILIES, FAMILY_OF, KIND_OF, TOWARDS, UNDETERMINED
from gest_dataset.data.rows import rows_of
from gest_dataset.measures.grid import Estimate
from gest_dataset.statistics import bootstrap
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.stereotype_rate import LN_G_S, LN_MEAN, exp, resample_templates, template_squares
from gest_dataset.statistics.weights import FEMALE, IS_FEMALE, MALE
from gest_dataset.stereotypes import STEREOTYPES


def read_item_quality() -> pd.DataFrame:
    """`item_quality` by sentence; a column for each family of models says whether the others are against it.

    The column "" is for a model of no family: a model has no part in the classes that it is compared with.
    """
    rows = rows_of("item_quality")
    label = rows.features["quality"].str2int(AGAINST)
    quality: pd.DataFrame = rows.to_pandas().set_index("sentence_id")
    against = {name: quality["quality_without"].str[index] == label for index, name in enumerate(FAMILIES)}
    return quality.assign(**{"": quality["quality"] == label}, **against)


def without(wide: pd.DataFrame, is_left_out: "pd.Series[bool]") -> pd.DataFrame:
    """The scores without some sentences."""
    ids = wide.index.get_level_values("id")
    return wide[~is_left_out.reindex(ids, fill_value=False).to_numpy(dtype=bool)]


def estimate_g_s(wide: pd.DataFrame) -> Estimate:
    """g_s, or its mean over templates, of `wide_scores`."""
    resamples = resample_templates(wide.to_numpy(), strata_of(wide))
    return Estimate.of(resamples.entries("g_s", LN_MEAN, exp), "g_s")


def sides(wide: pd.DataFrame) -> list[tuple[Estimate, str]]:
    """The distance of each stereotype from the midpoint, and the side it is on."""
    means = wide.dropna().mean(axis=1)
    strata = strata_of(means)
    columns = np.column_stack([means, bootstrap.squared_deviations(means.to_numpy(), strata)])
    resamples = bootstrap.resample(columns, strata, len(STEREOTYPES), None, bootstrap.DRAWS, bootstrap.SEED)
    found = []
    for contrast, is_female in zip(np.eye(len(STEREOTYPES)) - (MALE + FEMALE) / 2, IS_FEMALE, strict=True):
        towards = bootstrap.linear(-contrast if is_female else contrast)
        interval = resamples.interval(bootstrap.standardised(towards, strata, len(STEREOTYPES)))
        distance = Estimate(interval.value, interval.low, interval.high)
        side = TOWARDS if distance.low > 0 else AGAINST if distance.high < 0 else UNDETERMINED
        found.append((distance, side))
    return found


def rank_band(wide: pd.DataFrame, kind: str, name: str | None, quality: pd.DataFrame) -> dict[str, int]:
    """The rank of a model among the released ones of its kind, and its range over choices.

    The choices are g_s or d, each template or their mean, with or without the sentences against their
    stereotype, and all sentences or only those that are the same in GEST 1.0 and 1.1. Empty if its templates
    are not the released ones.
    """
    columns = ["model", "template", "sentence_id", "log_ratio"]
    rows = rows_of("gest_scores_en").select_columns(columns).to_pandas()
    released = rows.pivot(index="sentence_id", columns=["model", "template"], values="log_ratio")
    names = [model for model in rows["model"].unique() if KIND_OF[model] == kind]
    if not names or not {*wide.columns} <= {*released[names[0]]}:
        return {}
    newer, older = (rows_of(config).to_pandas().set_index("id")["sentence"] for config in ("en", "en_1_0"))
    changed = newer != older.reindex(newer.index)
    wide = wide.dropna().droplevel("occurrence")

    def effects(scores: pd.DataFrame, family: str) -> list[float]:
        parts = [scores, without(scores, quality[family])]
        parts += [without(part, changed) for part in parts]
        return [effect for part in parts for effect in _effects(part.to_numpy(), strata_of(part))]

    own = np.array(effects(wide, FAMILY_OF.get(name or "", "")))
    stronger = np.zeros(len(own), dtype=int)
    others = [model for model in names if model != name]
    for model in others:
        scores = released[model].reindex(wide.index.get_level_values("id"))[[*wide.columns]]
        stronger += np.array(effects(scores.set_axis(wide.index), FAMILY_OF[model])) > own
    ranks = 1 + stronger[~np.isnan(own)]
    if not len(ranks):
        return {}
    numbers = {"rank": int(ranks[0]), "best": int(ranks.min()), "worst": int(ranks.max())}
    return numbers | {"of": len(others) + 1, "choices": len(ranks)}


def _effects(scores: Floats, strata: Ints) -> Iterator[float]:
    """g_s and d, over all templates and in each."""
    groups = [scores[strata == index] for index in range(len(STEREOTYPES))]
    means = np.array([group.mean(axis=0) if len(group) else np.nan * scores[0] for group in groups])
    width = scores.shape[1]
    for chosen in [range(width), *([n] for n in range(width) if width > 1)]:
        ln_g_s = float(LN_G_S.value(means[:, chosen]))
        yield ln_g_s
        yield ln_g_s / (
            bootstrap.deviation_of_squares(template_squares(scores[:, chosen], strata), strata) or math.nan
        )


def strata_of(scores: "pd.DataFrame | pd.Series[float]") -> Ints:
    """The stereotype of each row, from 0."""
    return np.asarray(scores.index.get_level_values("stereotype").to_numpy(dtype=np.int64) - 1)
