"""The clients of this process, which have read HF_ENDPOINT long ago, pointed at another Hub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import datasets
import huggingface_hub
import pytest
from huggingface_hub import constants
from huggingface_hub.utils import _http


@contextmanager
def pointed_at(url: str, token: str | None = None) -> Iterator[pytest.MonkeyPatch]:
    """As if this process had been started with HF_ENDPOINT and HF_TOKEN."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", url)
        if token is None:
            patch.delenv("HF_TOKEN", raising=False)
        else:
            patch.setenv("HF_TOKEN", token)
        patch.setattr(constants, "ENDPOINT", url)
        patch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}"
        )
        patch.setattr(_http, "_HUB_ORIGINS", frozenset({_http._url_origin(url)}))
        patch.setattr(datasets.config, "HF_ENDPOINT", url)
        patch.setattr(
            datasets.config, "HUB_DATASETS_URL", url + "/datasets/{repo_id}/resolve/{revision}/{path}"
        )
        huggingface_hub.HfFileSystem.clear_instance_cache()
        yield patch
    huggingface_hub.HfFileSystem.clear_instance_cache()
