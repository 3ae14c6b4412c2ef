"""The Space of `gest_choice_rate`: a page to try it on."""

EXAMPLE = {
    "predictions": ["male" if i >= 42 else "female" if i % 2 else "neither" for i in range(96)],
    "references": [stereotype for stereotype in range(1, 17) for _ in range(6)],
    "units": [f"sentence {i // 3}" for i in range(96)],
    "letters": [i % 3 for i in range(96)],
}

if __name__ == "__main__":
    from gest_dataset.metrics.widget import interface

    interface("gest_choice_rate", EXAMPLE).launch()
