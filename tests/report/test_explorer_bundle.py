"""The explorer's script is built from the sources in web/, and has the licences of its libraries."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from tests.conftest import ROOT

WEB = ROOT / "web"
BUILT = ROOT / "gest_dataset" / "report" / "explorer"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_script_was_built_from_these_sources() -> None:
    record = json.loads((BUILT / "built.json").read_text(encoding="utf-8"))
    names = ["package.json", "package-lock.json", "tsconfig.json", "build.mjs"]
    names += sorted(f"src/{path.name}" for path in (WEB / "src").glob("*.ts"))
    assert record["sources"] == {name: sha256(WEB / name) for name in names}, "run `make page`"
    assert record["built"] == sha256(BUILT / "built.js"), "run `make page`"


def test_libraries_are_pinned_and_their_licences_included() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert all(entry["integrity"].startswith("sha512-") for name, entry in lock.items() if name)
    text = (BUILT / "licences.txt").read_text(encoding="utf-8")
    named = dict(re.findall(r"^([@\w/-]+) ([\d.]+) \([\w-]+\)$", text, flags=re.MULTILINE))
    assert named == {name: lock[f"node_modules/{name}"]["version"] for name in named}
    assert {"@observablehq/plot", "@tanstack/virtual-core", "d3-brush", "diff"} <= named.keys()


def test_script_can_be_inlined_in_a_page() -> None:
    script = (BUILT / "built.js").read_text(encoding="utf-8")
    assert "</script" not in script.lower()
    assert "<!--" not in script
    assert not re.search(r"\b(eval|Function)\(", script)  # which the page's policy forbids
