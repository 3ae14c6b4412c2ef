"""`gest study`: what the papers did around their scores, a file for each study; `COMMANDS` lists them."""

COMMANDS = ("templates", "validity", "topical", "controls", "stereoset", "heuristics", "all")
HELP = """Repeat what the papers did around their scores, on any models.

A study takes finished runs (folders that gest score has written), and models to score first. It ends in
tables and figures like the papers', with the papers' numbers beside, and is kept in a folder: a page, a CSV
of each table, an SVG of each figure. One that was stopped goes on.
"""
EXAMPLES = (
    "Examples: [bold]gest study templates gest-runs[/bold], [bold]gest study templates --model "
    "bert-base-uncased --model roberta-base[/bold] (they are scored first), [bold]gest study all "
    "--papers[/bold] (what of every table and figure of the papers can be had)"
)
