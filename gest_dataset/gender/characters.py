"""The gender of the main character of a Slavic story, by the verbs in the past tense (docs/ask.md).

A past tense in the singular shows the gender of its subject. It counts if the subject is a name, a pronoun
of the third person, or left out, as in stories about the character; such pronouns count as well (Bulgarian
has little else). What a noun does (*her father drank*) does not count, nor what stands in quotation marks.
"""

from collections import Counter

from gest_dataset.gender.grammar import FEMALE, MALE, UNKNOWN, Grammar
from gest_dataset.gender.parsing import ParsedText
from gest_dataset.gender.rules.context import HELPERS, SUBJECTS, Context
from gest_dataset.gender.rules.engine import contexts_of
from gest_dataset.gender.rules.quotations import quoted_spans
from gest_dataset.gender.rules.subjects import first_person
from gest_dataset.gender.tokens import Token
from gest_dataset.probes.pronouns import Character, decide

_THIRD_PERSON = {
    **dict.fromkeys(("on", "він", "ён", "он", "той"), MALE),
    **dict.fromkeys(("ona", "вона", "яна", "она", "тя"), FEMALE),
}
_FIRST_PERSON = "first"


def character(parse: ParsedText, grammar: Grammar) -> Character:
    """The gender of the character of a text, with the words that show it."""
    if parse.problem:
        return Character(UNKNOWN, (), parse.problem)
    quotations = quoted_spans(parse.latin)
    words: Counter[tuple[str, str]] = Counter()
    for context in (c for sentence in parse.sentences for c in contexts_of(sentence, grammar)):
        person = _person(context)
        if person and not any(start <= context.token.start < end for start, end in quotations):
            start, end = parse.span(context.token)
            words[person, parse.text[start:end].lower()] += 1
    numbers = Counter(person for person, _ in words.elements())
    evidence = tuple(f"{word} {count}" for (_, word), count in words.items())
    return decide(numbers[MALE], numbers[FEMALE], numbers[_FIRST_PERSON], 0, evidence)


def _person(c: Context) -> str | None:
    """The gender of the character that the word shows, or the first person."""
    gender = c.grammar.gender(c.token, "past")
    if gender is None:
        return _THIRD_PERSON.get(c.token.form) if c.token.relation in SUBJECTS else None
    # *Odišiel som a zaspal*: the verb, or one that it is joined with, has the speaker for its subject
    marks = c.grammar.auxiliaries | c.grammar.pronouns
    for verb in map(c.at, _joined_verbs(c)):
        if first_person(verb) or any(other.form in marks for other in verb.clause):
            return _FIRST_PERSON
    return gender if _is_about_character(c) else None


def _is_about_character(c: Context) -> bool:
    """The subject is a name, a pronoun of the third person, or left out."""
    for verb in _joined_verbs(c):
        subjects = [
            other
            for other in (*c.sentence.children(verb), *c.children)
            if other.relation in SUBJECTS and other is not c.token
        ]
        if subjects:
            return all(other.upos == "PROPN" or other.form in _THIRD_PERSON for other in subjects)
        if verb.relation == "acl":
            return False  # about the noun: *muž, ktorý prišiel*
    return True


def _joined_verbs(c: Context) -> list[Token]:
    """The verb, and those that it is joined with, whose subject it shares."""
    verbs: list[Token] = []
    verb: Token | None = c.predicate
    while verb is not None and verb not in verbs:
        verbs.append(verb)
        verb = c.sentence.head(verb) if verb.relation in {"conj", *HELPERS} else None
    return verbs
