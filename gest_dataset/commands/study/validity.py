"""`gest study validity`: does g_s predict the WinoBias rate?"""

from __future__ import annotations

from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options

EXAMPLES = (
    "Examples: [bold]gest study validity gest-runs[/bold] (models with runs on en and winobias), [bold]gest "
    "study validity --model bert-base-uncased --model roberta-base --model albert-base-v2 --model "
    "distilbert-base-uncased[/bold]"
)


def run(
    runs: options.Runs = None,
    models: options.Models = None,
    output: options.Output = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    as_json: Json = False,
) -> None:
    """Correlate g_s with the WinoBias rate over models (GEST paper, appendix B).

    Pearson's r with its interval for each type and split of WinoBias and for single stereotypes. Several
    pronouns in a sentence are averaged, as by the authors, and added.
    """
    from gest_dataset.studies import validity

    folder = output or options.HOME / "validity"
    inputs = options.make_inputs(folder, runs, models, limit, device, dtype, batch_tokens)
    options.show(validity(inputs), folder, as_json)
