"""A model that is loaded here answers: its own chat template, batches of prompts of about one length."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from gest_dataset.errors import ModelError
from gest_dataset.models.chat.speaker import Sampling
from gest_dataset.models.loading import CAUSAL, LoadedModel, load_model
from gest_dataset.probes.prompt import EMPTY, Answer, Prompt

Draw = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
# Tokens in a batch, the answers' counted in
_BUDGET = {"cpu": 2048, "mps": 16384, "cuda": 65536}


@dataclass(frozen=True)
class LocalSpeaker:
    """A causal model with a chat template."""

    loaded: LoadedModel

    @property
    def name(self) -> str:
        return self.loaded.name

    @property
    def place(self) -> str:
        return self.loaded.device_name

    def settings(self) -> dict[str, Any]:
        template = {"chat_template": self.loaded.tokenizer.chat_template}
        return {"revision": self.loaded.revision, **self.loaded.settings(None), **template}

    def facts(self) -> dict[str, Any]:
        return self.loaded.facts()

    def notes(self) -> list[str]:
        return []

    def say(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[list[tuple[Prompt, Answer]], None, None]:
        ids = {prompt: _ids(self.loaded.tokenizer, prompt) for prompt in prompts}
        self._check_room(max(map(len, ids.values()), default=0), sampling.max_tokens)
        for batch in batches(ids, _BUDGET.get(self.place, _BUDGET["cpu"]), sampling.max_tokens):
            answers = self._answers([ids[prompt] for prompt in batch], batch, sampling)
            yield list(zip(batch, answers, strict=True))

    def _check_room(self, longest: int, answer: int) -> None:
        """Whether the model has positions for the longest prompt and its answer."""
        positions = getattr(self.loaded.model.config, "max_position_embeddings", None)
        if positions and longest + answer > positions:
            raise ModelError(
                f"A prompt of {longest} tokens and an answer of up to {answer} do not fit into the context "
                f"of {self.name}, which has {positions}: ask for shorter answers (--max-tokens), or use "
                f"shorter prompts (--prompts)."
            )

    @torch.inference_mode()
    def _answers(
        self, ids: Sequence[Sequence[int]], prompts: Sequence[Prompt], sampling: Sampling
    ) -> list[Answer]:
        model, tokenizer = self.loaded.model, self.loaded.tokenizer
        longest = max(map(len, ids))
        # at the left, so that every answer goes on from its prompt's last token; masked, so that none sees it
        padded = [[_padding(tokenizer)] * (longest - len(own)) + [*own] for own in ids]
        mask = [[0] * (longest - len(own)) + [1] * len(own) for own in ids]
        drawn = [_draw(prompts, sampling, model.device)] if sampling.temperature else []
        made = model.generate(
            torch.tensor(padded, device=model.device),
            attention_mask=torch.tensor(mask, device=model.device),
            max_new_tokens=sampling.max_tokens,
            pad_token_id=_padding(tokenizer),
            return_dict_in_generate=True,
            output_logits=bool(sampling.top),
            logits_processor=drawn,
            **({"stop_strings": list(sampling.stop), "tokenizer": tokenizer} if sampling.stop else {}),
            **{"do_sample": False, "temperature": None, "top_p": None, "top_k": None},
        )
        tops = _tops(made.logits[0], tokenizer, sampling.top) if sampling.top else [()] * len(ids)
        answers = []
        for own, sequence, top in zip(ids, made.sequences.tolist(), tops, strict=True):
            said = sequence[longest:]
            text = _until(tokenizer.decode(said, skip_special_tokens=True), sampling.stop)
            length = sum(token != _padding(tokenizer) for token in said)
            answers.append(Answer(text, len(own), length, "" if text.strip() else EMPTY, tuple(top)))
        return answers


def batches(ids: Mapping[Prompt, Sequence[int]], budget: int, answer: int) -> Iterator[list[Prompt]]:
    """Prompts of about one length, the longest first: so many that with answers they fill the budget."""
    ordered = sorted(ids, key=lambda prompt: -len(ids[prompt]))
    while ordered:
        size = max(1, budget // (len(ids[ordered[0]]) + answer))
        yield ordered[:size]
        ordered = ordered[size:]


def _draw(prompts: Sequence[Prompt], sampling: Sampling, device: torch.device) -> Draw:
    """Noise that makes the likeliest token of logits a draw from them: Gumbel's, -ln E with E ~ Exp(1).

    Each prompt has its own, which its words and its seed determine: an answer depends neither on what else is
    in the batch nor on what a stopped run has left.
    """
    sources = []
    for prompt in prompts:
        told = f"{sampling.seed + prompt.repeat} {prompt.text}".encode()
        seed = int.from_bytes(hashlib.sha256(told).digest()[:7], "big")
        sources.append(torch.Generator(device).manual_seed(seed))

    def draw(_: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        empty = torch.empty(scores.shape[1], device=device)
        noise = torch.stack([empty.exponential_(generator=source).clone() for source in sources])
        return scores.float() / sampling.temperature - noise.clamp_min(torch.finfo(noise.dtype).tiny).log()

    return draw


def load(model: Any, device: str = "auto", dtype: str = "auto", **given: Any) -> LocalSpeaker:
    """A model as `gest score` loads it; it has to be causal and to have a chat template."""
    loaded = load_model(model, device, dtype, **given)
    if loaded.kind != CAUSAL:
        raise ModelError(f"{loaded.name} is a {loaded.kind} model: only causal models answer in words.")
    if not loaded.tokenizer.chat_template:
        raise ModelError(
            f"{loaded.name} has no chat template, so it cannot be asked in words: it is no model for chats. "
            f"`gest score` asks it for probabilities instead."
        )
    return LocalSpeaker(loaded)


def _until(text: str, stop: Sequence[str]) -> str:
    """An answer without the text that ended it, as servers give it."""
    return text[: min((place for end in stop if (place := text.find(end)) >= 0), default=len(text))]


def _padding(tokenizer: Any) -> int:
    """What stands behind an answer that has ended before others of its batch."""
    number: int = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    return number


def _ids(tokenizer: Any, prompt: Prompt) -> list[int]:
    messages = [{"role": "user", "content": prompt.text}]
    encoded = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True)
    return list(encoded["input_ids"])


def _tops(logits: torch.Tensor, tokenizer: Any, number: int) -> list[list[tuple[str, float]]]:
    """The likeliest first tokens of each answer."""
    values, ids = logits.float().log_softmax(-1).topk(number)
    return [
        [(tokenizer.decode([token]), value) for token, value in zip(own, lps, strict=True)]
        for own, lps in zip(ids.tolist(), values.tolist(), strict=True)
    ]
