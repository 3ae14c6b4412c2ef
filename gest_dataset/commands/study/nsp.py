"""`gest study nsp`: teach a language model which sentence is next, to score StereoSet between sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from gest_dataset.commands.console import called, err, fitted, interruptible, new_table, out, quiet

if TYPE_CHECKING:
    from gest_dataset.studies.nsp import Trained

EXAMPLES = (
    "Examples: [bold]gest study nsp google/mt5-base --data wikimedia/wikipedia:20231101.de --output "
    "mt5-nsp[/bold], then [bold]gest score mt5-nsp --config stereoset_de_intersentence[/bold]; [bold]gest "
    "study nsp ./my-gpt --data articles.txt --data more.parquet --epochs 3 --output my-gpt-nsp[/bold]"
)


def run(
    model: Annotated[str, typer.Argument(help="A Hub id or a folder.", show_default=False)],
    data: Annotated[
        list[str],
        typer.Option(
            help="A .txt, .jsonl, .csv or .parquet file, or a data set as NAME or NAME:CONFIG; several times "
            "for several.",
            metavar="FILE|NAME",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option(help="The folder of the training and of its model.", metavar="DIR")],
    text: Annotated[str, typer.Option(help="The column that holds a document in each row.")] = "text",
    learning_rate: Annotated[
        float | None,
        typer.Option(help="Of the model (default: 5e-6 causal, 1e-4 encoder-decoder, 2e-5 masked)."),
    ] = None,
    head_learning_rate: Annotated[float, typer.Option(help="Of the new head.")] = 1e-3,
    batch_size: Annotated[int, typer.Option(min=1, help="Pairs in a pass.")] = 16,
    accumulate: Annotated[int, typer.Option(min=1, help="Passes whose gradients make one update.")] = 4,
    epochs: Annotated[int, typer.Option(min=1, help="How often all pairs are seen at most.")] = 1,
    max_steps: Annotated[int, typer.Option(min=1, help="Updates at most (a million pairs).")] = 15_625,
    device: Annotated[str, typer.Option(help="auto, cuda, cuda:N, mps or cpu.")] = "auto",
    dtype: Annotated[str, typer.Option(help="Mixed precision: auto, float32, float16 or bfloat16.")] = "auto",
    seed: Annotated[int, typer.Option(min=0, help="Of the head, the pairs and their order.")] = 0,
) -> None:
    """Fine-tune a causal, encoder-decoder or masked model to tell which sentence is next.

    Half of the pairs are consecutive sentences, half have a random sentence of another document. Of a table
    each row is a document, of a text the lines up to a blank line. Every tenth document is held out, and the
    accuracy on its pairs is told. The folder is a model that [bold]gest score[/bold] and
    AutoModelForSequenceClassification load. It can be stopped at any time: the same command goes on.
    """
    quiet()
    from gest_dataset.studies.nsp import Plan, train

    plan = Plan(
        model,
        data,
        text,
        learning_rate,
        head_learning_rate,
        batch_size,
        accumulate,
        epochs,
        max_steps,
        dtype,
        seed,
    )
    with interruptible(f"Checkpoints are kept in {output}; the same command goes on from the last one."):
        trained = train(plan, output, device=device, command=called())
    out.print(_table(trained))
    err.print(f"{output}: gest score {output} --config stereoset_en_intersentence", soft_wrap=True)


def _table(trained: Trained) -> Table:
    counts = trained.counts
    table = new_table(str(trained.folder), out, "training", "")
    rows = {
        "documents": f"{counts.documents:,}",
        "of less than two sentences": f"{counts.short:,}",
        "pairs to learn from": f"{counts.train:,}",
        "updates": f"{trained.steps:,}",
        "held-out pairs": f"{counts.test:,}",
        "of them right (half is chance)": f"{trained.accuracy:.1%}",
        "95 % interval": f"{trained.accuracy_low:.1%} to {trained.accuracy_high:.1%}",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return fitted(table, out)
