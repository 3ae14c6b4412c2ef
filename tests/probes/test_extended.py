"""Frames of our own around GEST's sentences: which there are, whom they suit, what a run says of them."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import gest_dataset
from gest_dataset.cli import app
from gest_dataset.errors import SettingError
from gest_dataset.probes.templates import (
    DEFAULTS,
    EXTENDED_NAME,
    EXTENDED_TEMPLATES,
    TEMPLATES,
    select_templates,
)
from gest_dataset.published.models import rank_among_published
from tests.conftest import ROOT
from tests.models.test_exact import rows
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


@functools.cache
def well_read() -> tuple[Any, Any]:
    """A BERT whose vocabulary holds every word of the frames as a token."""
    model, tokenizer = zoo.load("bert")
    words = {word for frame in EXTENDED_TEMPLATES.values() for word in (frame.masculine, frame.feminine)}
    tokenizer.add_tokens(sorted(words - tokenizer.get_vocab().keys()))
    torch.manual_seed(0)
    model.resize_token_embeddings(len(tokenizer))
    return model, tokenizer


def test_the_table() -> None:
    """At least twelve frames for every kind of model, none of them worded as the paper's."""
    assert list(EXTENDED_TEMPLATES) == list(range(101, 101 + len(EXTENDED_TEMPLATES)))
    assert len({frame.text for frame in EXTENDED_TEMPLATES.values()}) == len(EXTENDED_TEMPLATES)
    for frame in EXTENDED_TEMPLATES.values():
        assert frame.text.count("{word}") == frame.text.count("{sentence}") == 1
        assert '"{sentence}"' in frame.text
        assert "said" not in frame.text
        assert frame.masculine != frame.feminine
    words = Counter(
        (frame.masculine.lower(), frame.feminine.lower()) for frame in EXTENDED_TEMPLATES.values()
    )
    assert len(words) >= 12  # no pair of words decides
    assert all(count <= 2 for count in words.values())
    masked, causal, seq2seq = (
        select_templates(EXTENDED_NAME, kind) for kind in ("masked", "causal", "seq2seq")
    )
    assert masked == seq2seq == list(EXTENDED_TEMPLATES.values())
    assert len(causal) >= 12
    assert all(frame.text.index("{sentence}") < frame.text.index("{word}") for frame in causal)


def test_the_page_lists_them() -> None:
    page = (ROOT / "docs" / "scoring.md").read_text(encoding="utf-8")
    for frame in EXTENDED_TEMPLATES.values():
        text = frame.text.format(word="w", sentence="s")
        assert f"| {frame.id} | `{text}` | {frame.masculine} | {frame.feminine} |" in page


def test_on_the_command_line(tmp_path: Path) -> None:
    asked = ["score", str(zoo.directory("gpt2")), "--templates", "extended", "--limit", "20", "--json"]
    told = CliRunner().invoke(app, [*asked, "--device", "cpu", "--output", str(tmp_path / "run")])
    assert told.exit_code == 0, told.output
    (run,) = json.loads(told.stdout)["runs"]
    assert list(run["result"]["by_template"]) == [str(number) for number in range(101, 113)]


def test_the_default_is_the_paper() -> None:
    for kind, numbers in DEFAULTS.items():
        assert [frame.id for frame in select_templates(None, kind)] == list(numbers)
        assert set(numbers) <= set(TEMPLATES)


def test_a_model_in_all_frames(tmp_path: Path) -> None:
    scores = gest_dataset.score(
        well_read(), "en", templates="extended", device="cpu", output=tmp_path / "run"
    )
    assert scores.skipped.num_rows == 0
    assert Counter(scores.table["template"].to_pylist()) == dict.fromkeys(
        EXTENDED_TEMPLATES, len(rows("en", 1000))
    )
    assert scores.metadata["templates"] == list(EXTENDED_TEMPLATES)
    assert "|options:templates=extended|" in scores.signature
    assert list(scores.result()["by_template"]) == list(EXTENDED_TEMPLATES)
    assert rank_among_published(scores.metadata, scores.result()) is None
    page = gest_dataset.report([tmp_path / "run"], tmp_path / "page.html")
    assert "118" in page.read_text(encoding="utf-8")
    # by its number a frame gives the same, and stands as little beside the paper's
    one = gest_dataset.score(well_read(), "en", templates=[101, 3], device="cpu")
    assert one.metadata["options"] == {"templates": "extended"}
    assert rank_among_published(one.metadata, one.result()) is None
    both = [
        {row["id"]: row["log_ratio"] for row in table.to_pylist() if row["template"] == 101}
        for table in (scores.table, one.table)
    ]
    assert both[0] == pytest.approx(both[1], abs=1e-4)


def test_by_hand() -> None:
    """ln P of the two words at the mask of frame 116."""
    model, tokenizer = well_read()
    sentence = rows("en", 1)[0]["sentence"]
    ids = tokenizer(f'A [MASK] wrote to our magazine: "{sentence}"', return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0, ids[0].tolist().index(tokenizer.mask_token_id)]
    boy, girl = tokenizer.convert_tokens_to_ids(["boy", "girl"])
    scores = gest_dataset.score((model, tokenizer), "en", templates=[116], limit=1, device="cpu")
    assert scores.table["log_ratio"][0].as_py() == pytest.approx(
        (logits[boy] - logits[girl]).item(), abs=1e-4
    )


def test_a_frame_whose_word_is_split_is_left_out() -> None:
    """Of many frames some do not suit a vocabulary: that is said, and the others are scored."""
    scores = gest_dataset.score(zoo.load("bert"), "en", templates="extended", limit=4, device="cpu")
    numbers = scores.metadata["templates"]
    assert {107, 110, 113, 114} <= set(numbers) < set(EXTENDED_TEMPLATES)
    assert sorted(set(scores.table["template"].to_pylist())) == numbers
    left_out = [note for note in scores.metadata["notes"] if "is left out" in note]
    assert len(left_out) == len(EXTENDED_TEMPLATES) - len(numbers)
    assert "template 104 is left out: 'uncle' is " in " ".join(left_out)
    assert set(scores.skipped["template"].to_pylist()) == set(EXTENDED_TEMPLATES) - set(numbers)


@pytest.mark.parametrize("animal", ["gpt2", "gpt2-letters", "llama", "t5"])
def test_others_take_words_of_several_tokens(animal: str) -> None:
    scores = gest_dataset.score(zoo.load(animal), "en", templates="extended", limit=3, device="cpu")
    causal = zoo.BY_NAME[animal].family == "causal"
    assert scores.metadata["templates"] == [
        frame.id for frame in select_templates(EXTENDED_NAME, "causal" if causal else "masked")
    ]


def test_a_frame_that_is_named_has_to_suit(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="so a causal model cannot score it"):
        select_templates([101, 113], "causal")
    with pytest.raises(SettingError, match=r"There is no template 100. Use some of 1, 2, 3, 4, 101 to 118"):
        select_templates([100], "masked")
    # a file is a file, whatever numbers it has
    path = tmp_path / "mine.json"
    own = {"id": 101, "text": "{word}: {sentence}", "masculine": "He", "feminine": "She"}
    path.write_text(json.dumps([own]), encoding="utf-8")
    scores = gest_dataset.score(zoo.load("bert"), "en", templates=path, limit=2, device="cpu")
    assert scores.metadata["options"]["templates"].startswith("mine.json#")
