"""`gest`, and `python -m gest_dataset`: interrupts are watched before anything slow is imported."""

from gest_dataset.commands import interrupts


def main() -> None:
    """The command line."""
    interrupts.watch()
    from gest_dataset.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
