"""The explorer's script is the one of its sources in web/, and brings the licences of what is in it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

WEB = ROOT / "web"
BUILT = ROOT / "gest_dataset" / "report" / "explorer"
AGAIN = "Build it again: cd web && npm ci && npm run build"


def told() -> dict[str, Any]:
    record: dict[str, Any] = json.loads((BUILT / "built.json").read_text(encoding="utf-8"))
    return record


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_script_was_built_from_these_sources() -> None:
    names = ["package.json", "package-lock.json", "tsconfig.json", "build.mjs"]
    names += sorted(f"src/{path.name}" for path in (WEB / "src").glob("*.ts"))
    assert told()["sources"] == {name: sha256(WEB / name) for name in names}, AGAIN
    assert told()["built"] == sha256(BUILT / "built.js"), AGAIN


def test_libraries_are_pinned_with_their_bytes() -> None:
    """Exact versions, and in the lock the SHA-512 of each package; no address of a registry."""
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    for version in (package["dependencies"] | package["devDependencies"]).values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    for name, entry in lock["packages"].items():
        assert not name or entry["integrity"].startswith("sha512-")
        assert "resolved" not in entry


def test_licences_of_the_libraries_are_in_the_package() -> None:
    text = (BUILT / "licences.txt").read_text(encoding="utf-8")
    named = dict(re.findall(r"^([@\w/-]+) ([\d.]+) \([\w-]+\)$", text, flags=re.MULTILINE))
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert named == {name: lock[f"node_modules/{name}"]["version"] for name in named}
    assert {
        "@observablehq/plot",
        "@tanstack/virtual-core",
        "d3-brush",
        "d3-selection",
        "diff",
    } <= named.keys()
    assert text.count("Permission to use") + text.count("Permission is hereby") + text.count(
        "Redistribution and use"
    ) >= len(named)


def test_script_can_stand_in_a_page() -> None:
    script = (BUILT / "built.js").read_text(encoding="utf-8")
    assert "</script" not in script.lower()
    assert "<!--" not in script
    assert not re.search(r"\b(eval|Function)\(", script)  # the page's policy allows neither


@pytest.mark.slow
def test_building_again_gives_the_same_bytes(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    shutil.copytree(WEB, tmp_path / "web", ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / "gest_dataset" / "report" / "explorer").mkdir(parents=True)
    installed = subprocess.run([npm, "ci"], cwd=tmp_path / "web", capture_output=True, text=True)
    if installed.returncode:
        pytest.skip(f"npm cannot get the libraries here: {installed.stderr[-300:]}")
    for script in ("types", "build"):
        subprocess.run([npm, "run", script], cwd=tmp_path / "web", check=True, capture_output=True)
    for name in ("built.js", "built.json", "licences.txt"):
        assert (tmp_path / "gest_dataset/report/explorer" / name).read_bytes() == (BUILT / name).read_bytes()
