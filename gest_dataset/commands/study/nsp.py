"""`gest study nsp`: train a next-sentence head, to score StereoSet between sentences."""

from pathlib import Path

from gest_dataset.commands.console import command_line, err, show_table, silence_libraries


def run(
    model: str,
    data: list[str],
    output: Path,
    text: str = "text",
    learning_rate: float | None = None,
    head_learning_rate: float = 1e-3,
    batch_size: int = 16,
    accumulate: int = 4,
    epochs: int = 1,
    max_steps: int = 15_625,
    device: str = "auto",
    dtype: str = "auto",
    seed: int = 0,
) -> None:
    """Fine-tune a causal, encoder-decoder or masked model to predict the next sentence.

    Half of the pairs are consecutive sentences, half have a random sentence of another document. A document
    is a row of a table, or a block of lines in a text file; every tenth one is held out for the test. The
    output folder loads with [bold]gest score[/bold] and AutoModelForSequenceClassification.
    """
    silence_libraries()
    from gest_dataset.studies.nsp import Plan, train

    rates = (learning_rate, head_learning_rate)
    plan = Plan(model, data, text, *rates, batch_size, accumulate, epochs, max_steps, dtype, seed)
    result = train(plan, output, device=device, command=command_line())
    rows = (
        ("documents", result["counts"]["documents"]),
        ("training pairs", result["counts"]["train"]),
        ("updates", result["steps"]),
        ("test pairs", result["counts"]["test"]),
        ("accuracy (chance: 50 %)", f"{result['accuracy']:.1%}"),
        ("95 % interval", f"{result['accuracy_low']:.1%} to {result['accuracy_high']:.1%}"),
    )
    show_table(str(output), ("training", ""), rows)
    err.print(f"{output}: gest score {output} --config stereoset_en_intersentence")
