"""Which configs a user means by a list of names and groups, such as `en,slavic`."""

from __future__ import annotations

from gest_dataset.builders import GROUPS, get_config
from gest_dataset.errors import ConfigError


def names(asked: str) -> dict[str, bool]:
    """The configs that are meant, each once, and whether it was named itself (not by its group).

    >>> names("en, crows")
    {'en': True, 'crows_gender': False, 'crows_gender_revised': False}
    """
    named: dict[str, bool] = {}
    for name in filter(None, (part.strip() for part in asked.split(","))):
        if name in GROUPS:
            named |= {config: named.get(config, False) for config in GROUPS[name]}
        else:
            named[get_config(name).name] = True
    if not named:
        raise ConfigError(
            f"{asked!r} names no config. Give names, or groups: {', '.join(GROUPS)}. All configs: gest list"
        )
    return named
