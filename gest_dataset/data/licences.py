"""Licences as others name them: what the table of sources says, in the words of the Hub and of SPDX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# SPDX ids of the licences that upstream states; the Hub has the same in lower case
_SPDX = ("Apache-2.0", "CC-BY-SA-4.0", "MIT")
_NOT_STATED = re.compile(r"not stated(?: \(from (.+)\))?")


def hub_ids(licences: Iterable[str]) -> list[str]:
    """The Hub's ids, for a card: `unknown` where a repository states none, `other` for one not known here.

    >>> hub_ids(["Apache-2.0", "not stated (from CC-BY-SA-4.0)"])
    ['apache-2.0', 'cc-by-sa-4.0', 'unknown']
    """
    return sorted({name for licence in _each(licences) for name in _hub(licence)})


def _hub(licence: str) -> Iterator[str]:
    unstated = _NOT_STATED.fullmatch(licence)
    if unstated:
        yield "unknown"
    stated = unstated[1] if unstated else licence
    if stated in _SPDX:
        yield stated.lower()
    elif stated:
        yield "other"


def references(licences: Iterable[str]) -> list[str]:
    """The address of each licence's text; of one without, what is said of it.

    >>> references(["MIT", "not stated"])
    ['https://spdx.org/licenses/MIT.html', 'not stated']
    """
    each = dict.fromkeys(_each(licences))
    return [f"https://spdx.org/licenses/{name}.html" if name in _SPDX else name for name in each]


def _each(licences: Iterable[str]) -> Iterator[str]:
    """One by one: a config with files of several repositories has theirs with commas."""
    return (name for licence in licences for name in licence.split(", "))
