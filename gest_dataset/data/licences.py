"""Licences as others name them: what the table of sources says, in the words of the Hub and of SPDX."""

from __future__ import annotations

from collections.abc import Iterable

# SPDX ids of the licences that upstream states; the Hub has the same in lower case
_SPDX = ("Apache-2.0", "CC-BY-SA-4.0", "MIT")
_NOT_STATED = "not stated"


def hub_ids(licences: Iterable[str]) -> list[str]:
    """The Hub's ids, for a card: `unknown` where a repository states none, `other` for one not known here.

    >>> hub_ids(["Apache-2.0", "not stated (from CC-BY-SA-4.0)"])
    ['apache-2.0', 'cc-by-sa-4.0', 'unknown']
    """
    ids = {name for licence in licences for name in _hub(licence)}
    return sorted(ids)


def _hub(licence: str) -> list[str]:
    known = [spdx.lower() for spdx in _SPDX if spdx in licence]
    if _NOT_STATED in licence:
        known.append("unknown")
    return known or ["other"]


def references(licences: Iterable[str]) -> list[str]:
    """The address of each licence's text; of one without, what is said of it.

    >>> references(["MIT", "not stated"])
    ['https://spdx.org/licenses/MIT.html', 'not stated']
    """
    each = (part for licence in licences for part in licence.split(", "))
    return list(
        dict.fromkeys(f"https://spdx.org/licenses/{part}.html" if part in _SPDX else part for part in each)
    )
