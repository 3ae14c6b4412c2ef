"""Where sentences and documents end, which pairs are made of them, and how data are read."""

from __future__ import annotations

import json
import random
from itertools import count
from pathlib import Path

import pandas as pd
import pytest
from datasets import Dataset

from gest_dataset.errors import ConfigError, DataError, GestError
from gest_dataset.studies.nsp import pairs
from gest_dataset.studies.nsp.pairs import (
    NEXT,
    NOT_NEXT,
    make_pairs,
    parse_source,
    read_documents,
    split_sentences,
    write_pairs,
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
    found = list(make_pairs(enumerate(made), random.Random(0)))
    follows = {(pair["first"], pair["second"]) for pair in found if pair["label"] == NEXT}
    assert follows == {(f"{d}-{i}", f"{d}-{i + 1}") for d in range(30) for i in range(3)}
    assert len(found) == 2 * len(follows)
    for pair in found:
        assert pair["document"] == int(pair["first"].split("-")[0])
        assert (pair["document"] == int(pair["second"].split("-")[0])) == (pair["label"] == NEXT)
    assert found == list(make_pairs(enumerate(made), random.Random(0)))


def test_the_random_sentence_is_never_the_next_one() -> None:
    """Not even where another document is a copy; where nothing else is to be had there is no pair."""
    found = make_pairs(enumerate([["a", "b"]] * 3), random.Random(0))
    assert {pair["second"] for pair in found if pair["label"] == NOT_NEXT} == {"a"}
    assert list(make_pairs(enumerate([["a", "a"]] * 3), random.Random(0))) == []
    assert list(make_pairs(enumerate([["a", "b"]]), random.Random(0))) == []


def test_held_out_documents(tmp_path: Path) -> None:
    made = [[f"{d}-{place}" for place in range(9)] for d in range(300)]
    made[7] = ["only one"]
    counts = write_pairs(made, tmp_path, 10_000, seed=0, progress=False)
    train, test = (Dataset.from_file(str(tmp_path / name)).to_pandas() for name in (pairs.TRAIN, pairs.TEST))
    assert counts == {"documents": 300, "short": 1, "train": len(train), "test": len(test)}
    held_out = set(test["first"].str.split("-").str[0])
    assert len(held_out) == 30
    learnt = {*train["first"], *train["second"]}
    assert held_out.isdisjoint(sentence.split("-")[0] for sentence in learnt)
    assert test.groupby("document").size().eq(10).all()  # of five sentences each
    assert (test["label"].mean(), train["label"].mean()) == (0.5, 0.5)
    # what is written is taken, whatever the data are by then
    assert write_pairs([], tmp_path, 5, seed=1, progress=False) == counts


def test_endless_streams(tmp_path: Path) -> None:
    """A stream without an end is read as far as it is needed."""
    forever = ([f"{number}-{place}" for place in range(5)] for number in count())
    counts = write_pairs(forever, tmp_path, 1000, seed=0, progress=False)
    assert (counts["train"], counts["test"]) == (1000, 200 * 2 * 4)
    assert counts["documents"] < 2100


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
    found = list(read_documents([parse_source(str(path), "body")], seed=0))
    assert sorted(found) == sorted(MADE)
    assert kind != "txt" or found == MADE


def test_a_data_set_by_its_name_and_config(tmp_path: Path) -> None:
    """As on the Hub: a folder with a card that names the configs."""
    for config, text in (("en", "Once more. Twice."), ("de", "Einmal. Zweimal.")):
        (tmp_path / "wiki" / config).mkdir(parents=True)
        pd.DataFrame({"text": [text]}).to_parquet(tmp_path / "wiki" / config / "train.parquet")
    names = "".join(f"- config_name: {c}\n  data_files: {c}/train.parquet\n" for c in ("en", "de"))
    (tmp_path / "wiki" / "README.md").write_text(f"---\nconfigs:\n{names}---\n")
    sources = [parse_source(f"{tmp_path / 'wiki'}:{config}", "text") for config in ("en", "de")]
    assert list(read_documents(sources, seed=0)) == [["Once more.", "Twice."], ["Einmal.", "Zweimal."]]
    with pytest.raises(DataError, match="NAME:CONFIG"):
        list(read_documents([parse_source(str(tmp_path / "wiki"), "text")], seed=0))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.jsonl", '{"body": "One. Two."}\n', "no column 'text'. Choose one of body with --text"),
        ("x.csv", "", "cannot be read"),
        ("x.jsonl", '{"text": 3}\n', "cannot be read"),
        ("x.parquet", "no parquet", "cannot be read: .* Check the file"),
        ("x.docx", "text", r"unknown file type\. Use \.txt"),
    ],
)
def test_damaged_data(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(GestError, match=message):
        list(read_documents([parse_source(str(tmp_path / name), "text")], seed=0))
    with pytest.raises(ConfigError, match="does not exist"):
        parse_source(str(tmp_path / "none.txt"), "text")
