"""`gest list`: every config with its rows, languages and licence."""

from __future__ import annotations

from rich.table import Table

from gest_dataset.commands.console import out

EXAMPLES = "Example: [bold]gest list[/bold]"

_CAPTION = "load_dataset('gest', CONFIG, split='test')\ndemo_…: {}"


def run() -> None:
    """Show every config: rows, languages, licence."""
    from gest_dataset.builders import CONFIGS
    from gest_dataset.builders.demo import NOT_VALIDATED

    table = Table(title="Configs of gest", caption=_CAPTION.format(NOT_VALIDATED))
    table.add_column("config", no_wrap=True)
    table.add_column("rows", justify="right", overflow="fold")
    table.add_column("languages", overflow="fold")
    table.add_column("licence", overflow="fold")
    previous = None
    for config in CONFIGS.values():
        if previous not in (None, config.family):
            table.add_section()
        previous = config.family
        rows = f"{config.published_rows:,}"
        languages = ", ".join(config.languages)
        licence = config.licence
        table.add_row(config.name, rows if config.exact else f"up to {rows}", languages, licence)
    out.print(table)
