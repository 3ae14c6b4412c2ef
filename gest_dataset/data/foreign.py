"""What others wrote, and what the libraries that read it raise, as errors of this package."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gest_dataset.errors import GestError

_TOO_DEEP = "it is nested too deeply"


@contextmanager
def turning(into: Callable[[BaseException], GestError]) -> Iterator[None]:
    """Whatever is raised in the block becomes the error that `into` makes of it; ours stay as they are.

    A reader of a damaged file stumbles in many ways, and what is written in Rust panics, which in Python
    is no Exception.
    """
    try:
        yield
    except GestError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise into(error) from error


def told(error: BaseException) -> str:
    """The first line of what an error says, or its kind where it says nothing; a library's advice goes."""
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def parse_json(text: str | bytes) -> Any:
    """JSON of somebody else; a ValueError says what is wrong with it, also where `json` would say more.

    Python cannot read what is nested thousands of levels deep, and half of a surrogate pair is no letter:
    no file could be written with it.
    """
    try:
        value = json.loads(text)
        if "\\u" in (text if isinstance(text, str) else text.decode()):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    except UnicodeEncodeError as error:
        raise ValueError("it holds half of a surrogate pair, which is no letter") from error
    return value
