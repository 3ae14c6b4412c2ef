"""The words of a rule: what a language's gendered forms and its first person look like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gest_dataset.gender.parsers.tokens import Token

MALE, FEMALE, UNKNOWN = "male", "female", "unknown"
NEVER = "(?!)"


def table(words: str) -> frozenset[str]:
    """A set of words, written with spaces between them; two spaces hold the empty word."""
    return frozenset(words.split(" "))


def either(*sets: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*sets)


VERBS = table("VERB AUX")
NOUNS = table("NOUN PROPN")
PERSONS = table("NOUN PROPN ADJ")
ANY_WORD = table("NOUN PROPN ADJ ADV VERB DET X INTJ")
ADJECTIVES = table("ADJ")
MISTAGGED = table("ADJ ADV PROPN INTJ PART X")  # what a tagger takes an unknown verb for
ANY_CASE = table("  Nom Gen Dat Acc Voc Loc Ins")


def pairs(text: str, endings: str = "") -> dict[str, str]:
    """A closed list of words, written `masculine:feminine`, as a table of their genders.

    Of a word alone the feminine follows by the `endings`.

    >>> pairs("dobrý ten:tá", "ý:á")
    {'dobrý': 'male', 'dobrá': 'female', 'ten': 'male', 'tá': 'female'}
    """
    both = [word.split(":") if ":" in word else (word, _ended(word, endings)) for word in text.split()]
    return {form: gender for pair in both for form, gender in zip(pair, (MALE, FEMALE), strict=True)}


def declined(words: Mapping[str, str], endings: str) -> dict[str, str]:
    """The same words in another case."""
    return {_ended(word, endings): gender for word, gender in words.items()}


def _ended(word: str, endings: str) -> str:
    """A word with another ending: the first of `old:new` whose old one it has."""
    old, new = next(pair for pair in (end.split(":") for end in endings.split()) if word.endswith(pair[0]))
    return word.removesuffix(old) + new


@dataclass(frozen=True)
class Forms:
    """How the masculine and the feminine singular of one kind of word are written.

    The written form decides, not the tag: weak taggers confuse genders, endings do not lie. Both are
    regular expressions for the end of the lower-case form; a word that fits both says nothing.
    `tagged` lets words that fit neither (Russian *мог*) follow the tag if they fit this expression.
    `cases` are the cases that a tag may state ("" for none), `never` are words that look right only.
    """

    male: str
    female: str
    upos: frozenset[str] = ADJECTIVES
    cases: frozenset[str] = table("  Nom Acc Voc")
    never: str = NEVER
    tagged: str = NEVER
    participles: bool = False  # of verbs, only participles are meant
    surface: bool = False  # the written word is compared: *byłam*, not its parts

    @cached_property
    def _compiled(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(f"(?:{end})$") for end in (self.male, self.female, self.never, self.tagged))

    def gender(self, token: Token) -> str | None:
        """`male`, `female`, or None where the word is of another kind or says nothing."""
        if token.upos not in self.upos or token.feats.get("Case", "") not in self.cases:
            return None
        if self.participles and token.upos == "VERB" and token.feats.get("VerbForm") != "Part":
            return None
        form = token.surface.lower() if self.surface else token.form
        male, female, never, tagged = (pattern.search(form) is not None for pattern in self._compiled)
        if never or male == female:
            stated = {"Masc": MALE, "Fem": FEMALE}.get(token.feats.get("Gender", ""))
            return stated if tagged and not never else None
        return MALE if male else FEMALE


@dataclass(frozen=True)
class Grammar:
    """One language: the forms of each kind of word, and the words that mark the first person."""

    forms: Mapping[str, Forms]
    pronouns: frozenset[str]
    auxiliaries: frozenset[str] = frozenset()
    # auxiliaries without person: they mark the first one only where no subject is named
    impersonal: frozenset[str] = frozenset()
    reporting: frozenset[str] = frozenset()  # conjunctions that begin what somebody thinks or says
    relatives: frozenset[str] = frozenset()  # relative pronouns that are tagged as conjunctions
    others: frozenset[str] = frozenset()  # personal pronouns of other persons, nominative
    datives: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    selves: frozenset[str] = frozenset()  # reflexives before *sám*: *sebe sama* is said by anybody
    degrees: frozenset[str] = frozenset()  # prepositions that also mean *too*: *za stary*
    clitics: frozenset[str] = frozenset()  # pronouns that taggers take for nominatives
    certain: frozenset[str] = frozenset()  # verbs of the first person, whatever their tag
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # closed lists: form -> gender
    saying: str = NEVER  # verbs of saying, whose subject is often left out where it is another person
    speaking: str = NEVER  # the same in the first person singular of the present
    perceiving: str = NEVER  # *I hear*: what follows in quotation marks is another's
    working: str = NEVER  # *I work*, *I serve*: before *as a waiter*
    linking: str = NEVER  # first-person verbs that take an adjective for their subject
    considering: str = NEVER  # the same, if their object is the speaker: *считаю себя сильной*
    first: str = NEVER  # endings of verbs of the first person singular, for words that are tagged wrong
    infinitive: str = NEVER  # endings of infinitives that taggers take for the third person
    governing: str = NEVER  # adjectives that take an infinitive
    infinitives: frozenset[str] = frozenset()  # and infinitives that do

    def gender(self, token: Token, kind: str) -> str | None:
        """The gender of a word of this kind: from a closed list or from its ending."""
        if kind in self.words:
            return self.words[kind].get(token.form)
        return self.forms[kind].gender(token) if kind in self.forms else None

    def considers(self, form: str) -> bool:
        return re.fullmatch(self.considering, form) is not None

    def links(self, form: str) -> bool:
        """Is it one of the verbs that take an adjective for their subject?"""
        return re.fullmatch(self.linking, form) is not None

    def reports(self, form: str) -> bool:
        return re.fullmatch(self.saying, form) is not None

    def ends_speaking(self, form: str) -> bool:
        return re.fullmatch(self.speaking, form) is not None

    def perceives(self, form: str) -> bool:
        return re.fullmatch(self.perceiving, form) is not None

    def works(self, form: str) -> bool:
        return re.fullmatch(self.working, form) is not None

    def governs(self, form: str) -> bool:
        return re.fullmatch(self.governing, form) is not None

    def is_infinitive(self, form: str) -> bool:
        return re.search(f"(?:{self.infinitive})$", form) is not None

    def ends_first(self, form: str) -> bool:
        """Could the form be a verb of the first person singular?"""
        return re.search(f"(?:{self.first})$", form) is not None
