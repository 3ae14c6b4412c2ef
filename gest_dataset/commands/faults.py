"""What nobody foresaw: one line for the user, and a file for those who mend it."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
import traceback
from pathlib import Path

from gest_dataset.commands.console import show_error
from gest_dataset.version import __version__

FAULT = 70  # EX_SOFTWARE of sysexits.h
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
# user:password@ in an address, and what is given to a name of a secret in one or in a header
_SECRET = re.compile(
    r"(?<=://)[^/\s@]+(?=@)|(?<=Bearer )\S+"
    r"|((?:key|token|secret|password|signature)\"?'?\s*[=:]\s*)[^\s&,;]+",
    re.IGNORECASE,
)
_HIDDEN = "***"
_SHORTEST = 6  # letters of a secret in the environment; shorter values would hide ordinary words


def report(error: Exception) -> int:
    """Write the traceback to a file, say where it is, and give the exit code."""
    facts = f"gest-dataset {__version__}, Python {sys.version}, {sys.platform}\n{shlex.join(sys.argv)}\n\n"
    text = without_secrets(facts + "".join(traceback.format_exception(error)))
    try:
        handle, name = tempfile.mkstemp(prefix="gest-fault-", suffix=".txt")
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode(errors="backslashreplace"))
    except OSError:  # a full disk may be what it is about
        sys.stderr.write(text)
        name = "the text above"
    show_error(
        f"{type(error).__name__}: a fault of gest-dataset, or of a library that it uses. Nothing that was "
        f"finished is lost. Please report it to those you have this package from, with {Path(name)}."
    )
    return FAULT


def without_secrets(text: str) -> str:
    """The text without keys and passwords: those of the environment, and what looks like one.

    >>> without_secrets("https://me:pass@host/?key=abc&q=1 Authorization: Bearer xyz")
    'https://***@host/?key=***&q=1 Authorization: Bearer ***'
    """
    secrets = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    for secret in sorted((value for value in secrets if len(value) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return _SECRET.sub(lambda match: (match[1] or "") + _HIDDEN, text)
