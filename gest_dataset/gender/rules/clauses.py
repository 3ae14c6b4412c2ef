"""Looking around in a tree that may be wrong: clauses, subjects, attributes, persons."""

from __future__ import annotations

from collections.abc import Sequence

from gest_dataset.gender.grammars.grammar import NOUNS, Grammar, table
from gest_dataset.gender.parsers.tokens import Token, Tree

HELPERS = {"aux", "cop"}
SUBJECTS = {"nsubj", "csubj", "expl"}
FINITE = {"VERB", "AUX"}
BETWEEN = {"ADJ", "ADV", "DET", "CCONJ", "PART", "NUM"}  # what may stand between an adjective and its noun
_BORDERS = {"PUNCT", "SCONJ", "CCONJ"}
_OPENERS = {"koliko", "kako", "дали"}  # they open a clause without a comma: *znaju koliko sam strog*
_RELATIVE_LETTERS = tuple("kčcjšgazкчхщяшгд")  # what relative and interrogative words begin with
GENERIC = {"osoba", "oseba"}  # *odrasla osoba* is said by anybody
_FIRST = ("m", "м")  # no verb of the second or third person ends so
_TIMES = table(
    "день ночь вечер утро год месяц час неделю выходные вечір ранок рік місяць тиждень годину дзень ноч вечар"
    " ранак тыдзень гадзіну життя жыццё жизнь детство літо лето зиму весну осень дитинство дзяцінства"
)
_PLURAL = {("Case", "Nom"), ("Number", "Plur")}
_GENITIVE = {("Case", "Gen"), ("Number", "Plur")}  # what *друг* looks like to a tagger


def predicate(sentence: Tree, token: Token) -> Token:
    """The word that carries the clause: of *bola som unavená*, `unavená` for `bola` too."""
    head = sentence.head(token)
    return head if token.relation in HELPERS and head is not None else token


def beside(sentence: Tree, token: Token) -> list[Token]:
    """What hangs on the word, or beside it on the predicate that it helps."""
    top = predicate(sentence, token)
    near = sentence.children(token) if top is token else [*sentence.children(token), *sentence.children(top)]
    return [other for other in near if other is not token]


def stretch(sentence: Tree, token: Token) -> list[Token]:
    """The words around `token` up to the next comma, conjunction or relative pronoun."""
    tokens = sentence.tokens
    position = tokens.index(token)
    first, last = position, position
    while first > 0 and not _breaks(tokens, first - 1) and not _asks(tokens, first):
        first -= 1
    while last + 1 < len(tokens) and not _breaks(tokens, last + 1) and not _asks(tokens, last + 1):
        last += 1
    return list(tokens[first : last + 1])


def opening_of(sentence: Tree, around: list[Token]) -> Token | None:
    """The comma or conjunction before a stretch."""
    place = sentence.tokens.index(around[0])
    return sentence.tokens[place - 1] if place else None


def _breaks(tokens: Sequence[Token], place: int) -> bool:
    """A border of clauses; the hyphen of *усе-таки* is none, nor the pronoun of *sam te voleo*."""
    token = tokens[place]
    before = tokens[place - 1] if place else None
    if before is not None and token.text == "-" and before.end == token.start:
        return False
    if before is not None and token.form == "te" and before.upos == "AUX":
        return False
    return _border(token)


def _asks(tokens: Sequence[Token], place: int) -> bool:
    """*jesam li*, *je li*: a verb before *li* opens a clause without a comma."""
    return tokens[place].upos in FINITE and place + 1 < len(tokens) and tokens[place + 1].form == "li"


def _border(token: Token) -> bool:
    return token.upos in _BORDERS or token.form in _OPENERS or _relative(token)


def _relative(token: Token) -> bool:
    """A relative or interrogative word; *nikad* and *nikoga* are none, whatever their tag."""
    return token.feats.get("PronType") in {"Rel", "Int,Rel"} and token.form.startswith(_RELATIVE_LETTERS)


def emphatic(sentence: Tree, helper: Token) -> bool:
    """*Djed je sam sagradio*: after another person's auxiliary Croatian *sam* is *himself*."""
    place = sentence.tokens.index(helper)
    return place > 0 and helper.form == "sam" and sentence.tokens[place - 1].form in {"je", "nije"}


def across_and(sentence: Tree, helper: Token, token: Token) -> bool:
    """Between the auxiliary and the word after it, a conjunction joins nouns, not clauses."""
    between = sentence.tokens[sentence.tokens.index(helper) + 1 : sentence.tokens.index(token)]
    return bool(between) and not any(
        other.upos in {"PUNCT", "SCONJ", *FINITE} or _relative(other) for other in between
    )


def attribute(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The word agrees with a noun: with the one that it hangs on, or with the next one after it."""
    case, gender = token.feats.get("Case"), token.feats.get("Gender")
    around = stretch(sentence, token)
    after = around[around.index(token) + 1 :]
    if token.upos in FINITE:  # *bila sam odrasla osoba*: a participle, but there is another one
        another = any(t is not token and _participle(t) for t in around)
        return _participle(token) and any(
            noun.upos == "NOUN" and noun.feats.get("Case") == "Nom" and (another or noun.form in GENERIC)
            for noun in after[:1]
        )
    head = sentence.head(token)
    following = _noun_after(sentence, token)
    if token.relation not in {"amod", "det"} or head not in after or _verb_between(after, head):
        head = None
    return any(
        noun is not None
        and noun.upos in NOUNS
        and not _infinitive(noun, token, grammar)
        and not (token.feats.get("Number") == "Sing" and noun.feats.items() >= _PLURAL)
        and len({gender, noun.feats.get("Gender"), None}) < 3
        and (
            noun.feats.get("Case", case) in {case, "Nom", "Acc"}
            or (noun in after[:1] and gender == "Masc" and noun.feats.items() >= _GENITIVE)
        )
        for noun in (following, head)
    )


def after_noun(sentence: Tree, token: Token) -> bool:
    """The word before it is a noun that it may agree with: *osoba zvyklá na práci*; *celý den* is a time."""
    place = sentence.tokens.index(token)
    before = sentence.tokens[place - 1] if place else None
    if before is None or before.upos not in NOUNS or before.feats.get("Number") == "Plur":
        return False
    below = sentence.children(before)
    if any(c.feats.get("PronType") == "Tot" for c in below):
        return False
    if "Case" not in before.feats and any(c.relation == "case" for c in below):
        return False  # Bulgarian has no cases: *от работа уморена*
    return (
        before.feats.get("Case", "Nom") in {"Nom", "Acc"}
        and len({before.feats.get("Gender"), token.feats.get("Gender"), None}) < 3
    )


def resumes(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A relative word after its comma, and a verb: *хліб, який я ріжу*; *zjistí, jaký jsem* has none."""
    place = sentence.tokens.index(token)
    around = stretch(sentence, token)
    after = around[around.index(token) + 1 :]
    return (
        _relative(token)
        and place > 0
        and sentence.tokens[place - 1].upos == "PUNCT"
        and any(
            other.upos == "VERB" or (other.form in grammar.pronouns and other is not after[-1])
            for other in after
        )
    )


def _infinitive(noun: Token, adjective: Token, grammar: Grammar) -> bool:
    """*Nejsem zvyklá prohrávat*: a noun for the tagger only; *diplomat* is one that ends alike."""
    return grammar.is_infinitive(noun.form) and (
        noun.feats.get("Gender") == "Fem" or grammar.governs(adjective.form)
    )


def _verb_between(after: list[Token], noun: Token) -> bool:
    """*Nisam sigurna je li to dobra ideja*: no attribute across another's verb; *dobar sam kuhar* is one."""
    before = after[: after.index(noun)]
    return any(other.upos in FINITE and other.feats.get("Person") in {"2", "3"} for other in before)


def _noun_after(sentence: Tree, token: Token) -> Token | None:
    """The first word after an adjective that may be its noun; *inspirujúci a motivujúci šéf* counts."""
    joined = False
    for other in sentence.tokens[sentence.tokens.index(token) + 1 :]:
        if other.upos == "CCONJ":
            joined = True
        elif other.upos not in BETWEEN or _relative(other):
            return None if joined else other
        elif other.upos == "ADJ":
            joined = False
    return None


def _participle(token: Token) -> bool:
    return token.upos in FINITE and token.feats.get("VerbForm") == "Part"


def first_finite(token: Token) -> bool:
    """A verb whose ending is that of the first person singular."""
    return (
        token.upos in FINITE
        and (
            token.feats.get("Person") == "1"
            or (token.upos == "VERB" and token.feats.get("Person") == "3" and token.form.endswith(_FIRST))
        )
        and token.feats.get("Number", "Sing") == "Sing"
        and token.feats.get("VerbForm", "Fin") == "Fin"
    )


def other_person(token: Token, grammar: Grammar) -> bool:
    """A verb or a subject of the second or third person, or *somebody*."""
    if token.upos == "PRON" and token.feats.get("PronType") in {"Ind", "Neg", "Int"}:
        return token.feats.get("Case") == "Nom" and token.feats.get("Gender") == "Masc"
    return token.form in grammar.others or (
        token.feats.get("Person") in {"2", "3"}
        and (token.upos in FINITE or token.feats.get("Case") == "Nom")
        and token.form not in grammar.clitics | grammar.certain
        and not (token.upos == "VERB" and token.form.endswith(_FIRST))
        and not grammar.is_infinitive(token.form)
    )


def other_auxiliary(sentence: Tree, token: Token) -> bool:
    return any(
        c.relation in HELPERS and c.feats.get("VerbForm") == "Fin" and c.feats.get("Person", "1") != "1"
        for c in sentence.children(token)
    )


def subject(other: Token, token: Token) -> bool:
    """A named subject; a noun of another gender than the verb is a parser's mistake."""
    if other.relation != "nsubj" or other.upos == "ADJ" or other.feats.get("Case", "Nom") != "Nom":
        return False
    genders = {other.feats.get("Gender"), token.feats.get("Gender")}
    return None in genders or len(genders) == 1


def subject_like(sentence: Tree, other: Token, token: Token) -> bool:
    """A noun in the nominative that the verb could agree with, whatever the parser has made of it."""
    return (
        other.feats.get("Case") == "Nom"
        and other.feats.get("Number") != "Plur"
        and other.feats.get("Gender") == token.feats.get("Gender")
        and not has_accusative(sentence, other)
        and not _of_another_gender(sentence, other)
    )


def _of_another_gender(sentence: Tree, noun: Token) -> bool:
    """*соседа, который*: the relative word shows what the tagger has missed."""
    after = sentence.tokens[sentence.tokens.index(noun) + 1 :][:2]
    return (
        len(after) == 2
        and after[0].upos == "PUNCT"
        and noun.feats.get("Gender") == "Fem"
        and after[1].feats.get("Gender") == "Masc"
        and after[1].form.startswith(("котор", "яки", "які"))
    )


def has_accusative(sentence: Tree, noun: Token) -> bool:
    """By its attribute; *увесь вечір* is one too, whatever the tagger says."""
    below = sentence.children(noun)
    return any(c.feats.get("Case") == "Acc" and c.relation in {"det", "amod", "nummod"} for c in below) or (
        noun.form in _TIMES and any(c.relation in {"det", "amod"} for c in below)
    )
