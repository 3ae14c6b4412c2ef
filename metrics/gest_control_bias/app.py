"""The Space of `gest_control_bias`: a page to try it on."""

EXAMPLE = {
    "predictions": [[-2.1, -3.0, -2.9, -3.1], [-4.0, -3.2, -4.4, -3.0], [-1.2, -2.0, -1.0, -2.2]],
    "cs": [[0.4, 0.1], [-0.2, 0.3], [0.5, 0.2]],
    "log_base": 10,
}

if __name__ == "__main__":
    from gest_dataset.metrics.widget import interface

    interface("gest_control_bias", EXAMPLE).launch()
