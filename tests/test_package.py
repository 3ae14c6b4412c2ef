"""The package as it is installed: examples in docstrings, and a wheel that holds everything."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys
import zipfile
from importlib.metadata import requires
from pathlib import Path

import pytest

from tests.conftest import MANIFEST, ROOT
from tests.support.modules import modules

MODULES = modules(ROOT)
WITH_EXAMPLES = [name for name, file in MODULES.items() if ">>>" in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert results.failed == 0


def test_constraints_name_every_core_dependency() -> None:
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in (ROOT / "constraints.txt").open()}
    core = [line for line in requires("gest-dataset") or () if "extra ==" not in line]
    assert len(core) > 10
    for requirement in core:
        assert re.split(r"\[|>=", requirement)[0] in pinned


# Imported by the extras of pyproject.toml, except for what the core dependencies import too
EXTRAS = ("bitsandbytes", "boto3", "deepl", "gguf", "gradio", "langcodes", "lm_eval", "pycurl", "ray")


def test_every_module_imports_without_the_extras() -> None:
    script = (
        "import importlib, pkgutil, sys\n"
        f"sys.modules.update(dict.fromkeys({EXTRAS}))\n"
        "import gest_dataset\n"
        "for module in pkgutil.walk_packages(gest_dataset.__path__, 'gest_dataset.'):\n"
        "    if module.name != 'gest_dataset.harness.inspect_tasks':\n"
        "        importlib.import_module(module.name)\n"
        "print('gest_dataset.models.served.client' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


@pytest.mark.slow
def test_wheel_works_without_the_checkout(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT],
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "gest_dataset/py.typed",
        "gest_dataset/data/sources.json",
        "gest_dataset/data/card.md.jinja",
        "gest_dataset/builders/group_terms.json",
        "gest_dataset/builders/families.yaml",
        "gest_dataset/builders/papers.bib",
        "gest_dataset/metrics/__init__.py",
        "gest_dataset/report/explorer/built.js",
        "gest_dataset/report/explorer/licences.txt",
    } <= names
    target = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(target)
    script = (
        "import gest_dataset, sys; assert gest_dataset.__file__.startswith(sys.argv[1])\n"
        "from datasets import load_dataset\n"
        "from gest_dataset.data import card; assert card.card_sections\n"
        "print(load_dataset('gest', 'stereoset_control_race', data_dir=sys.argv[2])['test'].num_rows)"
    )
    mirror = ROOT / "tests" / "mirror"
    done = subprocess.run(
        [sys.executable, "-c", script, str(target), str(mirror)],
        cwd=tmp_path,
        env={
            "PYTHONPATH": str(target),
            "GEST_SOURCES": str(MANIFEST),
            "HF_HOME": str(tmp_path / "hf"),
            "PATH": "/usr/bin:/bin",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
