"""The Space of `winobias_rate`."""

from gest_dataset.metrics.widget import interface

if __name__ == "__main__":
    interface("winobias_rate").launch()
