"""Translation with models: those of Hugging Face (NLLB, M2M100, OPUS-MT, MADLAD, …), and served chat models.

A chat model gets one prompt for each sentence. For a sequence-to-sequence model, texts are sorted by length
and translated in batches under a budget of padded tokens, with beam search; other generation settings of the
model stay.
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, LogitsProcessorList

from gest_dataset.errors import (
    ConfigError,
    ModelError,
    ScoringError,
    UnsupportedLanguageError,
    convert_errors,
    describe_error,
)
from gest_dataset.languages import LANGUAGES, SOURCE, Language, source_language
from gest_dataset.models.base import CHAT_CONNECTIONS, Sampling
from gest_dataset.models.device import pick_device, pick_dtype
from gest_dataset.models.pretrained import check_complete, commit_hash, from_pretrained, load_config
from gest_dataset.models.served.client import normalize_address
from gest_dataset.models.served.model import connect
from gest_dataset.probes.prompts import EMPTY, Answer, Prompt, without_thoughts
from gest_dataset.storage import read_yaml, update_hash
from gest_dataset.translation.translator import Batches, Translation, TranslationStoppedError, Translator

logger = logging.getLogger(__name__)
BEAMS = 4
# The longest output for an input of n tokens: _FACTOR * n + _EXTRA
_FACTOR, _EXTRA = 2, 20
# Padded input tokens in a batch; each needs BEAMS times as many output tokens and their caches
BATCH_TOKENS = {"cpu": 512, "mps": 2048, "cuda": 8192}
_MODEL_FILES = {".json", ".safetensors", ".bin", ".model", ".spm", ".txt"}
# Families of models by their language tokens (models.yaml)
FAMILIES = read_yaml(Path(__file__).with_suffix(".yaml"))
PROMPT = (
    "Translate this sentence from {source} to {language}. Answer with the translation only.\n\n{sentence}"
)
# What a language is called in the prompt, if not by its name
_NAMES = {"sr": "Serbian, in Cyrillic letters"}
_SAMPLING = Sampling(max_tokens=256)
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"))


def language_tokens(family: str, language: Language) -> list[str]:
    """The possible tokens of a language in a family, the best one first."""
    patterns = FAMILIES[family]["tokens"]
    if isinstance(patterns, dict):
        return [patterns[language.code]] if language.code in patterns else []
    return [pattern.format(x=language) for pattern in patterns]


def target_language(tokenizer: Any, name: str, language: str, source: str = SOURCE) -> tuple[int | None, str]:
    """The first token of outputs and the prefix of inputs in a language; the source language is set.

    The tokenizer's language tokens decide, so that fine-tuned models work as well.
    """
    wanted = LANGUAGES[language]
    # some tokenizers (M2M100's) do not list their language tokens in the vocabulary
    unknown = {None, tokenizer.unk_token_id}
    for family, facts in FAMILIES.items():
        tokens = {
            code: token
            for code, target in LANGUAGES.items()
            for token in reversed(language_tokens(family, target))
            if tokenizer.convert_tokens_to_ids(token) not in unknown
        }
        if not tokens:
            continue
        if language not in tokens:
            others = ", ".join(code for code in tokens if code != "en") or "none of the supported languages"
            raise UnsupportedLanguageError(
                f"{name!r} ({family}) has no token for {wanted.name} ({language}). Its tokens cover {others}."
            )
        if "source" not in facts:
            return None, f"{tokens[language]} "
        spoken = language_tokens(family, source_language(source))
        if not spoken or tokenizer.convert_tokens_to_ids(spoken[0]) in unknown:
            raise UnsupportedLanguageError(f"{name!r} ({family}) has no token for the source {source!r}.")
        tokenizer.src_lang = spoken[0].strip("_")  # M2M100's token has more of them than its code
        return tokenizer.convert_tokens_to_ids(tokens[language]), ""
    named = getattr(tokenizer, "target_lang", None) or getattr(tokenizer, "tgt_lang", None)
    if named is None:
        logger.warning(
            "%s does not state its languages; assuming that it translates to %s.", name, wanted.name
        )
    elif named not in {wanted.code, wanted.iso3}:
        raise UnsupportedLanguageError(
            f"{name!r} translates to {named!r}, not to {wanted.name} ({language}). Choose another model, "
            f"such as Helsinki-NLP/opus-mt-en-{language}."
        )
    return None, ""


def open_model(
    name: str,
    language: str,
    device: str,
    dtype: str,
    batch_tokens: int | None,
    revision: str | None,
    spoken: str = SOURCE,
) -> Translator:
    """The translator of a Hub id or a folder; its weights are loaded when they are needed."""
    torch_device = pick_device(device)
    torch_dtype = pick_dtype(dtype, torch_device)
    if batch_tokens is not None and batch_tokens < 1:
        raise ConfigError(f"batch_tokens must be 1 or more, not {batch_tokens}.")
    folder = Path(name).expanduser()
    is_local = folder.is_dir()
    if is_local and revision is not None:
        raise ConfigError(f"{name!r} is a folder, which has no revisions.")
    with convert_errors(partial(_load_error, name)):
        if is_local:
            digest = hashlib.sha256()
            for path in sorted(path for path in folder.iterdir() if path.suffix in _MODEL_FILES):
                digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
                update_hash(digest, path)
            commit: str | None = f"sha256:{digest.hexdigest()[:16]}"
        else:
            load_config(name, revision=revision)
            commit = commit_hash(name, revision)
    if commit is None:
        raise ModelError(f"The commit of {name!r} is unknown; pass it as the revision.")
    source, version = (str(folder), None) if is_local else (name, commit)
    load = partial(_load, source, version, (language, spoken), torch_device, torch_dtype)
    budget = batch_tokens or BATCH_TOKENS.get(torch_device.type, BATCH_TOKENS["cuda"])
    settings = f"beams={BEAMS} longest={_FACTOR}n+{_EXTRA} {str(torch_dtype).removeprefix('torch.')}"
    return Translator(
        name=f"hf:{folder.resolve().name if is_local else name}",
        revision=commit,
        settings=settings if spoken == SOURCE else f"{settings} from {spoken}",
        translate=lambda texts: _translate(texts, load, budget),
        device=torch_device,
    )


def _load_error(name: str, error: BaseException) -> ModelError:
    extra = ' (pip install "gest-dataset[translate]")' if isinstance(error, ImportError) else ""
    return ModelError(
        f"The model {name!r} cannot be loaded: {describe_error(error)}{extra}\n"
        f"Give the Hub id or folder of a translation model, such as hf:facebook/nllb-200-distilled-600M."
    )


@dataclass(frozen=True)
class _Loaded:
    model: Any
    tokenizer: Any
    forced: int | None
    prefix: str
    limit: int | None  # tokens of an input, and of an output


def _load(
    name: str, revision: str | None, languages: tuple[str, str], device: torch.device, dtype: torch.dtype
) -> _Loaded:
    with convert_errors(partial(_load_error, name)):
        config = load_config(name, revision=revision)
        tokenizer = from_pretrained(AutoTokenizer, name, revision=revision)
        forced, prefix = target_language(tokenizer, name, *languages)
        model, info = from_pretrained(
            AutoModelForSeq2SeqLM, name, revision=revision, dtype=dtype, output_loading_info=True
        )
        model = model.to(device).eval()
    for note in check_complete(model, info, name):
        logger.warning("%s: %s", name, note)
    settings = model.generation_config
    starts = (settings.decoder_start_token_id, settings.bos_token_id)
    if settings.eos_token_id is None or starts == (None, None):
        raise ModelError(
            f"The generation_config.json of {name!r} lacks eos_token_id or decoder_start_token_id; add them."
        )
    settings.update(num_beams=BEAMS, do_sample=False, max_length=None)
    settings.update(temperature=None, top_k=None, top_p=None)
    if forced is not None:
        settings.forced_bos_token_id = forced
    return _Loaded(model, tokenizer, forced, prefix, getattr(config, "max_position_embeddings", None))


def _translate(texts: Sequence[str], load: Callable[[], _Loaded], budget: int) -> Batches:
    """Translate in batches, the longest texts first, so that too little memory shows at once."""
    loaded = load()
    prefixed = [loaded.prefix + text for text in texts]
    ids = loaded.tokenizer(prefixed, truncation=False, verbose=False)["input_ids"]
    sizes = {text: len(row) for text, row in zip(texts, ids, strict=True)}
    too_long = [text for text in texts if loaded.limit is not None and sizes[text] > loaded.limit]
    if too_long:
        reason = f"tokens, but the model accepts {loaded.limit}"
        yield [Translation(text, "", f"the text has {sizes[text]} {reason}") for text in too_long]
    waiting = sorted(set(texts) - set(too_long), key=lambda text: (-sizes[text], text))
    while waiting:
        longest = sizes[waiting[0]]
        batch = waiting[: max(1, budget // longest)]
        outputs = None
        try:
            outputs = _generate(loaded, batch, [sizes[text] for text in batch])
        except Exception as error:
            if not should_reduce_batch_size(error):
                raise
            if len(batch) == 1:
                raise TranslationStoppedError(
                    f"Out of memory with one text of {longest} tokens. Use a smaller model, "
                    f"--dtype bfloat16 or --device cpu."
                ) from error
        if outputs is None:  # outside of the handler, which holds the tensors
            budget = max(longest, longest * len(batch) // 2)
            clear_device_cache(garbage_collection=True)
            logger.warning("Out of memory: continuing with %d tokens in a batch.", budget)
            continue
        waiting = waiting[len(batch) :]
        yield [Translation.of(text, output) for text, output in zip(batch, outputs, strict=True)]


@torch.inference_mode()
def _generate(loaded: _Loaded, texts: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """The translations of a batch; `sizes` are the numbers of tokens of the texts."""
    model, tokenizer = loaded.model, loaded.tokenizer
    prefixed = [loaded.prefix + text for text in texts]
    inputs = tokenizer(prefixed, padding=True, return_tensors="pt").to(model.device)
    # one position of the model's limit is the start token's
    longest = [min(_FACTOR * size + _EXTRA, (loaded.limit or 1 << 30) - 1) for size in sizes]
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    limits = torch.tensor(longest, device=model.device).repeat_interleave(BEAMS)

    def force_end(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Like `forced_eos_token_id`, with a length for each text; ids include the start token."""
        last = ids.shape[1] >= limits
        scores[last] = -torch.inf
        scores[last, ends[0]] = 0
        return scores

    rows = model.generate(
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        max_new_tokens=max(longest),
        logits_processor=LogitsProcessorList([force_end]),
    ).tolist()
    # a row is the start token, perhaps the language, the text, the end, and padding
    begin = 1 if loaded.forced is None else 2
    outputs = []
    for row in rows:
        end = next(position for position, token in enumerate(row[begin:], start=begin) if token in ends)
        outputs.append(tokenizer.decode(row[begin:end], skip_special_tokens=True).strip())
    return outputs


def prompt_for(language: str, source: str = SOURCE) -> str:
    """The prompt for a language; `{sentence}` stands for the text."""
    wording = PROMPT.replace("{source}", source_language(source).name)
    return wording.replace("{language}", _NAMES.get(language, LANGUAGES[language].name))


def open_chat(model: str, language: str, url: str, source: str = SOURCE) -> Translator:
    """A translator that asks a chat model at a server."""
    wording = prompt_for(language, source)
    prompt = hashlib.sha256(wording.encode()).hexdigest()[:12]
    settings = f"server={normalize_address(url)},prompt={prompt},max_tokens={_SAMPLING.max_tokens}"
    return Translator(f"chat:{model}", "", settings, lambda texts: _ask(texts, model, wording, url))


def _ask(texts: Sequence[str], model: str, wording: str, url: str) -> Batches:
    served = connect(url, model, connections=CHAT_CONNECTIONS)
    sources = {Prompt(str(i), "", wording.replace("{sentence}", text)): text for i, text in enumerate(texts)}
    with closing(served.generate(iter(sources), _SAMPLING)) as generated:
        try:
            for answers in generated:
                yield [parse_translation(sources[prompt], answer) for prompt, answer in answers]
        except ScoringError as error:
            raise TranslationStoppedError(str(error)) from error


def parse_translation(text: str, answer: Answer) -> Translation:
    """The translation in an answer, without quotation marks around it that the text does not have."""
    answer = without_thoughts(answer)
    if answer.problem and answer.problem != EMPTY:
        return Translation(text, "", answer.problem)
    translation = answer.text.strip()
    opening, inner, closing_mark = translation[:1], translation[1:-1], translation[-1:]
    if inner and (opening, closing_mark) in _QUOTES and not text.strip().startswith(opening):
        translation = inner
    return Translation.of(text, translation)
