"""The studies of the papers, for any models (docs/studies.md).

from gest_dataset import studies
study = studies.templates(["gest-runs"])  # finished runs, or folders of them
study = studies.templates(studies.Inputs(models=["roberta-base"], folder=Path("mine")))
study.write(Path("mine"), [])
"""

from gest_dataset.studies.controls import controls
from gest_dataset.studies.heuristics import draw_sheet, heuristics
from gest_dataset.studies.inputs import HOME, Inputs
from gest_dataset.studies.papers import papers_study
from gest_dataset.studies.stereoset import stereoset
from gest_dataset.studies.study import Study, Table
from gest_dataset.studies.templates import templates
from gest_dataset.studies.topical import topical
from gest_dataset.studies.validity import validity

__all__ = [
    "HOME",
    "Inputs",
    "Study",
    "Table",
    "controls",
    "draw_sheet",
    "heuristics",
    "papers_study",
    "stereoset",
    "templates",
    "topical",
    "validity",
]
