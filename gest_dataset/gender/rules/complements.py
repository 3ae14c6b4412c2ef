"""Reasons that lie in a verb: words that complete one of the first person."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import Grammar
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import (
    FINITE,
    SUBJECTS,
    attribute,
    first_finite,
    other_person,
    stretch,
)
from gest_dataset.gender.rules.first import first_person

_COMPLEMENTS = {"xcomp", "obl", "advcl", "advmod", "obj", "acl", "amod", "conj"}
_REFLEXIVE_OBJECTS = {"sa", "se", "seba", "sebe", "себя", "себе", "сябе"}


def linking(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The word completes a verb of the first person: *zostávam pokojná*, *chcem byť silná*."""
    below = sentence.children(token)
    if attribute(sentence, token, grammar) or any(
        c.relation in SUBJECTS or c.form in grammar.others for c in below
    ):
        return False
    possible = _after_infinitive(token, grammar)
    infinitive = possible and any(other.form in grammar.infinitives for other in below)
    for head in (token, *sentence.ancestors(token)):
        if head is not token:
            if head.form in grammar.auxiliaries or _links(sentence, head, grammar):
                return True
            if head.feats.get("Person") in {"2", "3"} and head.upos in FINITE:
                return False
            near = (head, *sentence.children(head))
            infinitive = infinitive or (possible and any(t.form in grammar.infinitives for t in near))
            if infinitive and (
                first_person(sentence, head, grammar) or _experiencer(sentence, head, grammar)
            ):
                return True
        above = sentence.head(head)
        if head.relation not in _COMPLEMENTS or (
            head.relation == "amod" and above is not None and above.upos == "PRON"
        ):
            return False
    return False


def _after_infinitive(token: Token, grammar: Grammar) -> bool:
    """East Slavic (no auxiliaries) has an instrumental after *быть*, never a nominative."""
    return (
        bool(grammar.auxiliaries)
        or token.feats.get("Case") == "Ins"
        or token.form in grammar.words.get("known_instrumental", {})
    )


def _links(sentence: Tree, verb: Token, grammar: Grammar) -> bool:
    """A verb of the table; *считаю*, which may take any object, only with a reflexive."""
    return grammar.links(verb.form) or (
        grammar.considers(verb.form)
        and any(other.form in _REFLEXIVE_OBJECTS for other in stretch(sentence, verb))
    )


def _experiencer(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Мне нравится быть первой*: a dative of the first person, whose infinitive it is."""
    return any(child.form in grammar.datives for child in sentence.children(token))


def object_complement(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Меня считают сильной*: the word completes a verb whose object is the first person."""
    head = sentence.head(token)
    return (
        head is not None
        and head.upos == "VERB"
        and token.relation in {"xcomp", "obl", "advcl", "iobj", "obj"}
        and not attribute(sentence, token, grammar)
        and any(
            c.form in grammar.objects and c.relation in {"obj", "iobj", "nsubj"}
            for c in sentence.children(head)
        )
    )


def linking_verb(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A verb that takes an adjective for its subject stands around the word, wherever it hangs."""
    around = stretch(sentence, token)
    if attribute(sentence, token, grammar) or any(other.form in grammar.others for other in around):
        return False
    return any(_links(sentence, other, grammar) for other in around)


def linking_nearby(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """Such a verb, or the infinitive of one with a reason to be the speaker's: *muszę być silna*."""
    around = stretch(sentence, token)
    if attribute(sentence, token, grammar) or any(other.form in grammar.others for other in around):
        return False
    return linking_verb(sentence, token, grammar) or (
        _after_infinitive(token, grammar)
        and any(other.form in grammar.infinitives for other in around)
        and (
            any(first_finite(other) or other.form in grammar.datives for other in around)
            or unclaimed(sentence, token, grammar)
        )
    )


def depictive(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A nominative beside a verb of the first person describes its subject: *prichádzam pripravená*."""
    head = sentence.head(token)
    return (
        head is not None
        and token.relation in {"xcomp", "advcl", "acl", "obl"}
        and token.feats.get("Case") == "Nom"
        and (first_finite(head) or head.form in grammar.certain)
        and not attribute(sentence, token, grammar)
        and not any(_names_another(c, grammar) for c in sentence.children(head))
        and not any(
            grammar.gender(t, "past") for t in stretch(sentence, token) if t is not token
        )  # *suseda umývala okná a ja čítam*
        and not any(c.relation in {"nsubj", "mark", "cop", "aux"} for c in sentence.children(token))
    )


def unclaimed(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """Nothing around the word speaks of another person: its verb is the speaker's, whatever its tag."""
    around = stretch(sentence, token)
    conditional = any(other.form in grammar.impersonal for other in around)
    return not any(
        other is not token
        and (
            other_person(other, grammar)
            or (not conditional and grammar.gender(other, "past"))
            or (
                other.relation == "nsubj"
                and (other.id < token.id or other.upos in {"PROPN", "PRON"})
                and other.form not in grammar.pronouns
                and other.feats.get("Case") == "Nom"
                and len({other.feats.get("Gender"), token.feats.get("Gender"), None}) < 3
                and not grammar.ends_first(other.form)
            )
            or (
                other.upos in FINITE
                and other.feats.get("Number") == "Plur"
                and other.feats.get("VerbForm") in {"Fin", "Part"}
            )
        )
        for other in around
    )


def _names_another(token: Token, grammar: Grammar) -> bool:
    """A subject that a verb in the singular can have: others are the parser's mistakes."""
    return (
        token.relation == "nsubj"
        and token.form not in grammar.pronouns
        and token.feats.get("Case", "Nom") == "Nom"
        and token.feats.get("Number", "Sing") == "Sing"
    )
