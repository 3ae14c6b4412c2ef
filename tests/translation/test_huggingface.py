"""The real Hugging Face path on small random models of every family, beside a naive loop."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf

from gest_dataset.errors import ConfigError, ModelError, UnsupportedLanguageError
from gest_dataset.translation import models, open_translator, translate_all
from gest_dataset.translation.models import language_tokens, target_language
from gest_dataset.translation.systems import Translated
from gest_dataset.translation.translator import Translation, TranslationError
from tests.conftest import COMMIT, Cached
from tests.support import translators, zoo
from tests.support.hub import pointed_at, running

TEXTS = (
    "I am tired.",
    "I was never very good at this, they said.",
    "I have always wanted to be a leader.",
    "No.",
    "I cried when I saw how beautiful the house of my friends was, and so did she.",
    "My child is ill and I care for it.",
    'He said: "I am a man of few words."',
)


@pytest.fixture(autouse=True)
def _alone(one_thread: None) -> None:
    pass


def folder(name: str) -> Path:
    if name in translators.SLOW:
        pytest.importorskip("sentencepiece")
    return translators.directory(name)


# What each family wants, written down from its documentation: English, what is forced, the prefix
WAYS: dict[str, tuple[str | None, str | None, str]] = {
    "nllb": ("eng_Latn", "slk_Latn", ""),
    "m2m100": ("en", "__sk__", ""),
    "madlad": (None, None, "<2sk> "),
    "marian-sk": (None, None, ""),
    "marian-sla": (None, None, ">>slk<< "),
    "t5": (None, None, ""),
}


def limit_of(model: Any) -> int:
    return 10_000 if model.config.model_type == "t5" else 128


def naive(name: str, texts: Sequence[str]) -> list[str]:
    """One text at a time."""
    source, forced, prefix = WAYS[name]
    path = folder(name)
    tokenizer: Any = hf.AutoTokenizer.from_pretrained(path, **({"src_lang": source} if source else {}))
    model = hf.AutoModelForSeq2SeqLM.from_pretrained(path, dtype=torch.float32).eval()
    language = [] if forced is None else [tokenizer.convert_tokens_to_ids(forced)]
    found = []
    for text in texts:
        inputs = tokenizer(prefix + text, return_tensors="pt")
        limit = min(2 * inputs["input_ids"].shape[1] + 20, limit_of(model) - 1)
        given = {"forced_bos_token_id": language[0]} if language else {}
        given |= {"max_new_tokens": limit, "max_length": None, "forced_eos_token_id": tokenizer.eos_token_id}
        row = model.generate(**inputs, num_beams=4, **given)[0]
        ids = row.tolist()
        assert ids[1 : 1 + len(language)] == language
        ids = ids[1 + len(language) :]
        found.append(tokenizer.decode(ids, skip_special_tokens=True).strip())
    return found


def translated(name: str, texts: Sequence[str], store: Path, **settings: Any) -> Translated:
    return translate_all(texts, open_translator(f"hf:{folder(name)}", "sk", **settings), "sk", store=store)


@pytest.mark.parametrize("name", list(WAYS))
def test_batches_translate_as_one_text_at_a_time(name: str, tmp_path: Path) -> None:
    expected = naive(name, TEXTS)
    work = translated(name, TEXTS, tmp_path, batch_tokens=40)
    assert [made.source for made in work.translations] == list(TEXTS)
    assert [made.translation for made in work.translations] == expected
    assert len({made.translation for made in work.translations}) > 3


@pytest.mark.parametrize(
    ("name", "language", "said"),
    [
        ("madlad", "pl", r"\(MADLAD\) has no token for Polish \(pl\)\. Its tokens cover cs, sk"),
        ("marian-sla", "pl", "tokens cover sr, cs, sk"),
        ("marian-sk", "cs", "translates to 'sk', not to Czech"),
    ],
)
def test_a_language_that_the_model_lacks(name: str, language: str, said: str, tmp_path: Path) -> None:
    translator = open_translator(f"hf:{folder(name)}", language)
    with pytest.raises(UnsupportedLanguageError, match=said):
        translate_all(TEXTS, translator, language, store=tmp_path)


def test_a_family_of_models_without_one_for_a_language() -> None:
    with running() as hub, pointed_at(hub.url):
        for system, kind in (("hf:me/opus-en-{language}", UnsupportedLanguageError), ("hf:me/x", ModelError)):
            with pytest.raises(kind, match="cannot be loaded"):
                open_translator(system, "pl")


def test_serbian_is_asked_for_in_cyrillic() -> None:
    path = folder("marian-sla")
    assert target_language(hf.AutoTokenizer.from_pretrained(path), "x", "sr")[1] == ">>srp_Cyrl<< "
    tokenizer = hf.AutoTokenizer.from_pretrained(folder("nllb"))
    assert target_language(tokenizer, "x", "sr")[0] == tokenizer.convert_tokens_to_ids("srp_Cyrl")
    assert tokenizer.src_lang == "eng_Latn"
    assert target_language(tokenizer, "x", "en", "hu")[0] == tokenizer.convert_tokens_to_ids("eng_Latn")
    assert tokenizer.src_lang == "hun_Latn"
    madlad = hf.AutoTokenizer.from_pretrained(folder("madlad"))
    assert target_language(madlad, "x", "en", "tr") == (None, "<2en> ")


def test_every_language_has_a_token_in_the_vocabularies_that_are_published() -> None:
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M
    from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART
    from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB

    from gest_dataset.languages import LANGUAGES

    for language in LANGUAGES.values():
        assert set(language_tokens("NLLB", language)) <= set(NLLB)
        assert {token.strip("_") for token in language_tokens("M2M100", language)} <= set(M2M["m2m100"])
        assert set(language_tokens("mBART-50", language)) <= set(MBART)
        has = any(code.split("_")[0] == language.code for code in MBART)
        assert bool(language_tokens("mBART-50", language)) == has


def test_the_key_has_dtype_and_content(tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "nllb"
    shutil.copytree(folder("nllb"), copy)
    original = open_translator(f"hf:{folder('nllb')}", "sk")
    same = open_translator(f"hf:{copy}", "sk")
    assert (same.name, same.revision, same.settings) == (
        original.name,
        original.revision,
        original.settings,
    )
    half = open_translator(f"hf:{copy}", "sk", dtype="bfloat16")
    assert half.settings != original.settings
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert open_translator(f"hf:{copy}", "sk").revision != original.revision
    translate_all(TEXTS[:2], original, "sk", store=tmp_path)
    assert translate_all(TEXTS[:2], half, "sk", store=tmp_path).cached == 0
    assert translate_all(TEXTS[:2], original, "sk", store=tmp_path).cached == 2


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_a_model_of_the_hub_is_known_by_its_commit(cached: Cached, revision: str | None) -> None:
    cached(folder("nllb"), "somebody/nllb")
    assert open_translator("hf:somebody/nllb", "sk", revision=revision).revision == COMMIT


def test_a_text_longer_than_the_model(tmp_path: Path) -> None:
    long = "I was tired and " * 60
    work = translated("nllb", [TEXTS[0], long], tmp_path)
    assert not work.translations[0].problem
    assert work.translations[1] == Translation(long, "", work.translations[1].problem)
    assert "tokens, but the model accepts 128" in work.translations[1].problem
    assert (work.new, work.failed) == (1, 1)


def watch_batches(monkeypatch: pytest.MonkeyPatch, most: int = 10**9) -> list[list[int]]:
    """The sizes of the texts in each batch; memory runs out with more than `most` texts."""
    batches: list[list[int]] = []
    generate = models._generate

    def watched(loaded: Any, texts: Sequence[str], sizes: Sequence[int]) -> Any:
        if len(texts) > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        batches.append(list(sizes))
        return generate(loaded, texts, sizes)

    monkeypatch.setattr(models, "_generate", watched)
    return batches


def test_batches_are_sorted_and_within_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = watch_batches(monkeypatch)
    texts = list(dict.fromkeys(text for text in zoo.texts() if len(text) < 150))[:60]
    translated("nllb", texts * 2, tmp_path, batch_tokens=100)
    sizes = [size for batch in batches for size in batch]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 60
    assert all(len(batch) == 1 or len(batch) * batch[0] <= 100 for batch in batches)
    # no batch could have taken the next text as well
    assert all((len(batch) + 1) * batch[0] > 100 for batch in batches[:-1])


def test_out_of_memory_halves_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = naive("nllb", TEXTS)
    batches = watch_batches(monkeypatch, most=2)
    work = translated("nllb", TEXTS, tmp_path, batch_tokens=4096)
    assert [made.translation for made in work.translations] == expected
    assert max(map(len, batches)) == 2
    assert "Out of memory: continuing with" in caplog.text


def test_models_that_are_no_translators(tmp_path: Path) -> None:
    def attempt(path: Path, message: str) -> None:
        with pytest.raises((TranslationError, ModelError), match=message):
            translate_all(TEXTS, open_translator(f"hf:{path}", "sk"), "sk", store=tmp_path / "store")

    attempt(zoo.directory("gpt2"), "cannot be loaded")
    broken = tmp_path / "broken"
    shutil.copytree(translators.directory("nllb"), broken)
    (broken / "generation_config.json").write_text("{}")
    attempt(broken, "lacks eos_token_id")
    with (broken / "model.safetensors").open("r+b") as file:
        file.truncate(20_000)
    attempt(broken, "cannot be loaded: .*not fully covered")
    model = hf.AutoModel.from_pretrained(translators.directory("nllb"))
    del model.decoder.layers[1]
    model.save_pretrained(broken)
    hf.AutoConfig.from_pretrained(translators.directory("nllb")).save_pretrained(broken)
    attempt(broken, "lacks weights of M2M100ForConditionalGeneration")
    (broken / "config.json").unlink()
    attempt(broken, r"cannot be loaded.*\n.*hf:facebook/nllb")
    path = translators.directory("nllb")
    with pytest.raises(ConfigError, match="has no revisions"):
        open_translator(f"hf:{path}", "sk", revision="main")
    with pytest.raises(ConfigError, match="must be 1 or more"):
        open_translator(f"hf:{path}", "sk", batch_tokens=0)
