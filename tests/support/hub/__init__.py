"""A small Hub on the loopback: what the real `huggingface_hub`, `datasets` and `evaluate` ask for.

    with running(tmp_path) as hub:
        hub.add_account("ann", TOKEN)
        hub.add("dataset", "ann/gest", {"README.md": b"..."})
        # HF_ENDPOINT=hub.url for another process, or the fixture `pointed_at` for this one

It keeps repositories as commits, has a log of requests, and one fault at a chosen request. What it answers
is what the clients read: the code of huggingface_hub 2.4.0, datasets 5.2.0 and evaluate 0.4.6 says so.
"""

from tests.support.hub.client import pointed_at
from tests.support.hub.faults import KINDS, Fault
from tests.support.hub.repositories import Commit, File, Repository
from tests.support.hub.server import Hub, Request, running

__all__ = ["KINDS", "Commit", "Fault", "File", "Hub", "Repository", "Request", "pointed_at", "running"]
