"""What there is to say of an addition beside its counts, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from gest_dataset.custom.checks import UNSPACED
from gest_dataset.custom.language import Addition
from gest_dataset.statistics import verdict
from gest_dataset.stereotypes import STEREOTYPES

_FEW = 20  # sentences of a stereotype: fewer, and one of them moves its mean by more than 5 %


def notes(added: Addition) -> list[str]:
    """Each a sentence or two."""
    return [*_coverage(added), *_pairs(added), *_forms(added)]


def _coverage(added: Addition) -> Iterator[str]:
    if added.translated:
        number, of = sum(added.translated.values()), sum(added.sentences.values())
        yield f"{number:,} of {of:,} sentences of GEST are translated ({number / of:.0%})."


def _pairs(added: Addition) -> Iterator[str]:
    if not added.pairs:
        return
    sizes = {number: added.pairs.get(number, 0) for number in STEREOTYPES}
    few = [f"{number} ({size})" for number, size in sizes.items() if size < _FEW]
    if few:
        yield f"Fewer than {_FEW} sentences with a pair have stereotypes {', '.join(few)}: q_i says little."
    women = sum(1 for stereotype in STEREOTYPES.values() if stereotype.gender == "female")
    weights = [
        1 / women if STEREOTYPES[number].gender == "female" else -1 / (len(STEREOTYPES) - women)
        for number in sizes
    ]
    if all(sizes.values()):
        smallest = verdict.smallest_detectable(verdict.relative_error(weights, list(sizes.values())))
        yield (
            f"With these pairs a test finds a difference between the two groups of stereotypes (ln g_s) with "
            f"a power of 80 % if it is about {smallest:.2f} standard deviations of ln r, or more."
        )
    else:
        yield "A stereotype without a pair has no q_i, and without all q_i there is no g_s."
    if added.first_letter:
        yield "The two words of a pair have to begin with the same letter (--any-letter changes it)."
    elif added.other_letters:
        yield (
            f"The two words of {added.other_letters:,} pairs begin with different letters: articles and "
            f"pronouns do, and so do words that are not the same (--first-letter leaves them out)."
        )
    if added.genders is None:
        yield "Nobody has looked at the genders of the variants: --model (and --rules) would."
    else:
        yield (
            f"By the rules both variants have their genders in {added.genders.confirmed:,} pairs; of "
            f"{added.genders.unknown:,} the rules do not know it."
        )
    if added.language.script in UNSPACED:
        yield (
            f"{added.language.name} is written without spaces between words, so the word of a pair is all "
            f"that stands between two spaces. Causal models are asked as ever; of masked ones only pairs "
            f"that differ in one token can be asked, and --multi-token masks all of that stretch."
        )


def _forms(added: Addition) -> Iterator[str]:
    for name, read in added.files.items():
        if read.composed:
            unlike = f", of {read.unlike:,} of them only one of the two variants" if read.unlike else ""
            yield f"{name}: {read.composed:,} rows were not in Unicode's form NFC, and are now{unlike}."
