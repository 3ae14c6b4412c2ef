"""Gender-swapped pairs in Slavic languages: q_i and g_s (Pikuliak et al., 2024, section 4.3)."""

from gest_dataset.builders.families import GEST
from gest_dataset.measures import stereotype
from gest_dataset.measures.measure import Measure, SampleWords
from gest_dataset.probes.pairs import PROBE
from gest_dataset.statistics import stereotype_rate

PAIRS = Measure(
    name="pairs",
    probe=PROBE,
    inputs=stereotype.inputs,
    statistic=stereotype_rate,
    numbers=stereotype.NUMBERS,
    headlines=(stereotype.headline("Genders"),),
    unit="pair",
    pairings=stereotype.PAIRINGS,
    samples=SampleWords(
        stereotype.LOG_RATIO, ("masculine", "feminine"), stereotype.log_ratios, stereotype.topic
    ),
    grid=stereotype.grid,
    sentences=stereotype.sentences,
    undefined=stereotype.UNDEFINED,
    methods=(
        "For each gender-swapped pair of translations of GEST we computed ln r = ln P(w_m) − ln P(w_f) of "
        "the one word that differs, in its place (Pikuliak et al., 2024, section 4.3). " + stereotype.RATE
    ),
    families=(GEST,),
)
