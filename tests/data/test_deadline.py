"""A request ends in time, whatever its server does; here one that says nothing at all, also under TLS."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import huggingface_hub.utils
import pytest

from gest_dataset.data import deadline


@contextmanager
def silent(context: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server that takes connections, reads what is sent, and never answers."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        with closing(connection):
            while connection.recv(4096):
                pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with closing(listening):
        yield listening.getsockname()[1]
    thread.join(10)
    assert not thread.is_alive(), "the client has closed the connection"


def ask(url: str, **kwargs: object) -> None:
    library = huggingface_hub.utils.get_session().__class__.__module__.partition(".")[0]
    client = __import__(library).Client(**kwargs)
    with deadline.ending_after(0.5) as extensions, closing(client):
        client.get(url, headers=deadline.HEADERS, timeout=30, extensions=extensions)


def test_a_server_that_says_nothing_is_left() -> None:
    with silent() as port, pytest.raises(Exception, match="disconnected"):
        ask(f"http://127.0.0.1:{port}/")


@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl to make a certificate with")
def test_under_tls_too(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(certificate))
    trusting.check_hostname = False
    with silent(context) as port, pytest.raises(Exception, match=r"disconnected|EOF"):
        ask(f"https://127.0.0.1:{port}/", verify=trusting)
