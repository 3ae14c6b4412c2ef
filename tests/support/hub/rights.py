"""Who may see, read and write a repository of the small Hub."""

from __future__ import annotations

from tests.support.hub.repositories import RefusedError, Repository
from tests.support.hub.server import Account, Hub, Request


def repository(hub: Hub, request: Request, types: str, id: str) -> Repository:
    """A repository that the one who asks may see; what may not be seen is not there."""
    account = hub.account(request)
    found = hub.repositories.get((types.removesuffix("s"), id))
    if found is None or (found.private and not _reads(account, found)):
        status = 401 if account is None else 404
        raise RefusedError(status, "RepoNotFound", "Repository not found")
    return found


def _reads(account: Account | None, found: Repository) -> bool:
    return account is not None and (account.owns(found.namespace) or account.name in found.readers)


def check_gate(hub: Hub, request: Request, found: Repository) -> None:
    account = hub.account(request)
    if found.gated and not _reads(account, found):
        status = 401 if account is None else 403
        raise RefusedError(status, "GatedRepo", f"Access to {found.type} {found.id} is restricted.")


def check_write(hub: Hub, request: Request, found: Repository, create_pr: bool) -> Account:
    """Whoever owns it may write; a pull request may come from everybody who has a token for writing."""
    account = hub.account(request)
    if account is None:
        raise RefusedError(401, "RepoNotFound", "Invalid username or password.")
    if not account.may_write:
        raise RefusedError(403, "", "Forbidden: you must use a write token to upload to a repository.")
    if not create_pr and not account.owns(found.namespace):
        raise RefusedError(
            403, "", "Forbidden: pass `create_pr=1` as a query parameter to create a Pull Request"
        )
    if create_pr:
        check_gate(hub, request, found)
    return account
