"""Write the findings of the rules on every parse in parses/ to findings/LANGUAGE.tsv.

    python -m tests.gender.make_findings

A line is a text: the gender and the rule that decide (`!` marks a conflict), the evidence, every finding of
every rule (rule, gender, numbers of the sentence and the word), and the problem. It says what the rules do,
not what is right: the labelled sets say that. `git diff` shows what a change of the rules does to 5,000
sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gest_dataset.gender import detect
from gest_dataset.gender.grammar import ACCURACY, load_grammar
from gest_dataset.gender.parsers import conllu
from gest_dataset.gender.rules.engine import contexts_of, findings, rules_for

HERE = Path(__file__).resolve().parent
PARSES = HERE / "parses"
FINDINGS = HERE / "findings"


def lines(language: str) -> Iterator[str]:
    """The findings in each text of the file of parses."""
    path = PARSES / f"{language}.conllu"
    grammar = load_grammar(language)
    documents = conllu.read_file(path)
    for text, found in zip(documents, detect(list(documents), language, "conllu", path), strict=True):
        evidence = " ".join(
            f"{word}@{start}-{end}" for word, (start, end) in zip(found.evidence, found.spans, strict=True)
        )
        each = " ".join(
            f"{finding.rule.name}:{finding.gender}:{place}.{finding.token.id}"
            for place, sentence in enumerate(conllu.parse_conllu(documents[text], text))
            for finding in findings(contexts_of(sentence, grammar), rules_for(grammar))
        )
        decision = f"{found.gender} {found.rule}{'!' if found.conflict else ''}".rstrip()
        yield "\t".join([text, decision, evidence, each, found.problem]).rstrip()


def main() -> None:
    for language in ACCURACY:
        content = "".join(f"{line}\n" for line in lines(language))
        (FINDINGS / f"{language}.tsv").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
