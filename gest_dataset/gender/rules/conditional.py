"""Conditionals without person: Slovenian *bi šel* is *I*, *you* or *he would go*."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import NOUNS, Grammar
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import (
    BETWEEN,
    FINITE,
    HELPERS,
    first_finite,
    opening_of,
    other_person,
    predicate,
    stretch,
    subject,
    subject_like,
)
from gest_dataset.gender.rules.first import first_person


def conditional(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A conditional without person or subject, in the main clause or below one of the first person."""
    top = predicate(sentence, token)
    below = [*sentence.children(token), *sentence.children(top)]
    around = stretch(sentence, token)
    if not any(other.form in grammar.impersonal for other in (*below, *around)):
        return False
    speaks = any(_speaks(other, grammar) for other in sentence.tokens)
    opening = opening_of(sentence, around)
    if not speaks and opening is not None and opening.form in grammar.reporting:
        return False  # *Veš, da bi moral spati?* where nobody says *I*
    if any(subject(c, token) and (c.id < token.id or not speaks) for c in below):
        return False  # after the verb, *dvignil bi ta avto*, the nominative may well be an accusative
    if any(other_person(other, grammar) for other in around):
        return False
    if any(
        c.relation in {"det", "obj"}
        and c.feats.get("PronType") == "Dem"
        and c.feats.get("Case") == "Gen"
        and c.id == token.id - 1
        for c in below
    ):
        return False  # *tega avtomobila*: a noun for all but the tagger
    if opening is not None and opening.form in grammar.relatives and not any(map(_resumes, around)):
        return False
    if any(t.id < token.id and subject_like(sentence, t, token) for t in around if t.upos in NOUNS):
        return False
    if any(_named_after(sentence, around, t, token) for t in around if t.form in grammar.impersonal):
        return False
    return _governed(sentence, top, grammar)


def _speaks(token: Token, grammar: Grammar) -> bool:
    """A word of the first person, by its tag or by its form."""
    return (
        first_finite(token)
        or token.form in grammar.objects
        or (token.upos in {"NOUN", "ADV", "X"} and len(token.form) > 5 and grammar.ends_first(token.form))
    )


def _resumes(token: Token) -> bool:
    """*šef, ki bi si ga želel*: the object of the relative clause, so that its subject is another one."""
    return token.upos == "PRON" and token.feats.get("Person") == "3" and token.feats.get("Case") != "Nom"


def _named_after(sentence: Tree, around: list[Token], impersonal: Token, token: Token) -> bool:
    """*da bi moj partner ostal*: a noun between the conditional and the verb is its subject.

    Its accusative may look like the nominative; *vsak dan* is a time.
    """
    after = [t for t in around if impersonal.id < t.id < token.id and t.upos not in BETWEEN]
    noun = after[0] if after and after[0].upos in NOUNS else None
    return (
        noun is not None
        and noun.feats.get("Case") in {"Nom", "Acc"}
        and noun.feats.get("Gender") == token.feats.get("Gender")
        and (noun.feats["Case"] == "Nom" or noun.feats.get("Gender") == "Masc")
        and not any(c.feats.get("PronType") == "Tot" for c in sentence.children(noun))
    )


def _governed(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """No predicate above the clause is another person's."""
    if token.relation == "parataxis" and any(t.form in grammar.datives for t in sentence.tokens):
        return True
    for head in sentence.ancestors(token):
        below = sentence.children(head)
        if head.upos not in FINITE and not any(c.relation in HELPERS for c in below):
            continue
        if first_person(sentence, head, grammar) or head.feats.get("Person") == "1":
            return True
        if any(c.form in grammar.impersonal for c in below):
            continue
        if (
            head.feats.get("Person") == "3"
            and any(c.form in grammar.objects | grammar.datives for c in below)
            and not grammar.reports(head.form)
        ):
            continue
        if head.feats.get("VerbForm") != "Inf":
            return False
    return True
