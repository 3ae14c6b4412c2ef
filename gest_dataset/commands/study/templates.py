"""`gest study templates`: do the templates of GEST agree?"""

from __future__ import annotations

from gest_dataset.commands.options import Json
from gest_dataset.commands.study import options

EXAMPLES = (
    "Examples: [bold]gest study templates gest-runs[/bold], [bold]gest study templates --model roberta-base "
    "--model bert-base-uncased --output mine[/bold], [bold]gest study templates --scores FOLDER[/bold] "
    "(the authors' files MODEL_template-N.txt: a log10 ratio per line, in the order of GEST)"
)


def run(
    runs: options.Runs = None,
    models: options.Models = None,
    scores: options.Scores = None,
    output: options.Output = None,
    limit: options.Limit = None,
    device: options.Device = "auto",
    dtype: options.Dtype = "auto",
    batch_tokens: options.BatchTokens = None,
    as_json: Json = False,
) -> None:
    """Test whether templates agree, and how much of a score is theirs (GEST paper, section 4.2.3).

    Correlations of q_i and of single samples between templates and between models; feminine ranks; shares of
    the variance of stereotypes, sentences and templates.
    """
    from gest_dataset.studies import templates

    folder = output or options.HOME / "templates"
    inputs = options.make_inputs(folder, runs, models, limit, device, dtype, batch_tokens)
    options.show(templates(inputs, scores), folder, as_json)
