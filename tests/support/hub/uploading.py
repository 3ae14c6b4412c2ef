"""What the small Hub answers to those who write: large files, then one commit."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import yaml

from tests.support.hub.repositories import (
    LARGE_SIZE,
    LARGE_SUFFIXES,
    Commit,
    File,
    RefusedError,
    Repository,
    plain_file,
)
from tests.support.hub.rights import check_gate, check_write, repository
from tests.support.hub.server import Answer, Hub, Request, json_answer

_TOKEN_SECONDS = 3600


def validate_yaml(hub: Hub, request: Request) -> Answer:
    asked = request.json()
    try:
        _front(asked["content"].encode())
    except yaml.YAMLError as error:
        return json_answer({"errors": [{"message": str(error)}], "warnings": []}, 400)
    return json_answer({"errors": [], "warnings": []})


def _front(card: bytes) -> Any:
    """What stands between the first two lines of dashes."""
    text = card.decode()
    if not text.startswith("---\n"):
        return {}
    return yaml.safe_load(text[4:].partition("\n---")[0])


def preupload(hub: Hub, request: Request, types: str, id: str, revision: str) -> Answer:
    found = repository(hub, request, types, id)
    check_write(hub, request, found, "create_pr" in request.query)
    there = found.at(revision).files
    files = []
    for asked in request.json()["files"]:
        path = asked["path"]
        large = path.endswith(LARGE_SUFFIXES) or asked["size"] > LARGE_SIZE
        mode = {"uploadMode": "lfs" if large else "regular", "shouldIgnore": False}
        known = {"oid": there[path].sha256 or there[path].oid} if path in there else {}
        files.append({"path": path, **mode, **known})
    return json_answer({"files": files, "commitOid": found.at(revision).oid})


def commit(hub: Hub, request: Request, types: str, id: str, revision: str) -> Answer:
    found = repository(hub, request, types, id)
    create_pr = "create_pr" in request.query
    account = check_write(hub, request, found, create_pr)
    lines = [json.loads(line) for line in request.body.splitlines()]
    header = next(line["value"] for line in lines if line["key"] == "header")
    head = found.at(revision)
    wanted = header.get("parentCommit")
    if wanted is not None and not create_pr and not head.oid.startswith(wanted):
        raise RefusedError(412, "", "A commit has happened since. Please refresh and try again.")
    changes = _changes(hub, head, lines)
    if create_pr:
        parent = found.at(wanted or revision)
        made = found.make(parent, changes, header["summary"], account.name, header["description"])
        opened = found.open_pull_request(made, revision)
        more = {"pullRequestUrl": f"{page_of(hub, found)}/discussions/{opened.number}"}
    else:
        made = found.commit(changes, header["summary"], account.name, revision, header["description"])
        more = {}
    url = f"{page_of(hub, found)}/commit/{made.oid}"
    return json_answer({"success": True, "commitOid": made.oid, "commitUrl": url, "hookOutput": "", **more})


def _changes(hub: Hub, head: Commit, lines: list[Any]) -> dict[str, File | None]:
    """All operations, or an error and none of them."""
    changes: dict[str, File | None] = {}
    for line in lines:
        key, value = line["key"], line["value"]
        if key == "header":
            continue
        path = value["path"]
        if key == "file":
            changes[path] = plain_file(base64.b64decode(value["content"]))
            if path == "README.md":
                _check_card(base64.b64decode(value["content"]))
        elif key == "lfsFile":
            if not hub.large.has(value["oid"]):
                raise RefusedError(400, "", f"The large file {value['oid']} of {path} was not uploaded.")
            changes[path] = File(value["size"], sha256=value["oid"])
        elif key == "deletedFile":
            if path not in head.files:
                raise RefusedError(404, "EntryNotFound", "A file with this name doesn't exist")
            changes[path] = None
        elif key == "deletedFolder":
            changes |= {name: None for name in head.files if name.startswith(path.rstrip("/") + "/")}
        else:
            raise RefusedError(400, "", f"no such operation: {key}")
    return changes


def _check_card(content: bytes) -> None:
    try:
        _front(content)
    except yaml.YAMLError as error:
        raise RefusedError(400, "", f"Invalid metadata in README.md: {error}") from error


def xet_token(hub: Hub, request: Request, types: str, id: str, kind: str, revision: str) -> Answer:
    found = repository(hub, request, types, id)
    check_gate(hub, request, found)
    if kind == "write":
        check_write(hub, request, found, "create_pr" in request.query)
    ends = int(time.time()) + _TOKEN_SECONDS
    told = {"accessToken": f"xet-{kind}", "exp": ends, "casUrl": hub.large.xet_url}
    answer = json_answer(told)
    answer.headers |= {
        "X-Xet-Cas-Url": hub.large.xet_url,
        "X-Xet-Access-Token": f"xet-{kind}",
        "X-Xet-Token-Expiration": str(ends),
    }
    return answer


def lfs_batch(hub: Hub, request: Request, id: str, types: str = "models") -> Answer:
    found = repository(hub, request, types, id)
    check_write(hub, request, found, create_pr=True)
    asked = request.json()
    assert asked["operation"] == "upload"
    assert "basic" in asked["transfers"]
    objects = []
    for each in asked["objects"]:
        actions = {"actions": {"upload": {"href": f"{hub.store_url}/lfs/{each['oid']}"}}}
        objects.append({**each, "authenticated": True, **({} if hub.large.has(each["oid"]) else actions)})
    return json_answer({"transfer": "basic", "objects": objects})


def page_of(hub: Hub, found: Repository) -> str:
    prefix = "" if found.type == "model" else f"{found.type}s/"
    return f"{hub.url}/{prefix}{found.id}"
