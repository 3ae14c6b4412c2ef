"""The Space of `gest_choice_rate`."""

from gest_dataset.metrics.widget import interface

if __name__ == "__main__":
    interface("gest_choice_rate").launch()
