"""What the small Hub answers: a table of routes, and a function for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.hub.reading import paths_info, resolve, stored, tree
from tests.support.hub.repositories import (
    PullRequest,
    RefusedError,
    Repository,
    new_repository,
    now,
    plain_file,
)
from tests.support.hub.rights import check_gate, check_write, repository
from tests.support.hub.server import Answer, Hub, Request, json_answer
from tests.support.hub.uploading import commit, lfs_batch, preupload, validate_yaml, xet_token


def whoami(hub: Hub, request: Request) -> Answer:
    account = hub.account(request)
    if account is None:
        raise RefusedError(401, "", "Invalid username or password.")
    role = "write" if account.may_write else "read"
    organisations = [{"type": "org", "name": name} for name in account.organisations]
    token = {"accessToken": {"displayName": "test", "role": role}}
    return json_answer({"type": "user", "name": account.name, "orgs": organisations, "auth": token})


def create(hub: Hub, request: Request) -> Answer:
    account = hub.account(request)
    if account is None:
        raise RefusedError(401, "", "Invalid username or password.")
    asked = request.json()
    type, namespace = asked.get("type", "model"), asked.get("organization") or account.name
    id = f"{namespace}/{asked['name']}"
    if not account.may_write or not account.owns(namespace):
        raise RefusedError(
            403, "", f'You don\'t have the rights to create a {type} under the namespace "{namespace}"'
        )
    prefix = "" if type == "model" else f"{type}s/"
    url = f"{hub.url}/{prefix}{id}"
    if (type, id) in hub.repositories:
        return json_answer(
            {"error": f"You already created this {type} repo: {id}", "url": url, "id": id}, 409
        )
    private = asked.get("visibility") == "private" or bool(asked.get("private"))
    made = hub.repositories[type, id] = new_repository(type, id, private=private, sdk=asked.get("sdk"))
    if type == "space":
        front = f"---\ntitle: {asked['name']}\nsdk: {asked['sdk']}\napp_file: app.py\n---\n\nA new Space.\n"
        made.commit({"README.md": plain_file(front.encode())}, "initial commit", account.name)
    return json_answer({"url": url, "name": id, "id": id})


def info(hub: Hub, request: Request, types: str, id: str, revision: str = "main") -> Answer:
    found = repository(hub, request, types, id)
    commit = found.at(revision)
    facts = {
        "_id": "0" * 24,
        "id": id,
        "author": found.namespace,
        "sha": commit.oid,
        "lastModified": commit.date,
        "createdAt": found.history()[-1].date,
        "private": found.private,
        "gated": "manual" if found.gated else False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "siblings": [{"rfilename": path} for path in commit.files],
    }
    return json_answer(facts | ({"sdk": found.sdk} if found.type == "space" else {}))


def auth_check(hub: Hub, request: Request, types: str, id: str, write: str = "") -> Answer:
    found = repository(hub, request, types, id)
    check_gate(hub, request, found)
    if write:
        check_write(hub, request, found, create_pr=False)
    return json_answer({"success": True})


def refs(hub: Hub, request: Request, types: str, id: str) -> Answer:
    found = repository(hub, request, types, id)
    branches, pulls = [], []
    for name, oid in found.refs.items():
        entry = {
            "name": name,
            "ref": name if name.startswith("refs/") else f"refs/heads/{name}",
            "targetCommit": oid,
        }
        (pulls if name.startswith("refs/pr/") else branches).append(entry)
    asked = {"pullRequests": pulls} if "include_prs" in request.query else {}
    return json_answer({"branches": branches, "converts": [], "tags": [], **asked})


def branch(hub: Hub, request: Request, types: str, id: str, name: str) -> Answer:
    found = repository(hub, request, types, id)
    check_write(hub, request, found, create_pr=False)
    if name in found.refs:
        raise RefusedError(409, "", f"Reference already exists: refs/heads/{name}")
    found.refs[name] = found.at((request.json() or {}).get("startingPoint", "main")).oid
    return json_answer({"success": True}, 201)


def commits(hub: Hub, request: Request, types: str, id: str, revision: str) -> Answer:
    found = repository(hub, request, types, id)
    check_gate(hub, request, found)
    return json_answer(
        [
            {
                "id": commit.oid,
                "title": commit.title,
                "message": commit.message,
                "authors": [{"user": commit.author}],
                "date": commit.date,
            }
            for commit in found.history(revision)
        ]
    )


def discussions(hub: Hub, request: Request, types: str, id: str) -> Answer:
    found = repository(hub, request, types, id)
    status = request.query.get("status", [""])[0]
    listed = [
        _discussion(found, each)
        for each in sorted(found.pull_requests.values(), key=lambda each: -each.number)
        if status in ("", "all", each.status if each.status == "open" else "closed")
    ]
    return json_answer({"count": len(listed), "start": 0, "discussions": listed})


def _discussion(found: Repository, each: PullRequest) -> dict[str, Any]:
    return {
        "num": each.number,
        "title": each.title,
        "author": {"name": each.author},
        "createdAt": each.date,
        "status": each.status,
        "isPullRequest": True,
        "repo": {"name": found.id, "type": found.type},
    }


def discussion(hub: Hub, request: Request, types: str, id: str, number: str) -> Answer:
    found = repository(hub, request, types, id)
    each = found.pull_requests.get(int(number))
    if each is None:
        raise RefusedError(404, "", "Discussion not found")
    tip = found.at(f"refs/pr/{number}")
    shared = {commit.oid for commit in found.history(each.base)}
    events = [
        {
            "id": commit.oid,
            "type": "commit",
            "createdAt": commit.date,
            "author": {"name": commit.author},
            "data": {"subject": commit.title, "oid": commit.oid},
        }
        for commit in found.history(tip.oid)
        if commit.oid not in shared
    ]
    changes = {"base": f"refs/heads/{each.base}"}
    details = {"events": events, "changes": changes, "filesWithConflicts": [], "diff": ""}
    return json_answer({**_discussion(found, each), **details})


def merge(hub: Hub, request: Request, types: str, id: str, number: str) -> Answer:
    found = repository(hub, request, types, id)
    account = check_write(hub, request, found, create_pr=False)
    made = found.merge(int(number), account.name)
    event = {"id": made.oid, "type": "status-change", "createdAt": now(), "author": {"name": account.name}}
    return json_answer({"newStatus": {**event, "data": {"status": "merged"}}})


_TYPES = r"(?P<types>models|datasets|spaces)"
_ID = r"(?P<id>[^/]+/[^/]+)"
_REPO = rf"/api/{_TYPES}/{_ID}"
_REV = r"(?P<revision>[^/]+)"
_PATH = r"(?P<path>.+)"
_ROUTE = Callable[..., Answer]
ROUTES: tuple[tuple[str, str, _ROUTE], ...] = (
    ("GET", r"/api/whoami-v2", whoami),
    ("POST", r"/api/repos/create", create),
    ("POST", r"/api/validate-yaml", validate_yaml),
    ("GET", _REPO, info),
    ("GET", rf"{_REPO}/revision/{_REV}", info),
    ("GET", rf"{_REPO}/auth-check(?P<write>/write)?", auth_check),
    ("GET", rf"{_REPO}/refs", refs),
    ("POST", rf"{_REPO}/branch/(?P<name>[^/]+)", branch),
    ("GET", rf"{_REPO}/commits/{_REV}", commits),
    ("POST", rf"{_REPO}/preupload/{_REV}", preupload),
    ("POST", rf"{_REPO}/commit/{_REV}", commit),
    ("GET", rf"{_REPO}/xet-(?P<kind>read|write)-token/{_REV}", xet_token),
    ("GET", rf"{_REPO}/tree/{_REV}(?:/{_PATH})?", tree),
    ("POST", rf"{_REPO}/paths-info/{_REV}", paths_info),
    ("GET", rf"{_REPO}/discussions", discussions),
    ("GET", rf"{_REPO}/discussions/(?P<number>\d+)", discussion),
    ("POST", rf"{_REPO}/discussions/(?P<number>\d+)/merge", merge),
    ("POST", rf"/(?:(?P<types>datasets|spaces)/)?{_ID}\.git/info/lfs/objects/batch", lfs_batch),
    ("GET|HEAD", rf"/(?:(?P<types>datasets|spaces)/)?{_ID}/resolve/{_REV}/{_PATH}", resolve),
)
STORE_ROUTES: tuple[tuple[str, str, _ROUTE], ...] = (
    ("GET|HEAD|PUT", r"/lfs/(?P<sha256>[0-9a-f]{64})", stored),
)
