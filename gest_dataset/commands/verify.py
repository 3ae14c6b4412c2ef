"""`gest verify`: an evidence file or a plan against runs."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gest_dataset.commands import console
from gest_dataset.commands.console import err, out

if TYPE_CHECKING:
    from gest_dataset.runs.folder import Run, RunResult


def run(file: Path, paths: list[Path] | None = None) -> None:
    from gest_dataset.errors import GestError
    from gest_dataset.report import evidence
    from gest_dataset.runs.folder import find_runs
    from gest_dataset.runs.plan import deviations, is_intact, read_sealed

    console.silence_libraries()
    content = read_sealed(file)
    problems = [] if is_intact(content) else [f"{file} was changed after it was sealed"]
    try:
        runs = find_runs(paths or [])
    except GestError as error:
        runs = []
        problems.append(str(error))
    if "evidence" in content:
        problems += evidence.differences(content, runs)
        for one in runs:
            problems += [f"{one.path}: {problem}" for problem in _recompute(one)]
    else:
        for one in runs:
            problems += [f"{one.path}: {line}" for line in deviations(one.manifest, content)]
    for problem in problems:
        console.show_error(problem)
    if problems:
        raise typer.Exit(1)
    out.print(f"{file} is intact, and {len(runs)} runs agree with it." if runs else f"{file} is intact.")


def _recompute(run: "Run") -> list[str]:
    """What the data and the scores of a run say otherwise than its record."""
    from gest_dataset.builders import CONFIGS
    from gest_dataset.data.rows import fingerprint_of, rows_of
    from gest_dataset.models.chat.ask import Answers
    from gest_dataset.models.score_run import Scores
    from gest_dataset.runs.manifest import ANSWERS, SCORES
    from gest_dataset.translation.masculine_rates import MasculineRates

    manifest = run.manifest
    table, facts = run.table.replace_schema_metadata(None), manifest.metadata
    rows: Any = rows_of(manifest.config) if manifest.config in CONFIGS else None
    if rows is None and manifest.table == SCORES:
        err.print(f"Note: {run.path} is about your own rows, so its numbers are not computed again.")
        return []
    problems = []
    if rows is not None and fingerprint_of(manifest.config) != manifest.data_fingerprint:
        problems.append(f"the data of {manifest.config} are not those of this version or mirror")
    result: RunResult = MasculineRates(table, facts)
    if manifest.table == SCORES:
        result = Scores(table, table, facts, rows)
    elif manifest.table == ANSWERS:
        result = Answers(table, facts)
    again = result.result()
    for name, value in run.result["result"].items():
        new = again.get(name)
        same = isinstance(new, float) and isinstance(value, float) and math.isclose(value, new, abs_tol=1e-9)
        if isinstance(value, float) and not same:
            problems.append(f"{name} is {value} in result.json, and {new} of its scores")
    return problems
