"""The 16 gender stereotypes of GEST (Table 1 of Pikuliak et al., 2024), or those of the user's own data.

`GEST_STEREOTYPES` names a CSV file with the columns number, name and gender that replaces them, and
`GEST_SENTENCES` one with the columns sentence and stereotype, the English sentences of the config `en`.
"""

import csv
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.errors import ConfigError


@dataclass(frozen=True)
class Stereotype:
    """A stereotype: its number in the papers, its name, and the gender that it is about."""

    id: int
    name: str
    gender: str


GENDERS = ("female", "male")
_MOST = 20  # the permutation test takes all choices of them
_ENTRIES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_GEST = [Stereotype(entry["id"], entry["name"], entry["gender"]) for entry in _ENTRIES]


def _read_table(path: Path) -> list[Stereotype]:
    """The stereotypes in a user's table: those about women first, numbered from 1."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(int(row["number"]), row["name"].strip(), row["gender"]) for row in csv.DictReader(file)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"GEST_STEREOTYPES: {path} cannot be read as a table with number, name and gender: {error!r}."
        ) from None
    genders = [gender for _, _, gender in rows]
    numbered = [number for number, name, _ in rows if name] == list(range(1, len(rows) + 1))
    if not numbered or len(rows) > _MOST or {*genders} != {*GENDERS} or genders != sorted(genders):
        raise ConfigError(
            f"GEST_STEREOTYPES: {path} needs 2 to {_MOST} named stereotypes, numbered from 1, first those "
            f"whose gender is female, then those whose gender is male."
        )
    return [Stereotype(*row) for row in rows]


_TABLE = os.environ.get("GEST_STEREOTYPES")
OWN_SENTENCES = Path(os.environ["GEST_SENTENCES"]) if os.environ.get("GEST_SENTENCES") else None
try:
    _ALL = _read_table(Path(_TABLE)) if _TABLE else _GEST
    if OWN_SENTENCES and not (_TABLE and OWN_SENTENCES.is_file()):
        raise ConfigError(f"GEST_SENTENCES: {OWN_SENTENCES} is not a file, or GEST_STEREOTYPES is not set.")
except ConfigError as error:
    if Path(sys.argv[0]).name in ("gest", "-m"):  # the import fails before the command could show it
        sys.exit(f"error: {error}")
    raise
STEREOTYPES = {stereotype.id: stereotype for stereotype in _ALL}
# Identifies the user's stereotypes; empty for GEST's
OWN_TABLE = hashlib.sha256(repr(_ALL).encode()).hexdigest()[:12] if _TABLE else ""
