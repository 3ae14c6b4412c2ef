"""Repositories on the Hub: reading a branch, and one commit to it, or none.

`HfApi.create_commit` names its parent, so the Hub answers 412 if someone else has committed meanwhile. Every
attempt reads the branch again and computes the files again. A commit whose answer was lost leaves nothing to
change, and a pull request that already has these files is found.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from time import sleep
from typing import Any, TypeVar
from urllib.parse import quote

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, RepoFile, constants, errors
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.utils import (  # type: ignore[attr-defined]
    build_hf_headers,
    get_session,
    get_token,
    hf_raise_for_status,
    parse_ratelimit_headers,
    validate_repo_id,
)

from gest_dataset.data.sources import git_blob_id
from gest_dataset.errors import ConfigError, HubError, convert_errors
from gest_dataset.retry import RetryPolicy, parse_retry_after
from gest_dataset.storage import sha256
from gest_dataset.version import __version__

logger = logging.getLogger(__name__)
T = TypeVar("T")
Files = Mapping[str, bytes | None]  # the new content of files of a branch; None removes one
MAIN = "main"
NEW, CHANGED, UNCHANGED, REMOVED = "new", "changed", "unchanged", "removed"
RETRY = RetryPolicy(retries=5, first_delay=1.0, longest_delay=60.0)
_HTTPError: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
_TEMPORARY = {408, 409, 412, 425, 429}  # 412: someone else has committed meanwhile
_RERUN = "The repository is intact: either unchanged or fully updated. Run the same command again later."


@dataclass(frozen=True)
class Repo:
    """A repository; `type` is model, dataset or space, and `revision` the branch to write to."""

    id: str
    type: str = "dataset"
    revision: str = MAIN

    def __post_init__(self) -> None:
        with convert_errors(lambda e: ConfigError(f"{self.id!r} is not a valid repository name: {e}")):
            validate_repo_id(self.id)
        if "/" not in self.id:
            raise ConfigError(f"{self.id!r} has no namespace; use NAMESPACE/NAME.")

    @property
    def url(self) -> str:
        return f"{constants.ENDPOINT}/{constants.REPO_TYPES_URL_PREFIXES.get(self.type, '')}{self.id}"

    def __str__(self) -> str:
        at = "" if self.revision == MAIN else f" at {self.revision}"
        return f"the {self.type} {self.id}{at}"


@dataclass(frozen=True)
class Branch:
    """The commit and the files of a branch. A `missing` branch or repository is still to be created."""

    repo: Repo
    commit: str | None
    files: Mapping[str, RepoFile]
    missing: bool = False

    def read(self, path: str) -> bytes:
        """Download a file; empty if the branch does not have it."""
        if path not in self.files:
            return b""
        url = f"{self.repo.url}/resolve/{self.commit}/{quote(path)}"
        answer = get_session().get(url, headers=build_hf_headers())
        hf_raise_for_status(answer)
        return bytes(answer.content)

    def status(self, path: str, content: bytes | None) -> str:
        """Compare a file with the Hub's: large files by SHA-256, others by their git blob id."""
        theirs = self.files.get(path)
        if content is None or theirs is None:
            return REMOVED if content is None else NEW
        same = theirs.lfs.sha256 == sha256(content) if theirs.lfs else theirs.blob_id == git_blob_id(content)
        return UNCHANGED if same else CHANGED

    def operations(self, files: Files) -> list[CommitOperationAdd | CommitOperationDelete]:
        """The changes that give the files their content."""
        return [
            CommitOperationDelete(path) if content is None else CommitOperationAdd(path, content)
            for path, content in files.items()
            if self.status(path, content) != UNCHANGED
        ]


@dataclass(frozen=True)
class Committed:
    """The result: `made` is false if there was nothing to commit; a pull request has its own address."""

    commit: str | None
    made: bool
    url: str
    pull_request: str | None = None

    def __str__(self) -> str:
        if self.pull_request is None:
            return f"Pushed: {self.url}"
        return f"{'Opened' if self.made else 'Already open'}: {self.pull_request}"


def hub_client(needs_token: bool = True) -> HfApi:
    """A client with the token from HF_TOKEN or `hf auth login`."""
    token = get_token()
    if token is None and needs_token:
        raise HubError(
            "There is no token for the Hub. Create one with write access at "
            "https://huggingface.co/settings/tokens, then run `hf auth login` or set HF_TOKEN."
        )
    return HfApi(token=token, library_name="gest-dataset", library_version=__version__)


def read_branch(api: HfApi, repo: Repo) -> Branch:
    """List a branch; raises RepositoryNotFoundError or RevisionNotFoundError."""
    commit = api.repo_info(repo.id, repo_type=repo.type, revision=repo.revision).sha
    tree = api.list_repo_tree(repo.id, repo_type=repo.type, revision=commit, recursive=True)
    return Branch(repo, commit, {entry.path: entry for entry in tree if isinstance(entry, RepoFile)})


def commit(
    repo: Repo,
    build: Callable[[Branch], Files],
    message: str,
    *,
    on_files: Callable[[Branch, Files], None] = lambda branch, files: None,
    create_pr: bool = False,
    private: bool = False,
    dry_run: bool = False,
) -> Committed:
    """Commit what `build` returns for a branch; it is called again for each new state of the branch.

    A missing repository or branch is created, except for a pull request. With `dry_run` nothing is sent.
    `on_files` is called in each attempt, before anything is sent.
    """
    api = hub_client(needs_token=not dry_run)

    def attempt(number: int) -> Committed:
        branch = _find_branch(api, repo, create_pr)
        files = build(branch)
        on_files(branch, files)
        if dry_run:
            return Committed(branch.commit, made=False, url=repo.url)
        if branch.missing:
            options: dict[str, Any] = {"repo_type": repo.type, "exist_ok": True}
            if branch.commit is None:
                sdk = "gradio" if repo.type == "space" else None
                api.create_repo(repo.id, private=private or None, space_sdk=sdk, **options)
            if repo.revision != MAIN:
                api.create_branch(repo.id, branch=repo.revision, revision=branch.commit, **options)
            branch = read_branch(api, repo)
            files = build(branch)
        operations = branch.operations(files)
        if not operations:
            # after a failed attempt the commit was made, and only its answer was lost
            return Committed(branch.commit, made=number > 0, url=repo.url)
        if create_pr and (opened := _open_pull_request(api, repo, message, build)):
            return opened
        options = {"repo_type": repo.type, "revision": repo.revision, "create_pr": create_pr}
        options |= {"commit_message": message, "parent_commit": branch.commit}
        try:
            made = api.create_commit(repo.id, operations, **options)
        except ValueError as error:  # an invalid card, or an unexpected answer
            raise HubError(f"The Hub refused the commit to {repo}: {_describe(error)}") from error
        return Committed(made.oid, made.oid != branch.commit, made.pr_url or made.commit_url, made.pr_url)

    return with_retries(repo, attempt)


def with_retries(repo: Repo, attempt: Callable[[int], T]) -> T:
    """Call `attempt` with its number until it succeeds; raise a HubError if it cannot."""
    for number in range(RETRY.retries + 1):
        try:
            return attempt(number)
        except (_HTTPError, OSError, RuntimeError) as error:  # uploads wrap the client's errors
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, _HTTPError):
                cause = cause.__cause__
            response = cause.response if isinstance(cause, errors.HfHubHTTPError) else None
            status = None if response is None else response.status_code
            headers = {} if response is None else response.headers
            is_temporary = cause is not None if status is None else status in _TEMPORARY or status >= 500
            problem = _hub_error(cause or error, status, repo, is_temporary)
        limit, wait = parse_ratelimit_headers(headers), parse_retry_after(headers)
        if limit is not None and limit.remaining == 0:
            wait = float(limit.reset_in_seconds)
        if not is_temporary or number == RETRY.retries or (wait or 0) > RETRY.longest_retry_after:
            raise problem  # outside of the handler: the client's error holds the request with the token
        delay = RETRY.delay(number, wait)
        logger.warning("%s: retrying in %.0f s (%s)", repo, delay, status or "no connection")
        sleep(delay)
    raise AssertionError("the last attempt returns or raises")


def _hub_error(error: BaseException, status: int | None, repo: Repo, is_temporary: bool) -> HubError:
    reason = _describe(error)
    if status is None:
        place = f"The Hub at {constants.ENDPOINT} cannot be reached ({repo})"
        return HubError(f"{place}: {reason.rstrip('.')}. Check the network. {_RERUN}")
    if is_temporary:
        return HubError(f"The Hub kept refusing the commit to {repo}: {reason} {_RERUN}")
    return HubError(
        f"The Hub refused {repo}: {reason}\nNothing was changed. Check the name, and the token's account "
        f"and rights (`hf auth whoami`)."
    )


def _describe(error: BaseException) -> str:
    return " ".join(str(error).split())[:600] or type(error).__name__


def _find_branch(api: HfApi, repo: Repo, create_pr: bool) -> Branch:
    """The branch as it is, or as it will be created."""
    try:
        return read_branch(api, repo)
    except (RevisionNotFoundError, RepositoryNotFoundError) as error:
        if create_pr or repo.revision.startswith("refs/pr/"):
            raise
        if isinstance(error, RepositoryNotFoundError):
            return Branch(repo, None, {}, missing=True)
        return replace(read_branch(api, replace(repo, revision=MAIN)), repo=repo, missing=True)


def _open_pull_request(
    api: HfApi, repo: Repo, message: str, build: Callable[[Branch], Files]
) -> Committed | None:
    """Find the open pull request that already has these files."""
    for each in api.get_repo_discussions(repo.id, repo_type=repo.type, discussion_status="open"):
        if each.title != message or each.git_reference is None:
            continue
        with suppress(HubError, RevisionNotFoundError):  # somebody else's, with an invalid card or no branch
            branch = read_branch(api, replace(repo, revision=each.git_reference))
            if not branch.operations(build(branch)):
                return Committed(branch.commit, made=False, url=each.url, pull_request=each.url)
    return None
