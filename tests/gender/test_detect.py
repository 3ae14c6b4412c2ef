"""detect and explain: files of parses, texts that cannot be judged, the cache, Serbian letters."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from gest_dataset import progress
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.gender import (
    PARSERS,
    Detection,
    ParserError,
    detect,
    explain,
    languages,
)
from gest_dataset.gender.parsers import conllu
from gest_dataset.gender.parsers.conllu import Parser
from gest_dataset.gender.parsing import problem, to_latin
from gest_dataset.languages import LANGUAGES, Language

SMALL = Path(__file__).with_name("small.conllu").read_text(encoding="utf-8")
FIRST, SECOND, POLISH = (f"{sentence}\n\n" for sentence in SMALL.strip().split("\n\n"))
WORD = "{}\tBola\t_\tVERB\t_\t_\t{}\tdep\t_\t_"  # a word by its id and its head


@pytest.fixture
def parses(tmp_path: Path) -> Path:
    path = tmp_path / "parsed.conllu"
    path.write_text(f"# newpar\n{FIRST}{SECOND}", encoding="utf-8")
    return path


def test_conllu_file(parses: Path) -> None:
    """A sentence, a paragraph, and a text that the file lacks."""
    texts = ["Bola som tam.", "Bola som  tam. On tam bol.", "Bol som doma."]
    found = detect(texts, "sk", "conllu", parses)
    assert found == [
        Detection("female", "past-auxiliary", ("Bola",), False, ((0, 4),)),
        Detection("female", "past-auxiliary", ("Bola",), False, ((0, 4),)),
        Detection("unknown", "", (), False, problem="not parsed"),
    ]


def test_a_multiword_token_is_one_piece_of_evidence(tmp_path: Path) -> None:
    path = tmp_path / "pl.conllu"
    path.write_text(POLISH, encoding="utf-8")
    found = detect(["Byłam tam."], "pl", "conllu", path)[0]
    assert (found.gender, found.evidence, found.spans) == ("female", ("Byłam",), ((0, 5),))
    tokens = conllu.parse_conllu(POLISH, "Byłam tam.")[0].tokens
    assert [(t.id, t.text, t.surface, t.start, t.end) for t in tokens] == [
        (1, "Była", "Byłam", 0, 5),
        (2, "m", "Byłam", 0, 5),
        (3, "tam", "tam", 6, 9),
        (4, ".", ".", 9, 10),
    ]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("1\tBola\tbyť", "line 2: 3 columns, expected 10"),
        ("x\tBola\t_\tVERB\t_\t_\t0\troot\t_\t_", "line 2: id 'x', expected 1"),
        ("1\tBola\t_\tVERB\t_\t_\t_\t_\t_\t_", "Is the file parsed"),
        ("2\tBola\t_\tVERB\t_\t_\t0\troot\t_\t_", "line 2: id '2', expected 1"),
        ("1-3\tBola" + "\t_" * 8 + "\n" + WORD.format(1, 0), "1 words, expected 3"),
        ("1-2\tBola" + "\t_" * 8 + "\n1-2\tBola" + "\t_" * 8, "line 3: id '1-2', expected 1"),
    ],
)
def test_invalid_conllu(tmp_path: Path, lines: str, reason: str) -> None:
    path = tmp_path / "broken.conllu"
    path.write_text(f"# text = Bola som.\n{lines}\n\n", encoding="utf-8")
    with pytest.raises(DataError, match=reason):
        detect(["Bola som."], "sk", "conllu", path)


def test_conllu_needs_texts_and_a_path(tmp_path: Path) -> None:
    path = tmp_path / "no_text.conllu"
    path.write_text(FIRST.partition("\n")[2], encoding="utf-8")
    with pytest.raises(DataError, match="has no line `# text"):
        detect(["Bola som tam."], "sk", "conllu", path)
    with pytest.raises(ConfigError, match="needs a CoNLL-U file"):
        detect(["Bola som tam."], "sk", "conllu")
    with pytest.raises(DataError, match="cannot be read"):
        detect(["Bola som tam."], "sk", "conllu", tmp_path / "nowhere.conllu")


def test_wrong_names() -> None:
    with pytest.raises(ConfigError, match=r"no gender rules for 'de'; choose one of .*sk"):
        detect(["Ich bin müde."], "de")
    with pytest.raises(ConfigError, match=r"no parser 'spacy'; choose one of udpipe, conllu"):
        detect(["Som doma."], "sk", "spacy")
    assert {"be", "bg", "cs", "hr", "pl", "ru", "sk", "sl", "sr", "uk"} <= set(languages())
    assert set(PARSERS) == {"udpipe", "conllu", "trankit"}


def test_a_new_language_is_checked_by_its_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LANGUAGES, "mk", Language("mk", "Macedonian", "mkd", script="Cyrl"))
    assert problem("Sum umoren.", "mk") == "not translated: no Cyrillic letter"
    assert problem("Сум уморен.", "mk") == problem("Umorna sam.", "sr") == problem("Umorna sem.", "new") == ""


PROBLEMS = {
    "sk": {
        "": "empty",
        " … 12 !": "empty",
        "Bola " * 10_000: "too long: more than 10,000 characters",
        "VÃ¡Å¾ne som unavenÃ¡.": "garbled",
        "Som unaven\ufffd.": "garbled",
        "I am very tired of this.": "not translated: English",
        "Som unavená z toho.": "",
        "Mám rád tú pieseň I Will Always Love You od Whitney.": "",
    },
    "ru": {
        "Ð¯ ÑƒÑÑ‚Ð°Ð»Ð°.": "garbled",
        "I am tired.": "not translated: no Cyrillic letter",
        "Я устала.": "",
    },
    "pl": {"I'm tired.": "not translated: English", "Wróciłam do domu, a on nie.": ""},
    "sr": {"Ja sam to i on.": ""},
}


@pytest.mark.parametrize("language", list(PROBLEMS))
def test_problems(language: str) -> None:
    for text, expected in PROBLEMS[language].items():
        assert problem(text, language).startswith(expected)
        assert bool(problem(text, language)) == bool(expected)


def test_texts_with_problems_are_unknown(parses: Path) -> None:
    found = detect(["", "Bola som tam.", "I am tired of the rain."], "sk", "conllu", parses)
    assert [d.gender for d in found] == ["unknown", "female", "unknown"]
    assert [d.problem for d in found] == ["empty", "", "not translated: English"]


def test_serbian_letters() -> None:
    text = "Њене љубави, џез и Ђорђе."
    latin, positions = to_latin(text)
    assert latin == "Njene ljubavi, džez i Đorđe."
    assert len(positions) == len(latin) + 1
    for word in ("ljubavi", "džez", "Đorđe"):
        start = latin.index(word)
        assert to_latin(text[positions[start] : positions[start + len(word)]])[0] == word
    assert to_latin("Већ latinica.")[0] == "Već latinica."


def test_explain() -> None:
    detection = Detection("female", "past-auxiliary", ("Bola", "unavená"), False, ((0, 4), (9, 16)))
    assert explain("Bola som unavená.", detection) == "[Bola] som [unavená].  (female: past-auxiliary)"
    marked = explain("Bola som unavená.", detection, marks=("<b>", "</b>"))
    assert marked.startswith("<b>Bola</b> som <b>unavená</b>.")
    assert explain("Som doma.", Detection("unknown", "", (), False)) == "Som doma.  (unknown: no evidence)"
    assert explain("…", Detection("unknown", "glad", (), True)) == "…  (unknown, conflict: glad)"
    assert explain("", Detection("unknown", "", (), False, problem="empty")) == "  (unknown: empty)"


def test_conflict_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "mixed.conllu"
    male = FIRST.replace("Bola", "Bol").replace("Fem", "Masc")
    path.write_text(f"# newpar\n{FIRST}{male}", encoding="utf-8")
    found = detect(["Bola som tam. Bol som tam."], "sk", "conllu", path)[0]
    assert (found.gender, found.conflict, found.evidence) == ("unknown", True, ("Bola", "Bol"))


class _Parser:
    """A parser with fixed answers that counts its texts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: Mapping[str, str]) -> None:
        self.answers = dict(answers)
        self.texts: list[str] = []
        parser = Parser("signature", self.parse)
        monkeypatch.setattr(
            sys.modules["gest_dataset.gender.detect"], "open_parser", lambda *arguments: parser
        )

    def parse(self, texts: Sequence[str]) -> Iterator[Mapping[str, str]]:
        for text in texts:
            self.texts.append(text)
            yield {text: self.answers[text]}


TEXTS = ["Bola som tam.", "On tam bol."]


def test_a_text_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = _Parser(monkeypatch, dict(zip(TEXTS, (FIRST, SECOND), strict=True)))
    cache = tmp_path / "deep" / "parses.sqlite3"
    assert [d.gender for d in detect([*TEXTS, *TEXTS], "sk", cache=cache)] == ["female", "unknown"] * 2
    assert parser.texts == TEXTS
    assert [d.gender for d in detect(TEXTS, "sk", cache=cache)] == ["female", "unknown"]
    assert parser.texts == TEXTS
    detect(TEXTS[:1], "sk", cache=tmp_path / "other.sqlite3")
    assert len(parser.texts) == 3


def test_slow_parsing_shows_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gest_dataset.progress")
    _Parser(monkeypatch, dict(zip(TEXTS, (FIRST, SECOND), strict=True)))
    for seconds, lines in ((5.0, []), (0.0, ["1 of 2 texts parsed"])):
        monkeypatch.setattr(progress, "_FIRST_LINE", seconds)
        detect(TEXTS, "sk", cache=tmp_path / f"{seconds}.sqlite3")
        assert caplog.messages == lines


def test_an_invalid_parse_is_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parses before it are: the next run continues."""
    parser = _Parser(monkeypatch, dict(zip(TEXTS, (FIRST, "1\tOn\n\n"), strict=True)))
    cache = tmp_path / "parses.sqlite3"
    with pytest.raises(ParserError, match=r"2 columns, expected 10(?s:.*)1 of 2 texts are parsed and cached"):
        detect(TEXTS, "sk", cache=cache)
    parser.answers["On tam bol."] = SECOND
    parser.texts.clear()
    assert [d.gender for d in detect(TEXTS, "sk", cache=cache)] == ["female", "unknown"]
    assert parser.texts == ["On tam bol."]


def test_the_signature_of_a_file_is_its_content(tmp_path: Path) -> None:
    path = tmp_path / "parsed.conllu"
    path.write_text(FIRST, encoding="utf-8-sig")
    first = conllu.open_parser("sk", path)
    assert list(first.parse(["Bola som tam."])) == [{"Bola som tam.": FIRST}]
    path.write_text(FIRST.replace("AUX", "VERB"), encoding="utf-8")
    assert conllu.open_parser("sk", path).signature != first.signature
