"""The gender of a text's first person or main character: parse, apply the rules, return the evidence."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.gender.grammar import FEMALE, MALE, UNKNOWN, Grammar, load_grammar
from gest_dataset.gender.parsers import open_parser
from gest_dataset.gender.parsing import DEFAULT_CACHE, ParsedText, parse_texts
from gest_dataset.gender.rules.context import HELPERS, SUBJECTS, Context
from gest_dataset.gender.rules.engine import contexts_of, decide, quoted_spans, rules_for
from gest_dataset.gender.rules.subjects import first_person
from gest_dataset.gender.tokens import Token
from gest_dataset.probes import pronouns
from gest_dataset.probes.prompts import Reading

_THIRD_PERSON = dict.fromkeys(("on", "він", "ён", "он", "той"), MALE)
_THIRD_PERSON |= dict.fromkeys(("ona", "вона", "яна", "она", "тя"), FEMALE)
_FIRST_PERSON = "first"


@dataclass(frozen=True)
class Detection:
    """The gender of a text's first person: `male`, `female` or `unknown`, and why.

    `rule` is the rule that decided, `evidence` the words that it points at, as they are written in the text
    at `spans`. `conflict`: rules of the same rank disagree, and the gender is unknown. `problem`: why the
    rules cannot judge the text, or the empty string.
    """

    gender: str
    rule: str = ""
    evidence: tuple[str, ...] = ()
    conflict: bool = False
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""


class GenderDetector:
    """The rules of a language with a parser; it raises an error if the rules, parser or model are missing.

    `model` is what the parser needs (docs/gender.md), `cache` the file of cached parses, and `grammar` one
    that is not installed for the language.
    """

    def __init__(
        self,
        language: str,
        parser: str = "udpipe",
        model: str | Path | None = None,
        cache: str | Path | None = None,
        grammar: Grammar | None = None,
    ) -> None:
        self.language = language
        self.grammar = grammar or load_grammar(language)
        self.parser = open_parser(parser, language, model)
        self.cache = Path(cache or DEFAULT_CACHE)
        self.signature = self.parser.signature

    def genders(self, texts: Sequence[str]) -> list[Detection]:
        """The gender of the first person in each text, in order."""
        rules, detections = rules_for(self.grammar), []
        for parse in parse_texts(texts, self.language, self.parser, self.cache):
            if parse.problem:
                detections.append(Detection(UNKNOWN, problem=parse.problem))
                continue
            decision = decide(parse.sentences, rules, self.grammar, quoted_spans(parse.latin))
            # the syntactic words of one written word are one piece of evidence
            spans = tuple(dict.fromkeys(parse.span(token) for token in decision.tokens))
            evidence = tuple(parse.text[start:end] for start, end in spans)
            detections.append(Detection(decision.gender, decision.rule, evidence, decision.conflict, spans))
        return detections

    def characters(self, texts: Sequence[str]) -> list[Reading]:
        """The gender of the main character of each text."""
        parses = parse_texts(texts, self.language, self.parser, self.cache)
        return [character(parse, self.grammar) for parse in parses]


def detect(
    texts: Sequence[str],
    language: str = "sk",
    parser: str = "udpipe",
    model: str | Path | None = None,
    *,
    cache: str | Path | None = None,
    grammar: Grammar | None = None,
) -> list[Detection]:
    """The gender of the first person in each text, in order; the arguments are those of `GenderDetector`.

    >>> detect(["Bola som unavená."], "sk", model="sk.udpipe")  # doctest: +SKIP
    [Detection(gender='female', rule='past-auxiliary', evidence=('Bola', 'unavená'), ...)]
    """
    return GenderDetector(language, parser, model, cache, grammar).genders(texts)


def explain(text: str, detection: Detection, marks: tuple[str, str] = ("[", "]")) -> str:
    """The text with its evidence marked, its gender and the rule.

    >>> explain("Bola som tam.", Detection("female", "past-auxiliary", ("Bola",), False, ((0, 4),)))
    '[Bola] som tam.  (female: past-auxiliary)'
    """
    for start, end in reversed(detection.spans):
        text = f"{text[:start]}{marks[0]}{text[start:end]}{marks[1]}{text[end:]}"
    reason = detection.rule or detection.problem or "no evidence"
    conflict = ", conflict" if detection.conflict else ""
    return f"{text}  ({detection.gender}{conflict}: {reason})"


def character(parse: ParsedText, grammar: Grammar) -> Reading:
    """The gender of the main character of a story, by the verbs in the past tense (docs/ask.md).

    A past tense in the singular shows the gender of its subject. It counts if the subject is a name, a
    pronoun of the third person, or left out, as in stories about the character; such pronouns count as well
    (Bulgarian has little else). What a noun does (*her father drank*) does not count, nor what stands in
    quotation marks.
    """
    if parse.problem:
        return Reading(UNKNOWN, problem=parse.problem)
    quotations = quoted_spans(parse.latin)
    words: Counter[tuple[str, str]] = Counter()
    for context in (c for sentence in parse.sentences for c in contexts_of(sentence, grammar)):
        person = _person(context)
        if person and not any(start <= context.token.start < end for start, end in quotations):
            start, end = parse.span(context.token)
            words[person, parse.text[start:end].lower()] += 1
    numbers = Counter(person for person, _ in words.elements())
    evidence = tuple(f"{word} {count}" for (_, word), count in words.items())
    return pronouns.decide(numbers[MALE], numbers[FEMALE], numbers[_FIRST_PERSON], 0, evidence)


def _person(c: Context) -> str | None:
    """The gender of the character that the word shows, or the first person."""
    gender = c.grammar.gender(c.token, "past")
    if gender is None:
        return _THIRD_PERSON.get(c.token.form) if c.token.relation in SUBJECTS else None
    # *Odišiel som a zaspal*: the verb, or one that it is joined with, has the speaker for its subject
    marks = c.grammar.auxiliaries | c.grammar.pronouns
    for verb in map(c.at, _joined_verbs(c)):
        if first_person(verb) or any(other.form in marks for other in verb.clause):
            return _FIRST_PERSON
    return gender if _is_about_character(c) else None


def _is_about_character(c: Context) -> bool:
    """The subject is a name, a pronoun of the third person, or left out."""
    for verb in _joined_verbs(c):
        near = [other for other in (*c.sentence.children(verb), *c.children) if other is not c.token]
        subjects = [other for other in near if other.relation in SUBJECTS]
        if subjects:
            return all(other.upos == "PROPN" or other.form in _THIRD_PERSON for other in subjects)
        if verb.relation == "acl":
            return False  # about the noun: *muž, ktorý prišiel*
    return True


def _joined_verbs(c: Context) -> list[Token]:
    """The verb, and those that it is joined with, whose subject it shares."""
    verbs: list[Token] = []
    verb: Token | None = c.predicate
    while verb is not None and verb not in verbs:
        verbs.append(verb)
        verb = c.sentence.head(verb) if verb.relation in {"conj", *HELPERS} else None
    return verbs
