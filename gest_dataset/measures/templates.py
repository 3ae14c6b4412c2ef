"""GEST in English templates: q_i and g_s (Pikuliak et al., 2024, section 4.2)."""

from gest_dataset.measures import stereotype
from gest_dataset.measures.measure import Unit
from gest_dataset.measures.sample_words import of_genders
from gest_dataset.probes.templates import PROBE

TEMPLATES = stereotype.of_gest(
    name="templates",
    probe=PROBE,
    unit=Unit("sentence"),
    samples=of_genders(stereotype.LOG_RATIO, ("sentence",), stereotype.log_ratios, stereotype.topic),
    methods=(
        "For each English sentence s of GEST and each template t we computed ln r = ln P(w_m | t(s)) − "
        "ln P(w_f | t(s)), where w_m and w_f are the masculine and the feminine word of the template "
        "(Pikuliak et al., 2024, eq. 3). " + stereotype.RATE
    ),
)
