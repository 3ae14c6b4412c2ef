"""Write the test mirror's copies of the authors' score files: `python -m tests.support.released_scores`.

GEST: a model has a midpoint and a scale, a family an opinion, and every fourth sentence points against its
stereotype in all of them; only GPT-2 scores the first of these far towards it. WinoBias: the difference of
the means is six times the model's scale. StereoSet: the unrelated candidate has the lowest score in seven
samples of eight, the stereotype the highest in five of eight; methods differ by a factor.
"""

import json
import zlib
from pathlib import Path

import numpy as np

from gest_dataset.builders.gest import read_sentences
from gest_dataset.builders.reading import read_pickle
from gest_dataset.builders.released import FAMILIES, KIND_OF
from gest_dataset.builders.stereoset import SLOTS, TESTS, source
from gest_dataset.builders.stereoset_scores import parse_name
from gest_dataset.data import sources

MIRROR = Path(__file__).parent.parent / "mirror"
FOLDER = MIRROR / "kinit-sk/gest/data"


def gest() -> None:
    rows = list(read_sentences([FOLDER / "gest.csv"], {}))
    sign = np.array([1 if row["gender"] == "male" else -1 for row in rows])
    direction = np.where(np.arange(len(rows)) % 4 == 3, -1, 1) * sign
    generator = np.random.default_rng(5)
    winobias = ["model_name,dataset_type,dataset_split,logprob_male_professions,logprob_female_professions"]
    for family, models in FAMILIES.items():
        masked = KIND_OF[models[0]] == "masked"
        folder, templates = ("english_mlm", 4) if masked else ("english_glm", 2)
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
            if masked:
                owner = "google/" if family == "ELECTRA" else ""
                ends = f"{middle + 3 * scale:.6f},{middle - 3 * scale:.6f}"
                for part in ("1,dev", "1,test", "2,dev", "2,test"):
                    winobias.append(f"{owner}{model},{part},{ends}")
    path = FOLDER / "predictions" / "winobias" / "winobias.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(winobias) + "\n", encoding="utf-8")


def stereoset() -> None:
    """Files with an empty first class hold one test only; all files of a model agree within sentences."""
    for key in sources.expand("slds-lmu/stereotypes-multi/results/predictions/*.json"):
        name = Path(key).name
        about = parse_name(name)
        assert about is not None, name
        content = {}
        for test in TESTS[1:] if "__" in name or "testtest" in name else TESTS:
            frame = read_pickle(MIRROR / source(test, about.language))
            method = about.method if test == TESTS[1] else ""
            factor = 1 + zlib.crc32(f"{about.model} {method}".encode()) % 97 / 100
            order = np.random.default_rng(zlib.crc32(f"{about.model} {test}".encode()))
            content[test] = []
            for place in range(len(frame["id"])):
                high, low = (0.5, 0.4) if order.random() < 5 / 8 else (0.4, 0.5)
                scores = {"stereotype": high, "anti-stereotype": low, "unrelated": 0.1}
                scores["unrelated"] = 0.9 if order.random() < 1 / 8 else 0.1
                content[test] += [
                    {"id": frame[f"{slot}_id"][place], "score": round(factor * scores[label], 4)}
                    for slot in SLOTS
                    for label in [frame[f"{slot}_gold_label"][place]]
                ]
        path = MIRROR / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    gest()
    stereoset()
