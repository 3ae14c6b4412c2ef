"""The evaluate module `gest_choice_rate`: whom a chat model chooses as the speaker of a sentence."""

from gest_dataset.metrics.modules import GestChoiceRate as GestChoiceRate
