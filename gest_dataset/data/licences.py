"""Licences of the table of sources as the Hub and as SPDX name them."""

from collections.abc import Iterable

# The Hub uses the same ids in lower case
_SPDX = ("Apache-2.0", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-SA-4.0", "CC0-1.0", "MIT")
_NOT_STATED = "not stated"
_UNKNOWN = "unknown"  # of files that a user added


def hub_ids(licences: Iterable[str]) -> list[str]:
    """The Hub's ids for a card; `unknown` if a repository states no licence, `other` for any other licence.

    >>> hub_ids(["Apache-2.0", "not stated (from CC-BY-SA-4.0)"])
    ['apache-2.0', 'cc-by-sa-4.0', 'unknown']
    """
    ids = set()
    for licence in _split(licences):
        stated = licence.removeprefix(_UNKNOWN).removeprefix(_NOT_STATED)
        stated = stated.removeprefix(" (from ").removesuffix(")")
        ids |= {_UNKNOWN} if licence.startswith((_UNKNOWN, _NOT_STATED)) else set()
        ids |= {stated.lower() if stated in _SPDX else "other"} if stated else set()
    return sorted(ids)


def licence_urls(licences: Iterable[str]) -> list[str]:
    """The SPDX address of each licence, or its text if it has none.

    >>> licence_urls(["MIT", "not stated"])
    ['https://spdx.org/licenses/MIT.html', 'not stated']
    """
    return [f"https://spdx.org/licenses/{one}.html" if one in _SPDX else one for one in _split(licences)]


def _split(licences: Iterable[str]) -> list[str]:
    """Single licences; a config with files of several repositories lists theirs with commas."""
    return list(dict.fromkeys(name for licence in licences for name in licence.split(", ")))
