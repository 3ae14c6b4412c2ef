"""WinoBias: q of both kinds of occupations, and g_s (Pikuliak et al., 2024, eq. 5)."""

from __future__ import annotations

from gest_dataset.builders.families import GEST
from gest_dataset.builders.families import WINOBIAS as DATA
from gest_dataset.measures import stereotype
from gest_dataset.measures.grid import Grid
from gest_dataset.measures.measure import Contrast, Facts, Measure, Result, Unit, lacking, paired
from gest_dataset.measures.sample_words import of_genders
from gest_dataset.measures.words import shown
from gest_dataset.probes.winobias import PROBE
from gest_dataset.statistics import winobias_rate


def grid(result: Result) -> Grid:
    """q_f, q_m and g_s."""
    return Grid(("value",), tuple(stereotype.rates(result)))


def sentences(result: Result, facts: Facts) -> list[str]:
    """g_s in words."""
    return [
        f"The ratio of the masculine to the feminine pronoun’s probability is {shown(result['g_s'])} times "
        f"as high with stereotypically male occupations as with female ones."
    ]


WINOBIAS = Measure(
    name="winobias",
    probe=PROBE,
    inputs=paired("log_ratio", "occupation_gender"),
    statistic=winobias_rate,
    numbers=stereotype.NUMBERS,
    headlines=(stereotype.headline("Pronouns", zone=0.25),),
    unit=Unit("occupation, with all of its sentences", "occupation"),
    contrast=Contrast("occupation_gender", {"male": 1.0, "female": -1.0}),
    pairings=(),
    samples=of_genders(
        stereotype.LOG_RATIO,
        ("masculine", "feminine"),
        stereotype.log_ratios,
        lambda scores, row: f"{scores['occupation_gender']} occupation",
    ),
    grid=grid,
    sentences=sentences,
    undefined=lacking("g_s"),
    methods=(
        "For each WinoBias sentence we compared the sentence with masculine and with feminine pronouns; q_m "
        "and q_f are the geometric means of the ratios over stereotypically male and female occupations, and "
        "g_s = q_m / q_f (Pikuliak et al., 2024, eq. 5). "
    ),
    families=(GEST, DATA),
)
