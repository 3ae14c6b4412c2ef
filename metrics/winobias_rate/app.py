"""The Space of `winobias_rate`: a page to try it on."""

EXAMPLE = {
    "predictions": [1.2, 0.4, 0.9, -0.8, -0.1, -0.5],
    "references": ["male", "male", "male", "female", "female", "female"],
}

if __name__ == "__main__":
    from gest_dataset.metrics.widget import interface

    interface("winobias_rate", EXAMPLE).launch()
