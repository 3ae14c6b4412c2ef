"""Make one commit on the Hub, or none: retried on errors, and based on the newest state of the branch.

`HfApi.create_commit` names its parent, so the Hub answers 412 if someone else has committed meanwhile. Every
attempt reads the branch again and computes the changes again. A commit whose answer was lost leaves nothing
to change; a pull request is recognised by a digest of its changes in its description.
"""

from __future__ import annotations

import hashlib
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import sleep
from typing import TypeVar

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

from gest_dataset.errors import HubError
from gest_dataset.hub.errors import HTTPError, describe, hub_error, is_temporary, requested_wait
from gest_dataset.hub.repository import MAIN, Branch, Repo, hub_client, read_branch

logger = logging.getLogger(__name__)
Operation = CommitOperationAdd | CommitOperationDelete
ATTEMPTS = 6
_MAX_WAIT = 60.0  # seconds, if the Hub does not say how long to wait
_MAX_REQUESTED_WAIT = 600.0
_PULL_REQUESTS = "refs/pr/"
T = TypeVar("T")


@dataclass(frozen=True)
class Committed:
    """The result: `made` is false if there was nothing to commit; a pull request has its own address."""

    repo: Repo
    commit: str | None
    made: bool
    url: str
    pull_request: str | None = None


def commit(
    repo: Repo,
    build: Callable[[Branch], Sequence[Operation]],
    message: str,
    *,
    create_pr: bool = False,
    private: bool = False,
    space_sdk: str | None = None,
    dry_run: bool = False,
) -> Committed:
    """Commit the operations that `build` returns for a branch; it is called again for each new state.

    A missing repository or branch is created, except for a pull request. With `dry_run` nothing is sent.
    """
    api = hub_client(needs_token=not dry_run)

    def attempt(number: int) -> Committed:
        branch = _find_branch(api, repo, create_pr)
        operations = build(branch)
        if dry_run:
            return Committed(repo, branch.commit, made=False, url=repo.url)
        if branch.missing:
            _create(api, branch, private, space_sdk)
            branch = read_branch(api, repo)
            operations = build(branch)
        if not operations:
            # after a failed attempt the commit was made, and only its answer was lost
            return Committed(repo, branch.commit, made=number > 1, url=repo.url)
        if create_pr and (opened := _open_pull_request(api, repo, message, _digest(operations))):
            return opened
        return _create_commit(api, branch, operations, message, create_pr)

    return with_retries(repo, attempt)


def with_retries(repo: Repo, attempt: Callable[[int], T]) -> T:
    """Call `attempt` with its number until it succeeds; raise a HubError if it cannot."""
    for number in range(1, ATTEMPTS + 1):
        try:
            return attempt(number)
        except (HTTPError, OSError, RuntimeError) as error:  # uploads wrap the client's errors
            wait, reason, problem = requested_wait(error), describe(error), hub_error(error, repo)
            is_last = not is_temporary(error) or number == ATTEMPTS or (wait or 0) > _MAX_REQUESTED_WAIT
        if is_last:
            raise problem  # outside of the handler: the client's error holds the request with the token
        if wait is None:
            wait = min(_MAX_WAIT, 2.0 ** (number - 1)) * random.uniform(0.8, 1.2)
        logger.warning("%s: trying again in %.0f s (%s)", repo, wait, reason[:160])
        sleep(wait)
    raise AssertionError("the last attempt has returned or raised")


def _find_branch(api: HfApi, repo: Repo, create_pr: bool) -> Branch:
    """Return the branch as it is, or as it will be created."""
    try:
        return read_branch(api, repo)
    except RevisionNotFoundError:
        if create_pr or repo.revision.startswith(_PULL_REQUESTS):
            raise
        main = read_branch(api, replace(repo, revision=MAIN))
        return replace(main, repo=repo, missing=True)
    except RepositoryNotFoundError:
        if create_pr:
            raise
        return Branch(repo, None, {}, missing=True)


def _create(api: HfApi, branch: Branch, private: bool, space_sdk: str | None) -> None:
    """Create a missing repository or branch."""
    repo = branch.repo
    if branch.commit is None:
        api.create_repo(
            repo.id, repo_type=repo.type, private=private or None, exist_ok=True, space_sdk=space_sdk
        )
    if repo.revision != MAIN:
        api.create_branch(
            repo.id, branch=repo.revision, repo_type=repo.type, revision=branch.commit, exist_ok=True
        )


def _create_commit(
    api: HfApi, branch: Branch, operations: Sequence[Operation], message: str, create_pr: bool
) -> Committed:
    repo = branch.repo
    try:
        made = api.create_commit(
            repo.id,
            operations,
            commit_message=message,
            commit_description=_digest(operations),
            repo_type=repo.type,
            revision=repo.revision,
            parent_commit=branch.commit,
            create_pr=create_pr,
        )
    except ValueError as error:  # an invalid card, or an unexpected answer
        raise HubError(f"The Hub refused the commit to {repo}: {describe(error)}") from error
    return Committed(repo, made.oid, made.oid != branch.commit, made.pr_url or made.commit_url, made.pr_url)


def _digest(operations: Sequence[Operation]) -> str:
    """Return a line for the description of a commit that identifies its changes."""
    digest = hashlib.sha256()
    for operation in sorted(operations, key=lambda each: each.path_in_repo):
        added = operation if isinstance(operation, CommitOperationAdd) else None
        content = added.upload_info.sha256.hex() if added else "removed"
        digest.update(f"{content}  {operation.path_in_repo}\n".encode())
    return f"gest-dataset: {digest.hexdigest()}"


def _open_pull_request(api: HfApi, repo: Repo, message: str, digest: str) -> Committed | None:
    """Find the open pull request that already proposes these changes."""
    discussions = api.get_repo_discussions(
        repo.id, repo_type=repo.type, discussion_type="pull_request", discussion_status="open"
    )
    for each in (each for each in discussions if each.title == message):
        revision = f"{_PULL_REQUESTS}{each.num}"
        newest = api.list_repo_commits(repo.id, repo_type=repo.type, revision=revision)[0]
        if digest in newest.message:
            url = f"{repo.url}/discussions/{each.num}"
            return Committed(repo, newest.commit_id, made=False, url=url, pull_request=url)
    return None
