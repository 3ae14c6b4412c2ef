"""Anchors for words whose tree is wrong or says little: the words around them decide."""

from gest_dataset.gender.grammar import NOUNS
from gest_dataset.gender.rules.complements import unclaimed
from gest_dataset.gender.rules.context import VERBS, Context, has_form, is_first_person
from gest_dataset.gender.rules.subjects import first_person


def nearby(c: Context) -> bool:
    """An auxiliary or pronoun of the first person stands in the clause, and no other verb or subject."""
    grammar, token = c.grammar, c.token
    return (
        has_form(c.clause, grammar.auxiliaries | grammar.pronouns)
        and not any(grammar.gender(other, "past") or c.is_other_person(other) for other in c.others)
        and not c.is_attribute
        and not c.begins_relative_clause
        # *Jsem ta nejlepší verze*: a demonstrative that a noun follows
        and not (token.form in grammar.demonstratives and any(t.upos in NOUNS for t in c.after[:3]))
        and not any(t.upos == "ADP" and t.form not in grammar.degree_prepositions for t in c.before[-1:])
    )


def lone(c: Context) -> bool:
    """Like `nearby`, and no verb stands around the word: it must be the predicate, whatever its tag."""
    grammar = c.grammar
    return nearby(c) and not any(
        other.upos in VERBS
        and other.verb_form in {"", "Fin"}
        and other.form not in grammar.auxiliaries | grammar.clitics | grammar.conditional_particles
        and not grammar.is_infinitive(other.form)
        for other in c.others
    )


def ending_nearby(c: Context) -> bool:
    """A word with the ending of the first person stands around, whatever its tag, and nobody else."""
    return unclaimed(c) and any(c.grammar.first_person_endings.search(other.form) for other in c.others)


def dative(c: Context) -> bool:
    """It agrees with the dative of the first person: *Мне пришлось идти одному*."""
    return has_form(c.clause, c.grammar.dative_pronouns) and not c.is_attribute


def spoken(c: Context) -> bool:
    """A verb of the first person stands above the word or around it: *spím sama*."""
    before = c.previous
    if before is not None and (
        before.upos == "DET"  # *w ten sam sposób*
        or before.form in c.grammar.reflexive_pronouns  # *v sebe sama*
        or (before.upos == "PRON" and before.person == "3")  # *videl som ju sama*
    ):
        return False
    if any(other.upos == "AUX" and other.person == "3" for other in c.clause):
        return False  # *която сам е измислил*
    for head in (c.predicate, *c.sentence.ancestors(c.token)):
        if first_person(c.at(head)):
            return True
        if head is not c.token and head.relation in {"ccomp", "advcl", "acl", "csubj", "parataxis"}:
            return False
        if any(child.relation == "nsubj" and child is not c.token for child in c.sentence.children(head)):
            return False
    return False


def second_finite(c: Context) -> bool:
    """The clause has its finite verb already, of the first person: Croatian *sam* is no auxiliary."""
    grammar = c.grammar
    return any(
        (other.upos == "VERB" and is_first_person(other)) or other.form in grammar.first_person_verbs
        for other in c.others
    ) and not any(
        grammar.gender(other, "past")
        or other.form in grammar.auxiliaries | grammar.pronouns
        or c.is_other_person(other)
        or (other.upos == "ADJ" and other.relation != "amod")
        for other in c.others
    )


def second_auxiliary(c: Context) -> bool:
    """Croatian *ću putovati sam*: the clause has an auxiliary of the speaker already, so *sam* is none."""
    return has_form(c.before, c.grammar.auxiliaries - {c.token.form})


def opens_sentence(c: Context) -> bool:
    """East Slavic *сам* before everything else, and nobody is named: *Сам виноват.*"""
    return (
        not c.grammar.auxiliaries
        and not c.before
        and not _follows_relative(c)
        and not any(other.upos in NOUNS and other.relation == "nsubj" for other in c.clause)
    )


def governing(c: Context) -> bool:
    """East Slavic, before an infinitive, and nobody is named: *Готов помочь.*"""
    grammar = c.grammar
    before, after = (
        [other for other in part if other.upos not in {"ADV", "PART"}] for part in (c.before, c.after)
    )
    return (
        not grammar.auxiliaries
        and not before
        and len(after) > 0
        and not c.token.feats.get("PronType")
        and not _follows_relative(c)
        and grammar.is_infinitive(after[0].form)
        and after[0].form not in grammar.words.get("person", {})  # Ukrainian *добра мати*
        and not any(map(c.is_other_person, after[1:]))
    )


def _follows_relative(c: Context) -> bool:
    before = c.tokens[max(0, c.index - 2) : c.index]
    return any(other.feats.get("PronType") in {"Rel", "Int,Rel"} for other in before)


def after_pronoun(c: Context) -> bool:
    """East Slavic: only adverbs stand between *я* and a word that is no attribute: *Я глубоко тронута.*"""
    for other in reversed(c.tokens[: c.index]):
        if other.form in c.grammar.pronouns:
            return not c.grammar.auxiliaries
        if other.upos not in {"ADV", "PART"} and other.form not in c.grammar.degree_adverbs:
            return False
    return False


def who(c: Context) -> bool:
    """*Аз съм тази, която*: the one who, beside the copula or the pronoun of the first person."""
    follows = any(other.form.startswith(c.grammar.who_stems) for other in c.tokens[c.token.id :][:2])
    return follows and has_form(c.clause, c.grammar.auxiliaries | c.grammar.pronouns)
