"""The gender of the character of a Slavic story, by the verbs that it is told with (docs/ask.md).

A past tense in the singular shows the gender of its subject. It is counted where that is a name, a pronoun
of the third person, or left out, as it is of whom a story is about; so is such a pronoun itself, which is all
that Bulgarian has in most tenses. What a noun does (*her father drank*) is the noun's, and what stands in
quotation marks is said by others. The counts decide as those of English pronouns do (`probes.pronouns`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from gest_dataset.gender import own
from gest_dataset.gender.detect import parsed
from gest_dataset.gender.grammars.grammar import FEMALE, MALE, UNKNOWN, Grammar, pairs
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules import reported
from gest_dataset.gender.rules.clauses import HELPERS, SUBJECTS, predicate, stretch
from gest_dataset.gender.rules.first import first_person
from gest_dataset.probes.pronouns import Character, decide

# he:she, in the languages that there are rules for
_THIRD = pairs("on:ona он:она він:вона ён:яна той:тя")
_FIRST = "first"


def characters(
    texts: Sequence[str], language: str, parser: str = "udpipe", model: str | Path | None = None
) -> list[Character]:
    """The gender of the character of each text, with the words that show it."""
    grammar = own.grammar_of(language)
    found = []
    for parse in parsed(texts, language, parser, model):
        if parse.problem:
            found.append(Character(UNKNOWN, (), parse.problem))
            continue
        words: Counter[tuple[str, str]] = Counter()
        for whose, token in _told(parse.sentences, grammar, reported.quoted(parse.latin)):
            start, end = parse.span(token)
            words[whose, parse.text[start:end].lower()] += 1
        number = Counter(dict.fromkeys((MALE, FEMALE, _FIRST), 0))
        for (whose, _), count in words.items():
            number[whose] += count
        evidence = tuple(f"{word} {count}" for (_, word), count in words.items())
        found.append(decide(number[MALE], number[FEMALE], number[_FIRST], 0, evidence))
    return found


def _told(
    sentences: Sequence[Tree], grammar: Grammar, skipped: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, Token]]:
    """The words that show whom a text is about: `male`, `female`, or the first person."""
    for sentence in sentences:
        for token in sentence.tokens:
            if any(start <= token.start < end for start, end in skipped):
                continue
            gender = grammar.gender(token, "past")
            if gender is None and token.form in _THIRD and token.relation in SUBJECTS:
                yield _THIRD[token.form], token
            elif gender is not None and _by_first(sentence, token, grammar):
                yield _FIRST, token
            elif gender is not None and _of_character(sentence, token):
                yield gender, token


def _by_first(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Odišiel som a zaspal*: the speaker does it, or does what it is joined with."""
    marks = grammar.auxiliaries | grammar.pronouns
    return any(
        first_person(sentence, verb, grammar) or any(other.form in marks for other in stretch(sentence, verb))
        for verb in _joined(sentence, token)
    )


def _of_character(sentence: Tree, token: Token) -> bool:
    """Its subject is a name, a pronoun of the third person, or left out."""
    for verb in _joined(sentence, token):
        subjects = [
            other
            for other in (*sentence.children(verb), *sentence.children(token))
            if other.relation in SUBJECTS and other is not token
        ]
        if subjects:
            return all(other.upos == "PROPN" or other.form in _THIRD for other in subjects)
        if verb.relation == "acl":
            return False  # of the noun that it tells of: *muž, ktorý prišiel*
    return True


def _joined(sentence: Tree, token: Token) -> Iterator[Token]:
    """The verb, and those that it is joined with, whose subject is its own where it has none."""
    verb = predicate(sentence, token)
    seen = set()
    while verb.id not in seen:
        yield verb
        seen.add(verb.id)
        head = sentence.head(verb)
        if head is None or verb.relation not in {"conj", *HELPERS}:
            return
        verb = head
