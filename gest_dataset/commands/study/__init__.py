"""`gest study`: the studies of the papers, one file per study; `COMMANDS` lists them."""

COMMANDS = (
    "templates",
    "validity",
    "topical",
    "controls",
    "stereoset",
    "heuristics",
    "all",
    "nsp",
    "translate-stereoset",
)
HELP = """Repeat the studies of the papers on any models.

A study reads finished runs (folders written by gest score) and scores models that you name. It prints tables
like the papers' next to the published numbers, and writes a page, a CSV file per table and an SVG file per
figure. Rerun the same command to resume.
"""
EXAMPLES = (
    "Examples: [bold]gest study templates gest-runs[/bold], [bold]gest study templates --model "
    "bert-base-uncased --model roberta-base[/bold] (scores them first), [bold]gest study all --papers[/bold] "
    "(what can be reproduced of every table and figure of the papers)"
)
