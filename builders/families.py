"""The datasets behind the configs: description, homepage, citation and known limits of each.

The texts are in `families.ini`, one section per dataset; the cited papers are in `papers.bib`.
"""

import re
from configparser import RawConfigParser
from pathlib import Path

from gest_dataset.builders.config import Family


def _read_families(folder: Path) -> dict[str, Family]:
    entries = (folder / "papers.bib").read_text(encoding="utf-8").strip().split("\n\n")
    papers = {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}
    parser = RawConfigParser()
    parser.read(folder / "families.ini", encoding="utf-8")
    families = {}
    for name in parser.sections():
        texts = {key: re.sub(r"\s+", " ", text) for key, text in parser[name].items()}
        citation = "\n\n".join(papers[key] for key in texts.pop("papers").split())
        families[name] = Family(name, citation=citation, **texts)
    return families


FAMILIES = _read_families(Path(__file__).parent)
GEST = FAMILIES["gest"]
PAIRS = FAMILIES["pairs"]
NEUTRAL = FAMILIES["neutral"]
EUROGEST = FAMILIES["eurogest"]
STEREOSET = FAMILIES["stereoset"]
STEREOSET_CONTROL = FAMILIES["stereoset_control"]
WINOBIAS = FAMILIES["winobias"]
