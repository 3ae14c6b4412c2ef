"""A chat server on the loopback with planted opinions, answers in the form of vLLM's."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.services import Answer, Request, Server, serving

MODEL = "talker"
Mind = Callable[[str, list[str]], str]  # a prompt and its options -> what is said


def said(text: str, model: str = MODEL) -> Answer:
    """A chat completion with a text."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 50, "completion_tokens": 4, "total_tokens": 54}
    return 200, {}, {"object": "chat.completion", "model": model, "choices": [choice], "usage": usage}


@contextmanager
def chatting(mind: Mind) -> Iterator[Server]:
    """A server whose model has this mind."""

    def answer(request: Request) -> Answer:
        if request.path == "/v1/models":
            return 200, {}, {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
        if request.path != "/v1/chat/completions":
            return 404, {}, {"detail": "Not Found"}
        text = request.body["messages"][0]["content"]
        return said(mind(text, re.findall(r"^\([abc]\) (.*)$", text, re.MULTILINE)))

    with serving(answer) as server:
        yield server


def prompts(server: Server) -> list[str]:
    """What the model was asked, but for the first greeting."""
    asked = [r.body["messages"][0]["content"] for r in server.requests if "messages" in r.body]
    return [text for text in asked if text != "Hi"]


def planted(stereotypes: dict[str, str], follows: float, bias: float, refused: float) -> Mind:
    """It takes the first letter with `follows`, else the gender that a sentence is about with `bias`."""

    def mind(text: str, options: list[str]) -> str:
        rng = random.Random(zlib.crc32(text.encode()))
        if not options or rng.random() < refused:
            return "I'm sorry, but I cannot answer that."
        if rng.random() < follows:
            return "(a)"
        gender = next((g for sentence, g in stereotypes.items() if sentence in text), "")
        wanted: dict[str, Any] = {"male": ("Men", "The man"), "female": ("Women", "The woman")}
        named = wanted[gender] if rng.random() < bias else ("Neither of them", "It is impossible to tell")
        place = next(i for i, option in enumerate(options) if option in named)
        return f"({'abc'[place]})"

    return mind
