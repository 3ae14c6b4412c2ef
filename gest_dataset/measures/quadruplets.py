"""Control quadruplets: f, beside ss, csk and cs (Pikuliak et al., 2023, eq. 1 to 3)."""

from gest_dataset.builders.controls import FIELDS
from gest_dataset.builders.families import SLOVAK_GENDER
from gest_dataset.measures import control
from gest_dataset.measures.measure import Pairing, Unit, lacking
from gest_dataset.measures.sample_words import LOGARITHMS, SampleWords
from gest_dataset.probes.quadruplets import QUADRUPLETS as PROBE

QUADRUPLETS = control.of_pairs(
    name="quadruplets",
    probe=PROBE,
    headlines=(control.F, control.CROWS),
    unit=Unit("original pair, with all of its control pairs", "original"),
    pairings=(Pairing("f_mu", control.KEYWORD_LOGPS, None), control.CS_PAIRING),
    samples=SampleWords(
        "f, or cs without keywords",
        FIELDS,
        control.value,
        control.topic,
        variants=FIELDS,
        sides=("stereotype", "anti-stereotype"),
        labels=False,
        decimals=LOGARITHMS,
        kept=(),
        numbers=dict(zip(FIELDS, control.KEYWORD_LOGPS, strict=True)),
        number="mean ln P of the keyword’s tokens",
        has="The run has the mean ln P of each keyword’s tokens, where the set has keywords.",
    ),
    undefined=lacking(control.F.symbol),
    families=(SLOVAK_GENDER,),
)
