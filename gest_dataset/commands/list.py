"""`gest list`: every config with its rows, languages and licence, and the groups."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table

from gest_dataset.commands.console import out, show_json
from gest_dataset.commands.options import Json

EXAMPLES = (
    "Examples: [bold]gest list[/bold], [bold]gest list --json | jq -r '.groups.slavic[]'[/bold] (the configs "
    "of a group)"
)


def run(as_json: Json = False) -> None:
    """List every config with its rows, languages and licence, and the groups that --config takes.

    [bold]--json[/bold] adds fields, sources, descriptions, limits and citations.
    """
    from gest_dataset.builders import CONFIGS, GROUPS
    from gest_dataset.builders.demo import NOT_VALIDATED

    if as_json:
        show_json(_metadata())
        return
    caption = f"load_dataset('gest', CONFIG, split='test')\ndemo_...: {NOT_VALIDATED}"
    table = Table(title="Configs of gest", caption=caption)
    table.add_column("config", no_wrap=True)
    table.add_column("rows", justify="right", overflow="fold")
    table.add_column("languages", overflow="fold")
    table.add_column("licence", overflow="fold")
    previous = None
    for config in CONFIGS.values():
        if previous not in (None, config.family):
            table.add_section()
        previous = config.family
        rows = f"{'' if config.exact else 'up to '}{config.published_rows:,}"
        table.add_row(config.name, rows, ", ".join(config.languages), config.licence)
    out.print(table)
    groups = ", ".join(f"{group} ({len(names)})" for group, names in GROUPS.items())
    out.print(f"Groups: {groups}", soft_wrap=True)


def _metadata() -> dict[str, Any]:
    from gest_dataset.builders import CONFIGS, DEFAULT_CONFIG, GROUPS

    families = {config.family.name: config.family for config in CONFIGS.values()}
    return {
        "default": DEFAULT_CONFIG,
        "configs": [
            {
                "name": config.name,
                "family": config.family.name,
                "description": config.description,
                "languages": config.languages,
                "licence": config.licence,
                "rows": config.published_rows,
                "exact": config.exact,
                "demo": config.embedded is not None,
                "added": config.custom is not None,
                "fields": config.features.to_dict(),
                "sources": config.sources,
                "groups": [group for group, names in GROUPS.items() if config.name in names],
            }
            for config in CONFIGS.values()
        ],
        "families": {name: asdict(family) for name, family in families.items()},
        "groups": GROUPS,
    }
