"""Quotations: where they begin and end, and whether the words are the speaker's."""

from __future__ import annotations

from pathlib import Path

import pytest

from gest_dataset.gender.grammar import LANGUAGES, load_grammar
from gest_dataset.gender.parsers import conllu
from gest_dataset.gender.rules.quotations import is_by_speaker, quoted_spans
from tests.gender.test_rules import PARSES


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Otec povedal: „Bol som chorý.“", ["„Bol som chorý.“"]),
        ("Řekl: „Byl jsem tam.” A odešel.", ["„Byl jsem tam.”"]),
        ("Rekao je: »Bio sam tu« i otišao.", ["»Bio sam tu«"]),
        ("Он сказал: «Я устал» и ушёл.", ["«Я устал»"]),
        ('Pani: "Bola som tam." A pán: "Bol som tu."', ['"Bola som tam."', '"Bol som tu."']),
        ("Bol som „silný“ a „starý a chorý“ muž.", ["„starý a chorý“"]),
        ("„Bol som chorý.“", []),
        ("Bol som „starý muž bez konca.", []),
        ("Povedal: ‚Bol som chorý.‘", ["‚Bol som chorý.‘"]),
        ("“I was ill,” he said.", ["“I was ill,”"]),
        ("— Устал я, — сказал он. — Пойду.", ["Устал я", "— Пойду."]),
        ("Je to 5' 6\" a som rada.", []),
    ],
)
def test_spans_of_quotations(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in quoted_spans(text)] == parts


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("cs", "„Už jsem všechno zaplatila,“ opakuji té úřednici pořád dokola.", True),
        ("cs", "„Jsem hrozně unavená,“ říká mi máma každý večer.", False),
        ("cs", "Manžel volal: „Jsem připravený!“, zatímco já jsem byla pořád ve sprše.", False),
        ("pl", "„Zaraz wrócę, zapomniałem portfela” – mówię do kasjerki.", True),
        ("pl", "„Nigdy nie paliłem” – zapewnia mnie sąsiad z dołu.", False),
        ("ru", "«Сам виноват», — говорю я себе после каждой такой покупки.", True),
        ("ru", "Муж крикнул: «Я готов!», а я ещё не накрасилась.", False),
        ("bg", "„Пак съм забравил ключовете“, мърморя си всяка сутрин.", True),
        ("bg", "Дядо често ми повтаря: „Работил съм от десетгодишен.“", False),
    ],
)
def test_quotations_by_the_speaker(language: str, text: str, expected: bool) -> None:
    document = conllu.read_file(PARSES / f"{language}.conllu")[conllu.normalized(text)]
    [span] = quoted_spans(text)
    assert is_by_speaker(conllu.parse_conllu(document, text), span, load_grammar(language)) is expected


def test_sentences_without_a_space_between_them(tmp_path: Path) -> None:
    """A parser may end a sentence within a quotation, before the closing mark."""
    path = tmp_path / "parsed.conllu"
    word = "1\t{}\t_\t{}\t_\t_\t0\troot\t_\t{}\n\n"
    first = "# newpar\n# text = Ano!\n" + word.format("Ano!", "PART", "SpaceAfter=No")
    path.write_text(first + "# text = “\n" + word.format("“", "PUNCT", "_"), encoding="utf-8")
    assert {"Ano! “", "Ano!“"} <= set(conllu.read_file(path))


@pytest.mark.parametrize("language", LANGUAGES)
def test_hearing_is_not_speaking(language: str) -> None:
    """*I hear* introduces the words of somebody else."""
    grammar = load_grammar(language)
    heard = grammar.perceiving_verbs.pattern.removeprefix("(?:").removesuffix(")$").split("|")
    assert not any(grammar.speaking_verbs.fullmatch(verb) for verb in heard)
