"""`gest study`: the studies of the papers; `COMMANDS` lists them."""

from gest_dataset.commands.study import nsp, studies, translate_stereoset

COMMANDS = {**studies.COMMANDS, "nsp": nsp, "translate-stereoset": translate_stereoset}
HELP = """Repeat the studies of the papers on any models.

A study reads finished runs (folders written by gest score) and scores models that you name. It prints tables
like the papers' next to the published numbers, and writes a page, a CSV file per table and an SVG file per
figure. Rerun the same command to resume.
"""
