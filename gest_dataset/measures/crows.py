"""CrowS-Pairs: cs of the pairs themselves, which have no control (Nangia et al., 2020)."""

from gest_dataset.builders.families import CROWS as DATA
from gest_dataset.measures import control
from gest_dataset.measures.measure import Unit, lacking
from gest_dataset.measures.sample_words import LOGARITHMS, SampleWords
from gest_dataset.probes.quadruplets import CROWS as PROBE

CROWS = control.of_pairs(
    name="crows",
    probe=PROBE,
    headlines=(control.CROWS,),
    unit=Unit("pair"),
    pairings=(control.CS_PAIRING,),
    samples=SampleWords(
        "cs",
        ("stereotyped", "other"),
        control.value,
        control.topic,
        variants=("stereotyped", "other"),
        sides=("stereotyped", "other"),
        labels=False,
        decimals=LOGARITHMS,
        kept=(),
        numbers={},
        number="",
        has="The run has cs, a mean over the tokens that both sentences share, and not ln P of each token.",
    ),
    undefined=lacking(control.CROWS.symbol),
    families=(DATA,),
)
