"""Gender-swapped pairs in Slavic languages: q_i and g_s (Pikuliak et al., 2024, section 4.3)."""

from gest_dataset.measures import stereotype
from gest_dataset.measures.measure import Unit
from gest_dataset.measures.sample_words import of_genders
from gest_dataset.probes.pairs import PROBE

PAIRS = stereotype.of_gest(
    name="pairs",
    probe=PROBE,
    unit=Unit("source sentence, with all of its pairs", "source"),
    samples=of_genders(
        stereotype.LOG_RATIO, ("masculine", "feminine"), stereotype.log_ratios, stereotype.topic
    ),
    methods=(
        "For each gender-swapped pair of translations of GEST we computed ln r = ln P(w_m) − ln P(w_f) of "
        "the one word that differs, in its place (Pikuliak et al., 2024, section 4.3). " + stereotype.RATE
    ),
)
