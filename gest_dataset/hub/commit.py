"""One commit on the Hub: made whole or not at all, tried again where others or the network are in the way.

`HfApi.create_commit` makes it, on a parent that is named: what somebody else commits in between is answered
with 412 instead of being overwritten. Neither that call nor those around it are tried again by the client,
so one attempt is all of it: read the branch, ask what is to change there, commit. After an attempt whose
answer was lost the commit may be there all the same: it is known by a mark in its description, the digest of
what it changes.
"""

from __future__ import annotations

import hashlib
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import sleep

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from gest_dataset.errors import HubError
from gest_dataset.hub.refusals import HTTPError, passes, reason_of, refusal, seconds_asked
from gest_dataset.hub.repo import MAIN, Parent, Repo, client, read_parent

logger = logging.getLogger(__name__)
Operation = CommitOperationAdd | CommitOperationDelete
Build = Callable[[Parent], Sequence[Operation]]
TRIES = 6
LONGEST_WAIT = 60.0  # seconds between tries, where the Hub does not name them
_PATIENCE = 600.0  # a Hub that wants a longer wait is given up
_PULL_REQUESTS = "refs/pr/"
_MARK = "gest-dataset: "


@dataclass(frozen=True)
class Committed:
    """What came of it: `made` is false where there was nothing to do; a pull request has an address."""

    repo: Repo
    commit: str | None
    made: bool
    url: str
    pull_request: str | None = None


def commit(
    repo: Repo,
    build: Build,
    message: str,
    *,
    create_pr: bool = False,
    private: bool = False,
    space_sdk: str | None = None,
    dry_run: bool = False,
) -> Committed:
    """Commit what `build` says is to change, which is asked anew with each new parent.

    A repository or branch that is not there is made, but for a pull request, which needs one. With `dry_run`
    the branch is read and `build` is asked, and that is all. Where nothing is to change there is no commit.
    """
    api = client(needs_token=not dry_run)
    failed: _Failed | None = None
    for tried in range(1, TRIES + 1):
        try:
            parent = _found(api, repo, create_pr)
            if failed is not None and (done := _made_after_all(api, failed, parent)):
                return done
            operations = build(parent)
            if dry_run:
                return Committed(repo, parent.commit, made=False, url=repo.url)
            if parent.missing:
                _make(api, parent, private, space_sdk)
                parent = read_parent(api, repo)
                operations = build(parent)
            if not operations:
                return Committed(repo, parent.commit, made=False, url=repo.url)
            mark = _mark(operations)
            if create_pr and (proposed := _proposed(api, repo, message, mark)):
                return proposed
            failed = _Failed(parent, mark)
            return _commit(api, parent, operations, message, mark, create_pr)
        except (HTTPError, OSError, RuntimeError) as error:  # the last two: of uploads, which wrap the first
            wait, told, problem = seconds_asked(error), reason_of(error), refusal(error, repo)
            final = not passes(error) or tried == TRIES or (wait or 0) > _PATIENCE
        # raised out here, so that the client's error, which holds a request, does not hang on it
        if final:
            raise problem
        seconds = min(LONGEST_WAIT, 2.0 ** (tried - 1)) * random.uniform(0.8, 1.2) if wait is None else wait
        logger.warning("%s: trying again in %.0f s (%s)", repo, seconds, told[:160])
        sleep(seconds)
    raise AssertionError("the last try has returned or raised")


@dataclass(frozen=True)
class _Failed:
    """An attempt that has ended with an error: where it stood, and how its commit would be known."""

    parent: Parent
    mark: str


def _found(api: HfApi, repo: Repo, create_pr: bool) -> Parent:
    """The branch as it is, or as it is to be made."""
    try:
        return read_parent(api, repo)
    except RevisionNotFoundError:
        if create_pr or repo.revision.startswith(_PULL_REQUESTS):
            raise
        main = read_parent(api, replace(repo, revision=MAIN))
        return replace(main, repo=repo, missing=True)
    except RepositoryNotFoundError:
        if not create_pr:
            return Parent(repo, None, {}, missing=True)
        raise


def _make(api: HfApi, parent: Parent, private: bool, space_sdk: str | None) -> None:
    repo = parent.repo
    if parent.commit is None:
        api.create_repo(
            repo.id, repo_type=repo.type, private=private or None, exist_ok=True, space_sdk=space_sdk
        )
    if repo.revision != MAIN:
        api.create_branch(
            repo.id, branch=repo.revision, repo_type=repo.type, revision=parent.commit, exist_ok=True
        )


def _commit(
    api: HfApi, parent: Parent, operations: Sequence[Operation], message: str, mark: str, create_pr: bool
) -> Committed:
    repo = parent.repo
    try:
        made = api.create_commit(
            repo.id,
            operations,
            commit_message=message,
            commit_description=mark,
            repo_type=repo.type,
            revision=repo.revision,
            parent_commit=parent.commit,
            create_pr=create_pr,
        )
    except ValueError as error:  # of a card, or of an answer in another form
        raise HubError(f"The Hub did not take the commit to {repo}: {reason_of(error)}") from error
    return Committed(repo, made.oid, made.oid != parent.commit, made.pr_url or made.commit_url, made.pr_url)


def _mark(operations: Sequence[Operation]) -> str:
    """The line of a commit's description that says what it changes."""
    digest = hashlib.sha256()
    for operation in sorted(operations, key=lambda each: each.path_in_repo):
        added = operation if isinstance(operation, CommitOperationAdd) else None
        content = added.upload_info.sha256.hex() if added else "removed"
        digest.update(f"{content}  {operation.path_in_repo}\n".encode())
    return f"{_MARK}{digest.hexdigest()}"


def _made_after_all(api: HfApi, failed: _Failed, parent: Parent) -> Committed | None:
    """The commit whose answer was lost, where the branch has it."""
    repo = parent.repo
    if parent.missing or parent.commit == failed.parent.commit:
        return None
    for each in api.list_repo_commits(repo.id, repo_type=repo.type, revision=repo.revision):
        if each.commit_id == failed.parent.commit:
            return None
        if failed.mark in each.message:
            return Committed(repo, each.commit_id, made=True, url=f"{repo.url}/commit/{each.commit_id}")
    return None


def _proposed(api: HfApi, repo: Repo, message: str, mark: str) -> Committed | None:
    """The open pull request that proposes just this: its answer was lost, or the command is repeated."""
    opened = api.get_repo_discussions(
        repo.id, repo_type=repo.type, discussion_type="pull_request", discussion_status="open"
    )
    for each in opened:
        if each.title == message:
            revision = f"{_PULL_REQUESTS}{each.num}"
            newest = api.list_repo_commits(repo.id, repo_type=repo.type, revision=revision)[0]
            if mark in newest.message:
                url = f"{repo.url}/discussions/{each.num}"
                return Committed(repo, newest.commit_id, made=False, url=url, pull_request=url)
    return None
