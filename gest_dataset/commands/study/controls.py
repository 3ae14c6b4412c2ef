"""`gest study controls`: do word-filling measures measure a stereotype?"""

from __future__ import annotations

from typing import Annotated

import typer

from gest_dataset.commands.options import Config, Json
from gest_dataset.commands.study import options

EXAMPLES = (
    "Examples: [bold]gest study controls --model roberta-base --model gerulata/slovakbert[/bold], [bold]gest "
    "study controls gest-runs[/bold], [bold]gest study controls --model ./my-model --config "
    "stereoset_control_gender,crows_control_negation[/bold] (some sets), [bold]gest study controls --model "
    "roberta-base --cs[/bold] (all of table 3)"
)


def run(
    runs: options.Runs = None,
    models: options.Models = None,
    config: Config = None,
    cs: Annotated[
        bool, typer.Option("--cs", help="Also score cs of race and profession (ten times as slow).")
    ] = False,
    output: options.Output = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    as_json: Json = False,
) -> None:
    """Compare word-filling scores with control groups (word-filling paper, tables 1-3 and 7-12).

    Original and control groups in ss (StereoSet), cs and csk (CrowS-Pairs) and f; false positives and
    negatives; the frequency of the keywords; both readings of the CrowS-Pairs controls. Models are scored on
    all control sets, or on those of --config.
    """
    from gest_dataset.studies import controls

    folder = output or options.HOME / "controls"
    inputs = options.make_inputs(folder, runs, models, limit, device, dtype, batch_tokens)
    study = controls(inputs, config, cs) if config else controls(inputs, cs=cs)
    options.show(study, folder, as_json)
