"""Answers of a loaded causal model to a batch of prompts."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

from gest_dataset.models.base import Sampling
from gest_dataset.probes.prompts import EMPTY, Answer, Prompt

# Tokens in a batch, including those of the answers
CHAT_TOKENS = {"cpu": 2048, "mps": 16384, "cuda": 65536}


@torch.inference_mode()
def generate_batch(
    model: Any, tokenizer: Any, prompts: Sequence[Prompt], ids: Sequence[list[int]], sampling: Sampling
) -> list[Answer]:
    padding = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    longest = max(map(len, ids))
    rows = [[padding] * (longest - len(row)) + row for row in ids]
    mask = [[0] * (longest - len(row)) + [1] * len(row) for row in ids]
    output = model.generate(
        torch.tensor(rows, device=model.device),
        attention_mask=torch.tensor(mask, device=model.device),
        max_new_tokens=sampling.max_tokens,
        pad_token_id=padding,
        return_dict_in_generate=True,
        output_logits=bool(sampling.top),
        logits_processor=[_sampler(prompts, sampling, model.device)] if sampling.temperature else [],
        do_sample=False,
        temperature=None,
        top_p=None,
        top_k=None,
        **({"stop_strings": list(sampling.stop), "tokenizer": tokenizer} if sampling.stop else {}),
    )
    tops: list[tuple[tuple[str, float], ...]] = [()] * len(ids)
    if sampling.top:
        values, tokens = output.logits[0].float().log_softmax(-1).topk(sampling.top)
        tops = [
            tuple(zip(map(tokenizer.decode, row), row_values, strict=True))
            for row, row_values in zip(tokens.unsqueeze(-1).tolist(), values.tolist(), strict=True)
        ]
    answers = []
    for row, sequence, top in zip(ids, output.sequences.tolist(), tops, strict=True):
        generated = sequence[longest:]
        text = tokenizer.decode(generated, skip_special_tokens=True)
        # like servers, without the text that ended the answer
        text = text[: min((text.find(end) for end in sampling.stop if end in text), default=len(text))]
        length = sum(token != padding for token in generated)
        answers.append(Answer(text, len(row), length, "" if text.strip() else EMPTY, top))
    return answers


def _sampler(
    prompts: Sequence[Prompt], sampling: Sampling, device: torch.device
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Gumbel noise, -ln E with E ~ Exp(1), which turns the likeliest token into a sample.

    The noise of each prompt depends only on its text and seed, not on the rest of the batch, so that a
    resumed run gives the same answers.
    """
    generators = []
    for prompt in prompts:
        digest = hashlib.sha256(f"{sampling.seed + prompt.repeat} {prompt.text}".encode()).digest()
        generators.append(torch.Generator(device).manual_seed(int.from_bytes(digest[:7], "big")))

    def add_noise(_: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        empty = torch.empty(scores.shape[1], device=device)
        noise = torch.stack([empty.exponential_(generator=generator).clone() for generator in generators])
        return scores.float() / sampling.temperature - noise.clamp_min(torch.finfo(noise.dtype).tiny).log()

    return add_noise
