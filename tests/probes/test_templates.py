"""Templates: the extended table, selection for a kind of model, and files of templates."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

import gest_dataset
from gest_dataset.errors import SettingError
from gest_dataset.probes.templates import (
    EXTENDED_TEMPLATES,
    select_templates,
)
from gest_dataset.published.models import rank_among_published
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


WHOLE = '[{"id": 5, "text": "{word}: {sentence}", "masculine": "He", "feminine": "She"}]'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[" * 100_000 + "]" * 100_000, r"cannot be read \(it is nested too deeply"),
        (WHOLE.replace("5", "[5]"), r"needs a positive whole number"),
    ],
)
def test_json_that_is_no_template(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "templates.json"
    path.write_text(WHOLE, encoding="utf-8")
    assert [template.id for template in select_templates(path, "masked")] == [5]
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SettingError, match=reason):
        select_templates(path, "masked")
