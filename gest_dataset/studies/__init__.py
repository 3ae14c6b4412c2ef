"""What the papers did around their scores, each study repeatable on any models (docs/studies.md).

from gest_dataset import studies
found = studies.templates(["gest-runs"])            # finished runs, or folders of them
found = studies.templates(studies.Asked(models=["roberta-base"], folder=Path("mine")))
studies.keep(found, Path("mine"), [])
"""

from gest_dataset.studies.asking import Asked
from gest_dataset.studies.controls import controls
from gest_dataset.studies.heuristics import draw as draw_sheet
from gest_dataset.studies.heuristics import heuristics
from gest_dataset.studies.stereoset import stereoset
from gest_dataset.studies.study import Study, Table, keep, read_study
from gest_dataset.studies.templates import templates
from gest_dataset.studies.topical import topical
from gest_dataset.studies.validity import validity

__all__ = [
    "Asked",
    "Study",
    "Table",
    "controls",
    "draw_sheet",
    "heuristics",
    "keep",
    "read_study",
    "stereoset",
    "templates",
    "topical",
    "validity",
]
