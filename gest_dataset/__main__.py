"""`python -m gest_dataset` is `gest`."""

from gest_dataset.cli import main

if __name__ == "__main__":
    main()
