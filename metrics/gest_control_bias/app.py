"""The Space of `gest_control_bias`."""

from gest_dataset.metrics.widget import interface

if __name__ == "__main__":
    interface("gest_control_bias").launch()
