"""Errors of the Hub: which ones are temporary, how long to wait, and messages that say what to do."""

from __future__ import annotations

from huggingface_hub import constants, errors
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]
from urllib3.util import Retry

from gest_dataset.errors import HubError
from gest_dataset.hub.repository import NO_TOKEN, TOKENS, Repo

HTTPError: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
_TEMPORARY = frozenset({408, 409, 412, 425, 429})  # 412: someone else has committed meanwhile
_RERUN = "The repository is complete, in the old or the new state; run the same command again later."
_ADVICE = {
    401: f"The Hub does not accept the token. {NO_TOKEN}",
    403: f"The token has no write access there. Use a token with write access ({TOKENS}) of an account that "
    "owns {namespace}, choose another namespace, or use --create-pr.",
    404: "It does not exist, or it is private. Check the name, and the account with `hf auth whoami`.",
}


def is_temporary(error: BaseException) -> bool:
    """Whether to retry: network errors, and statuses such as 429 and 500."""
    cause = _http_error(error)
    if not isinstance(cause, HfHubHTTPError):
        return cause is not None
    return cause.response.status_code in _TEMPORARY or cause.response.status_code >= 500


def requested_wait(error: BaseException) -> float | None:
    """Return the seconds until the rate limit resets, or those of Retry-After."""
    cause = _http_error(error)
    if not isinstance(cause, HfHubHTTPError):
        return None
    headers = cause.response.headers
    limit = parse_ratelimit_headers(headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    return Retry().parse_retry_after(headers["Retry-After"]) if "Retry-After" in headers else None


def hub_error(error: BaseException, repo: Repo) -> HubError:
    """Convert an error of the client to a message that says what happened and what to do."""
    if isinstance(error, OfflineModeIsEnabled):
        return HubError("HF_HUB_OFFLINE is set. Unset it to use the Hub.")
    cause = _http_error(error)
    reason = describe(cause or error)
    if not isinstance(cause, HfHubHTTPError):
        what = "cannot be reached" if cause is not None else "could not be written to"
        return HubError(
            f"The Hub at {constants.ENDPOINT} {what} ({repo}): {reason} Check the network. {_RERUN}"
        )
    if is_temporary(cause):
        return HubError(f"The Hub kept refusing the commit to {repo}: {reason} {_RERUN}")
    if isinstance(cause, GatedRepoError):
        advice = f"It is gated: ask for access at {repo.url} with the account of the token."
    elif isinstance(cause, RevisionNotFoundError | RepositoryNotFoundError):
        advice = _ADVICE[404]
    else:
        advice = _ADVICE.get(cause.response.status_code, "Nothing was changed.")
    namespace = repo.id.partition("/")[0]
    return HubError(f"The Hub refused {repo}: {advice.format(namespace=namespace)}\n{reason}")


def describe(error: BaseException) -> str:
    """Return the client's message as one paragraph."""
    return " ".join(str(error).split())[:600] or type(error).__name__


def _http_error(error: BaseException | None) -> Exception | None:
    """Find the client's error behind one that wraps it."""
    while error is not None and not isinstance(error, HTTPError):
        error = error.__cause__
    return error
