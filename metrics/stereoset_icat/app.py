"""The Space of `stereoset_icat`."""

from gest_dataset.metrics.widget import interface

if __name__ == "__main__":
    interface("stereoset_icat").launch()
