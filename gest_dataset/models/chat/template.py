"""Chat templates: prompts of `gest ask`, and the texts of `gest score --chat-template`."""

import hashlib
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from jinja2 import TemplateError

from gest_dataset.errors import ModelError, convert_errors, describe_error
from gest_dataset.probes.tokenization import ProbeTokenizer

_SECONDS = 10.0  # for one prompt; a template may loop
# What comes before a scored text, which is the assistant's answer
SYSTEM = {"role": "system", "content": "You are a helpful assistant."}
USER = {"role": "user", "content": "Write a sentence."}
_DATE = "26 Jul 2024"  # of templates that tell the date; the default of Llama's
_SAME_DATE = f"{{% macro strftime_now(format) %}}{_DATE}{{% endmacro %}}"


def render(tokenizer: Any, name: str, messages: Sequence[Mapping[str, str]], **options: Any) -> list[int]:
    """The tokens of messages up to the beginning of the assistant's answer."""
    problem = f"The chat template of {name!r} does not work: "
    with (
        convert_errors(lambda error: ModelError(f"{problem}{describe_error(error)}.")),
        _time_limit(_SECONDS),
    ):
        encode = partial(tokenizer.apply_chat_template, add_generation_prompt=True, return_dict=True)
        return list(encode(list(messages), **options)["input_ids"])


def chat_start(tokenizer: Any, name: str) -> tuple[int, ...]:
    """The tokens before a scored text; without a system message if the template refuses one."""
    if not tokenizer.chat_template:
        raise ModelError(f"{name} has no chat template: omit --chat-template.")
    text = _SAME_DATE + tokenizer.get_chat_template()
    fixed = {"chat_template": text, "date_string": _DATE, "enable_thinking": False}
    try:
        return tuple(render(tokenizer, name, [SYSTEM, USER], **fixed))
    except ModelError as error:
        if not isinstance(error.__cause__, TemplateError):
            raise
        return tuple(render(tokenizer, name, [USER], **fixed))


def chat_id(tokenizer: Any, name: str) -> str:
    """A hash of the tokens before a scored text."""
    ids = " ".join(map(str, chat_start(tokenizer, name)))
    return hashlib.sha256(ids.encode()).hexdigest()


def in_chat(reader: ProbeTokenizer, tokenizer: Any, name: str) -> ProbeTokenizer:
    """A reader of texts that are the assistant's answer."""
    plain = partial(reader.tokenize, add_special_tokens=False)
    return replace(reader, tokenize=plain, start=chat_start(tokenizer, name))


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt a block of Python code after some time; only in the main thread, which gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"it takes more than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
