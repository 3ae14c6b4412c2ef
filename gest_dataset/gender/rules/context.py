"""A word in its sentence: its clause, its noun, its subject, in a tree that may be wrong."""

from collections.abc import Collection, Iterable
from functools import cached_property

from gest_dataset.gender.grammar import NOUNS, Grammar
from gest_dataset.gender.tokens import Token, Tree

VERBS = frozenset({"VERB", "AUX"})
HELPERS = frozenset({"aux", "cop"})
SUBJECTS = frozenset({"nsubj", "csubj", "expl"})
BETWEEN = frozenset({"ADJ", "ADV", "DET", "CCONJ", "PART", "NUM"})  # between an adjective and its noun
_BORDERS = frozenset({"PUNCT", "SCONJ", "CCONJ"})
_RELATIVE_LETTERS = tuple("kčcjšgazкчхщяшгд")  # what relative and interrogative words begin with
_FIRST_PERSON_LETTERS = ("m", "м")  # no verb of the second or third person ends so


class Context:
    """A word of a sentence, the words around it, and the grammar of the language."""

    def __init__(self, sentence: Tree, token: Token, grammar: Grammar) -> None:
        self.sentence = sentence
        self.token = token
        self.grammar = grammar
        self.tokens = sentence.tokens
        self.index = token.id - 1
        self.head = sentence.head(token)
        self.children = sentence.children(token)
        self.previous = self.tokens[self.index - 1] if self.index else None
        self.following = self.tokens[token.id] if token.id < len(self.tokens) else None

    def at(self, token: Token) -> "Context":
        """The context of another word of the sentence."""
        return Context(self.sentence, token, self.grammar)

    @cached_property
    def clause(self) -> tuple[Token, ...]:
        """The words around the word up to the next comma, conjunction or relative pronoun."""
        first, end = self.index, self.index + 1
        while first > 0 and not (self._is_border(first - 1) or self._is_question(first)):
            first -= 1
        while end < len(self.tokens) and not (self._is_border(end) or self._is_question(end)):
            end += 1
        return self.tokens[first:end]

    @cached_property
    def others(self) -> list[Token]:
        """The other words of the clause."""
        return [other for other in self.clause if other is not self.token]

    @cached_property
    def before(self) -> tuple[Token, ...]:
        """The words of the clause before the word."""
        return self.tokens[self.start : self.index]

    @cached_property
    def after(self) -> tuple[Token, ...]:
        """The words of the clause after the word."""
        return self.tokens[self.index + 1 : self.start + len(self.clause)]

    @property
    def start(self) -> int:
        """The index of the first word of the clause."""
        return self.clause[0].id - 1

    @property
    def opening(self) -> Token | None:
        """The comma or conjunction before the clause."""
        return self.tokens[self.start - 1] if self.start else None

    @cached_property
    def predicate(self) -> Token:
        """The word that carries the clause: `unavená` for *bola* in *bola som unavená*."""
        return self.head if self.token.relation in HELPERS and self.head is not None else self.token

    @cached_property
    def dependents(self) -> list[Token]:
        """The dependents of the word and of the predicate that it helps."""
        if self.predicate is self.token:
            return self.children
        return [*self.children, *self.sentence.children(self.predicate)]

    def _is_border(self, index: int) -> bool:
        """A border of clauses; the hyphen of *усе-таки* is none, nor the pronoun of *sam te voleo*."""
        token = self.tokens[index]
        before = self.tokens[index - 1] if index else None
        if before is not None and (
            (token.text == "-" and before.end == token.start) or (token.form == "te" and before.upos == "AUX")
        ):
            return False
        return token.upos in _BORDERS or token.form in self.grammar.clause_openers or is_relative(token)

    def _is_question(self, index: int) -> bool:
        """*jesam li*, *je li*: a verb before *li* opens a clause without a comma."""
        return has_form(self.tokens[index + 1 : index + 2], {"li"})

    @property
    def is_emphatic(self) -> bool:
        """*Djed je sam sagradio*: after another person's auxiliary Croatian *sam* is *himself*."""
        return self.token.form == "sam" and self.previous is not None and self.previous.form in {"je", "nije"}

    @cached_property
    def is_attribute(self) -> bool:
        """The word agrees with a noun: with its head, or with the next noun."""
        token, after = self.token, self.after
        if token.upos in VERBS:  # *bila sam odrasla osoba*: a participle, but there is another one
            another = any(map(_is_participle, self.others))
            return _is_participle(token) and any(
                noun.upos == "NOUN"
                and noun.case == "Nom"
                and (another or noun.form in self.grammar.generic_nouns)
                for noun in after[:1]
            )
        head = self.head
        if token.relation not in {"amod", "det"} or head not in after:
            head = None
        elif any(t.upos in VERBS and t.person in {"2", "3"} for t in after[: after.index(head)]):
            head = None  # *Nisam sigurna je li to dobra ideja*: no attribute; *dobar sam kuhar* is one
        return any(
            noun is not None
            and noun.upos in NOUNS
            and not self._is_mistagged_infinitive(noun)
            and not (token.number == "Sing" and noun.case == "Nom" and noun.number == "Plur")
            and agree(token, noun)
            and (
                noun.case in {"", token.case, "Nom", "Acc"}
                or (
                    # what *друг* looks like to a tagger
                    noun in after[:1]
                    and token.gender == "Masc"
                    and noun.case == "Gen"
                    and noun.number == "Plur"
                )
            )
            for noun in (self._noun_after(), head)
        )

    def _noun_after(self) -> Token | None:
        """The first word after an adjective that may be its noun: *inspirujúci a motivujúci šéf*."""
        joined = False
        for other in self.tokens[self.index + 1 :]:
            if other.upos == "CCONJ":
                joined = True
            elif other.upos not in BETWEEN or is_relative(other):
                return None if joined else other
            elif other.upos == "ADJ":
                joined = False
        return None

    def _is_mistagged_infinitive(self, noun: Token) -> bool:
        """The noun is an infinitive that the tagger mistook: *Nejsem zvyklá prohrávat*, not *diplomat*."""
        return self.grammar.is_infinitive(noun.form) and (
            noun.gender == "Fem" or self.grammar.governing_adjectives.fullmatch(self.token.form) is not None
        )

    @cached_property
    def follows_noun(self) -> bool:
        """It may agree with the noun before it: *osoba zvyklá na práci*; *celý den* is a time."""
        noun = self.previous
        if noun is None or noun.upos not in NOUNS or noun.number == "Plur":
            return False
        below = self.sentence.children(noun)
        if any(child.feats.get("PronType") == "Tot" for child in below):
            return False
        if not noun.case and any(child.relation == "case" for child in below):
            return False  # Bulgarian has no cases: *от работа уморена*
        return noun.case in {"", "Nom", "Acc"} and agree(noun, self.token)

    @cached_property
    def begins_relative_clause(self) -> bool:
        """A relative word after its comma, and a verb: *хліб, який я ріжу*; *zjistí, jaký jsem* has none."""
        return (
            is_relative(self.token)
            and self.previous is not None
            and self.previous.upos == "PUNCT"
            and any(
                other.upos == "VERB" or (other.form in self.grammar.pronouns and other is not self.after[-1])
                for other in self.after
            )
        )

    def may_be_subject(self, noun: Token) -> bool:
        """A noun in the nominative that the word agrees with, whatever its relation is."""
        return (
            noun.upos in NOUNS
            and noun.case == "Nom"
            and noun.number != "Plur"
            and noun.gender == self.token.gender
            and not self.has_accusative(noun)
            and not self._is_of_another_gender(noun)
        )

    def has_accusative(self, noun: Token) -> bool:
        """By its attribute; *увесь вечір* is an accusative too, whatever the tagger says."""
        return any(
            child.relation in {"det", "amod", "nummod"}
            and (child.case == "Acc" or noun.form in self.grammar.time_nouns)
            for child in self.sentence.children(noun)
        )

    def _is_of_another_gender(self, noun: Token) -> bool:
        """*соседа, который*: the relative word shows what the tagger has missed."""
        comma, relative = [*self.tokens[noun.id : noun.id + 2], None, None][:2]
        return (
            comma is not None
            and relative is not None
            and comma.upos == "PUNCT"
            and noun.gender == "Fem"
            and relative.gender == "Masc"
            and relative.form.startswith(("котор", "яки", "які"))
        )

    def may_have_another_subject(self, other: Token) -> bool:
        """Another word that may be the subject of the verb, or that has a subject of its own."""
        return (
            other.upos in {"NOUN", "PROPN", "PRON"}
            and other.relation not in {"obj", "obl", "iobj", "nmod"}
            and other.case in {"", "Nom"}
            and agree(other, self.token)
            and other.form not in self.grammar.pronouns
        ) or self.is_other_person(other)

    def is_other_person(self, token: Token) -> bool:
        """A verb or a subject of the second or third person, or *somebody*."""
        if token.upos == "PRON" and token.feats.get("PronType") in {"Ind", "Neg", "Int"}:
            return (token.case, token.gender) == ("Nom", "Masc")
        return token.form in self.grammar.other_pronouns or (
            token.person in {"2", "3"}
            and (token.upos in VERBS or token.case == "Nom")
            and token.form not in self.grammar.clitics
            and token.form not in self.grammar.first_person_verbs
            and not (token.upos == "VERB" and token.form.endswith(_FIRST_PERSON_LETTERS))
            and not self.grammar.is_infinitive(token.form)
        )


def has_form(tokens: Iterable[Token], forms: Collection[str]) -> bool:
    """One of the tokens is one of the forms."""
    return any(token.form in forms for token in tokens)


def agree(one: Token, other: Token) -> bool:
    """The genders are equal, or one has none."""
    return one.gender == other.gender or not one.gender or not other.gender


def is_relative(token: Token) -> bool:
    """A relative or interrogative word; *nikad* and *nikoga* are none, whatever their tag."""
    return token.feats.get("PronType") in {"Rel", "Int,Rel"} and token.form.startswith(_RELATIVE_LETTERS)


def is_first_person(token: Token) -> bool:
    """A verb with the ending of the first person singular."""
    return (
        token.upos in VERBS
        and (
            token.person == "1"
            or (token.upos == "VERB" and token.person == "3" and token.form.endswith(_FIRST_PERSON_LETTERS))
        )
        and token.number in {"", "Sing"}
        and token.verb_form in {"", "Fin"}
    )


def _is_participle(token: Token) -> bool:
    return token.upos in VERBS and token.verb_form == "Part"
