"""Which column of a user's file is which field: by its name, or as the user says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gest_dataset.data.tables import Stream, check_text
from gest_dataset.errors import ConfigError

SENTENCE = ("source", "id")  # one of these says which sentence of GEST a row is about
# Field -> the names of columns that are taken for it, the best first; upstream's own files are among them
_NAMES: dict[str, tuple[str, ...]] = {
    "source": ("source", "original", "from", "english", "sentence", "en"),
    "id": ("id", "sentence_id", "gest_id", "row"),
    "translation": ("translation", "to", "target", "translated"),
    "masculine": ("masculine", "male", "masc", "m"),
    "feminine": ("feminine", "female", "fem", "f"),
    "system": ("system", "translator", "model"),
    "language": ("language", "lang"),
    "stereotype": ("stereotype",),
}
FIELDS = tuple(_NAMES)


def parse_map(given: Sequence[str]) -> dict[str, str]:
    """The fields of columns from texts `COLUMN=FIELD`; a column's name may have a = in it.

    >>> parse_map(["Hindi=translation"])
    {'Hindi': 'translation'}
    """
    fields = {}
    for text in given:
        column, equals, name = text.rpartition("=")
        if not equals or name not in _NAMES:
            raise ConfigError(f"--map {text}: give COLUMN=FIELD, where FIELD is one of {', '.join(_NAMES)}.")
        fields[column] = name
    return fields


def places(table: Stream, needed: Sequence[str], own: Mapping[str, str], code: str) -> dict[str, int]:
    """The place of each field's column; `needed` are there, and a source or an id.

    A translation may also stand in the column that is called like the language.
    """
    found: dict[str, int] = {}
    plain = {name.strip().casefold(): place for place, name in reversed(list(enumerate(table.names)))}
    for name, known in _NAMES.items():
        wanted = [*known, *([code] if name == "translation" else [])]
        claimed = [table.names.index(column) for column in table.names if own.get(column) == name]
        if len(claimed) > 1:
            raise ConfigError(f"{table.path}: --map gives {name} to several columns. Give it to one.")
        taken = [plain[one.casefold()] for one in wanted if one.casefold() in plain]
        free = [place for place in taken if table.names[place] not in own]
        if claimed or free:
            found[name] = [*claimed, *free][0]
    for group in [(name,) for name in needed] + [SENTENCE]:
        if not any(name in found for name in group):
            looked = ", ".join(one for name in group for one in _NAMES[name])
            raise ConfigError(
                f"{table.path} has no column for {' or '.join(group)}: looked for {looked}; there are "
                f"{', '.join(table.names)}. Say which it is with --map COLUMN={group[0]}."
            )
    return found


def check_used(own: Mapping[str, str], tables: Sequence[Stream]) -> None:
    """A column that is mapped is in one of the files."""
    for column, name in own.items():
        if name not in _NAMES:
            raise ConfigError(f"{name!r} is no field: use one of {', '.join(_NAMES)}.")
        if not any(column in table.names for table in tables):
            offered = "; ".join(f"{table.path.name} has {', '.join(table.names)}" for table in tables)
            raise ConfigError(f"--map {column}={name}: there is no column {column!r}. {offered}.")


def cells(table: Stream, where: Mapping[str, int], row: int, values: Sequence[Any]) -> dict[str, str]:
    """The fields of one row as texts; a cell that is empty is the empty text, and a number is its digits."""
    given = {}
    for name, place in where.items():
        value = "" if values[place] is None else values[place]
        if isinstance(value, int) and name in ("id", "stereotype"):
            value = str(value)
        check_text(value, table.path, row, table.names[place])
        given[name] = value
    return given
