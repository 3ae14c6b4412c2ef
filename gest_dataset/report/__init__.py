"""Reports of runs: an HTML page, figures and LaTeX tables for papers, notebook output (docs/report.md).

`gest_dataset.report(paths_or_runs, output)` and this package have the same name, so the module is callable.
"""

import sys
from types import ModuleType
from typing import Any

from gest_dataset.report.page import report, write_report
from gest_dataset.report.panel import Panel
from gest_dataset.report.reliability import reliability_of

__all__ = ["Panel", "reliability_of", "report", "write_report"]


class _CallableModule(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        return report(*args, **options)


sys.modules[__name__].__class__ = _CallableModule
