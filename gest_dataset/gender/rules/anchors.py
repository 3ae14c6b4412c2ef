"""Why a gendered word speaks of the first person: one function for each kind of reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gest_dataset.gender.grammars.grammar import NOUNS, Grammar
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import (
    FINITE,
    SUBJECTS,
    after_noun,
    attribute,
    first_finite,
    has_accusative,
    opening_of,
    other_auxiliary,
    other_person,
    predicate,
    resumes,
    stretch,
    subject_like,
)
from gest_dataset.gender.rules.complements import (
    depictive,
    linking,
    linking_nearby,
    linking_verb,
    object_complement,
    unclaimed,
)
from gest_dataset.gender.rules.conditional import conditional
from gest_dataset.gender.rules.distant import (
    after_pronoun,
    antecedent,
    only_one,
    regretted,
    relative,
    resumed,
    second_auxiliary,
    taken_for,
)
from gest_dataset.gender.rules.first import auxiliary, first_person, pronoun
from gest_dataset.gender.rules.predicates import as_person, predicative, serving
from gest_dataset.gender.rules.surroundings import (
    after_ending,
    as_child,
    as_opening,
    considered,
    copular,
    depicting,
    governing,
    initial,
    joined,
    linking_last,
    made,
    opening,
    quoting,
    who,
)

Anchor = Callable[[Tree, Token, Grammar], bool]
_LONG_ENOUGH = 6  # letters: shorter nouns in -ла are many
_PARTICLES = frozenset({"бы", "б", "би"})
_DEMONSTRATIVES = {"ten", "ta", "tá"}
_MARKS = frozenset('«»„“”"')
_REFLEXIVES = {"sa", "si", "se", "się"}


def coordinated(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The word shares the subject of a predicate of the first person: *prišla som a zaspala*."""
    top = predicate(sentence, token)
    if token.upos == "ADJ" and attribute(sentence, token, grammar):
        return False
    if any(
        c.relation == "mark" or (c.relation in SUBJECTS and c.feats.get("Case", "Nom") == "Nom")
        for c in sentence.children(top)
    ):
        return False
    if other_auxiliary(sentence, top) or any(other_person(t, grammar) for t in stretch(sentence, token)):
        return False
    while top.relation == "conj":
        head = sentence.head(top)
        if head is None or any(_asks(t) for t in sentence.tokens if head.id < t.id < token.id):
            return False
        top = head
        if token.upos == "ADJ" and top.relation == "acl":
            return False  # *чай, который я пью, горячий*
        if auxiliary(sentence, top, grammar) or pronoun(sentence, top, grammar) or first_finite(top):
            return True
        if any(c.relation in SUBJECTS for c in sentence.children(top)):
            return False
    return False


def _asks(token: Token) -> bool:
    """*гледам как дядо, облечен …*: a clause of somebody else's begins."""
    return token.upos == "ADV" and token.feats.get("PronType") == "Int"


def _same_speech(sentence: Tree, other: Token, token: Token) -> bool:
    """No mark of quotation stands between the two."""
    first, last = sorted((other.id, token.id))
    return not any(first < t.id < last and t.text in _MARKS for t in sentence.tokens)


def _impersonal(token: Token) -> bool:
    """A verb that the tagger takes for a neuter; with *я* it is none, alone it may be."""
    return token.upos in FINITE and token.feats.get("Gender") == "Neut" and token.form.endswith("ся")


def _claims(other: Token, verb: Token) -> bool:
    """A subject that a verb in the singular can have: *что не выучила языки* has none."""
    number = other.feats.get("Number")
    return other.relation in SUBJECTS and not (
        other.upos in NOUNS and number == "Plur" and verb.feats.get("Number") == "Sing"
    )


def subordinate(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A clause without a subject below a verb of the first person: *Жалею, что не ходила*."""
    top = predicate(sentence, token)
    if grammar.auxiliaries or top.relation not in {"ccomp", "advcl", "conj", "parataxis"}:
        return False
    if _impersonal(token):
        return False
    if any(_claims(c, token) for c in (*sentence.children(top), *sentence.children(token))):
        return False
    around = stretch(sentence, token)
    if any(t.form in grammar.others | grammar.objects or _claims(t, token) for t in around):
        return False  # *у меня был кашель*
    if any(t.upos in NOUNS and subject_like(sentence, t, token) for t in around):
        return False
    if any(t.form in grammar.words.get("person", {}) for t in around):
        return False  # *когда умер дед*, an accusative for the tagger only
    if any(_may_name(sentence, t) for t in around[: around.index(token)]):
        return False
    head = sentence.head(top)
    return head is not None and (first_finite(head) or pronoun(sentence, head, grammar))


def nearby(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The parser has hung the auxiliary or pronoun elsewhere, but the word is alone with it."""
    around = stretch(sentence, token)
    return (
        any(other.form in grammar.auxiliaries or other.form in grammar.pronouns for other in around)
        and not any(
            other is not token and (grammar.gender(other, "past") or other_person(other, grammar))
            for other in around
        )
        and not attribute(sentence, token, grammar)
        and not resumes(sentence, token, grammar)
        and not _article(sentence, token)
        and not (token.upos == "ADJ" and token.relation == "amod" and after_noun(sentence, token))
        and not any(
            other.upos == "ADP" and other.id == token.id - 1 and other.form not in grammar.degrees
            for other in around
        )
    )


def _article(sentence: Tree, token: Token) -> bool:
    """*Jsem ta nejlepší verze*: a demonstrative that a noun follows."""
    if token.form not in _DEMONSTRATIVES:
        return False
    around = stretch(sentence, token)
    return any(other.upos in NOUNS for other in around[around.index(token) + 1 :][:3])


def lone(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """Like `nearby`, and no verb stands around the word: it must be the predicate, whatever its tag."""
    around = stretch(sentence, token)
    return nearby(sentence, token, grammar) and not any(
        other is not token
        and other.upos in FINITE
        and other.form not in grammar.auxiliaries
        and other.form not in grammar.clitics | _PARTICLES
        and other.feats.get("VerbForm", "Fin") == "Fin"
        and not grammar.is_infinitive(other.form)
        for other in around
    )


def lone_subject(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """Like `lone`, and the parser knows the pronoun for its subject: *Я ведаў*, a genitive to the tagger."""
    return pronoun(sentence, token, grammar) and lone(sentence, token, grammar)


def before_copula(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The word opens its clause and the copula of the first person follows: *Utrujena sem*."""
    around = stretch(sentence, token)
    return (
        around[0] is token
        and len(around) > 1
        and around[1].form in grammar.auxiliaries
        and not any(grammar.gender(other, "past") for other in around)
        and not attribute(sentence, token, grammar)
    )


def ending(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A word with the ending of the first person stands around, whatever its tag, and nobody else."""
    around = stretch(sentence, token)
    return unclaimed(sentence, token, grammar) and any(
        other is not token and grammar.ends_first(other.form) for other in around
    )


def before_ending(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The next word, but for a reflexive, has the ending of the first person: *rád čtu*."""
    after = [other for other in sentence.tokens if other.id > token.id and other.form not in _REFLEXIVES]
    return bool(after) and grammar.ends_first(after[0].form) and not other_person(after[0], grammar)


def alone(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The main clause has this word and no subject: East Slavic leaves *я* out.

    A verb of saying that governs another clause is left alone: *Сказала, что придёт* is a report.
    """
    if grammar.auxiliaries or token.relation != "root":
        return False
    if any(
        other.form in grammar.pronouns and _same_speech(sentence, other, token) for other in sentence.tokens
    ):
        return False
    if _impersonal(token):
        return False  # Belarusian *хацелася* is also written like a feminine
    below = sentence.children(token)
    if any(c.relation in {"ccomp", "parataxis"} for c in below) and grammar.reports(token.form):
        return False
    if any(
        c.relation == "nsubj" and c.upos == "PRON" and c.id < token.id and "Gender" not in c.feats
        for c in below
    ):
        return False  # *Подруга призналась*, whose subject the tagger takes for a pronoun
    around = stretch(sentence, token)
    opening = opening_of(sentence, around)
    if any(_may_name(sentence, other) for other in around[: around.index(token)]):
        return False
    if opening is not None and opening.upos == "SCONJ":
        return False
    return not any(c.relation in {"csubj", "expl"} for c in below) and not any(
        other_person(other, grammar)
        or other.form in grammar.datives | grammar.objects
        or (other.upos in NOUNS and subject_like(sentence, other, token))
        or (
            other.feats.get("Number") == "Plur"
            and other.feats.get("VerbForm") == "Fin"
            and other.feats.get("Person") != "1"  # *героем*, a noun for all but the tagger
        )
        for other in around
    )


def verbless(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*С детства мечтала о сцене*, whose tree has no verb: its root is a word with a preposition."""
    if grammar.auxiliaries or len(token.form) < _LONG_ENOUGH:
        return False
    root = next((other for other in sentence.tokens if other.relation == "root"), None)
    return (
        root is not None
        and root.id < token.id
        and any(c.relation == "case" for c in sentence.children(root))
        and not any(
            other is not token
            and (other.upos in FINITE or other.upos == "PRON" or other.feats.get("Case") == "Nom")
            for other in sentence.tokens
        )
    )


def _may_name(sentence: Tree, other: Token) -> bool:
    """A word before the verb that may be its subject, whatever the tagger has made of it."""
    if other.upos in NOUNS:
        return other.feats.get("Case", "Nom") == "Nom" and not has_accusative(sentence, other)
    return other.upos == "X"


def around_first(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A pronoun or a verb of the first person stands around the word, and none of another person."""
    around = stretch(sentence, token)
    return any(first_finite(t) or t.form in grammar.pronouns for t in around) and not any(
        other_person(t, grammar) for t in around
    )


def dative(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """It agrees with the dative of the first person: *Мне пришлось идти одному*."""
    around = stretch(sentence, token)
    return any(other.form in grammar.datives for other in around) and not attribute(sentence, token, grammar)


def spoken(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A word of a closed list with a verb of the first person above it or around it."""
    before = next((other for other in sentence.tokens if other.id == token.id - 1), None)
    if before is not None and (before.upos == "DET" or before.form in grammar.selves or _third(before)):
        return False  # *v sebe sama*, *w ten sam sposób*, *videl som ju sama*
    if other_auxiliary(sentence, token):
        return False  # *zobaczyłem, że jest sama*
    if any(t.upos == "AUX" and t.feats.get("Person") == "3" for t in stretch(sentence, token)):
        return False  # *която сам е измислил*
    for head in (predicate(sentence, token), *sentence.ancestors(token)):
        if first_person(sentence, head, grammar):
            return True
        if (head is not token and head.relation in {"ccomp", "advcl", "acl", "csubj", "parataxis"}) or any(
            c.relation == "nsubj" and c is not token for c in sentence.children(head)
        ):
            return False
    return False


def _third(token: Token) -> bool:
    return token.upos == "PRON" and token.feats.get("Person") == "3"


def second_finite(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The clause has its finite verb already, of the first person: Croatian *sam* is no auxiliary."""
    around = [other for other in stretch(sentence, token) if other is not token]
    return any(
        (other.upos == "VERB" and first_finite(other)) or other.form in grammar.certain for other in around
    ) and not any(
        grammar.gender(other, "past")
        or other.form in grammar.auxiliaries | grammar.pronouns
        or other_person(other, grammar)
        or (other.upos == "ADJ" and other.relation != "amod")
        for other in around
    )


def itself(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The ending of the word holds the first person: *byłam*."""
    return True


ANCHORS: Mapping[str, Anchor] = {
    function.__name__: function
    for function in (
        auxiliary,
        pronoun,
        coordinated,
        linking,
        linking_verb,
        linking_nearby,
        conditional,
        subordinate,
        object_complement,
        around_first,
        lone,
        lone_subject,
        before_copula,
        depictive,
        nearby,
        unclaimed,
        ending,
        before_ending,
        alone,
        verbless,
        dative,
        spoken,
        second_finite,
        itself,
        predicative,
        as_person,
        serving,
        considered,
        copular,
        depicting,
        governing,
        initial,
        joined,
        linking_last,
        made,
        who,
        opening,
        quoting,
        as_child,
        as_opening,
        relative,
        after_pronoun,
        antecedent,
        only_one,
        regretted,
        resumed,
        second_auxiliary,
        taken_for,
        after_ending,
    )
}
