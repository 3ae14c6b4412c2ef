"""A repository on the Hub and the content of one of its branches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from huggingface_hub import HfApi, RepoFile, constants, get_token
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import (  # type: ignore[attr-defined]
    build_hf_headers,
    get_session,
    hf_raise_for_status,
    validate_repo_id,
)

from gest_dataset.errors import ConfigError, HubError
from gest_dataset.version import __version__

MAIN = "main"
TOKENS = "https://huggingface.co/settings/tokens"
NO_TOKEN = f"Create one with write access at {TOKENS}, then run `hf auth login` or set HF_TOKEN."
_PREFIXES = {"model": "", "dataset": "datasets/", "space": "spaces/"}


@dataclass(frozen=True)
class Repo:
    """A repository; `type` is model, dataset or space, and `revision` the branch to write to."""

    id: str
    type: str = "dataset"
    revision: str = MAIN

    def __post_init__(self) -> None:
        """Refuse invalid names, and names without a namespace."""
        try:
            validate_repo_id(self.id)
        except HFValidationError as error:
            raise ConfigError(f"{self.id!r} is not a valid repository name: {error}") from error
        if "/" not in self.id:
            raise ConfigError(f"{self.id!r} has no namespace; use NAMESPACE/NAME.")

    @property
    def url(self) -> str:
        return f"{constants.ENDPOINT}/{_PREFIXES[self.type]}{self.id}"

    def __str__(self) -> str:
        at = "" if self.revision == MAIN else f" at {self.revision}"
        return f"the {self.type} {self.id}{at}"


@dataclass(frozen=True)
class Branch:
    """The commit and the files of a branch. A `missing` branch or repository is still to be created."""

    repo: Repo
    commit: str | None
    files: Mapping[str, RepoFile]
    token: str | bool | None = field(default=None, repr=False)
    missing: bool = False

    def read(self, path: str) -> bytes:
        """Download a file; empty if the branch does not have it."""
        if path not in self.files:
            return b""
        url = f"{self.repo.url}/resolve/{self.commit}/{quote(path)}"
        answer = get_session().get(url, headers=build_hf_headers(token=self.token))
        hf_raise_for_status(answer)
        return bytes(answer.content)


def read_branch(api: HfApi, repo: Repo) -> Branch:
    """List a branch; raises RepositoryNotFoundError or RevisionNotFoundError."""
    commit = api.repo_info(repo.id, repo_type=repo.type, revision=repo.revision).sha
    tree = api.list_repo_tree(repo.id, repo_type=repo.type, revision=commit, recursive=True)
    files = {entry.path: entry for entry in tree if isinstance(entry, RepoFile)}
    return Branch(repo, commit, files, api.token)


def hub_client(needs_token: bool = True) -> HfApi:
    """Return a client with the token from HF_TOKEN or `hf auth login`."""
    token = get_token()
    if token is None and needs_token:
        raise HubError(f"There is no token for the Hub. {NO_TOKEN}")
    return HfApi(token=token, library_name="gest-dataset", library_version=__version__)
