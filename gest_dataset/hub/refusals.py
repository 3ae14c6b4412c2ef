"""What the Hub's errors mean: which ones pass, how long it asks to wait, what to do about the others."""

from __future__ import annotations

from collections.abc import Iterator

from huggingface_hub import constants, errors
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

from gest_dataset.errors import HubError
from gest_dataset.hub.repo import NO_TOKEN, TOKENS, Repo
from gest_dataset.retry import parse_retry_after

# The base of all errors of the client: of httpx or httpx2, whichever it is built on
HTTPError: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
# What may be gone at the next try: a conflict with somebody else's commit, too many calls, a Hub in trouble
_PASSING = frozenset({408, 409, 412, 425, 429})
_SHOWN = 600  # characters of a client's message
SAFE = "What is on the Hub is whole, as it was or as it is to be; run the same command again later."
# What to do about a status that does not pass
_ADVICE = {
    401: f"The Hub does not know the token. {NO_TOKEN}",
    403: f"The token may not write there. Take one with write rights ({TOKENS}) of an account that owns "
    "{namespace}, choose a name below your own, or propose the change with --create-pr.",
    404: "It is not there, or it is private and the token may not see it. Check the name, and whose token it "
    "is: hf auth whoami",
}
_GATED = "It is gated: ask for access at {url}, with the account that the token is of."


def passes(error: BaseException) -> bool:
    """Whether another try makes sense: errors of the network, and statuses that pass."""
    found = _http(error)
    if not isinstance(found, HfHubHTTPError):
        return found is not None
    return found.response.status_code in _PASSING or found.response.status_code >= 500


def seconds_asked(error: BaseException) -> float | None:
    """How long the Hub wants us to wait: until its limit is reset, or what Retry-After says."""
    found = _http(error)
    if not isinstance(found, HfHubHTTPError):
        return None
    limit = parse_ratelimit_headers(found.response.headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    return parse_retry_after(found.response.headers)


def refusal(error: BaseException, repo: Repo) -> HubError:
    """The error for a user: what happened, and what to do."""
    if isinstance(error, OfflineModeIsEnabled):
        return HubError("HF_HUB_OFFLINE is set, so nothing is sent to the Hub. Unset it, and run this again.")
    found = _http(error)
    reason = reason_of(found or error)
    if not isinstance(found, HfHubHTTPError):
        what = "cannot be reached" if found is not None else "could not be written to"
        return HubError(
            f"The Hub at {constants.ENDPOINT} {what} ({repo}): {reason}\nCheck the network. {SAFE}"
        )
    if passes(found):
        return HubError(f"The Hub did not take the commit to {repo} for too long: {reason}\n{SAFE}")
    status = found.response.status_code
    if isinstance(found, GatedRepoError):
        advice = _GATED
    elif isinstance(found, RevisionNotFoundError | RepositoryNotFoundError):
        advice = _ADVICE[404]
    else:
        advice = _ADVICE.get(status, "Nothing was changed there.")
    namespace = repo.id.partition("/")[0]
    return HubError(f"The Hub refused {repo}: {advice.format(namespace=namespace, url=repo.url)}\n{reason}")


def reason_of(error: BaseException) -> str:
    """What a client says, in one paragraph."""
    text = " ".join(str(error).split())[:_SHOWN]
    return text or type(error).__name__


def _http(error: BaseException) -> Exception | None:
    """The client's own error behind one that it or a caller has wrapped."""
    return next((each for each in _causes(error) if isinstance(each, HTTPError)), None)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
