"""The annotators' votes on the sentences of GEST, and the choice of sentences by them (`--where`)."""

from collections.abc import Callable, Sequence

import datasets
import numpy as np
import numpy.typing as npt
import pandas as pd

from gest_dataset.data.rows import rows_of
from gest_dataset.errors import SettingError
from gest_dataset.stereotypes import STEREOTYPES

SENTENCES = ("en", "en_1_0")  # the configs that the votes are about; the second has the texts that were seen
LEVELS = ("strong", "weak", "second")  # of agreement


def add_sides(annotations: datasets.Dataset) -> pd.DataFrame:
    """The votes, and whether the gender was that of the stereotype: `own` 2 (strongly) to -2 (the opposite).

    `agreement` is *strong* if the first annotator's two votes are the strongest for the stereotype, *weak* if
    both agree with it, and else *second*: a second annotator decided.
    """
    votes: pd.DataFrame = annotations.to_pandas()
    votes["stereotype_gender"] = [STEREOTYPES[number].gender for number in votes["stereotype"]]
    votes["own"] = (votes["gender_vote"] - 2) * np.where(votes["stereotype_gender"] == "male", 1, -1)
    agrees = (votes["own"] >= 1) & (votes["match_vote"] <= 1)
    is_strong = (votes["own"] == 2) & (votes["match_vote"] == 0)
    votes["agreement"] = np.select([is_strong, agrees], LEVELS[:2], LEVELS[2])
    return votes


def sentence_votes(load: Callable[[str], datasets.Dataset] = rows_of) -> pd.DataFrame:
    """`creator` and `agreement` by the id of a sentence, which is a collected one or its fix."""
    votes = add_sides(load("annotations"))
    texts = pd.concat([votes.set_index(votes[text].str.strip()) for text in ("sentence", "fix")])
    texts = texts[~texts.index.duplicated(keep="last")][["creator", "agreement"]]
    rows = load(SENTENCES[1]).to_pandas().set_index("id")
    return texts.reindex(rows["sentence"].str.strip()).set_axis(rows.index, axis=0).fillna("")


def select_by_votes(rows: datasets.Dataset, config: str, where: Sequence[str]) -> datasets.Dataset:
    """The rows of a config of GEST's sentences that fulfil all conditions."""
    if config not in SENTENCES:
        raise SettingError(f"where applies to {' and '.join(SENTENCES)}, not to {config}.")
    return rows.select(np.flatnonzero(is_selected(rows["id"], where)))


def is_selected(ids: Sequence[str], where: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which sentences fulfil all conditions, such as `agreement=strong,weak` or `creator=A`."""
    votes = sentence_votes().reindex(ids).fillna("")
    known = {column: sorted({*votes[column]} - {""}) for column in votes}
    selected = np.ones(len(votes), dtype=bool)
    for condition in where:
        name, _, values = condition.partition("=")
        if not {*values.split(",")} <= {*known.get(name, ())}:
            choices = "; ".join(f"{column}={','.join(values)}" for column, values in known.items())
            raise SettingError(f"where: {condition!r} is not one or several of {choices}.")
        selected &= votes[name].isin(values.split(",")).to_numpy()
    if not selected.any():
        raise SettingError(f"No sentence fulfils {' and '.join(where)}.")
    return selected
