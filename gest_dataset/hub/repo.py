"""A repository on the Hub, and what one of its branches holds."""

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
NO_TOKEN = f"Make one that may write at {TOKENS}, then run `hf auth login`, or set HF_TOKEN."
_PREFIXES = {"model": "", "dataset": "datasets/", "space": "spaces/"}


@dataclass(frozen=True)
class Repo:
    """A repository; `type` is model, dataset or space, and `revision` the branch that is written to."""

    id: str
    type: str = "dataset"
    revision: str = MAIN

    def __post_init__(self) -> None:
        """Refuse a name that the Hub does not take; the namespace is needed, or nobody knew whose it is."""
        try:
            validate_repo_id(self.id)
        except HFValidationError as error:
            raise ConfigError(f"{self.id!r} is no name of a repository: {error}") from error
        if "/" not in self.id:
            raise ConfigError(
                f"{self.id!r} does not say whose repository it is: give NAMESPACE/NAME, such as "
                f"your-name/{self.id}."
            )

    @property
    def url(self) -> str:
        """Its page."""
        return f"{constants.ENDPOINT}/{_PREFIXES[self.type]}{self.id}"

    def __str__(self) -> str:
        """As messages name it."""
        at = "" if self.revision == MAIN else f" at {self.revision}"
        return f"the {self.type} {self.id}{at}"


@dataclass(frozen=True)
class Parent:
    """What a branch holds: the commit that the next one stands on, and its files.

    A repository that is not there yet has neither; a branch that is not there yet is as `main` is.
    """

    repo: Repo
    commit: str | None
    files: Mapping[str, RepoFile]
    token: str | bool | None = field(default=None, repr=False)
    missing: bool = False

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        assert self.commit is not None, "a file of a repository that is there"
        url = f"{self.repo.url}/resolve/{self.commit}/{quote(path)}"
        answer = get_session().get(url, headers=build_hf_headers(token=self.token))
        hf_raise_for_status(answer)
        return bytes(answer.content)


def read_parent(api: HfApi, repo: Repo) -> Parent:
    """The branch as it is now; `RepositoryNotFoundError` and `RevisionNotFoundError` where it is not."""
    commit = api.repo_info(repo.id, repo_type=repo.type, revision=repo.revision).sha
    assert commit is not None, "repo_info of a revision names its commit"
    tree = api.list_repo_tree(repo.id, repo_type=repo.type, revision=commit, recursive=True)
    files = {entry.path: entry for entry in tree if isinstance(entry, RepoFile)}
    return Parent(repo, commit, files, api.token)


def client(needs_token: bool = True) -> HfApi:
    """The client, with the token of the usual places: HF_TOKEN, or what `hf auth login` has kept."""
    token = get_token()
    if token is None and needs_token:
        raise HubError(f"There is no token for the Hub. {NO_TOKEN}")
    return HfApi(token=token, library_name="gest-dataset", library_version=__version__)
