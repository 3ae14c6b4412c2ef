"""The 16 gender stereotypes of GEST (Table 1 of Pikuliak et al., 2024)."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stereotype:
    """A stereotype: its number in the papers, its name, and the gender that it is about."""

    id: int
    name: str
    gender: str


GENDERS = ("female", "male")
_ENTRIES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
STEREOTYPES = {entry["id"]: Stereotype(entry["id"], entry["name"], entry["gender"]) for entry in _ENTRIES}
