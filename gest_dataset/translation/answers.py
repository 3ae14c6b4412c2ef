"""What the answers of a service have to look like before they are kept and paid for again by nobody.

Some answers are looked at together: one text for many, another order, and English are no translations, and
nothing in a single answer tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence

import numpy as np

from gest_dataset.gender import languages, texts
from gest_dataset.translation.translator import Batch, Translation, TranslationError

_TOGETHER = 5  # answers: fewer that are alike may be so by chance
# Lengths of sentences and of their translations. GEST's own in batches of 50, by 4 systems to 9 languages:
# r is 0.83 or more, and 0.45 or less in another order. Sentences of one length tell nothing.
_ENOUGH = 40
_WORDS = 4  # of a sentence: lengths of words alone go together far less (StereoSet's: r is 0.2 to 0.7)
_SPREAD = 0.25  # standard deviation of the lengths, of their mean
_LEAST = 0.6


def judged(batches: Generator[Batch, None, None], title: str, language: str) -> Generator[Batch, None, None]:
    """The batches, a few answers at a time; an error in the place of answers that are none."""
    held: list[Batch] = []
    try:
        for batch in batches:
            held.append(batch)
            made = [each for some in held for each in some.translations if not each.problem]
            if len(made) >= _TOGETHER:
                if reason := _suspicion(made, language):
                    break
                yield from held
                held = []
        else:
            reason = ""
    except (Exception, KeyboardInterrupt):
        yield from held  # too few to be judged, and answered before the fault
        raise
    if reason:
        raise TranslationError(
            f"{title} {reason}. None of these answers is kept. If it is asked through another server, look "
            f"at what that one does; else try again later."
        )
    yield from held


def _suspicion(made: Sequence[Translation], language: str) -> str:
    """What is wrong with some answers together; nothing is the empty string."""
    most = max(_TOGETHER, len(made) // 2 + 1)
    words = {(each.translation, "".join(filter(str.isalnum, each.source.casefold()))) for each in made}
    (answer, times), *_ = Counter(translation for translation, _ in words).most_common(1)
    if times >= most:
        return f"gave one answer to {times} different texts: {answer[:60]!r}"
    if language in languages():
        problems = Counter(texts.problem(each.translation, language) for each in made)
        problem, times = max(problems.items(), key=lambda item: item[1] * bool(item[0]))
        if problem and times >= most:
            return f"gave {times} answers of {len(made)} that are {problem}"
    sentences = [each for each in made if len(each.source.split()) >= _WORDS]
    lengths = np.array([(len(each.source), len(each.translation)) for each in sentences], dtype=float)
    if len(sentences) >= _ENOUGH and lengths[:, 0].std() >= _SPREAD * lengths[:, 0].mean():
        varied = lengths[:, 1].std() > 0
        if not varied or np.corrcoef(lengths.T)[0, 1] < _LEAST:
            return (
                "gave answers that do not belong to the texts: long ones to short ones, as in another order"
            )
    return ""
