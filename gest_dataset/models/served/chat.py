"""Requests and responses of OpenAI's chat completions."""

from typing import Any

from gest_dataset.errors import ModelError, ScoringError, convert_errors, describe_error
from gest_dataset.models.base import Sampling
from gest_dataset.models.served.client import Client, UnsupportedError
from gest_dataset.models.served.completions import check_response
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED, Answer, Prompt

CHAT = "/v1/chat/completions"
# The two names of an answer's longest length; newer models accept only the second one
_LENGTH_NAMES = ("max_tokens", "max_completion_tokens")
_TOP_TOKENS = (20, 5, 1, 0)  # numbers of likeliest first tokens to try
_PROBLEMS = {"length": CUT, "content_filter": FILTERED}


def chat_body(model: str, prompt: Prompt, sampling: Sampling, length_name: str) -> dict[str, Any]:
    """The request for one answer."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": prompt.text}],
        "temperature": sampling.temperature,
        "top_p": 1,
        length_name: sampling.max_tokens,
        "seed": sampling.seed + prompt.repeat,
    }
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if sampling.top:
        body |= {"logprobs": True, "top_logprobs": sampling.top}
    return body


def detect_chat_format(client: Client, model: str) -> tuple[str, int]:
    """The name of the longest length, and the number of likeliest first tokens that the server returns."""
    problem: Exception | None = None
    for length_name in _LENGTH_NAMES:
        for top in _TOP_TOKENS:
            sampling = Sampling(temperature=1.0, max_tokens=16, top=top)  # accepted by every model
            try:
                client.request(CHAT, chat_body(model, Prompt("", "", "Hi"), sampling, length_name))
                return length_name, top
            except UnsupportedError as error:
                problem = error
    raise ModelError(
        f"{problem}\nUse a model with a chat template, or score its probabilities with "
        f"`gest score --endpoint`."
    )


def parse_chat(response: Any, model: str, address: str) -> Answer:
    """The answer in a chat completion, with its token counts and its likeliest first tokens."""
    choices = check_response(response, model, address)
    choice = choices[0] if choices else {}
    with convert_errors(
        lambda error: ScoringError(f"{address} sent an unexpected response: {describe_error(error)}")
    ):
        message, usage = choice.get("message") or {}, response.get("usage") or {}
        tokens = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
        content = message.get("content")  # a string, or a list of parts, some of which are texts
        parts = content if isinstance(content, list) else [content]
        texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
        text = "".join(text for text in texts if isinstance(text, str))
        reason = str(choice.get("finish_reason"))
        if not text.strip():
            refusal = message.get("refusal") or ""
            return Answer(refusal, *tokens, FILTERED if refusal else _PROBLEMS.get(reason, EMPTY))
        tokens_of_answer = (choice.get("logprobs") or {}).get("content") or [{}]
        tops = tokens_of_answer[0].get("top_logprobs") or ()
        top = tuple((str(entry["token"]), float(entry["logprob"])) for entry in tops)
        return Answer(text, *tokens, FILTERED if reason == "content_filter" else "", top)
