"""`gest study controls`: do word-filling measures tell a stereotype?"""

from __future__ import annotations

from typing import Annotated

import typer

from gest_dataset.commands.console import interruptible
from gest_dataset.commands.options import Config, Json
from gest_dataset.commands.study import options

EXAMPLES = (
    "Examples: [bold]gest study controls --model roberta-base --model gerulata/slovakbert[/bold], [bold]gest "
    "study controls gest-runs[/bold] (runs that are there), [bold]gest study controls --model ./my-model "
    "--config stereoset_control_gender,crows_control_negation[/bold] (some sets), [bold]gest study controls "
    "--model roberta-base --cs[/bold] (all of table 3)"
)


def run(
    runs: options.Runs = None,
    models: options.Models = None,
    config: Config = None,
    cs: Annotated[
        bool, typer.Option("--cs", help="Also cs of race and profession: ten times the passes.")
    ] = False,
    output: options.Output = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    as_json: Json = False,
) -> None:
    """Is a word-filling score about the stereotype? (tables 1-3 and 7-12, figures 1-2 of that paper)

    Original and control groups side by side in ss (StereoSet), cs and csk (CrowS-Pairs) and f; false
    positives and negatives, how ss goes with the keywords' frequency, the CrowS-Pairs controls in both
    readings; and what the paper criticises, with these models' numbers. Models are scored on all control
    sets, or on those of --config.
    """
    folder = options.folder_of("controls", output)
    with interruptible(options.KEPT.format(folder=folder)):
        from gest_dataset.studies.controls import ALL, controls

        asked = options.asked(folder, runs, models, limit, device, dtype, batch_tokens)
        options.show(controls(asked, config or ALL, cs), folder, as_json)
