"""`gest study annotators`: do annotators agree about the sentences, and does g_s depend on it?

The first annotator votes on the gender of a sentence without its stereotype, and then on whether it
represents it (section 3.3 of Pikuliak et al., 2024). The alpha is that of the first vote with the writer, who
was given the stereotype: female, neutral or male. The second annotator decides only about sentences that the
first one does not accept, so there is no alpha of the two.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset.data.rows import rows_of
from gest_dataset.data.votes import LEVELS, SENTENCES, add_sides, sentence_votes
from gest_dataset.measures.gest import TEMPLATES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import wide_scores
from gest_dataset.published.released import Released
from gest_dataset.report.items import estimate_g_s
from gest_dataset.report.labels import label_runs
from gest_dataset.runs.folder import Run, Runs
from gest_dataset.statistics.agreement import nominal_alpha
from gest_dataset.studies.study import Row, Study, Table, collect_runs, make_study

_GROUPS = ("first_annotator", "creator")
_OWN = ["own gender, strongly", "own gender", "neutral", "opposite", "opposite, strongly"]


def annotators(runs: Runs = (), released: str | Path | None = None) -> Study:
    """Agreement of annotators, and g_s by their votes, of runs in English and of released scores."""
    files = Released(released)

    def suitable(run: Run) -> bool:
        return run.manifest.measure == TEMPLATES.name and run.manifest.config in SENTENCES

    found = collect_runs(runs, "annotators", suitable, files) if runs else []
    models = {one.label: wide_scores(one.run.table) for one in label_runs(found)}
    models |= {f"{name} (authors)": scores for name, scores in files.gest.items()}
    annotations = rows_of("annotations")
    votes = add_sides(annotations)
    groups = {"all": votes}
    groups |= {f"{by} {name}": part for by in _GROUPS for name, part in votes.groupby(by)}
    alphas = [(name, *_alpha(part)) for name, part in groups.items()]
    votes["own"] = pd.Categorical.from_codes(2 - votes["own"], _OWN)
    for name in ("match_vote", "verdict"):
        votes[name] = pd.Categorical.from_codes(votes[name], annotations.features[name].names)
    tables = [
        Table.create("alpha", alphas),
        _counts("votes", votes["own"], votes["match_vote"]),
        _counts("gender-verdicts", votes["own"], votes["verdict"]),
        _counts("match-verdicts", votes["match_vote"], votes["verdict"]),
        Table.create("levels", [row for name, wide in models.items() for row in _g_s_by_votes(name, wide)]),
    ]
    return make_study("annotators", tables, found, [*models], files=files)


def _alpha(votes: pd.DataFrame) -> tuple[int, float, Estimate]:
    """The number of sentences, the share with the stereotype's gender in per cent, and alpha."""
    annotator = np.sign(votes["gender_vote"].to_numpy() - 2)  # 1 male, 0 neutral, -1 female
    writer = np.where(votes["stereotype_gender"] == "male", 1, -1)
    found = nominal_alpha(np.eye(3)[annotator + 1] + np.eye(3)[writer + 1])
    share = 100 * float((annotator == writer).mean())
    return len(votes), share, Estimate(found.value, found.low, found.high)


def _counts(name: str, rows: "pd.Series[str]", columns: "pd.Series[str]") -> Table:
    """How often each vote of one kind goes with each one of another kind."""
    counts = pd.crosstab(rows, columns, dropna=False)
    cells = counts.reset_index().to_numpy().tolist()
    return Table.create(name, [tuple(row) for row in cells], columns=["vote", *counts.columns])


def _g_s_by_votes(name: str, wide: pd.DataFrame) -> list[Row]:
    """g_s of all sentences, by agreement and by creator."""
    votes = sentence_votes().reindex(wide.index.get_level_values("id"))
    parts = [("all", wide)]
    for column, values in (("agreement", LEVELS), ("creator", sorted({*votes["creator"].dropna()} - {""}))):
        parts += [(f"{column}={value}", wide[(votes[column] == value).to_numpy()]) for value in values]
    return [(name, part, len(scores), estimate_g_s(scores)) for part, scores in parts]
