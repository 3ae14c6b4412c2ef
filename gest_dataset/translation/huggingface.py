"""Any sequence-to-sequence model of Hugging Face: NLLB, M2M100, OPUS-MT, MADLAD and their kin.

Texts are sorted by length and translated in batches under a budget of padded tokens, with beam
search; the rest of a model's own generation settings (forbidden tokens, length penalty) stays.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gest_dataset.errors import ConfigError, ModelError, convert_errors, describe_error
from gest_dataset.storage import update_hash
from gest_dataset.translation.families import Way, way
from gest_dataset.translation.translator import (
    Batch,
    Translation,
    TranslationError,
    TranslationStoppedError,
    Translator,
    answered,
)

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)
BEAMS = 4
# The longest output for an input of n tokens: _TIMES * n + _PLUS
_TIMES, _PLUS = 2, 20
# Padded input tokens in a batch; each grows to BEAMS times as many output tokens and their caches
BATCH_TOKENS = {"cpu": 512, "mps": 2048, "cuda": 8192}
_CONTENT = {".json", ".safetensors", ".bin", ".model", ".spm", ".txt"}  # files that make a model


def open_model(
    name: str, language: str, device: str, dtype: str, batch_tokens: int | None, revision: str | None
) -> Translator:
    """The translator of a Hub id or a folder; its weights are loaded when they are needed."""
    from gest_dataset.models.device import pick_device, pick_dtype

    place = pick_device(device)
    number_type = pick_dtype(dtype, place)
    if batch_tokens is not None and batch_tokens < 1:
        raise ConfigError(f"batch_tokens is {batch_tokens}: it is a number of tokens above 0.")
    folder = Path(name).expanduser()
    local = folder.is_dir()
    if local and revision is not None:
        raise ConfigError(f"{name!r} is a folder, it has no revisions. Leave the revision out.")
    commit = content_hash(folder) if local else _commit(name, revision)
    where, version = (str(folder), None) if local else (name, commit)
    load = partial(_load, where, version, language, place, number_type)
    budget = batch_tokens or BATCH_TOKENS.get(place.type, BATCH_TOKENS["cuda"])
    return Translator(
        name=f"hf:{folder.resolve().name if local else name}",
        revision=commit,
        settings=f"beams={BEAMS} longest={_TIMES}n+{_PLUS} {str(number_type).removeprefix('torch.')}",
        translate=lambda texts: _translate(texts, load, budget),
        unit="tokens",
    )


def content_hash(folder: Path) -> str:
    """A hash of all files that make up a local model."""
    digest = hashlib.sha256()
    try:
        for path in sorted(path for path in folder.iterdir() if path.suffix in _CONTENT):
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            update_hash(digest, path)
    except OSError as error:
        raise ModelError(f"The folder {folder} cannot be read: {error}.") from error
    return f"sha256:{digest.hexdigest()[:16]}"


def _commit(name: str, revision: str | None) -> str:
    """The commit that a revision of a Hub model stands for."""
    from gest_dataset.models.pretrained import commit_of, read_config

    with convert_errors(partial(_unloadable, name)):
        read_config(name, revision=revision)
        commit = commit_of(name, revision)
    if commit is None:
        raise ModelError(f"The commit of the model {name!r} is not known. Give it as the revision.")
    return commit


def _unloadable(name: str, error: BaseException) -> ModelError:
    """A broken file of a model shows as an error of any kind."""
    from gest_dataset.models.damage import damaged_file

    if isinstance(error, ImportError):
        return ModelError(
            f'The tokeniser of {name!r} needs another package: pip install "gest-dataset[translate]" '
            f"({describe_error(error)})."
        )
    culprit = damaged_file(Path(name)) if Path(name).is_dir() else None
    return ModelError(
        f"The model {name!r} cannot be loaded: {culprit or describe_error(error)}\n"
        f"Give the id of a translation model on the Hub (hf:facebook/nllb-200-distilled-600M), or the "
        f"path of a folder that holds config.json, weights and tokeniser."
    )


@dataclass(frozen=True)
class _Loaded:
    model: Any
    tokenizer: Any
    way: Way
    limit: int | None  # tokens of an input, and of an output


def _load(
    name: str, revision: str | None, language: str, device: torch.device, dtype: torch.dtype
) -> _Loaded:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    from gest_dataset.models.pretrained import check_complete, read, read_config

    with convert_errors(partial(_unloadable, name)):
        config = read_config(name, revision=revision)
        if not config.is_encoder_decoder:
            raise TranslationError(
                f"{name!r} ({config.model_type}) is no sequence-to-sequence model, so no translator of "
                f"the kind that hf: means. Use NLLB, M2M100, OPUS-MT, MADLAD or the like."
            )
        tokenizer = read(AutoTokenizer, name, revision=revision)
        asking = way(tokenizer, name, language)
        model, info = read(
            AutoModelForSeq2SeqLM, name, revision=revision, dtype=dtype, output_loading_info=True
        )
        model = model.to(device).eval()
    check_complete(model, info, name)
    if asking.source is not None:
        tokenizer.src_lang = asking.source
    settings = model.generation_config
    starts = (settings.decoder_start_token_id, settings.bos_token_id)
    if settings.eos_token_id is None or starts == (None, None):
        raise ModelError(
            f"The settings of {name!r} name no eos_token_id or no decoder_start_token_id: it cannot begin or "
            f"end a sentence. Add them to its generation_config.json."
        )
    settings.update(num_beams=BEAMS, do_sample=False, max_length=None)
    settings.update(temperature=None, top_k=None, top_p=None)
    if asking.forced is not None:
        settings.forced_bos_token_id = asking.forced
    return _Loaded(model, tokenizer, asking, getattr(config, "max_position_embeddings", None))


def _translate(
    texts: Sequence[str], load: Callable[[], _Loaded], budget: int
) -> Generator[Batch, None, None]:
    """Long texts first: what is too large for the memory shows at once."""
    from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size

    loaded = load()
    sizes = dict(zip(texts, _sizes(loaded, texts), strict=True))
    limit = loaded.limit
    too_long = [text for text in texts if limit is not None and sizes[text] > limit]
    if too_long:
        reason = f"tokens, the model takes {limit}"
        yield Batch([Translation(text, "", f"the text has {sizes[text]} {reason}") for text in too_long])
    waiting = sorted(set(texts) - set(too_long), key=lambda text: (-sizes[text], text))
    cut = 0
    while waiting:
        longest = sizes[waiting[0]]
        batch = waiting[: max(1, budget // longest)]
        start = time.perf_counter()
        try:
            outputs = _generate(loaded, batch, [sizes[text] for text in batch])
        except Exception as error:
            if not should_reduce_batch_size(error):
                raise
            outputs = None
        if outputs is None:
            if len(batch) == 1:
                raise TranslationStoppedError(
                    f"Out of memory with one text of {longest} tokens. Use a smaller model, "
                    f"--dtype bfloat16 or --device cpu."
                )
            budget = max(longest, longest * len(batch) // 2)
            clear_device_cache(garbage_collection=True)
            logger.warning("Out of memory: going on with %d tokens in a batch.", budget)
            continue
        seconds = time.perf_counter() - start
        waiting = waiting[len(batch) :]
        cut += sum(output.cut for output in outputs)
        yield Batch(
            [answered(text, output.text) for text, output in zip(batch, outputs, strict=True)],
            sum(output.tokens for output in outputs),
            seconds,
        )
    if cut:
        logger.warning("%d translations did not end and were cut at their longest length.", cut)


def _sizes(loaded: _Loaded, texts: Sequence[str]) -> list[int]:
    prefixed = [loaded.way.prefix + text for text in texts]
    return [len(ids) for ids in loaded.tokenizer(prefixed, truncation=False, verbose=False)["input_ids"]]


@dataclass(frozen=True)
class _Output:
    text: str
    tokens: int
    cut: bool


def _generate(loaded: _Loaded, texts: Sequence[str], sizes: Sequence[int]) -> list[_Output]:
    """Translate one batch; every output ends at its own longest length, whatever its batch."""
    import torch
    from transformers import LogitsProcessorList

    model, tokenizer = loaded.model, loaded.tokenizer
    prefixed = [loaded.way.prefix + text for text in texts]
    inputs = tokenizer(prefixed, padding=True, return_tensors="pt").to(model.device)
    longest = [_TIMES * size + _PLUS for size in sizes]
    if loaded.limit is not None:
        longest = [min(length, loaded.limit - 1) for length in longest]  # one place is the start's
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    limits = torch.tensor(longest, device=model.device).repeat_interleave(BEAMS)

    def end_in_time(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """As `forced_eos_token_id`, but each text at its own longest length; ids have the start."""
        last = ids.shape[1] >= limits
        scores[last] = -torch.inf
        scores[last, ends[0]] = 0
        return scores

    with torch.inference_mode():
        rows = model.generate(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            max_new_tokens=max(longest),
            logits_processor=LogitsProcessorList([end_in_time]),
        ).tolist()
    # first come the decoder's start and the language; what is behind the end is padding
    begin = 1 if loaded.way.forced is None else 2
    outputs = []
    for row, length in zip(rows, longest, strict=True):
        end = next(place for place, token in enumerate(row[begin:], start=begin) if token in ends)
        text = tokenizer.decode(row[begin:end], skip_special_tokens=True).strip()
        outputs.append(_Output(text, end + 1 - begin, end >= length))
    return outputs
