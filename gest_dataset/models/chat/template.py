"""Chat templates: prompts of `gest ask`, and the texts of `gest score --chat-template`."""

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from jinja2 import TemplateError

from gest_dataset.errors import ModelError, convert_errors, describe_error
from gest_dataset.models.base import Model, Sampling
from gest_dataset.probes.prompts import has_thoughts

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


def thinking_options(tokenizer: Any, name: str, sampling: Sampling) -> dict[str, Any]:
    """The variables of the template that turn thinking on or off; an error if it has none."""
    given = {"thinking": sampling.enable_thinking, "reasoning_effort": sampling.reasoning_effort}
    options = {option: value for option, value in given.items() if value is not None}
    for option in options:
        if option not in tokenizer.get_chat_template():
            raise ModelError(f"The chat template of {name!r} has no {option}: leave this setting out.")
    return options | ({"enable_thinking": options["thinking"]} if "thinking" in options else {})


def decode_answer(tokenizer: Any, prompt: Sequence[int], generated: Sequence[int]) -> str:
    """The text of an answer, with the tags of thoughts, also where the prompt has the first one."""
    special: list[str] = tokenizer.all_special_tokens
    tagged = any(map(has_thoughts, special))
    text: str = tokenizer.decode(generated, skip_special_tokens=not tagged)
    for token in special if tagged else ():
        text = text if has_thoughts(token) else text.replace(token, "")
    within = "<think>" in tokenizer.decode(prompt).rpartition("</think>")[2]
    return f"<think>{text}" if within else text


def chat_start(model: Model) -> tuple[int, ...]:
    """The tokens before a scored text; without a system message if the template refuses one."""
    if not model.tokenizer.chat_template:
        raise ModelError(f"{model.name} has no chat template: omit --chat-template.")
    text = _SAME_DATE + model.tokenizer.get_chat_template()
    start = partial(render, model.tokenizer, model.name, chat_template=text, date_string=_DATE)
    try:
        return tuple(start([SYSTEM, USER], enable_thinking=False))
    except ModelError as error:
        if not isinstance(error.__cause__, TemplateError):
            raise
        return tuple(start([USER], enable_thinking=False))


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
