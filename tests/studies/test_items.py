"""The study of items: planted sides and sentences, and the class without a model's own family."""

import math
from pathlib import Path

import numpy as np
import pytest

from gest_dataset import studies
from gest_dataset.data.rows import rows_of
from gest_dataset.stereotypes import STEREOTYPES
from tests.studies.planting import cells, gest, value

pytestmark = pytest.mark.usefixtures("mirror")


def test_sides_of_the_midpoint(tmp_path: Path) -> None:
    """Stereotype 12 is planted on the women's side; distances equal a naive computation."""
    noise = np.random.default_rng(0).standard_normal(34)
    index = {name: place for place, name in enumerate(rows_of("en")["id"])}

    def ratio(row: dict[str, object], template: int) -> float:
        side = -1 if row["stereotype"] == 12 else row["sign"]
        return float(3.0 * side + 0.1 * noise[index[row["id"]]] + template)  # type: ignore[operator]

    study = studies.items([gest(tmp_path / "toy", "toy", ratio, (1, 2))])
    rows = cells(study, "midpoint")
    assert [row["stereotype"].split()[0] for row in rows if row["side"] == "against"] == ["12"]
    data = rows_of("en").to_pandas()
    x = np.array(
        [
            np.mean([ratio({**row, "sign": 1 if row["gender"] else -1}, t) for t in (1, 2)])
            for row in rows_of("en").to_list()
        ]
    )
    groups = {i: x[data["stereotype"] == i] for i in STEREOTYPES}
    q = np.array([group.mean() for group in groups.values()])
    middle = (q[:7].mean() + q[7:].mean()) / 2
    s = math.sqrt(np.mean([group.var(ddof=1) for group in groups.values() if len(group) > 1]))
    signs = np.repeat([-1, 1], [7, 9])
    assert [value(row["distance"]) for row in rows] == pytest.approx(signs * (q - middle) / s)


def test_g_s_without_sentences_against_their_stereotype(tmp_path: Path) -> None:
    """Every fourth sentence but the first of them is against its stereotype in the released scores."""
    order = {name: place for place, name in enumerate(rows_of("en")["id"])}

    def ratio(row: dict[str, object], template: int) -> float:
        place = order[str(row["id"])]
        against = place % 4 == 3 and place != 3
        return float(row["sign"]) * (-1 if against else 1) * 0.5  # type: ignore[arg-type]

    (row,) = cells(studies.items([gest(tmp_path / "toy", "toy", ratio)]), "items")
    assert row["sentences against"] == 7
    assert value(row["g_s without them"]) == pytest.approx(math.e)
    assert value(row["g_s"]) < math.e


def test_a_models_own_family_is_left_out(tmp_path: Path) -> None:
    """One sentence is against its stereotype for all families but GPT-2."""
    for file in ("glm_gpt2", "microsoft_phi-2", "other"):
        for template in (0, 1):
            lines = "".join(f"{number / 100}\n" for number in range(34))
            (tmp_path / f"{file}_template-{template}.txt").write_text(lines)
    rows = cells(studies.items(released=tmp_path), "items")
    left_out = {row["model"]: (row["family left out"], row["sentences against"]) for row in rows}
    assert left_out == {
        "gpt2 (authors)": ("GPT-2", 8),
        "phi-2 (authors)": ("Phi", 7),
        "other (authors)": ("", 7),
    }
