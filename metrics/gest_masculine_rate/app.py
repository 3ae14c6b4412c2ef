"""The Space of `gest_masculine_rate`: a page to try it on."""

EXAMPLE = {
    "predictions": ["female", "male", "female", "male", "unknown", "male"] * 16,
    "references": [stereotype for stereotype in range(1, 17) for _ in range(6)],
}

if __name__ == "__main__":
    from gest_dataset.metrics.widget import interface

    interface("gest_masculine_rate", EXAMPLE).launch()
