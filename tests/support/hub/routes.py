"""What the small Hub answers: a function for each route, which says what the client must be allowed to do."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from tests.support.hub.cards import wrong_card, wrong_tasks
from tests.support.hub.repositories import (
    LARGE_SIZE,
    LARGE_SUFFIXES,
    Commit,
    File,
    RefusedError,
    Repository,
    new_repository,
)
from tests.support.hub.state import Account, Answer, Hub, Request, json_answer

_REPO = r"/api/(?P<types>models|datasets|spaces)/(?P<id>[^/]+/[^/]+)"
_FILES = r"/(?:(?P<types>datasets|spaces)/)?(?P<id>[^/]+/[^/]+)"
_REV, _PATH = r"(?P<revision>[^/]+)", r"(?P<path>.+)"
_Route = Callable[..., Answer]
_ROUTES: list[tuple[str, re.Pattern[str], str, _Route]] = []


def _route(methods: str, pattern: str, needs: str = "see") -> Callable[[_Route], _Route]:
    """A function for these paths; `needs` is what it needs of the repository that the path names."""

    def register(answer: _Route) -> _Route:
        _ROUTES.append((methods, re.compile(pattern), needs, answer))
        return answer

    return register


def respond(hub: Hub, request: Request) -> Answer:
    """The answer to a request; an error as the Hub words it."""
    address = f"store:{request.path}" if request.store else request.path
    try:
        for methods, pattern, needs, answer in _ROUTES:
            match = pattern.fullmatch(address)
            if match and request.method in methods.split("|"):
                parts: dict[str, Any] = {k: unquote(v) for k, v in match.groupdict().items() if v is not None}
                with hub.lock:
                    if "id" in parts:
                        types, id = parts.pop("types", "models"), parts.pop("id")
                        parts["repo"] = _repository(hub, request, types.removesuffix("s"), id, needs)
                    return answer(hub, request, **parts)
        raise RefusedError(404, "", f"the small Hub has no {request}")
    except RefusedError as error:
        facts = {"X_Error_Message": error.message, "X_Error_Code": error.code}
        return json_answer({"error": error.message}, error.status, **facts)


# Rights


def _repository(hub: Hub, request: Request, type: str, id: str, needs: str) -> Repository:
    """A repository that the one who asks may see; what may not be seen is not there.

    Its owner may write; a pull request may come from everybody with a token for writing.
    """
    account = hub.account(request)
    repo = hub.repositories.get((type, id))
    owned = account is not None and account.owns(id.partition("/")[0])
    if repo is None or (repo.private and not owned):
        raise RefusedError(401 if account is None else 404, "RepoNotFound", "Repository not found")
    if needs in ("write", "upload"):
        author = _signed_in(hub, request)
        if not author.may_write:
            raise RefusedError(403, "", "Forbidden: you must use a write token to upload to a repository.")
        if not owned and needs == "write" and "create_pr" not in request.query:
            message = "Forbidden: pass `create_pr=1` as a query parameter to create a Pull Request"
            raise RefusedError(403, "", message)
    if repo.gated and not owned and needs != "see":
        message = f"Access to {repo.type} {repo.id} is restricted."
        raise RefusedError(401 if account is None else 403, "GatedRepo", message)
    return repo


def _signed_in(hub: Hub, request: Request) -> Account:
    account = hub.account(request)
    if account is None:
        raise RefusedError(401, "", "Invalid username or password.")
    return account


# Accounts and repositories


@_route("POST", r"/api/repos/create")
def create(hub: Hub, request: Request) -> Answer:
    account = _signed_in(hub, request)
    asked = request.json()
    type, namespace = asked.get("type", "model"), asked.get("organization") or account.name
    id = f"{namespace}/{asked['name']}"
    if not account.may_write or not account.owns(namespace):
        message = f'You don\'t have the rights to create a {type} under the namespace "{namespace}"'
        raise RefusedError(403, "", message)
    if (type, id) in hub.repositories:
        raise RefusedError(409, "", f"You already created this {type} repo: {id}")
    private = asked.get("visibility") == "private" or bool(asked.get("private"))
    made = hub.repositories[type, id] = new_repository(type, id, private=private, sdk=asked.get("sdk"))
    if type == "space":
        front = f"---\ntitle: {asked['name']}\nsdk: {asked['sdk']}\napp_file: app.py\n---\n\nA new Space.\n"
        made.commit({"README.md": File(len(front), front.encode())}, "initial commit", account.name)
    return json_answer({"url": f"{hub.url}/{made.path}", "name": id, "id": id})


@_route("GET", _REPO)
@_route("GET", rf"{_REPO}/revision/{_REV}")
def info(hub: Hub, request: Request, repo: Repository, revision: str = "main") -> Answer:
    commit = repo.at(revision)
    facts = {
        "id": repo.id,
        "sha": commit.oid,
        "private": repo.private,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "siblings": [{"rfilename": path} for path in commit.files],
    }
    return json_answer(facts)


@_route("POST", rf"{_REPO}/branch/(?P<name>[^/]+)", "write")
def branch(hub: Hub, request: Request, repo: Repository, name: str) -> Answer:
    if name in repo.refs:
        raise RefusedError(409, "", f"Reference already exists: refs/heads/{name}")
    repo.refs[name] = repo.at((request.json() or {}).get("startingPoint", "main")).oid
    return json_answer({"success": True}, 201)


# Pull requests


@_route("GET", rf"{_REPO}/discussions")
def discussions(hub: Hub, request: Request, repo: Repository) -> Answer:
    wanted = request.parameter("status")
    listed = [
        {
            "num": number,
            "title": commit.title,
            "author": {"name": commit.author},
            "createdAt": commit.date,
            "status": "merged" if number in repo.merged else "open",
            "isPullRequest": True,
            "repo": {"name": repo.id, "type": repo.type},
        }
        for number, commit in repo.pull_requests.items()
        if wanted in ("", "all", "closed" if number in repo.merged else "open")
    ]
    return json_answer({"count": len(listed), "start": 0, "discussions": listed})


# Reading


@_route("GET", rf"{_REPO}/tree/{_REV}(?:/{_PATH})?", "read")
def tree(hub: Hub, request: Request, repo: Repository, revision: str, path: str = "") -> Answer:
    commit = repo.at(revision)
    recursive = request.parameter("recursive").lower() in ("true", "1")
    entries = _entries(commit, path.strip("/"), recursive)
    if path and not entries:
        raise RefusedError(404, "EntryNotFound", f'"{path}" does not exist on "{revision}"')
    return json_answer(entries)


def _entries(commit: Commit, path: str, recursive: bool) -> list[dict[str, Any]]:
    """The folders and files below a path, or only those right in it."""
    top = PurePosixPath(path)
    entries: dict[PurePosixPath, dict[str, Any]] = {}
    for name, file in commit.files.items():
        place = PurePosixPath(name)
        for folder in place.parents:
            entries[folder] = {"type": "directory", "path": str(folder), "oid": commit.oid, "size": 0}
        entries[place] = {"type": "file", "path": name, "oid": file.oid, "size": file.size}
        if file.sha256:
            entries[place]["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": len(file.pointer)}
    return [
        entry
        for place, entry in entries.items()
        if top in (place.parents if recursive else [place.parent]) and place != top
    ]


@_route("GET|HEAD", rf"{_FILES}/resolve/{_REV}/{_PATH}", "read")
def resolve(hub: Hub, request: Request, repo: Repository, revision: str, path: str) -> Answer:
    commit = repo.at(revision)
    known = {"X-Repo-Commit": commit.oid, "Accept-Ranges": "bytes"}
    if path not in commit.files:
        answer = json_answer({"error": "Entry not found"}, 404)
        answer.headers |= {**known, "X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}
        return answer
    file = commit.files[path]
    known["ETag"] = f'"{file.oid}"'
    if file.content is not None:
        return _ranged(file.content, request, known)
    known |= {"X-Linked-Size": str(file.size), "X-Linked-ETag": f'"{file.sha256}"'}
    return Answer(302, {**known, "Location": f"{hub.store_url}/lfs/{file.sha256}"})


@_route("GET|HEAD|PUT", r"store:/lfs/(?P<sha256>[0-9a-f]{64})")
def stored(hub: Hub, request: Request, sha256: str) -> Answer:
    """The store: it knows no accounts, and a token has no business there."""
    assert "authorization" not in request.headers
    headers = {"ETag": f'"{sha256}"', "Accept-Ranges": "bytes"}
    if request.method == "PUT":
        assert hub.store(request.body) == sha256
        return Answer(200, headers)
    return _ranged(hub.large[sha256], request, headers)


def _ranged(content: bytes, request: Request, headers: dict[str, str]) -> Answer:
    headers = {**headers, "Content-Type": "application/octet-stream"}
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
    if not asked:
        return Answer(200, headers, content)
    part = content[int(asked[1]) : int(asked[2] or len(content)) + 1]
    span = f"bytes {asked[1]}-{int(asked[1]) + len(part) - 1}/{len(content)}"
    return Answer(206, {**headers, "Content-Range": span}, part)


# Writing: large files, then one commit


@_route("POST", r"/api/validate-yaml")
def validate_yaml(hub: Hub, request: Request) -> Answer:
    asked = request.json()
    errors = [{"message": text} for text in wrong_card(asked["content"], asked["repoType"])]
    return json_answer({"errors": errors, "warnings": []}, 400 if errors else 200)


@_route("POST", rf"{_REPO}/preupload/{_REV}", "write")
def preupload(hub: Hub, request: Request, repo: Repository, revision: str) -> Answer:
    head = repo.at(revision)
    files = []
    for asked in request.json()["files"]:
        path = asked["path"]
        large = path.endswith(LARGE_SUFFIXES) or asked["size"] > LARGE_SIZE
        known = {"oid": head.files[path].sha256 or head.files[path].oid} if path in head.files else {}
        mode = "lfs" if large else "regular"
        files.append({"path": path, "uploadMode": mode, "shouldIgnore": False, **known})
    return json_answer({"files": files, "commitOid": head.oid})


@_route("POST", rf"{_FILES}\.git/info/lfs/objects/batch", "upload")
def lfs_batch(hub: Hub, request: Request, repo: Repository) -> Answer:
    objects = []
    for each in request.json()["objects"]:
        actions = {"actions": {"upload": {"href": f"{hub.store_url}/lfs/{each['oid']}"}}}
        objects.append({**each, "authenticated": True, **({} if each["oid"] in hub.large else actions)})
    return json_answer({"transfer": "basic", "objects": objects})


@_route("POST", rf"{_REPO}/commit/{_REV}", "write")
def commit(hub: Hub, request: Request, repo: Repository, revision: str) -> Answer:
    author = _signed_in(hub, request).name
    header, *lines = (json.loads(line) for line in request.body.splitlines())
    proposed = "create_pr" in request.query
    head, wanted = repo.at(revision), header["value"].get("parentCommit")
    if wanted is not None and not proposed and not head.oid.startswith(wanted):
        raise RefusedError(412, "", "A commit has happened since. Please refresh and try again.")
    changes: dict[str, File | None] = {}
    for line in lines:
        changes |= _change(hub, repo, head, line["key"], **line["value"])
    title, message = header["value"]["summary"], header["value"]["description"]
    told: dict[str, Any] = {}
    if proposed:
        made = repo.make(repo.at(wanted or revision), changes, title, author, message)
        told["pullRequestUrl"] = f"{hub.url}/{repo.path}/discussions/{repo.open_pull_request(made)}"
    else:
        made = repo.commit(changes, title, author, revision, message)
    url = f"{hub.url}/{repo.path}/commit/{made.oid}"
    return json_answer({"success": True, "commitOid": made.oid, "commitUrl": url, "hookOutput": "", **told})


def _change(
    hub: Hub, repo: Repository, head: Commit, key: str, path: str, content: str = "", **facts: Any
) -> dict[str, File | None]:
    """What one operation changes, or an error."""
    if key == "file":
        raw = base64.b64decode(content)
        text = raw.decode(errors="replace")
        errors = wrong_card(text, repo.type) if path == "README.md" else []
        errors += wrong_tasks(text) if path == "eval.yaml" and repo.type == "dataset" else []
        if errors:
            raise RefusedError(400, "", f"Invalid metadata in {path}: {'; '.join(errors)}")
        return {path: File(len(raw), raw)}
    if key == "lfsFile":
        if facts["oid"] not in hub.large:
            raise RefusedError(400, "", f"The large file {facts['oid']} of {path} was not uploaded.")
        return {path: File(facts["size"], sha256=facts["oid"])}
    assert key == "deletedFile"
    if path not in head.files:
        raise RefusedError(404, "EntryNotFound", "A file with this name doesn't exist")
    return {path: None}
