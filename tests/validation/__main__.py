"""`make validate`: train models with planted odds, measure them, and plant faults into the package.

Exit code 1 if a check fails or a planted fault is not caught.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import typer

from tests.validation.checks import model_checks
from tests.validation.faults import FAULTS, first_failed
from tests.validation.models import FULL, QUICK, train_keyword_model, train_world_model
from tests.validation.toy_model import make_toy_model
from tests.validation.verdicts import VERDICT_FAULTS, failed_verdict_check, verdict_checks


def main() -> int:
    """Run the validation; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four small models only, then the faults")
    parser.add_argument("--seed", type=int, default=0, help="random seed for words, odds and training")
    parser.add_argument("--demo-model", type=Path, help="only train the model of `gest demo` in this folder")
    arguments = parser.parse_args()
    if arguments.demo_model is not None:
        make_toy_model(arguments.demo_model)
        return 0
    failures = 0
    quick_models = [train_world_model(plan, QUICK.words, arguments.seed) for plan in QUICK.models]
    models = quick_models
    if not arguments.quick:
        models = [train_world_model(plan, FULL.words, arguments.seed) for plan in FULL.models]
        models += [train_keyword_model(recipe, arguments.seed) for recipe in FULL.keywords]
    for model in models:
        for check in model_checks(model):
            typer.echo(check)
            failures += not check.passed
    for check in verdict_checks():
        typer.echo(check)
        failures += not check.passed
    caught_by = {name: first_failed(quick_models, plant) for name, plant in FAULTS.items()}
    caught_by |= {name: failed_verdict_check(name) for name in VERDICT_FAULTS}
    for name, caught in caught_by.items():
        failures += caught is None
        typer.echo(f"{'ok  ' if caught else 'FAIL'}  fault {name!r}: {caught or 'not caught'}")
    typer.echo(f"{failures} failures" if failures else "All checks hold, and all faults are caught.")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
