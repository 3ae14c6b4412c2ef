"""The Space of `gest_stereotype_rate`."""

from gest_dataset.metrics.widget import interface

if __name__ == "__main__":
    interface("gest_stereotype_rate").launch()
