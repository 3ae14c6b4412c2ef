"""Changes the rooms of the package in small ways and tells which changes no test of the room notices.

`make mutants` (all rooms: hours) or `make mutants ROOM=statistics`; `SAMPLE=3` takes the changes whose
number ends in 3, about a tenth. mutmut makes the changes (all within functions) and runs for each one
the tests that reach it, in a copy of the project in the shape of the wheel (build/mutants/ROOM).

A room passes when `LEAST` of its mutants are caught. `may_live.json` says of survivors why they may:
each entry has the room, expressions for the function and for the changed line, and the reason. An entry
that no survivor of a whole run fits any more is stale and has to go.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutants"
MAY_LIVE = Path(__file__).with_name("may_live.json")
QUICK_FIRST = "tests.mutants.quick_first"
LEAST = 0.85
CAUGHT = {"killed", "timeout", "segfault", "suspicious"}

# Of the models that the engine is tested on, these have every way through it; the others take hours
_OTHER_ANIMALS = (
    "xlm or albert or electra or deberta or modernbert or distilbert or mistral or phi or qwen2 or gemma"
    " or neox or mt5 or untied or gentle or smollm2"
)
# Tests that start processes take long, and what they see others see as well
_OTHER_PROCESSES = (
    "the_answer_y or cheap_first or translator or kills or full_disk or second_process or cut_or_flipped"
)
# Further ones that do no other arithmetic, and tests of tokenisers and data alone
_BESIDE_THE_ENGINE = (
    "roberta or llama or bent or letters or bytes or class_of_a_tokenizer or unknown_words or opinions"
    f" or {_OTHER_PROCESSES}"
)


@dataclass(frozen=True)
class Room:
    """What is changed, and pytest's arguments for the tests that have to notice."""

    source: str
    tests: tuple[str, ...]


ROOMS = {
    "statistics": Room(
        "statistics",
        (
            "tests/statistics",
            "tests/measures",
            "--ignore=tests/statistics/test_coverage.py",
            # mutmut puts a frame of its own around every function
            "--deselect=tests/statistics/test_told.py::test_warnings_point_at_the_statistic",
        ),
    ),
    "probes": Room(
        "probes",
        (
            *("tests/probes", "tests/models/test_exact.py", "tests/models/test_skips.py"),
            "tests/models/test_neutral.py",
            *("tests/models/test_repr.py", "tests/models/test_endpoint.py"),
            *("tests/models/test_rare_ways.py", "-m", "not slow"),
            *("-k", f"not ({_OTHER_ANIMALS} or {_OTHER_PROCESSES} or llama or bent)"),
        ),
    ),
    "scoring": Room(
        "scoring",
        (
            *("tests/models", "tests/runs/test_runs.py", "-m", "not slow"),
            *("-k", f"server_s_tokens or not ({_OTHER_ANIMALS} or {_BESIDE_THE_ENGINE})"),
        ),
    ),
    "gender": Room("gender/rules", ("tests/gender", "-m", "not slow")),
    "runs": Room(
        "runs",
        (
            "tests/runs",
            *("tests/test_api.py", "tests/commands/test_score.py", "-m", "not slow"),
            # of the command only comparisons; what takes seconds in both, others notice as well
            "-k",
            "(test_runs or compar or paired) and not (kills or full_disk or second_process or overflow"
            " or flipped or compare_other or flat_table)",
        ),
    ),
}


@dataclass(frozen=True)
class Survivor:
    """A change that no test noticed: mutmut's name, the function, the lines before and after."""

    name: str
    function: str
    change: str


@dataclass(frozen=True)
class Reason:
    """Why survivors may live whose function and change fit two regular expressions."""

    room: str
    function: str
    change: str
    why: str

    def fits(self, survivor: Survivor) -> bool:
        return bool(
            re.fullmatch(self.function, survivor.function) and re.search(self.change, survivor.change)
        )


def prepare(room: Room, folder: Path) -> None:
    """A copy of the project with the package in the shape of the wheel, and mutmut's settings."""
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    beside = ["builders", "metrics", "benchmarks", "docs", "dataset_card.md", "README.md"]
    for name in ("gest_dataset", "tests", *beside):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    for name in ("builders", "metrics"):
        shutil.copytree(ROOT / name, folder / "gest_dataset" / name, ignore=ignored)
    settings = {
        "source_paths": ["gest_dataset"],
        "only_mutate": [f"gest_dataset/{room.source}/*.py"],
        "also_copy": beside,
        "pytest_add_cli_args": [f"-p{name}" for name in ("no:xdist", "no:cacheprovider", QUICK_FIRST)],
        "pytest_add_cli_args_test_selection": list(room.tests),
        "process_isolation": "forkserver",  # torch does not like to be forked after it has run
        "use_git_change_detection": False,
        "timeout_multiplier": 2.0,  # of processor time, doubled by mutmut: load does not count
    }
    own = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    text = "\n".join([own, "[tool.mutmut]", *lines, ""])
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def mutmut(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "mutmut"), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def verdicts(folder: Path) -> dict[str, str]:
    """What became of each mutant that was tried."""
    lines = mutmut(folder, "results", "--all", "true").stdout.splitlines()
    pairs = (line.strip().rpartition(": ")[::2] for line in lines if ": " in line)
    return {name: verdict for name, verdict in pairs if verdict != "not checked"}


def survivors(folder: Path, names: list[str]) -> list[Survivor]:
    """The changes behind names such as `gest_dataset.statistics.correlation.x_pearson__mutmut_4`."""
    functions: dict[str, dict[str, str]] = {}
    found = []
    for name in sorted(names):
        module, _, mutant = name.rpartition(".")
        if module not in functions:
            path = folder / "mutants" / Path(*module.split("."))
            path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            functions[module] = sources(path.read_text(encoding="utf-8"))
        function, _, _ = mutant.partition("__mutmut_")
        pair = (functions[module][f"{function}__mutmut_orig"], functions[module][mutant])
        before, after = (
            text.replace(own, "") for text, own in zip(pair, ("__mutmut_orig", mutant), strict=True)
        )
        plain = function.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
        room = module.split(".", 2)[-1]
        found.append(Survivor(name, f"{room}.{plain}", changed(before, after)))
    return found


def sources(text: str) -> dict[str, str]:
    """The text of every function of a module by its name, without the line of its name."""
    lines = text.splitlines()
    return {
        node.name: "\n".join(lines[node.body[0].lineno - 1 : node.end_lineno])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def changed(before: str, after: str) -> str:
    """The lines that differ: `- old` and `+ new`."""
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return "\n".join(f"{line[0]} {line[2:].strip()}" for line in lines if line[0] in "+-")


def reasons(room: str) -> list[Reason]:
    return [
        Reason(**entry) for entry in json.loads(MAY_LIVE.read_text(encoding="utf-8")) if entry["room"] == room
    ]


def try_room(name: str, sample: int | None, modules: list[str], jobs: int) -> bool:
    """Run a room, print what it found; whether enough mutants were caught and no reason is stale."""
    folder = BUILD / name
    prepare(ROOMS[name], folder)
    ends = ["*"] if sample is None else [f"*{sample}", f"{sample}"]
    pattern = [f"*.{module}.*__mutmut_{end}" for module in modules or ["*"] for end in ends]
    whole = sample is None and not modules
    done = mutmut(folder, "run", "--max-children", str(jobs), *([] if whole else pattern))
    (folder / "mutmut.log").write_text(done.stdout.replace("\r", "\n") + done.stderr, encoding="utf-8")
    tried = verdicts(folder)
    if done.returncode or not tried:
        print("\n".join(done.stdout.replace("\r", "\n").splitlines()[-20:]), done.stderr[-3000:])
        sys.exit(
            f"mutmut did not finish in {name}; its whole output is in {folder / 'mutmut.log'}. Where it "
            f"could not collect stats a test fails without any change; pytest in {folder / 'mutants'} "
            f"says which."
        )
    caught = sum(verdict in CAUGHT for verdict in tried.values())
    living = survivors(folder, [mutant for mutant, verdict in tried.items() if verdict not in CAUGHT])
    known = reasons(name)
    fitting = Counter(reason for reason in known for survivor in living if reason.fits(survivor))
    for survivor in living:
        why = next((reason.why for reason in known if reason.fits(survivor)), "NO REASON GIVEN")
        print(f"{survivor.function} ({tried[survivor.name]}): {why}\n{survivor.change}\n")
    part = f" of {', '.join(modules)}" if modules else ""
    part += "" if sample is None else f" (a sample: numbers that end in {sample})"
    unexplained = len(living) - sum(any(reason.fits(one) for reason in known) for one in living)
    print(f"{name}: {caught} of {len(tried)} mutants caught, {caught / len(tried):.1%}{part}; ", end="")
    print(f"{len(living)} live, {unexplained} of them without a reason.")
    stale = [reason for reason in known if not fitting[reason]] if whole else []
    for reason in stale:
        print(f"Stale in {MAY_LIVE.name}, no survivor fits: {reason.function} / {reason.change}")
    return caught >= LEAST * len(tried) and not stale


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "rooms", nargs="*", default=[], help=f"of {', '.join(ROOMS)}; all of them without one"
    )
    parser.add_argument("--sample", type=int, choices=range(10), help="only mutants whose number ends in it")
    parser.add_argument("--modules", nargs="+", default=[], help="only mutants of these modules of a room")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at one time")
    asked = parser.parse_args()
    unknown = sorted(set(asked.rooms) - set(ROOMS))
    if unknown:
        parser.error(f"no room {', '.join(unknown)}; choose of {', '.join(ROOMS)}")
    passed = {name: try_room(name, asked.sample, asked.modules, asked.jobs) for name in asked.rooms or ROOMS}
    failed = [name for name, enough in passed.items() if not enough]
    if failed:
        sys.exit(f"Fewer than {LEAST:.0%} caught, or a stale reason, in: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
