"""Mutation testing: `make mutants PACKAGE=statistics` lists small changes that no test notices.

mutmut changes the functions of a package one at a time, in a copy of the project laid out like the wheel
(build/mutants/PACKAGE), and runs the tests below. Exits with 1 if fewer than 85 % of the mutants are
caught. SAMPLE=3 tries only mutants whose number ends in 3, about a tenth.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = 0.85
CAUGHT = {"killed", "timeout", "segfault", "suspicious"}

# Package -> pytest arguments for the tests that should notice a change
TESTS: dict[str, list[str]] = {
    "statistics": ["tests/statistics", "tests/measures"],
    "probes": ["tests/probes", "tests/models", "-k", "bert or gpt2 or t5"],
    "models": ["tests/models", "tests/runs", "-k", "not smollm2"],
    "gender": ["tests/gender"],
    "runs": ["tests/runs", "tests/test_api.py"],
}


def prepare(package: str, folder: Path) -> None:
    """Copy the project in the layout of the wheel and write mutmut's settings."""
    shutil.rmtree(folder, ignore_errors=True)
    ignore = shutil.ignore_patterns("__pycache__")
    extra = ["builders", "metrics", "benchmarks", "docs", "dataset_card.md", "README.md"]
    for name in ("gest_dataset", "tests", *extra):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignore)
        else:
            shutil.copy(source, folder / name)
    for name in ("builders", "metrics"):
        shutil.copytree(ROOT / name, folder / "gest_dataset" / name, ignore=ignore)
    settings = {
        "source_paths": ["gest_dataset"],
        "only_mutate": [f"gest_dataset/{package}/*.py", f"gest_dataset/{package}/*/*.py"],
        "also_copy": extra,
        "pytest_add_cli_args": ["-pno:xdist", "-pno:cacheprovider", "-m", "not slow and not fuzz"],
        "pytest_add_cli_args_test_selection": TESTS[package],
        "process_isolation": "forkserver",  # torch must not be forked after it has run
        "use_git_change_detection": False,
        "timeout_multiplier": 2.0,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    own = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text("\n".join([own, "[tool.mutmut]", *lines, ""]), encoding="utf-8")


def mutmut(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "mutmut"), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def run_package(package: str, sample: int | None, jobs: int) -> bool:
    """Try the mutants of a package and print the survivors; whether enough were caught."""
    folder = ROOT / "build" / "mutants" / package
    prepare(package, folder)
    pattern = [] if sample is None else [f"*__mutmut_*{sample}"]
    done = mutmut(folder, "run", "--max-children", str(jobs), *pattern)
    lines = mutmut(folder, "results", "--all", "true").stdout.splitlines()
    results = dict(line.strip().rpartition(": ")[::2] for line in lines if ": " in line)
    tried = {name: result for name, result in results.items() if result != "not checked"}
    if done.returncode or not tried:
        sys.exit(f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}\nmutmut failed in {package}.")
    survivors = sorted(name for name, result in tried.items() if result not in CAUGHT)
    for name in survivors:
        print(mutmut(folder, "show", name).stdout)
    caught = len(tried) - len(survivors)
    print(f"{package}: {caught} of {len(tried)} mutants caught ({caught / len(tried):.1%})")
    return caught >= REQUIRED * len(tried)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=list(TESTS), help=f"of {', '.join(TESTS)}")
    parser.add_argument("--sample", type=int, choices=range(10), help="last digit of the mutants to try")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    passed = [run_package(package, options.sample, options.jobs) for package in options.packages]
    if not all(passed):
        sys.exit(1)


if __name__ == "__main__":
    main()
