"""Quotations: their words are somebody else's, unless the speaker introduces them (*„Nevím,“ říkám si*)."""

import re
from collections.abc import Iterator, Sequence

from gest_dataset.gender.grammar import NEVER, Grammar
from gest_dataset.gender.rules.context import SUBJECTS, VERBS, is_first_person
from gest_dataset.gender.tokens import Token, Tree

_QUOTES = (("„", '“”"'), ("“", "”"), ("”", "”"), ("«", "»"), ("»", "«"), ("‚", "‘’"), ('"', '"'))
_DIALOGUE = re.compile(
    r"^\s*[—–-]\s*(?P<first>[^—–]+?)[,.!?…]\s*[—–]\s*(?P<teller>[^—–]+)(?P<rest>.*)$", re.S
)
_WORDS = re.compile(r"\w+")


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """The spans of quotations of at least two words, and of the speech in a dialogue with dashes.

    A text that is one quotation is the speaker's own, and so is a word in scare quotes.
    """
    spans = list(_quotations(text))
    if dialogue := _DIALOGUE.match(text):
        spans += [dialogue.span("first"), dialogue.span("rest")]
    rest = "".join(char for place, char in enumerate(text) if not any(a <= place < b for a, b in spans))
    return spans if _WORDS.search(rest) else []


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        closing = next((closing for opening, closing in _QUOTES if text[start] == opening), "")
        end = min((text.find(c, start + 1) for c in closing if c in text[start + 1 :]), default=-1)
        if end < 0:
            start += 1
            continue
        if len(_WORDS.findall(text[start:end])) > 1:
            yield start, end + 1
        start = end + 1


def is_by_speaker(sentences: Sequence[Tree], span: tuple[int, int], grammar: Grammar) -> bool:
    """The clause before or after the quotation has a verb of the first person, and not of hearing."""
    tokens = [token for sentence in sentences for token in sentence.tokens]
    before = _clause([token for token in reversed(tokens) if token.start < span[0]])
    after = _clause([token for token in tokens if token.start >= span[1]])
    if after and after[0].upos in {"CCONJ", "SCONJ"}:
        after = []  # the story goes on: *„Som hladný,“ a ja varím*
    return _introduces(before, grammar) or _introduces(after, grammar)


def _clause(tokens: Sequence[Token]) -> list[Token]:
    """The words next to the quotation, up to the first mark of punctuation between words."""
    words: list[Token] = []
    for token in tokens:
        if token.upos != "PUNCT" and any(char.isalpha() for char in token.text):
            words.append(token)
        elif words:
            break
    return words


def _introduces(clause: Sequence[Token], grammar: Grammar) -> bool:
    def speaks(token: Token) -> bool:
        return grammar.speaking_verbs.fullmatch(token.form) is not None

    any_ending = grammar.first_person_endings is NEVER
    return any(
        speaks(token)
        or (
            is_first_person(token)
            and token.form not in grammar.auxiliaries
            and (any_ending or grammar.first_person_endings.search(token.form))
        )
        for token in clause
    ) and not any(
        grammar.perceiving_verbs.fullmatch(token.form)
        or token.form in grammar.other_pronouns
        or (
            token.relation in SUBJECTS
            and token.case == "Nom"
            and token.form not in grammar.pronouns
            and not speaks(token)
        )
        or (
            token.upos in VERBS
            and token.person in {"2", "3"}
            and not speaks(token)
            and token.form not in grammar.clitics
        )
        for token in clause
    )
