"""Where sentences and documents end, which pairs are made of them, and how data are read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pandas as pd
import pytest

from gest_dataset.errors import ConfigError, DataError, GestError
from gest_dataset.studies.nsp_pairs import (
    NEXT,
    NOT_NEXT,
    hash_of_file,
    is_held_out,
    load_pairs,
    make_pairs,
    read_documents,
    split_sentences,
)


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """`datasets` rests for five seconds after it has streamed Parquet, for threads that there are none of."""
    monkeypatch.setattr("datasets.config.SLEEP_TIME_ON_THREADS_SHUTDOWN", 0)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I am here. You are there! Are we?", ["I am here.", "You are there!", "Are we?"]),
        ("Dr. Novak spoke to J. Smith. He left.", ["Dr. Novak spoke to J. Smith.", "He left."]),
        ("Am 3. Mai kam sie. Das ist z.B. gut.", ["Am 3. Mai kam sie.", "Das ist z.B. gut."]),
        (
            "He message “Go!” and went. “No?” She sat.",
            ["He message “Go!” and went.", "“No?”", "She sat."],
        ),
        ("It is 3.5 km. to go", ["It is 3.5 km. to go"]),
        ("他来了。我走了！好吗？", ["他来了。", "我走了！", "好吗？"]),
        ("मैं थका हूँ। तुम भी।", ["मैं थका हूँ।", "तुम भी।"]),
        ("¿Qué pasa? ¡Nada! Bien.", ["¿Qué pasa?", "¡Nada!", "Bien."]),
        ("a heading\nA sentence", ["a heading", "A sentence"]),
        (" \n\n ", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_half_of_the_pairs_are_consecutive() -> None:
    made = [[f"{d}-{place}" for place in range(4)] for d in range(30)]
    found = list(make_pairs(made, 1000, 0))
    follows = {(pair["first"], pair["second"]) for pair in found if pair["label"] == NEXT}
    assert follows == {(f"{d}-{i}", f"{d}-{i + 1}") for d in range(30) for i in range(3)}
    assert len(found) == 2 * len(follows)
    for pair in found:
        second = int(pair["second"].split("-")[0])
        assert pair["document"] == int(pair["first"].split("-")[0])
        assert (pair["document"] == second) == (pair["label"] == NEXT)
        assert is_held_out(pair["document"]) == is_held_out(second)
    assert found == list(make_pairs(made, 1000, 0))


def test_the_random_sentence_is_never_the_next_one() -> None:
    """Not even where another document is a copy; where nothing else is to be had there is no pair."""
    found = make_pairs([["a", "b"]] * 4, 1000, 0)
    assert {pair["second"] for pair in found if pair["label"] == NOT_NEXT} == {"a"}
    assert list(make_pairs([["a", "a"]] * 4, 1000, 0)) == []
    assert list(make_pairs([["a", "b"]], 1000, 0)) == []


def test_held_out_documents(tmp_path: Path) -> None:
    made = [[f"{d}-{place}" for place in range(9)] for d in range(300)]
    made[7] = ["only one"]
    file = tmp_path / "pairs.arrow"
    train, test = (pairs.to_pandas() for pairs in load_pairs(made, file, 10_000, 0))
    assert (train["document"].nunique(), test["document"].nunique()) == (269, 30)
    held_out = set(test["first"].str.split("-").str[0])
    assert len(held_out) == 30
    learnt = {*train["first"], *train["second"]}
    assert held_out.isdisjoint(sentence.split("-")[0] for sentence in learnt)
    assert (test["label"].mean(), train["label"].mean()) == (0.5, 0.5)
    # what is written is taken, whatever the data are by then
    again, _ = load_pairs([], file, 10_000, 0)
    assert again.to_pandas().equals(train)


def test_endless_streams(tmp_path: Path) -> None:
    """A stream without an end is read as far as it is needed; the test is of 2,000 pairs of all documents."""
    read = []

    def forever() -> Iterator[list[str]]:
        for number in count():
            read.append(number)
            yield [f"{number}-{place}" for place in range(5)]

    train, test = load_pairs(forever(), tmp_path / "pairs.arrow", 20_000, 0)
    assert (len(train), len(test)) == (20_000, 2000)
    assert test.to_pandas()["label"].mean() == 0.5
    assert len(set(test["document"])) > 250
    assert len(read) == 3000


MADE = [["I am here.", "You are not."], ["He ran.", "She sang.", "Then it rained."], ["Nothing more."]]
TEXTS = [" ".join(sentences) for sentences in MADE]


@pytest.mark.parametrize("kind", ["txt", "jsonl", "csv", "parquet", "lists"])
def test_files_of_documents(tmp_path: Path, kind: str) -> None:
    """Each kind of file gives the same documents; rows are shuffled, blocks of a text are not."""
    path = tmp_path / f"corpus.{'jsonl' if kind == 'lists' else kind}"
    if kind == "txt":
        path.write_text("\ufeff\n" + "\n\n\n".join("\n".join(sentences) for sentences in MADE) + "\n")
    elif kind == "parquet":
        pd.DataFrame({"body": TEXTS}).to_parquet(path)
    elif kind == "csv":
        pd.DataFrame({"body": TEXTS}).to_csv(path, index=False)
    else:
        cells = MADE if kind == "lists" else TEXTS
        path.write_text("".join(json.dumps({"body": cell}) + "\n" for cell in cells))
    found = list(read_documents([str(path)], "body", 0))
    assert sorted(found) == sorted(MADE)
    assert kind != "txt" or found == MADE


def test_a_data_set_by_its_name_and_config(tmp_path: Path) -> None:
    """As on the Hub: a folder with a card that names the configs."""
    for config, text in (("en", "Once more. Twice."), ("de", "Einmal. Zweimal.")):
        (tmp_path / "wiki" / config).mkdir(parents=True)
        pd.DataFrame({"text": [text]}).to_parquet(tmp_path / "wiki" / config / "train.parquet")
    names = "".join(f"- config_name: {c}\n  data_files: {c}/train.parquet\n" for c in ("en", "de"))
    (tmp_path / "wiki" / "README.md").write_text(f"---\nconfigs:\n{names}---\n")
    sources = [f"{tmp_path / 'wiki'}:{config}" for config in ("en", "de")]
    assert list(read_documents(sources, "text", 0)) == [["Once more.", "Twice."], ["Einmal.", "Zweimal."]]
    with pytest.raises(DataError, match="NAME:CONFIG"):
        list(read_documents([str(tmp_path / "wiki")], "text", 0))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", '{"body": "One. Two."}\n', "no column 'text'. Pass one with --text: body"),
        ("x.csv", "", "cannot be read"),
        ("x.jsonl", '{"text": 3}\n', "cannot be read"),
        ("x.parquet", "no parquet", "cannot be read: .* Check the file"),
        ("x.docx", "text", r"unknown file type\. Use \.txt"),
    ],
)
def test_damaged_data(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    file = str(tmp_path / name)
    with pytest.raises(GestError, match=message):
        _ = hash_of_file(file), list(read_documents([file], "text", 0))
    with pytest.raises(ConfigError, match="does not exist"):
        hash_of_file(str(tmp_path / "none.txt"))
