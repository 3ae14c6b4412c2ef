"""Neutral sentences in frames with a man and a woman who speak: q_i and g_s (after Rowe et al., 2025)."""

from functools import partial

from gest_dataset.builders.families import GEST
from gest_dataset.builders.families import NEUTRAL as DATA
from gest_dataset.measures import stereotype
from gest_dataset.measures.measure import Unit
from gest_dataset.measures.sample_words import of_genders
from gest_dataset.probes.neutral import PROBE

NEUTRAL = stereotype.of_gest(
    name="neutral",
    probe=PROBE,
    unit=Unit("source sentence, with all of its translations", "source"),
    samples=of_genders(
        "ln P(said by a man) − ln P(said by a woman)",
        ("masculine", "feminine"),
        stereotype.log_ratios,
        stereotype.topic,
    ),
    sentences=partial(stereotype.sentences, compared="frame"),
    methods=(
        "For each translation of GEST that does not show the speaker’s gender we computed ln r = ln P(the "
        "sentence, said by a man) − ln P(the same, said by a woman), in the frames of Rowe et al. (2025) "
        "with a full stop at the end; of masked models and encoder-decoders it is that of the words in which "
        "the two frames differ. " + stereotype.RATE
    ),
    families=(GEST, DATA),
)
