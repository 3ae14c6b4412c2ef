"""Anchors for adjectives and participles that complete a verb or a copula of the first person."""

import re

from gest_dataset.gender.grammar import NOUNS
from gest_dataset.gender.rules.context import VERBS, Context, agree, has_form, is_first_person
from gest_dataset.gender.tokens import Token

_AFTER_ADJECTIVE = frozenset({"PUNCT", "CCONJ", "SCONJ", "ADP", "ADV", "PART", "PRON"})
_OBLIQUE = frozenset({"Gen", "Dat", "Ins", "Loc"})
# endings of verbs of the first person, on words that a tagger does not know
_FIRST_PERSON = re.compile("...(am|im|em|ám|ím|ę|[ую]|[ую]с[ья]|[ая]м|[аиоя]х)$")


def _may_follow_infinitive(c: Context) -> bool:
    """East Slavic (no auxiliaries) has an instrumental after *быть*, never a nominative."""
    return (
        bool(c.grammar.auxiliaries)
        or c.token.case == "Ins"
        or c.token.form in c.grammar.words.get("listed_instrumental", {})
    )


def _links(verb: Context) -> bool:
    """A linking verb; *считаю*, which may take any object, only with a reflexive."""
    form, grammar = verb.token.form, verb.grammar
    return grammar.linking_verbs.fullmatch(form) is not None or (
        grammar.considering_verbs.fullmatch(form) is not None
        and has_form(verb.clause, grammar.reflexive_objects)
    )


def linking_verb(c: Context) -> bool:
    """The clause has a linking verb, wherever the word is attached."""
    if c.is_attribute or has_form(c.clause, c.grammar.other_pronouns):
        return False
    return any(_links(c.at(other)) for other in c.clause)


def linking_nearby(c: Context) -> bool:
    """Such a verb, or the infinitive of one with a reason to be the speaker's: *muszę być silna*."""
    grammar = c.grammar
    if c.is_attribute or has_form(c.clause, grammar.other_pronouns):
        return False
    return linking_verb(c) or (
        _may_follow_infinitive(c)
        and has_form(c.clause, grammar.copula_infinitives)
        and (
            any(is_first_person(other) or other.form in grammar.dative_pronouns for other in c.clause)
            or unclaimed(c)
        )
    )


def linking_last(c: Context) -> bool:
    """Beside a verb like *smatram se*, and no noun follows that the word belongs to."""
    return linking_verb(c) and _closes(c)


def made(c: Context) -> bool:
    """*Мяне прызначылі адказнай*: what others made of the speaker, wherever the word is attached."""
    return (
        has_form(c.before, c.grammar.object_pronouns) and any(map(_is_plural_verb, c.before)) and _closes(c)
    )


def taken_for(c: Context) -> bool:
    """*Považují mě za přísného*: what others take the speaker for."""
    preposition = next((t for t in reversed(c.before) if t.form in c.grammar.for_prepositions), None)
    if preposition is None:
        return False
    before = [other for other in c.before if other.id < preposition.id]
    return (
        not any(other.upos in NOUNS for other in (*c.before, *c.after[:1]) if other.id >= preposition.id)
        and has_form(before, c.grammar.accusative_pronouns)
        and any(map(_is_plural_verb, before))
    )


def _is_plural_verb(token: Token) -> bool:
    return token.upos in VERBS and token.number == "Plur"


def considered(c: Context) -> bool:
    """*Považuji se za trpělivou*: what the speaker takes himself or herself for."""
    return (
        any(c.grammar.considering_verbs.fullmatch(other.form) for other in c.before)
        and has_form(c.before, c.grammar.reflexives)
        and has_form(c.before, c.grammar.for_prepositions)
        and not any(other.upos in NOUNS for other in (*c.before[-1:], *c.after[:1]))
    )


def depicting(c: Context) -> bool:
    """A verb of the first person stands around the word: *wracam do domu głodny*."""
    speaks = has_form(c.others, c.grammar.first_person_verbs)
    return (
        _stands_free(c)
        and _ends_group(c)
        and not has_form(c.others, c.grammar.object_verbs)
        and any(_acts(c, other) or _looks_first(c, other) for other in c.others)
        and not any(c.is_other_person(t) and not (speaks and t.upos == "VERB") for t in c.others)
    )


def copular(c: Context) -> bool:
    """The copula of the first person stands around the word, or its pronoun and no verb."""
    grammar = c.grammar
    if not _stands_free(c) or has_form(c.others, grammar.other_pronouns):
        return False
    if any(other.form in grammar.auxiliaries and not c.at(other).is_emphatic for other in c.others):
        return True
    return has_form(c.others, grammar.pronouns) and not any(
        other.upos == "VERB" and not grammar.is_infinitive(other.form) for other in c.others
    )


def unclaimed(c: Context) -> bool:
    """Nothing around the word speaks of another person: its verb is the speaker's, whatever its tag."""
    grammar = c.grammar
    is_conditional = has_form(c.clause, grammar.impersonal_auxiliaries)
    return not any(
        c.is_other_person(other)
        or (not is_conditional and grammar.gender(other, "past"))
        or (
            other.relation == "nsubj"
            and (other.id < c.token.id or other.upos in {"PROPN", "PRON"})
            and other.form not in grammar.pronouns
            and other.case == "Nom"
            and agree(other, c.token)
            and not grammar.first_person_endings.search(other.form)
        )
        or (other.upos in VERBS and other.number == "Plur" and other.verb_form in {"Fin", "Part"})
        for other in c.others
    )


def _acts(c: Context, token: Token) -> bool:
    """A verb of the first person that is no auxiliary."""
    return token.form in c.grammar.first_person_verbs or (
        is_first_person(token) and token.form not in c.grammar.auxiliaries
    )


def _looks_first(c: Context, token: Token) -> bool:
    """The ending of the first person on a word near the beginning, which a tagger does not know."""
    place = token.id - 1 - c.start
    before = c.clause[place - 1] if place else None
    return (
        (place < 2 or (before is not None and before.form in c.grammar.reflexives))
        and token.upos not in {"ADJ", "DET", "PRON", "AUX"}
        and (before is None or before.upos not in {"ADJ", "DET", "ADP", "NUM"})
        and _FIRST_PERSON.search(token.form) is not None
    )


def _ends_group(c: Context) -> bool:
    """The next word is no noun that the word may belong to: *dělám těžká rozhodnutí*."""
    after = c.following
    return after is None or after.upos in _AFTER_ADJECTIVE or (after.upos in NOUNS and after.case in _OBLIQUE)


def _closes(c: Context) -> bool:
    """No noun follows, and no preposition precedes: *из-за привлекательной внешности*."""
    follows_preposition = any(other.upos in {"ADP", "DET"} for other in c.before[-2:])
    return not follows_preposition and not any(other.upos in {"ADJ", *NOUNS} for other in c.after[:1])


def _stands_free(c: Context) -> bool:
    """The word is no attribute and does not follow a preposition."""
    token, grammar, after = c.token, c.grammar, c.after[:1]
    if c.begins_relative_clause or c.is_attribute:
        return False
    previous = c.before[-1] if c.before else None
    if has_form(c.before[-2:], grammar.future_particles) and c.before[-1].form not in grammar.auxiliaries:
        return False  # Bulgarian *да помогна*
    if after and _may_describe(c, after[0]):
        return False
    if previous is None:
        return not c.follows_noun
    if previous.form in grammar.first_person_verbs or _looks_first(c, previous):
        return True
    before = next((other for other in reversed(c.before) if other.upos not in {"ADV", "PART"}), None)
    allowed = grammar.degree_prepositions | grammar.auxiliaries | grammar.comparison_words
    if before is not None and before.upos == "ADP" and before.form not in allowed:
        return False
    if has_form(c.before, grammar.first_person_verbs):
        return before is None or before.upos not in {"DET", "ADJ", "NUM"}
    return not (token.upos in NOUNS and _makes_noun(c, previous)) and not c.follows_noun


def _makes_noun(c: Context, before: Token) -> bool:
    """*tvog brata*: after an attribute, or after a noun, the word is a noun."""
    if before.upos in NOUNS:
        return not any(child.relation == "case" for child in c.sentence.children(before))
    return (
        before.upos in {"DET", "ADJ", "NUM"}
        and before.form not in c.grammar.auxiliaries
        and (before.case != "" or before.feats.get("Definite") != "Def")
    )


def _may_describe(c: Context, noun: Token) -> bool:
    """*запален колекционер*: the next word is a noun that the word may describe."""
    if noun.form in c.grammar.generic_nouns:
        return True
    return (
        noun.upos in NOUNS
        and noun.case in {"", "Nom", "Acc"}
        and noun.number != "Plur"
        and noun.feats.get("Definite") != "Def"
        and (c.token.upos != "ADJ" or agree(noun, c.token))
    )
