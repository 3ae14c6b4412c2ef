"""The studies on what the authors released: their own scores, and the data."""

from __future__ import annotations

import pytest

from gest_dataset.measures.grid import Estimate
from gest_dataset.studies.printed import CHECKS
from gest_dataset.studies.stereoset import stereoset
from tests.support.outside import require


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
def test_released_scores_give_the_printed_tables() -> None:
    """Every number of the three models but one, whose print is a misprint."""
    study = stereoset(scores=require("GEST_PAPER_SCORES"))
    odd = []
    beside = 0
    for table in study.tables:
        for row in (dict(zip(table.columns, cells, strict=True)) for cells in table.rows):
            value, paper = row["value"], row["paper"]
            assert isinstance(value, Estimate)
            beside += bool(paper)
            if paper and round(value.value, 2) != float(str(paper)):
                odd.append((table.name, row["language"], row["score"]))
    assert beside == 3 * (3 * 3 + 3 * 4) + 3  # three models, three tables of each kind; one row of table 7
    assert odd == [("table-3", "tr", "LMS")]


def test_checks_of_scores_say_what_they_lack() -> None:
    from gest_dataset.studies.printed import Lacking

    with pytest.raises(Lacking, match="the authors' score files are not at hand"):
        CHECKS["stereoset-table-2"](None)


def test_printed_shares_are_centres_of_counts() -> None:
    """All 124 English ones, of the whole set: plain shares would have another reach in 14 of them."""
    pairs = [pair for number in (7, 9, 11) for pair in CHECKS[f"word-filling-table-{number}"](None)]
    shares = [pair for pair in pairs if "±" in pair.what]
    assert len(shares) == 124
    assert all(pair.agrees for pair in shares)
    # tables 1 to 3 have those of RoBERTa again
    again = [pair for number in (1, 2, 3) for pair in CHECKS[f"word-filling-table-{number}"](None)]
    assert {pair.what for pair in again if "±" in pair.what} <= {pair.what for pair in shares}
