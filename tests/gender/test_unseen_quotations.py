"""Whose words a quotation holds: the speaker's, where a verb of saying in the first person introduces it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gest_dataset.gender.grammars import GRAMMARS
from gest_dataset.gender.parsers import conllu
from gest_dataset.gender.parsers.conllu import parse_conllu
from gest_dataset.gender.rules.quotations import own_quotation
from gest_dataset.gender.rules.reported import quoted
from tests.gender.test_rules import PARSES


@pytest.mark.parametrize(
    ("language", "text", "own"),
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
def test_own_quotation(language: str, text: str, own: bool) -> None:
    document = conllu.read_file(PARSES / f"{language}.conllu")[conllu.normal(text)]
    [span] = quoted(text)
    assert own_quotation(parse_conllu(document, text), span, GRAMMARS[language]) is own


def test_sentences_without_a_space_between_them_are_found(tmp_path: Path) -> None:
    """A parser may end a sentence within a quotation, before the closing mark."""
    path = tmp_path / "parsed.conllu"
    word = "1\t{}\t_\t{}\t_\t_\t0\troot\t_\t{}\n\n"
    first = "# newpar\n# text = Ano!\n" + word.format("Ano!", "PART", "SpaceAfter=No")
    path.write_text(first + "# text = “\n" + word.format("“", "PUNCT", "_"), encoding="utf-8")
    assert {"Ano! “", "Ano!“"} <= set(conllu.read_file(path))


def test_hearing_is_not_saying() -> None:
    """*I hear* and *I read* are verbs of the first person; what follows is another's."""
    for grammar in GRAMMARS.values():
        assert grammar.speaking != grammar.perceiving
    assert GRAMMARS["cs"].perceives("slyším")
    assert not GRAMMARS["cs"].ends_speaking("slyším")
    assert GRAMMARS["cs"].ends_speaking("říkám")
