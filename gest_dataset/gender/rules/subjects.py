"""Anchors for predicates whose subject is the speaker: named, shared with another clause, or left out."""

from gest_dataset.gender.grammar import NOUNS, Grammar
from gest_dataset.gender.rules.context import (
    BETWEEN,
    HELPERS,
    SUBJECTS,
    VERBS,
    Context,
    agree,
    has_form,
    is_first_person,
)
from gest_dataset.gender.tokens import Token

_QUOTES = frozenset('«»„“”"')
_OPENING_QUOTES = frozenset('«„“"')
_MAX_REGRET = 5  # words of the clause that regrets: *И мне до сих пор стыдно*
_MAX_CALL = 3  # words before a quoted clause: *«Ничего, пережила и не такое»*


def fused_ending(_: Context) -> bool:
    """The ending of the word is that of the first person: *byłam*."""
    return True


def auxiliary(c: Context) -> bool:
    """A first-person auxiliary or copula belongs to the word, in the same clause: *bola som*."""
    token, grammar = c.token, c.grammar
    if token.upos in {"ADJ", "VERB"} and c.is_attribute:
        return False
    subjects = [other for other in c.dependents if other.relation == "nsubj"]
    return not has_form(subjects, grammar.other_pronouns) and any(
        other.form in grammar.auxiliaries
        and other.relation in HELPERS
        and other in c.clause
        and not c.at(other).is_emphatic
        for other in c.dependents
    )


def pronoun(c: Context) -> bool:
    """The nominative pronoun of the first person is the subject: *я устала*."""
    token, pronouns = c.token, c.grammar.pronouns
    if token.upos == "ADJ" and c.is_attribute:
        return False
    if not has_form((other for other in c.dependents if other.relation == "nsubj"), pronouns):
        return False
    # *Машына зламалася, таму я еду*: the verb has a subject, and the pronoun belongs to another clause
    return has_form(c.clause, pronouns) or not any(
        other.relation == "nsubj"
        and other.upos in NOUNS
        and other.case == "Nom"
        and agree(other, token)
        and c.sentence.head(other) is token
        for other in c.before
    )


def first_person(c: Context) -> bool:
    """The word is a predicate of the first person, by its ending, its auxiliary or its subject."""
    return (
        is_first_person(c.token) or c.token.form in c.grammar.first_person_verbs or auxiliary(c) or pronoun(c)
    )


def other_auxiliary(c: Context, token: Token) -> bool:
    """An auxiliary of another person belongs to the token."""
    return any(
        child.relation in HELPERS and child.verb_form == "Fin" and child.person not in {"", "1"}
        for child in c.sentence.children(token)
    )


def coordinated(c: Context) -> bool:
    """The word shares the subject of a predicate of the first person: *prišla som a zaspala*."""
    sentence, token, top = c.sentence, c.token, c.predicate
    if token.upos == "ADJ" and c.is_attribute:
        return False
    if other_auxiliary(c, top) or any(map(c.is_other_person, c.clause)):
        return False
    below = sentence.children(top)
    if any(t.relation == "mark" or (t.relation in SUBJECTS and t.case in {"", "Nom"}) for t in below):
        return False
    while top.relation == "conj":
        head = sentence.head(top)
        if head is None:
            return False
        between = c.tokens[head.id : c.index]
        if any(other.upos == "ADV" and other.feats.get("PronType") == "Int" for other in between):
            return False  # *гледам как дядо, облечен …*: a clause of another person begins
        top = head
        if token.upos == "ADJ" and top.relation == "acl":
            return False  # *чай, который я пью, горячий*
        if auxiliary(c.at(top)) or pronoun(c.at(top)) or is_first_person(top):
            return True
        if any(child.relation in SUBJECTS for child in sentence.children(top)):
            return False
    return False


def subordinate(c: Context) -> bool:
    """A clause without a subject below a verb of the first person: *Жалею, что не ходила*."""
    token, grammar, top = c.token, c.grammar, c.predicate
    if top.relation not in {"ccomp", "advcl", "conj", "parataxis"}:
        return False
    if grammar.auxiliaries or _is_impersonal(token):
        return False
    if any(map(_may_own, (*c.sentence.children(top), *c.children, *c.clause))):
        return False
    if has_form(c.clause, grammar.other_pronouns | grammar.object_pronouns):
        return False  # *у меня был кашель*
    if has_form(c.clause, grammar.words.get("person", {})):
        return False  # *когда умер дед*, which the tagger takes for an accusative
    if any(_may_name(c, other) for other in c.before) or any(map(c.may_be_subject, c.clause)):
        return False
    head = c.sentence.head(top)
    return head is not None and (is_first_person(head) or pronoun(c.at(head)))


def _is_impersonal(token: Token) -> bool:
    """A verb that the tagger takes for a neuter: with *я* it is personal, alone it may be impersonal."""
    return token.upos in VERBS and token.gender == "Neut" and token.form.endswith("ся")


def _may_own(other: Token) -> bool:
    """A subject that a verb in the singular can have: *что не выучила языки* has none."""
    return other.relation in SUBJECTS and not (other.upos in NOUNS and other.number == "Plur")


def _may_name(c: Context, other: Token) -> bool:
    """A word before the verb that may be its subject, whatever the tagger has made of it."""
    if other.upos in NOUNS:
        return other.case in {"", "Nom"} and not c.has_accusative(other)
    return other.upos == "X"


def alone(c: Context) -> bool:
    """The main clause has this word and no subject: East Slavic leaves *я* out.

    A verb of saying that governs another clause is left alone: *Сказала, что придёт* is a report.
    """
    token, grammar, below = c.token, c.grammar, c.children
    if grammar.auxiliaries or token.relation != "root" or _is_impersonal(token):
        return False
    for first, last in (sorted((t.id, token.id)) for t in c.tokens if t.form in grammar.pronouns):
        if not any(other.text in _QUOTES for other in c.tokens[first : last - 1]):
            return False
    relations = {child.relation for child in below}
    if relations & {"csubj", "expl"}:
        return False
    if relations & {"ccomp", "parataxis"} and grammar.reporting_verbs.fullmatch(token.form):
        return False
    subjects = [child for child in below if child.relation == "nsubj" and child.id < token.id]
    if any(child.upos == "PRON" and not child.gender for child in subjects):
        return False  # *Подруга призналась*, whose subject the tagger takes for a pronoun
    if any(_may_name(c, other) for other in c.before) or (c.opening and c.opening.upos == "SCONJ"):
        return False
    return not any(
        c.is_other_person(other)
        or other.form in grammar.dative_pronouns | grammar.object_pronouns
        or c.may_be_subject(other)
        # *героем* is a noun that the tagger takes for a verb of the first person
        or (other.number == "Plur" and other.verb_form == "Fin" and other.person != "1")
        for other in c.clause
    )


def resumed(c: Context) -> bool:
    """A later clause after *and* or *but*, and the pronoun is the only subject before it."""
    if c.grammar.auxiliaries or c.opening is None or c.opening.upos != "CCONJ":
        return False
    before = c.tokens[: c.index]
    return has_form(before, c.grammar.pronouns) and not any(
        c.may_have_another_subject(other) for other in (*before, *c.after)
    )


def antecedent(c: Context) -> bool:
    """*Мне, которая никогда не летала*: the relative pronoun agrees with the speaker's."""
    return c.index > 1 and c.tokens[c.index - 2].form in c.grammar.speaker_pronouns


def regretted(c: Context) -> bool:
    """*Мне стыдно, что не позвонил*: a dative of the speaker and a clause without a subject."""
    grammar = c.grammar
    if (
        c.start < 3
        or c.tokens[c.start - 1].form not in grammar.regret_conjunctions
        or c.tokens[c.start - 2].text != ","
    ):
        return False
    before = c.tokens[: c.start - 2]
    return (
        len(before) <= _MAX_REGRET
        and has_form(before, grammar.dative_pronouns)
        # a verb of a person, unlike the impersonal *мне кажется*
        and not any(
            other.upos == "VERB" and (other.gender in {"Masc", "Fem"} or other.number == "Plur")
            for other in before
        )
        and not has_form(c.others, grammar.object_pronouns)
        and not any(map(c.may_have_another_subject, c.others))
    )


def quoting(c: Context) -> bool:
    """East Slavic, first in a quotation, and nobody is named: *Говорю себе: «Мог бы учиться».*"""
    first = c.start - 1
    while first > 0 and c.start - first <= _MAX_CALL and c.tokens[first].text not in _OPENING_QUOTES:
        first -= 1
    return (
        not c.grammar.auxiliaries
        and c.start > 0
        and c.tokens[first].text in _OPENING_QUOTES
        and not any(map(c.may_have_another_subject, c.others))
    )


def conditional(c: Context) -> bool:
    """A conditional without person or subject (Slovenian *bi šel*), in the speaker's main clause or below."""
    token, grammar = c.token, c.grammar
    below = [*c.children, *c.sentence.children(c.predicate)]
    if not has_form((*below, *c.clause), grammar.impersonal_auxiliaries):
        return False
    speaks = any(_speaks(other, grammar) for other in c.tokens)
    if c.opening is not None:
        if not speaks and c.opening.form in grammar.complementizers:
            return False  # *Veš, da bi moral spati?* where nobody says *I*
        if c.opening.form in grammar.relative_conjunctions and not any(
            other.upos == "PRON" and other.person == "3" and other.case != "Nom" for other in c.clause
        ):
            return False  # *šef, ki bi si ga želel* has an object, so that its subject is another one
    subjects = [child for child in below if child.relation == "nsubj" and child.upos != "ADJ"]
    if any(
        child.case in {"", "Nom"} and agree(child, token) and (child.id < token.id or not speaks)
        for child in subjects
    ):
        return False  # after the verb, *dvignil bi ta avto*, the nominative may well be an accusative
    if any(map(c.is_other_person, c.clause)) or any(map(c.may_be_subject, c.before)):
        return False
    if any(
        child.relation in {"det", "obj"} and child.feats.get("PronType") == "Dem" and child.case == "Gen"
        for child in below
        if child is c.previous
    ):
        return False  # *tega avtomobila*: a noun that the tagger takes for a verb
    impersonal = [other for other in c.clause if other.form in grammar.impersonal_auxiliaries]
    return not any(_has_subject_between(c, other) for other in impersonal) and _is_governed(c)


def _speaks(token: Token, grammar: Grammar) -> bool:
    """A word of the first person, by its tag or by its form."""
    return (
        is_first_person(token)
        or token.form in grammar.object_pronouns
        or (
            token.upos in {"NOUN", "ADV", "X"}
            and len(token.form) > 5
            and grammar.first_person_endings.search(token.form) is not None
        )
    )


def _has_subject_between(c: Context, impersonal: Token) -> bool:
    """*da bi moj partner ostal*: a noun between the conditional and the verb is its subject.

    Its accusative may look like the nominative; *vsak dan* is a time.
    """
    noun = next((other for other in c.before if impersonal.id < other.id and other.upos not in BETWEEN), None)
    return (
        noun is not None
        and noun.upos in NOUNS
        and noun.gender == c.token.gender
        and (noun.case == "Nom" or (noun.case == "Acc" and noun.gender == "Masc"))
        and not any(child.feats.get("PronType") == "Tot" for child in c.sentence.children(noun))
    )


def _is_governed(c: Context) -> bool:
    """No predicate above the clause is another person's."""
    grammar, top = c.grammar, c.predicate
    if top.relation == "parataxis" and has_form(c.tokens, grammar.dative_pronouns):
        return True
    for head in c.sentence.ancestors(top):
        below = c.sentence.children(head)
        if head.upos not in VERBS and not any(child.relation in HELPERS for child in below):
            continue
        if first_person(c.at(head)) or head.person == "1":
            return True
        if has_form(below, grammar.impersonal_auxiliaries):
            continue
        if (
            head.person == "3"
            and has_form(below, grammar.object_pronouns | grammar.dative_pronouns)
            and not grammar.reporting_verbs.fullmatch(head.form)
        ):
            continue
        if head.verb_form != "Inf":
            return False
    return True
