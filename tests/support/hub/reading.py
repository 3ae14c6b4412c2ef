"""What the small Hub answers to those who read: lists of files, and their bytes."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from tests.support.hub.repositories import Commit, File, RefusedError
from tests.support.hub.rights import check_gate, repository
from tests.support.hub.server import Answer, Hub, Request, json_answer

_PAGE = 1000


def tree(hub: Hub, request: Request, types: str, id: str, revision: str, path: str = "") -> Answer:
    found = repository(hub, request, types, id)
    check_gate(hub, request, found)
    commit = found.at(revision)
    recursive = request.query.get("recursive", ["false"])[0].lower() in ("true", "1")
    entries = _entries(hub, commit, path.strip("/"), recursive)
    if path and not entries:
        raise RefusedError(404, "EntryNotFound", f'"{path}" does not exist on "{revision}"')
    start = int(request.query.get("cursor", ["0"])[0])
    answer = json_answer([_expanded(entry, commit, request) for entry in entries[start : start + _PAGE]])
    if start + _PAGE < len(entries):
        others = "&".join(f"{k}={v[0]}" for k, v in request.query.items() if k != "cursor")
        link = f"{hub.url}{request.path}?{others}&cursor={start + _PAGE}"
        answer.headers["Link"] = f'<{link}>; rel="next"'
    return answer


def paths_info(hub: Hub, request: Request, types: str, id: str, revision: str) -> Answer:
    found = repository(hub, request, types, id)
    check_gate(hub, request, found)
    commit = found.at(revision)
    form = parse_qs(request.body.decode())
    entries = []
    for path in form.get("paths", []):
        whole = path.strip("/")
        if whole in commit.files:
            entries.append(_entry(hub, whole, commit.files[whole]))
        elif any(name.startswith(f"{whole}/") for name in commit.files):
            entries.append({"type": "directory", "path": whole, "oid": commit.oid, "size": 0})
    request.query = {**request.query, "expand": form.get("expand", ["false"])}
    return json_answer([_expanded(entry, commit, request) for entry in entries])


def _expanded(entry: dict[str, Any], commit: Commit, request: Request) -> dict[str, Any]:
    if request.query.get("expand", ["false"])[0].lower() not in ("true", "1"):
        return entry
    return entry | {"lastCommit": {"id": commit.oid, "title": commit.title, "date": commit.date}}


def _entries(hub: Hub, commit: Commit, path: str, recursive: bool) -> list[dict[str, Any]]:
    inside = f"{path}/" if path else ""
    entries: dict[str, dict[str, Any]] = {}
    for name, file in commit.files.items():
        if not name.startswith(inside):
            continue
        folders = name[len(inside) :].split("/")[:-1]
        for depth in range(1, len(folders) + 1) if recursive else range(1, min(len(folders), 1) + 1):
            folder = inside + "/".join(folders[:depth])
            entries.setdefault(folder, {"type": "directory", "path": folder, "oid": commit.oid, "size": 0})
        if recursive or not folders:
            entries[name] = _entry(hub, name, file)
    return list(entries.values())


def _entry(hub: Hub, path: str, file: File) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "file", "path": path, "oid": file.oid, "size": file.size}
    if file.sha256 is not None:
        entry["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": len(file.pointer)}
        if xet_hash := hub.large.xet_hash(file.sha256):
            entry["xetHash"] = xet_hash
    return entry


def resolve(hub: Hub, request: Request, id: str, revision: str, path: str, types: str = "models") -> Answer:
    found = repository(hub, request, types, id)
    check_gate(hub, request, found)
    commit = found.at(revision)
    known = {"X-Repo-Commit": commit.oid, "Accept-Ranges": "bytes"}
    if path not in commit.files:
        answer = json_answer({"error": "Entry not found"}, 404)
        answer.headers |= {**known, "X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}
        return answer
    file = commit.files[path]
    if file.sha256 is None:
        assert file.content is not None
        return _ranged(file.content, request, known | {"ETag": f'"{file.oid}"'})
    linked = {"X-Linked-Size": str(file.size), "X-Linked-ETag": f'"{file.sha256}"'}
    if xet_hash := hub.large.xet_hash(file.sha256):
        linked["X-Xet-Hash"] = xet_hash
        refresh = f"{hub.url}/api/{types}/{id}/xet-read-token/{commit.oid}"
        linked["Link"] = f'<{refresh}>; rel="xet-auth"'
    location = {"Location": f"{hub.store_url}/lfs/{file.sha256}", "ETag": f'"{file.oid}"'}
    return Answer(302, {**known, **linked, **location})


def stored(hub: Hub, request: Request, sha256: str) -> Answer:
    """The store: it knows no accounts, and a token has no business there."""
    assert "authorization" not in request.headers
    if request.method == "PUT":
        assert hub.large.put(request.body) == sha256
        return Answer(200, {"ETag": f'"{sha256}"'})
    commits = (commit for each in hub.repositories.values() for commit in each.commits.values())
    files = (file for commit in commits for file in commit.files.values())
    size = next(file.size for file in files if file.sha256 == sha256)
    headers = {"ETag": f'"{sha256}"', "Accept-Ranges": "bytes"}
    return _ranged(hub.large.read(sha256, size), request, headers)


def _ranged(content: bytes, request: Request, headers: dict[str, str]) -> Answer:
    asked = request.headers.get("range", "")
    headers = {**headers, "Content-Type": "application/octet-stream"}
    if not asked.startswith("bytes="):
        return Answer(200, headers, content)
    first, _, last = asked.removeprefix("bytes=").partition("-")
    start = int(first) if first else max(0, len(content) - int(last))
    end = min(int(last), len(content) - 1) if first and last else len(content) - 1
    if start > end:
        return Answer(416, {**headers, "Content-Range": f"bytes */{len(content)}"})
    part = {"Content-Range": f"bytes {start}-{end}/{len(content)}"}
    return Answer(206, {**headers, **part}, content[start : end + 1])
