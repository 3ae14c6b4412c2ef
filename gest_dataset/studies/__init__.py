"""The studies of the papers, for any models (docs/studies.md).

from gest_dataset import studies
study = studies.templates(["gest-runs"])  # finished runs, or folders of them
study.write(Path("mine"), [])
"""

from gest_dataset.studies.annotators import annotators as annotators
from gest_dataset.studies.controls import controls as controls
from gest_dataset.studies.heuristics import draw_sheet as draw_sheet
from gest_dataset.studies.heuristics import heuristics as heuristics
from gest_dataset.studies.items import items as items
from gest_dataset.studies.papers import papers_study as papers_study
from gest_dataset.studies.stereoset import stereoset as stereoset
from gest_dataset.studies.study import HOME as HOME
from gest_dataset.studies.study import Study as Study
from gest_dataset.studies.study import Table as Table
from gest_dataset.studies.templates import templates as templates
from gest_dataset.studies.topical import topical as topical
from gest_dataset.studies.validity import validity as validity
