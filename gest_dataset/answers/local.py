"""A model that is loaded here answers: its own chat template, batches of prompts of about one length."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch

from gest_dataset.answers.speaker import Sampling
from gest_dataset.errors import ModelError
from gest_dataset.probes.prompt import EMPTY, Answer, Prompt
from gest_dataset.scoring.loading import CAUSAL, Loaded, load_model

# Tokens in a batch, the answers' counted in
_BUDGET = {"cpu": 2048, "mps": 16384, "cuda": 65536}


@dataclass(frozen=True)
class LocalSpeaker:
    """A causal model with a chat template."""

    loaded: Loaded

    @property
    def name(self) -> str:
        return self.loaded.name

    @property
    def place(self) -> str:
        return self.loaded.place

    def settings(self) -> dict[str, Any]:
        template = {"chat_template": self.loaded.tokenizer.chat_template}
        return {"revision": self.loaded.revision, **self.loaded.settings(None), **template}

    def facts(self) -> dict[str, Any]:
        return self.loaded.facts()

    def say(
        self, prompts: Iterator[Prompt], sampling: Sampling
    ) -> Generator[tuple[Prompt, Answer], None, None]:
        ids = {prompt: _ids(self.loaded.tokenizer, prompt) for prompt in prompts}
        for batch in self._batches(ids, sampling):
            answers = self._answers([ids[prompt] for prompt in batch], batch[0].repeat, sampling)
            yield from zip(batch, answers, strict=True)

    def _batches(self, ids: dict[Prompt, list[int]], sampling: Sampling) -> Iterator[list[Prompt]]:
        """Prompts of one length, so that nothing is padded and an answer does not depend on its company."""
        budget = _BUDGET.get(self.place, _BUDGET["cpu"])
        ordered = sorted(ids, key=lambda prompt: (-len(ids[prompt]), prompt.repeat))
        for (length, _), alike in groupby(ordered, key=lambda prompt: (len(ids[prompt]), prompt.repeat)):
            group = list(alike)
            size = max(1, budget // (length + sampling.max_tokens))
            for start in range(0, len(group), size):
                yield group[start : start + size]

    @torch.inference_mode()
    def _answers(self, ids: list[list[int]], repeat: int, sampling: Sampling) -> list[Answer]:
        model, tokenizer = self.loaded.model, self.loaded.tokenizer
        given = torch.tensor(ids, device=model.device)
        drawn = {"do_sample": True, "temperature": sampling.temperature, "top_p": 1.0, "top_k": 0}
        greedy = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        torch.manual_seed(sampling.seed + repeat)
        made = model.generate(
            given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=sampling.max_tokens,
            pad_token_id=_padding(tokenizer),
            return_dict_in_generate=True,
            output_logits=bool(sampling.top),
            **({"stop_strings": list(sampling.stop), "tokenizer": tokenizer} if sampling.stop else {}),
            **(drawn if sampling.temperature else greedy),
        )
        tops = _tops(made.logits[0], tokenizer, sampling.top) if sampling.top else [()] * len(ids)
        answers = []
        for own, sequence, top in zip(ids, made.sequences.tolist(), tops, strict=True):
            said = sequence[len(own) :]
            text = tokenizer.decode(said, skip_special_tokens=True)
            length = sum(token != _padding(tokenizer) for token in said)
            answers.append(Answer(text, len(own), length, "" if text.strip() else EMPTY, tuple(top)))
        return answers


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
