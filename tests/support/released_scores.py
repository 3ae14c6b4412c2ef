"""Write the test mirror's copies of the authors' score files: `python -m tests.support.released_scores`.

The scores are planted: a model has a midpoint and a scale, a family an opinion, and every fourth sentence
points against its stereotype in all of them; only GPT-2 scores the first of these far towards it.
"""

from pathlib import Path

import numpy as np

from gest_dataset.builders.gest import read_sentences
from gest_dataset.builders.released import FAMILIES

FOLDER = Path(__file__).parent.parent / "mirror/kinit-sk/gest/data"


def main() -> None:
    rows = list(read_sentences([FOLDER / "gest.csv"], {}))
    sign = np.array([1 if row["gender"] == "male" else -1 for row in rows])
    direction = np.where(np.arange(len(rows)) % 4 == 3, -1, 1) * sign
    generator = np.random.default_rng(5)
    for number, (family, models) in enumerate(FAMILIES.items()):
        folder, templates = ("english_mlm", 4) if number < 4 else ("english_glm", 2)
        opinion = direction + 0.2 * generator.standard_normal(len(rows))
        if family == "GPT-2":
            opinion[3] *= -5
        for model in models:
            middle, scale = generator.normal(0, 0.5), generator.uniform(0.1, 0.4)
            for template in range(templates):
                noise = 0.1 * generator.standard_normal(len(rows))
                values = middle + scale * (opinion + noise)
                path = FOLDER / "predictions" / folder / f"{model}_template-{template}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f"{value:.4f}\n" for value in values), encoding="utf-8")


if __name__ == "__main__":
    main()
