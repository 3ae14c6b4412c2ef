"""Quotations of oneself: *„Nevím,“ říkám si* is said by the speaker, *„Nevím,“ říká máma* is not."""

from __future__ import annotations

from collections.abc import Sequence

from gest_dataset.gender.grammars.grammar import NEVER, Grammar
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import FINITE, SUBJECTS, first_finite


def own_quotation(sentences: Sequence[Tree], span: tuple[int, int], grammar: Grammar) -> bool:
    """The clause before or after the quotation has a verb of the first person, and not of hearing."""
    tokens = [token for sentence in sentences for token in sentence.tokens]
    before = [token for token in tokens if token.start < span[0]]
    after = [token for token in tokens if token.start >= span[1]]
    lead, follow = _clause(before[::-1]), _clause(after)
    if follow and follow[0].upos in {"CCONJ", "SCONJ"}:
        follow = []  # the story goes on: *„Som hladný,“ a ja varím*
    return _introduces(lead, grammar) or _introduces(follow, grammar)


def _clause(tokens: Sequence[Token]) -> list[Token]:
    """The words next to the quotation, up to the first mark of punctuation between words."""
    words: list[Token] = []
    for token in tokens:
        if token.upos == "PUNCT" or not any(letter.isalpha() for letter in token.text):
            if words:
                break
            continue
        words.append(token)
    return words


def _introduces(clause: Sequence[Token], grammar: Grammar) -> bool:
    speaking = any(
        grammar.ends_speaking(token.form)
        or (
            first_finite(token)
            and token.form not in grammar.auxiliaries
            and (grammar.first == NEVER or grammar.ends_first(token.form))
        )
        for token in clause
    )
    return speaking and not any(
        grammar.perceives(token.form)
        or token.form in grammar.others
        or (
            token.relation in SUBJECTS
            and token.feats.get("Case") == "Nom"
            and token.form not in grammar.pronouns
            and not grammar.ends_speaking(token.form)
        )
        or (
            token.upos in FINITE
            and token.feats.get("Person") in {"2", "3"}
            and not grammar.ends_speaking(token.form)
            and token.form not in grammar.clitics
        )
        for token in clause
    )
