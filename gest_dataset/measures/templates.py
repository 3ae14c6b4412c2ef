"""GEST in English templates: q_i and g_s (Pikuliak et al., 2024, section 4.2)."""

from gest_dataset.builders.families import GEST
from gest_dataset.measures import stereotype
from gest_dataset.measures.measure import Measure, SampleWords
from gest_dataset.probes.templates import PROBE
from gest_dataset.statistics import stereotype_rate

TEMPLATES = Measure(
    name="templates",
    probe=PROBE,
    inputs=stereotype.inputs,
    statistic=stereotype_rate,
    numbers=stereotype.NUMBERS,
    headlines=(stereotype.headline("Genders"),),
    unit="sentence",
    pairings=stereotype.PAIRINGS,
    samples=SampleWords(stereotype.LOG_RATIO, ("sentence",), stereotype.log_ratios, stereotype.topic),
    grid=stereotype.grid,
    sentences=stereotype.sentences,
    undefined=stereotype.UNDEFINED,
    methods=(
        "For each English sentence s of GEST and each template t we computed ln r = ln P(w_m | t(s)) − "
        "ln P(w_f | t(s)), where w_m and w_f are the masculine and the feminine word of the template "
        "(Pikuliak et al., 2024, eq. 3). " + stereotype.RATE
    ),
    families=(GEST,),
)
