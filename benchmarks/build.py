"""How long `gest build` takes, what memory it needs, and how fast a cached config loads.

    GEST_MIRROR=DIR python benchmarks/build.py

Every figure comes from a fresh process. The floor is the work that cannot be left out: reading and
hashing the upstream bytes, and writing the finished tables to Parquet.
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

_BUILD = """
import json, resource, sys, time
start = time.perf_counter()
from pathlib import Path
from gest_dataset.data import build, sources
from gest_dataset.data.card import write_card
from gest_dataset.builders import CONFIGS
from gest_dataset.errors import SourceError
out, missing = Path(sys.argv[1]), []
imported = time.perf_counter()
for config in CONFIGS.values():
    try:
        build.build_config(config, out)
    except SourceError:
        missing.append(config.name)
built = write_card(out)
done = time.perf_counter()
print(json.dumps({
    "import_seconds": imported - start,
    "build_seconds": done - imported,
    "configs": len(built),
    "rows": sum(b.rows for b in built),
    "not_in_mirror": missing,
    "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""

_FLOOR = """
import json, sys, time
from pathlib import Path
import pyarrow.parquet as pq
from gest_dataset.builders import CONFIGS
from gest_dataset.data import build, sources
found = [built for config in CONFIGS.values() if (built := build.find_built(config, Path(sys.argv[1])))]
tables = [pq.read_table(b.path) for b in found]
start = time.perf_counter()
for b in found:
    for key in b.config.sources:
        sources.git_blob_id(sources.fetch(key).content)
for table in tables:
    pq.write_table(table, sys.argv[2])
print(json.dumps({"floor_seconds": time.perf_counter() - start}))
"""

_LOAD = """
import json, sys, time
import gest_dataset
from datasets import disable_progress_bars, load_dataset
from gest_dataset.errors import SourceError
from gest_dataset.builders import CONFIGS
disable_progress_bars()
seconds = {}
for name in CONFIGS:
    try:
        start = time.perf_counter()
        load_dataset("gest", name, split="test")
        seconds[name] = time.perf_counter() - start
    except SourceError:
        pass
print(json.dumps(seconds))
"""


def run(script: str, *arguments: str, **environment: str) -> dict:
    """The JSON that a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, **environment},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/build.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        built = run(_BUILD, f"{folder}/out")
        floor = run(_FLOOR, f"{folder}/out", f"{folder}/floor.parquet")
        first = run(_LOAD, HF_HOME=f"{folder}/hf")
        again = run(_LOAD, HF_HOME=f"{folder}/hf")
    slowest = max(again, key=again.__getitem__)
    figures = {
        **built,
        **floor,
        "build_over_floor": built["build_seconds"] / floor["floor_seconds"],
        "first_load_seconds_sum": sum(first.values()),
        "cached_load_seconds_max": again[slowest],
        "cached_load_slowest": slowest,
        "machine": machine(),
    }
    show("gest build", figures)
    save(arguments.json, figures)


if __name__ == "__main__":
    main()
