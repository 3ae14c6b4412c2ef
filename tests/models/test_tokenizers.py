"""Tokenizers that lie: none at all, one of another model, other offsets for the same ids."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import transformers as hf

import gest_dataset
from gest_dataset.errors import GestError, ModelError
from gest_dataset.probes.tokenization import make_probe_tokenizer
from tests.models.test_exact import (
    BY_NAME,
    LANGUAGE_MODELS,
    PROBES,
    reader,
    rows,
    run,
)
from tests.support import naive, zoo
from tests.support.naive import Reader

pytestmark = pytest.mark.usefixtures("one_thread")


def without_tokenizer(animal: str, folder: Path) -> Path:
    """The folder of a model as it is where only the weights were saved."""
    ignore = shutil.ignore_patterns("*token*", "*.jinja")
    return Path(shutil.copytree(zoo.directory(animal), folder / animal, ignore=ignore))


@pytest.mark.parametrize(
    "animal",
    ["bert", "roberta", "xlm-roberta", "albert", "deberta-v2", "modernbert", "gpt2", "llama", "gemma2", "t5"],
)
@pytest.mark.usefixtures("no_weights")
def test_a_folder_without_a_tokenizer(animal: str, tmp_path: Path) -> None:
    path = without_tokenizer(animal, tmp_path)
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        gest_dataset.score(str(path), "en", device="cpu")


def test_a_mask_token_beyond_the_embedding() -> None:
    model, tokenizer = zoo.load("bert")
    tokenizer.add_special_tokens({"mask_token": "<gap>"})
    with pytest.raises(GestError, match="token id 1200 is outside the vocabulary"):
        gest_dataset.score((model, tokenizer), "en", limit=3, device="cpu")


def forgetful(animal: str) -> Reader:
    """A model and its tokenizer, which knows the letters of `known` and nothing else."""
    model, tokenizer = zoo.load(animal)
    return Reader(model, forget(tokenizer), zoo.BY_NAME[animal].family)


def forget(tokenizer: Any) -> Any:
    """The same tokenizer, with each letter of the Latin and Cyrillic scripts made unknown."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import WordLevel

    special = {token: tokenizer.convert_tokens_to_ids(token) for token in tokenizer.all_special_tokens}
    unknown = tokenizer.unk_token or tokenizer.all_special_tokens[0]
    ordinary = next(i for i in range(200) if i not in special.values())
    backend = Tokenizer(WordLevel({**special, "7": ordinary}, unk_token=unknown))
    backend.normalizer = normalizers.Sequence([])
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = tokenizer.backend_tokenizer.post_processor
    tokens = {f"{role}_token": getattr(tokenizer, f"{role}_token") for role in zoo._SPECIAL}
    more = [f"<extra_id_{i}>" for i in range(10)] if "<extra_id_0>" in special else []
    mask = {"mask_token": tokenizer.mask_token} if tokenizer.mask_token else {}
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        unk_token=unknown,
        extra_special_tokens=more,
        **{name: token for name, token in {**tokens, **mask}.items() if token},
    )


UNKNOWN = [
    pytest.param(animal, probe.name, id=f"{animal}-{probe.name}")
    for animal in ("bert", "t5", "llama")
    for probe in PROBES
    if zoo.BY_NAME[animal].family in probe.families and set(probe.families) & set(LANGUAGE_MODELS)
]


@pytest.mark.parametrize(("animal", "probe"), UNKNOWN)
def test_unknown_words_have_no_score(animal: str, probe: str) -> None:
    """No word is known: not one sample is scored, whatever the probe."""
    entry = BY_NAME[probe]
    who = forgetful(animal)
    assert set(naive.answer(entry.ask, who, rows(entry.config, 3)).values()) == {None}
    with pytest.raises(GestError, match=r"No sample .* can be scored"):
        run(who, entry.config, entry.options, limit=3)


# ---- the same ids under another class -------------------------------------------------------------------


def generic(tokenizer: Any, trims: bool) -> Any:
    """The same vocabulary and ids as a plain `tokenizer.json`, whose offsets begin elsewhere.

    SentencePiece: text is not split at spaces before `▁` takes their place. Byte level: offsets are
    trimmed, or not.
    """
    from tokenizers import Tokenizer

    state = json.loads(tokenizer.backend_tokenizer.to_str())
    splitter = state["pre_tokenizer"]
    if splitter["type"] == "Sequence":
        (state["pre_tokenizer"],) = (one for one in splitter["pretokenizers"] if one["type"] == "Metaspace")
    else:
        state["post_processor"]["trim_offsets"] = trims
    special = {
        f"{role}_token": getattr(tokenizer, f"{role}_token")
        for role in (*zoo._SPECIAL, "unk", "mask")
        if getattr(tokenizer, f"{role}_token")
    }
    backend = Tokenizer.from_str(json.dumps(state))
    more = [token for token in tokenizer.all_special_tokens if token.startswith("<extra_id_")]
    return hf.PreTrainedTokenizerFast(tokenizer_object=backend, extra_special_tokens=more, **special)


@pytest.mark.parametrize("animal", ["xlm-roberta", "roberta", "gpt2", "mistral", "t5"])
def test_the_boundary_belongs_to_the_word(animal: str) -> None:
    """A lone `▁` or `Ġ` before a word is its first token, and no other token before it is."""
    tokenizer = reader(animal).tokenizer
    for each in (tokenizer, generic(tokenizer, trims=False)) if animal != "mistral" else (tokenizer,):
        read = make_probe_tokenizer(each, reader(animal).model, reader(animal).family)
        for text, word, wanted in (
            ("I ran (xqz) far.", "xqz", "xqz"),
            ("I ran xqz far.", "xqz", "·xqz"),
            ("I ran 'xqz' far.", "'xqz'", "·'xqz'"),
            ("xqz ran far.", "xqz", "xqz"),
            ("I (Ġxqz) ran.", "xqz", "xqz"),  # a letter of Maltese
            ("I  ran   xqz.", "xqz", "·xqz"),
            ("I ran and far.", "and", "·and"),
            ("I  ran   and far.", "and", "·and"),
        ):
            tokens = read(text)
            start = text.index(word)
            pieces = each.convert_ids_to_tokens(list(tokens.slice(tokens.slot(start, start + len(word)))))
            found = "".join(pieces).replace("▁", "·").replace("Ġ", "·")
            if text.startswith(word):  # some tokenizers put a space before the text
                found = found.removeprefix("·")
            assert found == wanted, (text, pieces)
