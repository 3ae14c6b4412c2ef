"""The small Hub against the real clients: what they upload is what they, and others, read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, HfApi, constants
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

from tests.hub.conftest import BOB, READER
from tests.support.hub import Hub

LARGE = bytes(range(256)) * 2000


def uploaded(api: HfApi, *, create_pr: bool = False, parent: str | None = None) -> str:
    operations = [
        CommitOperationAdd("README.md", b"---\nlicense: mit\n---\nhello\n"),
        CommitOperationAdd("data/test.parquet", LARGE),
    ]
    return api.create_commit(
        "org/set",
        operations,
        commit_message="Add",
        repo_type="dataset",
        create_pr=create_pr,
        parent_commit=parent,
    ).oid


@pytest.mark.parametrize("xet", [True, False])
def test_what_is_uploaded_is_downloaded(
    hub: Hub, xet: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", not xet)
    api = HfApi()
    api.create_repo("org/set", repo_type="dataset")
    oid = uploaded(api)
    assert api.repo_info("org/set", repo_type="dataset").sha == oid == hub.dataset("org/set").head.oid
    assert any("xet-write-token" in request.path for request in hub.requests) == xet
    assert any(request.method == "PUT" for request in hub.requests) != xet
    listed = {each.path: each for each in api.list_repo_tree("org/set", repo_type="dataset", recursive=True)}
    assert set(listed) == {".gitattributes", "README.md", "data", "data/test.parquet"}
    assert listed["data/test.parquet"].lfs.sha256 == hashlib.sha256(LARGE).hexdigest()
    (info,) = api.get_paths_info("org/set", ["data/test.parquet"], repo_type="dataset")
    assert (info.size, info.xet_hash is not None) == (len(LARGE), xet)
    path = api.hf_hub_download("org/set", "data/test.parquet", repo_type="dataset")
    assert Path(path).read_bytes() == LARGE == hub.read(hub.dataset("org/set"), "data/test.parquet")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    again = api.hf_hub_download("org/set", "data/test.parquet", repo_type="dataset", cache_dir=tmp_path / "b")
    assert Path(again).read_bytes() == LARGE


def test_a_parent_that_is_behind_is_refused(hub: Hub) -> None:
    api = HfApi()
    hub.add("dataset", "org/set")
    old = hub.dataset("org/set").head.oid
    hub.commit(hub.dataset("org/set"), {"a": b"1"})
    with pytest.raises(HfHubHTTPError) as error:
        uploaded(api, parent=old)
    assert error.value.response.status_code == 412
    assert hub.dataset("org/set").head.title == "by hand"


def test_a_pull_request_leaves_main_alone_until_it_is_merged(hub: Hub) -> None:
    hub.add("dataset", "org/set", {"old.txt": b"old"})
    before = hub.dataset("org/set").head.oid
    uploaded(HfApi(token=BOB), create_pr=True)
    assert hub.dataset("org/set").head.oid == before
    api = HfApi()
    (found,) = api.get_repo_discussions("org/set", repo_type="dataset")
    assert (found.num, found.is_pull_request, found.author) == (1, True, "bob")
    details = api.get_discussion_details("org/set", 1, repo_type="dataset")
    assert [event.summary for event in details.events] == ["Add"]
    assert api.repo_info("org/set", repo_type="dataset", revision="refs/pr/1").sha != before
    api.merge_pull_request("org/set", 1, repo_type="dataset")
    assert set(hub.dataset("org/set").head.files) >= {"old.txt", "data/test.parquet", "README.md"}


def test_rights(hub: Hub) -> None:
    hub.add("dataset", "org/set")
    hub.add("dataset", "org/hidden", {"a": b"1"}, private=True)
    hub.add("dataset", "org/gated", {"a": b"1"}, gated=True)
    for token, status in ((BOB, 403), (READER, 403), (False, 401), ("hf_of_nobody", 401)):
        with pytest.raises(HfHubHTTPError) as error:
            uploaded(HfApi(token=token))  # type: ignore[arg-type]
        assert error.value.response.status_code == status
    with pytest.raises(RepositoryNotFoundError):
        HfApi(token=BOB).repo_info("org/hidden", repo_type="dataset")
    with pytest.raises(GatedRepoError):
        HfApi(token=BOB).hf_hub_download("org/gated", "a", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="rights to create"):
        HfApi(token=BOB).create_repo("org/other", repo_type="dataset")
    assert HfApi().whoami()["orgs"][0]["name"] == "org"
    assert HfApi().repo_info("org/hidden", repo_type="dataset").private
