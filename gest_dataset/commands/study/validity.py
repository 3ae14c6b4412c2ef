"""`gest study validity`: does g_s go with another measure of the same thing?"""

from __future__ import annotations

from gest_dataset.commands.console import interruptible
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
    """Does g_s predict the WinoBias rate over models? (appendix B of the GEST paper)

    Pearson's r with its interval, for each type and split of WinoBias and for single stereotypes. Sentences
    with several pronouns are read both ways: averaged as by the authors, and added.
    """
    folder = options.folder_of("validity", output)
    with interruptible(options.KEPT.format(folder=folder)):
        from gest_dataset.studies import validity

        asked = options.asked(folder, runs, models, limit, device, dtype, batch_tokens)
        options.show(validity(asked), folder, as_json)
