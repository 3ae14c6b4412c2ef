"""Checks that compute what released data allow of the papers' tables, and compare it with the print.

`studies/papers.json` lists the tables and figures that each check is of.
"""

from gest_dataset.studies.printed import gest, others
from gest_dataset.studies.printed.comparison import Checks, Pair, Unavailable

CHECKS: Checks = {**gest.CHECKS, **others.CHECKS}

__all__ = ["CHECKS", "Pair", "Unavailable"]
