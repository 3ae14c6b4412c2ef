"""The grid: what each model can be asked, and in what order models go out."""

from __future__ import annotations

from typing import Any

from gest_dataset.sweep.grid import Cell, Job, Row, jobs_of, row_of
from gest_dataset.sweep.looking import SERVED, Look
from gest_dataset.sweep.suite import Subject, suite_of


def subject(**told: Any) -> Subject:
    (one,) = suite_of({"models": [{"model": "m", **told}]}, "grid").checked().subjects
    return one


def order(*rows: Row) -> list[str]:
    jobs: list[Job] = jobs_of(rows, "out", (), "1")
    return [job.name for job in jobs]


def row(label: str, parameters: int, *configs: str) -> Row:
    one = subject(label=label, configs=list(configs))
    return Row(one, Look("masked", parameters), dict.fromkeys(configs, Cell()))


def test_work_is_parameters_times_rows() -> None:
    assert order(row("few", 10, "demo_en"), row("many", 10, "en")) == ["many", "few"]
    assert order(row("few", 1000, "demo_en"), row("many", 10, "en")) == ["few", "many"]


def test_a_served_model_goes_out_first_as_it_takes_nothing_here() -> None:
    served = Row(subject(label="far", configs="demo_en", endpoint="http://h:1"), SERVED, {"demo_en": Cell()})
    assert order(row("large", 10**12, "en"), served) == ["far", "large"]


def test_a_masked_model_may_have_a_head_for_next_sentences() -> None:
    """Its settings do not tell; that an option does not suit other models is told."""
    asked = {"configs": "stereoset_en_intersentence", "intersentence": "ratio"}
    found, problems = row_of(subject(**asked), Look("masked", 1))
    assert (list(found.cells), problems) == (["stereoset_en_intersentence"], [])


def test_a_model_that_cannot_be_read_is_a_problem() -> None:
    found, problems = row_of(subject(configs="en"), Look("", 0, "There is\nno such model."))
    assert (found.cells, problems) == ({}, ["m: There is no such model."])
