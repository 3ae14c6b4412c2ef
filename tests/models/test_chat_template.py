"""Texts scored as the assistant's answers, against the naive reference; compared with the plain texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.errors import GestError, ModelError, SettingError
from gest_dataset.models.chat import template
from gest_dataset.models.loading import LoadedModel
from gest_dataset.runs.comparison import compare
from gest_dataset.runs.folder import read_run
from tests.conftest import Gest
from tests.support import naive, zoo
from tests.support.naive import Reader, Text

pytestmark = pytest.mark.usefixtures("one_thread")

PLAIN = (
    "{{ bos_token or '' }}{% for m in messages %}[{{ m.role }}] {{ m.content }} {% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + PLAIN
DATED = "{{ strftime_now('%Y') }}{{ date_string }}" + PLAIN


def pair(animal: str, text: str | None) -> tuple[Any, Any]:
    model, tokenizer = zoo.load(animal)
    tokenizer.chat_template = text
    return model, tokenizer


def with_chat(reader: Reader, text: Text) -> Text:
    """As `naive.with_start`: the rendered conversation in front, and no other special token."""
    rendered = reader.tokenizer.apply_chat_template(
        [template.SYSTEM, template.USER], add_generation_prompt=True, tokenize=False
    )
    start = reader.tokenizer(rendered, add_special_tokens=False)["input_ids"]
    kept = [i for i, special in enumerate(text.special) if not special]
    added = len(start)
    return Text(
        [*start, *(text.ids[i] for i in kept)],
        [(0, 0)] * added + [text.offsets[i] for i in kept],
        [True] * added + [False] * len(kept),
        [""] * added + [text.pieces[i] for i in kept],
        text.source,
        text.unknown,
    )


@pytest.mark.parametrize("animal", ["gpt2", "llama"])
@pytest.mark.parametrize(
    ("config", "ask"),
    [("sk_pairs", naive.pair), ("stereoset_en_intrasentence", naive.intrasentence)],
)
def test_equal_to_naive(animal: str, config: str, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = pair(animal, PLAIN)
    rows = load_dataset("gest", config, split="test").select(range(8))
    scores = gest_dataset.score((model, tokenizer), rows, device="cpu", chat_template=True)
    monkeypatch.setattr(naive, "with_start", with_chat)
    wanted = naive.answer(ask, Reader(model, tokenizer, "causal"), rows)
    columns = naive.CANDIDATES if "unrelated" in scores.table.column_names else ("log_ratio",)
    found = {row["id"]: tuple(row[name] for name in columns) for row in scores.table.to_pylist()}
    expected = {name: value if isinstance(value, tuple) else (value,) for name, value in wanted.items()}
    assert found == {
        name: pytest.approx(value, abs=1e-4) for name, value in expected.items() if value != (None,)
    }
    plain = gest_dataset.score((model, tokenizer), rows, device="cpu")
    assert plain.table[columns[0]].to_pylist() != pytest.approx(
        scores.table[columns[0]].to_pylist(), abs=1e-4
    )


def chat_start(tokenizer: Any) -> tuple[int, ...]:
    return template.chat_start(LoadedModel(None, tokenizer, "causal", "it"))


def test_templates_without_a_system_message_and_with_a_date() -> None:
    _, tokenizer = pair("gpt2", NO_SYSTEM)
    alone = tokenizer.apply_chat_template([template.USER], add_generation_prompt=True)["input_ids"]
    assert chat_start(tokenizer) == tuple(alone)
    _, tokenizer = pair("gpt2", DATED)
    text = tokenizer.decode(chat_start(tokenizer))
    assert text.count(template._DATE) == 2, "the same tokens on every day"


def test_two_conditions_of_one_model_are_compared(gest: Gest, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    for part in pair("gpt2", PLAIN):
        part.save_pretrained(folder)
    for flag in ([], ["--chat-template"]):
        done = gest("score", folder, "--device", "cpu", *flag)
        assert done.returncode == 0, done.stderr
    runs = [tmp_path / "gest-runs" / name / "en" for name in ("model", "model-chat")]
    plain, chat = map(read_run, runs)
    assert "chat_template" not in plain.manifest.signature
    assert f"|chat_template:{chat.manifest.settings['chat_template'][:12]}|" in chat.manifest.signature
    (difference,) = compare(runs).differences
    assert difference.n == plain.table.num_rows // 2  # templates 3 and 4
    done = gest("compare", *runs)
    assert done.returncode == 0, done.stderr
    assert "model-chat" in done.stdout


@pytest.mark.parametrize(
    ("animal", "text", "error", "message"),
    [
        ("bert", PLAIN, SettingError, "chat_template applies to causal models"),
        ("gpt2", None, ModelError, "has no chat template"),
        ("gpt2", "{{ nobody.knows.this }}", ModelError, "does not work"),
        ("gpt2", "{% for i in range(10**12) %}{{ i }}{% endfor %}", GestError, "does not work"),
    ],
)
def test_models_without_a_chat_format(animal: str, text: str | None, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        gest_dataset.score(pair(animal, text), "en", device="cpu", chat_template=True)


def test_rules_of_the_authors_have_no_chat() -> None:
    with pytest.raises(SettingError, match="chat_template"):
        gest_dataset.score(pair("gpt2", PLAIN), "en", chat_template=True, rules="authors")
