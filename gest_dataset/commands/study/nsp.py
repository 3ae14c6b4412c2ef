"""`gest study nsp`: train a next-sentence head, to score StereoSet between sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import command_line, err, fit_table, new_table, out, silence_libraries

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
            help="A .txt, .jsonl, .csv or .parquet file, or a data set as NAME or NAME:CONFIG (repeatable).",
            metavar="FILE|NAME",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option(help="Folder of the trained model.", metavar="DIR")],
    text: Annotated[str, typer.Option(help="Column that has a document in each row.")] = "text",
    learning_rate: Annotated[
        float | None,
        typer.Option(help="Learning rate (default: 5e-6 causal, 1e-4 encoder-decoder, 2e-5 masked)."),
    ] = None,
    head_learning_rate: Annotated[float, typer.Option(help="Learning rate of the new head.")] = 1e-3,
    batch_size: Annotated[int, typer.Option(min=1, help="Pairs per batch.")] = 16,
    accumulate: Annotated[int, typer.Option(min=1, help="Batches per update.")] = 4,
    epochs: Annotated[int, typer.Option(min=1, help="Maximum number of epochs.")] = 1,
    max_steps: Annotated[int, typer.Option(min=1, help="Maximum number of updates.")] = 15_625,
    device: Annotated[str, typer.Option(help="auto, cuda, cuda:N, mps or cpu.")] = "auto",
    dtype: Annotated[str, typer.Option(help="Mixed precision: auto, float32, float16 or bfloat16.")] = "auto",
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the head, the pairs and their order.")] = 0,
) -> None:
    """Fine-tune a causal, encoder-decoder or masked model to predict the next sentence.

    Half of the pairs are consecutive sentences, half have a random sentence of another document. A document
    is a row of a table, or a block of lines in a text file; every tenth one is held out for the test. The
    output folder loads with [bold]gest score[/bold] and AutoModelForSequenceClassification.
    """
    silence_libraries()
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
    trained = train(plan, output, device=device, command=command_line())
    table = new_table(str(output), out, "training", "")
    table.add_row("documents", f"{trained.counts.documents:,}")
    table.add_row("with fewer than two sentences", f"{trained.counts.short:,}")
    table.add_row("training pairs", f"{trained.counts.train:,}")
    table.add_row("updates", f"{trained.steps:,}")
    table.add_row("test pairs", f"{trained.counts.test:,}")
    table.add_row("accuracy (chance: 50 %)", f"{trained.accuracy:.1%}")
    table.add_row("95 % interval", f"{trained.accuracy_low:.1%} to {trained.accuracy_high:.1%}")
    out.print(fit_table(table, out))
    err.print(f"{output}: gest score {output} --config stereoset_en_intersentence", soft_wrap=True)
