"""The Space of `stereoset_icat`: a page to try it on."""

EXAMPLE = {
    "predictions": [[0.4, 0.2, 0.1], [0.1, 0.3, 0.0], [0.3, 0.1, 0.2], [0.2, 0.5, 0.1]],
    "references": ["grandfather", "grandfather", "schoolgirl", "schoolgirl"],
    "bias_types": ["gender", "gender", "gender", "gender"],
}

if __name__ == "__main__":
    from gest_dataset.metrics.widget import interface

    interface("stereoset_icat", EXAMPLE).launch()
