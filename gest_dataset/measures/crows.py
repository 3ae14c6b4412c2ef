"""CrowS-Pairs: cs of the pairs themselves, which have no control (Nangia et al., 2020)."""

from gest_dataset.builders.families import CROWS as DATA
from gest_dataset.measures import control
from gest_dataset.measures.measure import Measure, SampleWords, lacking
from gest_dataset.probes.quadruplets import CROWS as PROBE
from gest_dataset.statistics import control_bias

CROWS = Measure(
    name="crows",
    probe=PROBE,
    inputs=control.inputs,
    statistic=control_bias,
    numbers=control.NUMBERS,
    headlines=(control.CROWS,),
    unit="pair",
    pairings=(control.CS_PAIRING,),
    samples=SampleWords(
        "cs", ("stereotyped", "other"), control.value, lambda scores, row: str(row.get("bias_type", ""))
    ),
    grid=control.grid,
    sentences=control.sentences,
    undefined=lacking(control.CROWS.symbol),
    methods=control.METHODS,
    families=(DATA,),
)
