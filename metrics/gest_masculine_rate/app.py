"""The Space of `gest_masculine_rate`."""

from gest_dataset.metrics.widget import interface

if __name__ == "__main__":
    interface("gest_masculine_rate").launch()
