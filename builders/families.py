"""The data sets behind the configs: what each is, where it is from, how to cite it, its limits.

Their texts are in `families.ini`, one section a family, and the works that they cite in `papers.bib`.
"""

from __future__ import annotations

import re
from configparser import RawConfigParser
from pathlib import Path

from gest_dataset.builders.config import Family


def _read(folder: Path) -> dict[str, Family]:
    papers = (folder / "papers.bib").read_text(encoding="utf-8").strip().split("\n\n")
    by_key = dict(zip(re.findall(r"^@\w+\{([^,]+),", "\n".join(papers), re.MULTILINE), papers, strict=True))
    sections = RawConfigParser()
    sections.read_string((folder / "families.ini").read_text(encoding="utf-8"))
    families = {}
    for name in sections.sections():
        texts = {key: " ".join(text.split()) for key, text in sections[name].items()}
        citation = "\n\n".join(by_key[key] for key in texts.pop("papers").split())
        families[name] = Family(name, citation=citation, **texts)
    return families


_FAMILIES = _read(Path(__file__).parent)
GEST = _FAMILIES["gest"]
TRANSLATIONS = _FAMILIES["translations"]
PAIRS = _FAMILIES["pairs"]
NEUTRAL = _FAMILIES["neutral"]
EUROGEST = _FAMILIES["eurogest"]
STEREOSET = _FAMILIES["stereoset"]
STEREOSET_CONTROL = _FAMILIES["stereoset_control"]
CROWS = _FAMILIES["crows"]
CROWS_CONTROL = _FAMILIES["crows_control"]
SLOVAK_GENDER = _FAMILIES["slovak_gender"]
WINOBIAS = _FAMILIES["winobias"]
DEMO = _FAMILIES["demo"]
DEMO_CONTROL = _FAMILIES["demo_control"]
