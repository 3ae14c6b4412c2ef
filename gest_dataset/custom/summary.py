"""Notes on a language that was added: coverage, statistical power, and what was not checked."""

from __future__ import annotations

from collections.abc import Iterator

from gest_dataset.custom.language import AddedLanguage
from gest_dataset.statistics.verdict import relative_error, smallest_detectable
from gest_dataset.stereotypes import STEREOTYPES

_FEW = 20  # with fewer sentences, one of them moves the mean of a stereotype by more than 5 %


def notes(added: AddedLanguage) -> Iterator[str]:
    """Yield the notes, a sentence or two each."""
    if added.translated:
        number, total = sum(added.translated.values()), sum(added.sentences.values())
        yield f"{number:,} of {total:,} sentences of GEST are translated ({number / total:.0%})."
    if not added.pairs:
        return
    sizes = {number: added.pairs.get(number, 0) for number in STEREOTYPES}
    few = [f"{number} ({size})" for number, size in sizes.items() if size < _FEW]
    if few:
        yield (
            f"Fewer than {_FEW} sentences have a pair for the stereotypes {', '.join(few)}: "
            f"q_i will be imprecise."
        )
    if all(sizes.values()):
        female = sum(stereotype.gender == "female" for stereotype in STEREOTYPES.values())
        weights = [
            1 / female if STEREOTYPES[number].gender == "female" else -1 / (len(STEREOTYPES) - female)
            for number in sizes
        ]
        smallest = smallest_detectable(relative_error(weights, list(sizes.values())))
        yield (
            f"With these pairs, a test has a power of 80 % for a difference between the two groups of "
            f"stereotypes (ln g_s) of about {smallest:.2f} standard deviations of ln r."
        )
    else:
        yield "A stereotype without a pair has no q_i, and g_s needs all q_i."
    if added.other_letters:
        yield (
            f"The two words of {added.other_letters:,} pairs start with different letters. Articles and "
            f"pronouns do, but so do different words (reject them with --first-letter)."
        )
    if added.genders is None:
        yield "The variants' genders were not checked; pass --parser-model (and --rules) to check them."
    else:
        yield (
            f"The rules confirm the genders of both variants in {added.genders.confirmed:,} pairs and cannot "
            f"judge {added.genders.unknown:,}."
        )
