"""What the tests of studies share: planted runs, and the cells of tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gest_dataset.data.rows import rows_of
from gest_dataset.measures.grid import Estimate
from gest_dataset.studies import Study
from tests.support import planted


def gest(
    path: Path,
    model: str,
    ratio: Callable[[dict[str, Any], int], float],
    templates: Sequence[int] = (1,),
    config: str = "en",
    kind: str = "masked",
    **settings: Any,
) -> Path:
    """A run on GEST whose ln r is a function of the row (with `sign`, 1 for men, else -1) and template."""
    rows = [row | {"sign": 1 if row["gender"] else -1} for row in rows_of(config).to_list()]
    samples = [(row, template) for template in templates for row in rows]
    columns = {
        "id": [row["id"] for row, _ in samples],
        "template": [template for _, template in samples],
        "stereotype": [row["stereotype"] for row, _ in samples],
        "log_ratio": [ratio(row, template) for row, template in samples],
    }
    return planted.scored(path, model, config, columns, kind, **settings)


def winobias(
    path: Path, model: str, male: float, female: float, config: str, kind: str = "masked", **settings: Any
) -> Path:
    """A run on WinoBias with one ln r for the occupations of either gender."""
    rows = rows_of(config)
    genders = [rows.features["occupation_gender"].int2str(gender) for gender in rows["occupation_gender"]]
    ratios = [male if gender == "male" else female for gender in genders]
    columns = {"id": rows["id"], "occupation_gender": genders, "log_ratio": ratios}
    return planted.scored(path, model, config, columns, kind, **settings)


def cells(study: Study, table: str, **where: object) -> list[dict[str, Any]]:
    """The rows of a table that have these cells."""
    found = study.table(table)
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    return [row for row in rows if all(row[name] == value for name, value in where.items())]


def value(cell: object) -> float:
    """The value of an estimate."""
    assert isinstance(cell, Estimate)
    return cell.value
