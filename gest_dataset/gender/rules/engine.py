"""The rule engine: a rule (rules.yaml) finds a gendered word and the reason why it is about the first person.

*Bola som unavená*: `past-auxiliary` finds *Bola* and `adjective-copula` *unavená*, both with the anchor
`subjects.auxiliary`, because the auxiliary *som* is of the first person.

The words of quotations are somebody else's, unless the speaker introduces them (*„Nevím,“ říkám si*).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gest_dataset.gender.grammar import NEVER, RULE_TABLE, UNKNOWN, Grammar
from gest_dataset.gender.rules import complements, nearby, persons, subjects
from gest_dataset.gender.rules.context import SUBJECTS, VERBS, Context, is_first_person
from gest_dataset.gender.tokens import Token, Tree

_QUOTED = re.compile('„.*?[“”"]|[“”].*?”|«.*?»|».*?«|‚.*?[‘’]|".*?"', re.S)
_DIALOGUE = re.compile(
    r"^\s*[—–-]\s*(?P<first>[^—–]+?)[,.!?…]\s*[—–]\s*(?P<teller>[^—–]+)(?P<rest>.*)$", re.S
)
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True)
class Rule:
    """A word of a `kind` (of the grammar) is evidence where the `anchor` holds.

    Rules of rank 2 apply only where rules of rank 1 find nothing, and those of rank 3 after them.
    """

    rank: int
    name: str
    kind: str
    anchor: Callable[[Context], bool]


# rules.yaml names anchors: `subjects.auxiliary` is a function of the module `subjects`
_MODULES = {"complements": complements, "nearby": nearby, "persons": persons, "subjects": subjects}
RULES = tuple(
    Rule(rank, name, kind, getattr(_MODULES[module], anchor))
    for rank, rules in RULE_TABLE.items()
    for name, (kind, path) in rules.items()
    for module, anchor in [path.split(".")]
)


def rules_for(grammar: Grammar) -> list[Rule]:
    """The rules whose kind of word the grammar has."""
    return [rule for rule in RULES if rule.kind in grammar.endings or rule.kind in grammar.words]


@dataclass(frozen=True)
class Finding:
    """A word that a rule finds, and its gender."""

    rule: Rule
    gender: str
    token: Token


@dataclass(frozen=True)
class Decision:
    """The gender of a text; if rules of one rank disagree, it is a conflict and the gender is unknown."""

    gender: str
    rule: str
    tokens: tuple[Token, ...]
    conflict: bool


NOTHING = Decision(UNKNOWN, "", (), False)


def contexts_of(sentence: Tree, grammar: Grammar) -> list[Context]:
    """The words of a sentence with their contexts."""
    return [Context(sentence, token, grammar) for token in sentence.tokens]


def findings(contexts: Sequence[Context], rules: Iterable[Rule]) -> Iterator[Finding]:
    """All findings of some rules in one sentence."""
    for rule in rules:
        for context in contexts:
            gender = context.grammar.gender(context.token, rule.kind)
            if gender is not None and rule.anchor(context) and not persons.is_misleading(context, rule.kind):
                yield Finding(rule, gender, context.token)


def decide(
    sentences: Sequence[Tree],
    rules: Sequence[Rule],
    grammar: Grammar,
    quotations: Sequence[tuple[int, int]] = (),
) -> Decision:
    """The decision of the first rank that finds something in any sentence.

    Words in `quotations` (spans of the text) are somebody else's. Quotations that the speaker introduces
    count if nothing else does.
    """
    contexts = [contexts_of(sentence, grammar) for sentence in sentences]
    decision = _decide_without_quotations(contexts, rules, quotations)
    by_others = [span for span in quotations if not is_by_speaker(sentences, span, grammar)]
    if decision is NOTHING and len(by_others) < len(quotations):
        return _decide_without_quotations(contexts, rules, by_others)
    return decision


def _decide_without_quotations(
    sentences: Sequence[Sequence[Context]], rules: Sequence[Rule], quotations: Sequence[tuple[int, int]]
) -> Decision:
    """The decision without the words in quotations; it names the first rule in the table that applies."""
    for rank in sorted({rule.rank for rule in rules}):
        ranked = [rule for rule in rules if rule.rank == rank]
        if quotations:  # the other clause may be somebody else's
            ranked = [r for r in ranked if r.anchor not in (subjects.coordinated, subjects.subordinate)]
        evidence = [
            (sentence, finding)
            for sentence, contexts in enumerate(sentences)
            for finding in findings(contexts, ranked)
            if not any(start <= finding.token.start < end for start, end in quotations)
        ]
        if evidence:
            genders = {finding.gender for _, finding in evidence}
            tokens = {(sentence, finding.token.id): finding.token for sentence, finding in evidence}
            return Decision(
                gender=UNKNOWN if len(genders) > 1 else min(genders),
                rule=min((finding.rule for _, finding in evidence), key=ranked.index).name,
                tokens=tuple(tokens[key] for key in sorted(tokens)),
                conflict=len(genders) > 1,
            )
    return NOTHING


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """The spans of quotations of at least two words, and of the speech in a dialogue with dashes.

    A text that is one quotation is the speaker's own, and so is a word in scare quotes.
    """
    spans = [quoted.span() for quoted in _QUOTED.finditer(text) if len(_WORDS.findall(quoted[0])) > 1]
    if dialogue := _DIALOGUE.match(text):
        spans += [dialogue.span("first"), dialogue.span("rest")]
    rest = "".join(char for position, char in enumerate(text) if not any(a <= position < b for a, b in spans))
    return spans if _WORDS.search(rest) else []


def is_by_speaker(sentences: Sequence[Tree], span: tuple[int, int], grammar: Grammar) -> bool:
    """The clause before or after the quotation has a verb of the first person, and not of hearing."""
    tokens = [token for sentence in sentences for token in sentence.tokens]
    before = _clause([token for token in reversed(tokens) if token.start < span[0]])
    after = _clause([token for token in tokens if token.start >= span[1]])
    if after and after[0].upos in {"CCONJ", "SCONJ"}:
        after = []  # the story goes on: *„Som hladný,“ a ja varím*
    return _introduces(before, grammar) or _introduces(after, grammar)


def _clause(tokens: Sequence[Token]) -> list[Token]:
    """The words next to the quotation, up to the first mark of punctuation between words."""
    words: list[Token] = []
    for token in tokens:
        if token.upos != "PUNCT" and any(char.isalpha() for char in token.text):
            words.append(token)
        elif words:
            break
    return words


def _introduces(clause: Sequence[Token], grammar: Grammar) -> bool:
    """Whether the clause introduces the quotation as the speaker's own."""

    def speaks(token: Token) -> bool:
        return grammar.speaking_verbs.fullmatch(token.form) is not None

    any_ending = grammar.first_person_endings is NEVER
    is_first_person_clause = any(
        speaks(token)
        or (
            is_first_person(token)
            and token.form not in grammar.auxiliaries
            and (any_ending or grammar.first_person_endings.search(token.form))
        )
        for token in clause
    )
    is_about_another = any(
        grammar.perceiving_verbs.fullmatch(token.form)
        or token.form in grammar.other_pronouns
        or (
            token.relation in SUBJECTS
            and token.case == "Nom"
            and token.form not in grammar.pronouns
            and not speaks(token)
        )
        or (
            token.upos in VERBS
            and token.person in {"2", "3"}
            and not speaks(token)
            and token.form not in grammar.clitics
        )
        for token in clause
    )
    return is_first_person_clause and not is_about_another
