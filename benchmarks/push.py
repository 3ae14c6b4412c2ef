"""How long `gest push` of 200 configs takes on the loopback, how many calls and commits, and what memory.

    python benchmarks/push.py [--configs 200] [--rows 3565]

The Hub of the tests runs in a process of its own; what is measured is a fresh process that builds the
configs, pushes them, and pushes them again unchanged.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from printing import machine, save, show

ROOT = Path(__file__).resolve().parent.parent
TOKEN = "hf_of_the_benchmark"

_PUSH = """
import dataclasses, json, resource, sys, time
start = time.perf_counter()
import gest_dataset
from gest_dataset.builders import CONFIGS
number, rows = map(int, sys.argv[1:])
config = CONFIGS["demo_sk_pairs"]
languages = [*range(number)]

def reader(language):
    def read(files, dropped):
        given = list(config.reader(files, dropped))
        for i in range(rows):
            row = dict(given[i % len(given)])
            row["id"] = f"{language}-{i}"
            for field in ("source", "masculine", "feminine"):
                row[field] = f"{row[field]} ({language}, {i})"
            yield row
    return read

names = [f"x{language:03}_pairs" for language in languages]
for language, name in enumerate(names):
    CONFIGS[name] = dataclasses.replace(config, name=name, reader=reader(language))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
imported, empty = time.perf_counter(), peak()
gest_dataset.push("org/gest", ",".join(names))
pushed, first = time.perf_counter(), peak()
(again,) = gest_dataset.push("org/gest", ",".join(names))
done = time.perf_counter()
print(json.dumps({
    "push_seconds": pushed - imported,
    "push_again_seconds": done - pushed,
    "again_makes_a_commit": again.committed.made,
    "peak_megabytes": first,
    "of_these_imports": empty,
}))
"""


def measure(configs: int, rows: int) -> dict[str, object]:
    """One push to an empty Hub, large files by LFS."""
    sys.path.insert(0, str(ROOT))
    from tests.support.hub import running

    with tempfile.TemporaryDirectory() as folder, running() as hub:
        hub.add_account("ann", TOKEN, organisations=("org",))
        environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": f"{folder}/home"}
        environment |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", _PUSH, str(configs), str(rows)],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        first = next(i for i, each in enumerate(hub.requests) if "/commit/" in each.path) + 1
        repository = hub.dataset("org/gest")
        return {
            **json.loads(done.stdout),
            "calls": first,
            "calls_again": len(hub.requests) - first,
            "commits": len(repository.commits) - 1,  # without that of a new repository
            "files": len(repository.head.files),
            "megabytes": sum(file.size for file in repository.head.files.values()) / 1e6,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--configs", type=int, default=200)
    parser.add_argument("--rows", type=int, default=3565)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    figures = measure(options.configs, options.rows)
    show(f"gest push of {options.configs} configs, {machine()}", figures)
    if options.json:
        save(options.json, figures)


if __name__ == "__main__":
    main()
