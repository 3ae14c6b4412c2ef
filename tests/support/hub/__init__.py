"""A small Hub on the loopback: what the real `huggingface_hub`, `datasets` and `evaluate` ask for.

    with running() as hub:
        hub.add_account("ann", TOKEN)
        hub.add("dataset", "ann/gest", {"README.md": b"..."})
        # HF_ENDPOINT=hub.url for another process, or the fixture `pointed_at` for this one

It keeps repositories as commits, has a log of requests, and one fault at a chosen request. What it answers
is what the clients read: the code of huggingface_hub 2.4.0, datasets 5.2.0 and evaluate 0.4.6 says so.
"""

from tests.support.hub.repositories import Repository
from tests.support.hub.server import pointed_at, running
from tests.support.hub.state import KINDS, Fault, Hub, Request

__all__ = ["KINDS", "Fault", "Hub", "Repository", "Request", "pointed_at", "running"]
