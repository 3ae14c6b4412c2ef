"""Writes what the rules say of every kept parse: tests/gender/findings/LANGUAGE.tsv.

    python -m tests.gender.make_findings

A line is a text: the gender and the rule that decide (`!` where rules disagree), the words that are pointed
at, and then every finding of every rule (rule, gender, number of the sentence and of its word), those of
the ranks that were not asked among them. It says what is, not what is right: the labelled sets say that.
`git diff` after a change of the rules shows what the change does to 5,000 sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gest_dataset.gender import detect
from gest_dataset.gender.grammars import GRAMMARS
from gest_dataset.gender.parsers import conllu
from gest_dataset.gender.rules import RULES
from gest_dataset.gender.rules.engine import findings

HERE = Path(__file__).resolve().parent
PARSES = HERE / "parses"
FINDINGS = HERE / "findings"


def lines(language: str) -> Iterator[str]:
    """What the rules say of each text that has a parse, in the order of the file."""
    path = PARSES / f"{language}.conllu"
    documents = conllu.read_file(path)
    for text, found in zip(documents, detect(list(documents), language, "conllu", path), strict=True):
        words = " ".join(
            f"{word}@{start}-{end}" for word, (start, end) in zip(found.evidence, found.spans, strict=True)
        )
        each = (
            f"{finding.rule}:{finding.gender}:{place}.{finding.token.id}"
            for place, sentence in enumerate(conllu.parse_conllu(documents[text], text))
            for finding in findings(sentence, RULES[language], GRAMMARS[language])
        )
        said = f"{found.gender} {found.rule}{'!' if found.conflict else ''}".rstrip()
        yield "\t".join([text, said, words, " ".join(each), found.problem]).rstrip()


def main() -> None:
    FINDINGS.mkdir(exist_ok=True)
    for language in GRAMMARS:
        content = "".join(f"{line}\n" for line in lines(language))
        (FINDINGS / f"{language}.tsv").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
