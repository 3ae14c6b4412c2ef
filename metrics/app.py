"""The Space of a metric, in which this file lies beside the metric's module."""

from pathlib import Path

from gest_dataset.metrics.widget import interface

if __name__ == "__main__":
    (module,) = {path.stem for path in Path(__file__).parent.glob("*.py")} - {"app"}
    interface(module).launch()
