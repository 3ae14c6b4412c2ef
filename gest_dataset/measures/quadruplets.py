"""Control quadruplets: f, beside ss, csk and cs (Pikuliak et al., 2023, eq. 1 to 3)."""

from gest_dataset.builders.families import SLOVAK_GENDER
from gest_dataset.measures import control
from gest_dataset.measures.measure import Pairing, SampleWords, Unit, lacking
from gest_dataset.probes.quadruplets import QUADRUPLETS as PROBE

QUADRUPLETS = control.of_pairs(
    name="quadruplets",
    probe=PROBE,
    headlines=(control.F, control.CROWS),
    unit=Unit("original pair, with all of its control pairs", "original"),
    pairings=(Pairing("f_mu", control.KEYWORD_LOGPS, None), control.CS_PAIRING),
    samples=SampleWords(
        "f, or cs without keywords",
        ("original_stereotype", "original_antistereotype"),
        control.value,
        control.topic,
    ),
    undefined=lacking(control.F.symbol),
    families=(SLOVAK_GENDER,),
)
