"""From texts to the gender of their first person: parse, ask the rules, map the evidence back."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.errors import OutputError
from gest_dataset.gender import own
from gest_dataset.gender.grammars.grammar import UNKNOWN, Grammar
from gest_dataset.gender.parsers import cache as parse_cache
from gest_dataset.gender.parsers import conllu, table
from gest_dataset.gender.parsers.parser import ParserError
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules import reported, rules_of
from gest_dataset.gender.rules.engine import decide
from gest_dataset.gender.texts import problem, to_latin

_LISTED = 5  # rows that a warning names
_LEFT = 3  # texts without a parse that an error names


class TextWarning(UserWarning):
    """Texts that no rule was asked about: empty, garbled, not translated, not parsed."""


@dataclass(frozen=True)
class Detection:
    """The gender of a text's first person: `male`, `female` or `unknown`, and why.

    `rule` is the name of the rule that found it, `evidence` the words that it points at, as they are
    written in the text at `spans`. `conflict`: rules of the same rank disagree, and the gender is
    unknown. `problem`: why no rule was asked; nothing is the empty string.
    """

    gender: str
    rule: str
    evidence: tuple[str, ...]
    conflict: bool
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""


def languages() -> list[str]:
    """The languages that there are rules for."""
    return own.languages()


def detect(
    texts: Sequence[str],
    language: str = "sk",
    parser: str = "udpipe",
    model: str | Path | None = None,
    *,
    cache: str | Path | None = None,
) -> list[Detection]:
    """The gender of the first person in each text, in order.

    `model` is what the parser needs (docs/gender.md); `cache` the file that keeps parses.

    >>> detect(["Bola som unavená."], "sk", model="sk.udpipe")  # doctest: +SKIP
    [Detection(gender='female', rule='past-auxiliary', evidence=('Bola', 'unavená'), ...)]
    """
    return detect_by(own.grammar_of(language), texts, language, parser, model, cache=cache)


def detect_by(
    grammar: Grammar,
    texts: Sequence[str],
    language: str,
    parser: str = "udpipe",
    model: str | Path | None = None,
    *,
    cache: str | Path | None = None,
) -> list[Detection]:
    """The same, by rules that need not be kept yet."""
    detections = [
        Detection(UNKNOWN, "", (), False, problem=parse.problem)
        if parse.problem
        else _detection(parse, grammar)
        for parse in parsed(texts, language, parser, model, cache=cache)
    ]
    _warn([detection.problem for detection in detections])
    return detections


@dataclass(frozen=True)
class Parsed:
    """A text as a parser reads it; `problem` says why it was not read.

    Rules see `latin`, the text in the letters of the parser; `places` are those of its letters in the text,
    None where they are the same.
    """

    text: str
    latin: str = ""
    places: list[int] | None = None
    sentences: tuple[Tree, ...] = ()
    problem: str = ""

    def span(self, token: Token) -> tuple[int, int]:
        """Where a word stands in the text."""
        if self.places is None:
            return token.start, token.end
        return self.places[token.start], self.places[token.end]


def parsed(
    texts: Sequence[str],
    language: str,
    parser: str = "udpipe",
    model: str | Path | None = None,
    *,
    cache: str | Path | None = None,
) -> list[Parsed]:
    """What a parser makes of each text, in order."""
    problems = {text: problem(text, language) for text in texts}
    written = {
        text: to_latin(text) if language == "sr" else (text, None)
        for text, wrong in problems.items()
        if not wrong
    }
    where = Path(cache) if cache is not None else parse_cache.default_path()
    path = Path(model).expanduser() if model is not None else None
    documents = _parse([latin for latin, _ in written.values()], language, parser, path, where)
    read = {
        text: Parsed(text, latin, places, tuple(conllu.parse_conllu(documents[latin], latin)))
        for text, (latin, places) in written.items()
        if latin in documents
    }
    return [read.get(text) or Parsed(text, problem=problems[text] or _NOT_PARSED) for text in texts]


_NOT_PARSED = "not parsed"


def _parse(texts: Sequence[str], language: str, name: str, model: Path | None, where: Path) -> dict[str, str]:
    """CoNLL-U of each text: from the cache, or from the parser and then into the cache."""
    parser = table.open_parser(name, language, model)
    unique = list(dict.fromkeys(texts))
    if not parser.cached:
        return dict(parser.parse(unique))
    documents = parse_cache.cached(where, parser.signature, unique)
    missing = [text for text in unique if text not in documents]
    if missing:
        try:
            parses = _whole(parser.parse(missing))
            for text, document in parse_cache.store(where, parser.signature, parses):
                documents[text] = document
        except OutputError:  # of the cache: what it could not keep is not "kept"
            raise
        except Exception as error:
            left = [text for text in missing if text not in documents]
            raise _unfinished(error, left, len(unique), where) from error
    return documents


def _unfinished(error: Exception, missing: Sequence[str], number: int, kept: object) -> ParserError:
    """The error of a run that stopped half-way, with the texts that are not parsed yet."""
    shown = "\n".join(f"  {text[:100]}" for text in missing[:_LEFT])
    more = f"\n  ... and {len(missing) - _LEFT} more" if len(missing) > _LEFT else ""
    stopped = ParserError(
        f"{error}\n{number - len(missing)} of {number} texts are parsed and kept in {kept}; "
        f"run again to go on. Not parsed:\n{shown}{more}"
    )
    stopped.missing = tuple(missing)
    return stopped


def _whole(parses: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The parses that can be read; one that cannot is an error before it is kept."""
    for text, document in parses:
        conllu.parse_conllu(document, text)
        yield text, document


def _detection(parse: Parsed, grammar: Grammar) -> Detection:
    decision = decide(parse.sentences, rules_of(grammar), grammar, reported.quoted(parse.latin))
    spans = [parse.span(token) for token in decision.tokens]
    spans = list(dict.fromkeys(spans))  # the parts of one written word are one piece of evidence
    return Detection(
        gender=decision.gender,
        rule=decision.rule,
        evidence=tuple(parse.text[start:end] for start, end in spans),
        conflict=decision.conflict,
        spans=tuple(spans),
    )


def _warn(problems: Sequence[str]) -> None:
    reasons: dict[str, list[int]] = {}
    for row, reason in enumerate(problems):
        if reason:
            reasons.setdefault(reason, []).append(row)
    if reasons:
        each = "; ".join(f"{len(rows)} {reason} (row {_rows(rows)})" for reason, rows in reasons.items())
        number = sum(map(len, reasons.values()))
        warnings.warn(
            f"{number} of {len(problems)} texts are unknown without a rule asked: {each}.",
            TextWarning,
            stacklevel=4,
        )


def _rows(rows: Sequence[int]) -> str:
    return ", ".join(map(str, rows[:_LISTED])) + (", ..." if len(rows) > _LISTED else "")


def explain(text: str, detection: Detection, marks: tuple[str, str] = ("[", "]")) -> str:
    """The text with its evidence marked, and what was found.

    >>> explain("Bola som tam.", Detection("female", "past-auxiliary", ("Bola",), False, ((0, 4),)))
    '[Bola] som tam.  (female: past-auxiliary)'
    """
    pieces, last = [], 0
    for start, end in detection.spans:
        pieces += [text[last:start], marks[0], text[start:end], marks[1]]
        last = end
    reason = detection.rule or detection.problem or "no evidence"
    conclusion = f"{detection.gender}{', conflict' if detection.conflict else ''}: {reason}"
    return f"{''.join(pieces)}{text[last:]}  ({conclusion})"
