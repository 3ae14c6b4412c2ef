"""The gender of the first person in texts: parse, apply the rules, return the evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.gender.characters import character
from gest_dataset.gender.grammar import UNKNOWN, Grammar, load_grammar
from gest_dataset.gender.parsers import open_parser
from gest_dataset.gender.parsing import DEFAULT_CACHE, parse_texts
from gest_dataset.gender.rules.engine import decide, rules_for
from gest_dataset.gender.rules.quotations import quoted_spans
from gest_dataset.probes.pronouns import Character


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

    @property
    def signature(self) -> str:
        """The parser and its model."""
        return self.parser.signature

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

    def characters(self, texts: Sequence[str]) -> list[Character]:
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
