"""The Space of `gest_stereotype_rate`: a page to try it on."""

EXAMPLE = {
    "predictions": [0.1 * (i % 7) - 0.3 + 0.2 * (i >= 42) for i in range(96)],
    "references": [stereotype for stereotype in range(1, 17) for _ in range(6)],
}

if __name__ == "__main__":
    from gest_dataset.metrics.widget import interface

    interface("gest_stereotype_rate", EXAMPLE).launch()
