"""The gender of the first person in texts: parse, apply the rules, return the evidence."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.gender.characters import characters
from gest_dataset.gender.grammar import UNKNOWN, Grammar, load_grammar
from gest_dataset.gender.parsers import open_parser
from gest_dataset.gender.parsing import ParsedText, parse_texts
from gest_dataset.gender.rules import rules_for
from gest_dataset.gender.rules.engine import decide
from gest_dataset.gender.rules.quotations import quoted_spans
from gest_dataset.probes.pronouns import Character

_MAX_ROWS = 5  # that a warning lists


class TextWarning(UserWarning):
    """Texts that the rules cannot judge: empty, garbled, not translated, not parsed."""


@dataclass(frozen=True)
class Detection:
    """The gender of a text's first person: `male`, `female` or `unknown`, and why.

    `rule` is the rule that decided, `evidence` the words that it points at, as they are written in the text
    at `spans`. `conflict`: rules of the same rank disagree, and the gender is unknown. `problem`: why the
    rules cannot judge the text, or the empty string.
    """

    gender: str
    rule: str
    evidence: tuple[str, ...]
    conflict: bool
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""


def detect(
    texts: Sequence[str],
    language: str = "sk",
    parser: str = "udpipe",
    model: str | Path | None = None,
    *,
    cache: str | Path | None = None,
    grammar: Grammar | None = None,
) -> list[Detection]:
    """The gender of the first person in each text, in order.

    `model` is what the parser needs (docs/gender.md), `cache` the file of cached parses, and `grammar` one
    that is not installed for the language.

    >>> detect(["Bola som unavená."], "sk", model="sk.udpipe")  # doctest: +SKIP
    [Detection(gender='female', rule='past-auxiliary', evidence=('Bola', 'unavená'), ...)]
    """
    grammar = grammar or load_grammar(language)
    detections = [_detect(parse, grammar) for parse in parse_texts(texts, language, parser, model, cache)]
    reasons: dict[str, list[int]] = {}
    for row, detection in enumerate(detections):
        if detection.problem:
            reasons.setdefault(detection.problem, []).append(row)
    if reasons:
        details = "; ".join(f"{len(rows)} {reason} (row {_list(rows)})" for reason, rows in reasons.items())
        number = sum(map(len, reasons.values()))
        warnings.warn(
            f"{number} of {len(texts)} texts cannot be judged and are unknown: {details}.",
            TextWarning,
            stacklevel=2,
        )
    return detections


def _list(rows: Sequence[int]) -> str:
    return ", ".join(map(str, rows[:_MAX_ROWS])) + (", ..." if len(rows) > _MAX_ROWS else "")


def _detect(parse: ParsedText, grammar: Grammar) -> Detection:
    if parse.problem:
        return Detection(UNKNOWN, "", (), False, problem=parse.problem)
    decision = decide(parse.sentences, rules_for(grammar), grammar, quoted_spans(parse.latin))
    # the syntactic words of one written word are one piece of evidence
    spans = tuple(dict.fromkeys(parse.span(token) for token in decision.tokens))
    evidence = tuple(parse.text[start:end] for start, end in spans)
    return Detection(decision.gender, decision.rule, evidence, decision.conflict, spans)


def explain(text: str, detection: Detection, marks: tuple[str, str] = ("[", "]")) -> str:
    """The text with its evidence marked, its gender and the rule.

    >>> explain("Bola som tam.", Detection("female", "past-auxiliary", ("Bola",), False, ((0, 4),)))
    '[Bola] som tam.  (female: past-auxiliary)'
    """
    pieces, last = [], 0
    for start, end in detection.spans:
        pieces += [text[last:start], marks[0], text[start:end], marks[1]]
        last = end
    reason = detection.rule or detection.problem or "no evidence"
    conflict = ", conflict" if detection.conflict else ""
    return f"{''.join(pieces)}{text[last:]}  ({detection.gender}{conflict}: {reason})"


@dataclass(frozen=True)
class GenderDetector:
    """A parser with its settings, opened before anything expensive starts.

    `signature` identifies the parser and its model.
    """

    language: str
    parser: str
    model: Path | None
    signature: str
    cache: str | Path | None = None

    def genders(self, texts: Sequence[str]) -> list[Detection]:
        """The gender of the first person in each text; `problem` says what is wrong, without a warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TextWarning)
            return detect(texts, self.language, self.parser, self.model, cache=self.cache)

    def characters(self, texts: Sequence[str]) -> list[Character]:
        """The gender of the character of each text."""
        return characters(texts, self.language, self.parser, self.model)


def open_detector(
    language: str, parser: str = "udpipe", model: str | Path | None = None, cache: str | Path | None = None
) -> GenderDetector:
    """The detector of a language; an error if its rules, the parser or its model are missing."""
    load_grammar(language)
    path = Path(model).expanduser() if model is not None else None
    return GenderDetector(language, parser, path, open_parser(parser, language, path).signature, cache)
