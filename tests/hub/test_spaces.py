"""The metrics as Spaces: `evaluate.load("NAMESPACE/METRIC")` in a process that knows nothing of us."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import RepoCard

import gest_dataset
from gest_dataset.hub.push import metric_files
from gest_dataset.register import METRICS
from tests.support.hub import Hub

LOAD = """
import sys
import evaluate
metric = evaluate.load("org/gest_masculine_rate")
print(metric.compute(predictions=["male", "female", "male"] * 16, references=[*range(1, 17)] * 3)["f_m"])
print(*(name for name in sys.modules if name.startswith("evaluate_modules.metrics.org")))
for name in sys.argv[1:]:
    print(evaluate.load(f"org/{name}").name)
"""


def test_each_metric_is_a_space_of_its_own(hub: Hub) -> None:
    done = gest_dataset.push("org", metrics=True)
    assert [each.plan.repo.id for each in done] == [f"org/{name}" for name in METRICS]
    for name in METRICS:
        repository = hub.repositories["space", f"org/{name}"]
        files = hub.files(repository)
        assert repository.sdk == RepoCard(files["README.md"].decode()).data.sdk == "gradio"
        assert files["requirements.txt"].split() == [b"gest-dataset"]
        assert files == {".gitattributes": files[".gitattributes"], **metric_files()[name]}
    assert ("dataset", "org/gest") not in hub.repositories


@pytest.mark.slow
def test_a_fresh_interpreter_loads_them(hub: Hub, tmp_path: Path) -> None:
    gest_dataset.push("org/gest", metrics=True)
    environment = {
        **os.environ,
        "HF_HOME": str(tmp_path / "home"),
        "HF_MODULES_CACHE": str(tmp_path / "modules"),
    }
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *METRICS], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    result, module, *names = done.stdout.splitlines()
    assert 0 <= float(result) <= 1
    assert "evaluate_modules.metrics.org--gest_masculine_rate" in module
    assert names == list(METRICS)
    assert any("/spaces/org/gest_masculine_rate/resolve/main" in str(request) for request in hub.requests)
