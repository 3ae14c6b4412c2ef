"""`gest list`: every config with its rows, languages and licence, and the groups."""

from dataclasses import asdict

from gest_dataset.commands.console import new_table, out, print_table, show_json


def run(as_json: bool = False) -> None:
    from gest_dataset.builders import CONFIGS, DEFAULT_CONFIG, GROUPS
    from gest_dataset.builders.demo import NOT_VALIDATED

    if as_json:
        configs = [
            {
                "name": config.name,
                "family": config.family.name,
                "description": config.description,
                "languages": config.languages,
                "licence": config.licence,
                "rows": config.published_rows,
                "exact": config.exact,
                "demo": config.name in GROUPS["demo"],
                "added": config.custom is not None,
                "fields": config.features.to_dict(),
                "sources": config.sources,
                "groups": [group for group, names in GROUPS.items() if config.name in names],
            }
            for config in CONFIGS.values()
        ]
        families = {config.family.name: asdict(config.family) for config in CONFIGS.values()}
        show_json({"default": DEFAULT_CONFIG, "configs": configs, "families": families, "groups": GROUPS})
        return
    table = new_table("Configs of gest", ("config", "rows", "languages", "licence"))
    origins = set()
    for column in table.columns[2:]:
        column.justify = "left"
    for config in CONFIGS.values():
        rows = f"{'' if config.exact else '≤ '}{config.published_rows:,}"
        licence, _, origin = config.licence.partition(" (from ")
        origins |= {origin.rstrip(")")} if origin else set()
        number = len(config.languages)
        languages = ", ".join(config.languages) if number < 4 else f"{number} languages"
        table.add_row(config.name, rows, languages, licence + " *" * bool(origin))
    notes = [f"* derived from data under {', '.join(sorted(origins))}"] if origins else []
    notes.append("import gest_dataset, then load_dataset('gest', CONFIG, split='test')")
    table.caption = "\n".join([*notes, f"demo_...: {NOT_VALIDATED}"])
    print_table(table)
    out.print("Groups:", ", ".join(f"{group} ({len(names)})" for group, names in GROUPS.items()))
