"""What `gest ask` adds to a server's time: 3,565 sentences in six orders, 32 requests at one time.

    python benchmarks/asking.py [--sentences 3565] [--connections 32] [--milliseconds 5]

A server on the loopback, in a process of its own, answers each request after so many milliseconds. The
floor is a client that does nothing but write bytes that were made before and wait for the answer (asyncio's
streams, as many connections): it takes as long as this server, this machine and a loop in Python have to
take. Beside it stands urllib3 alone, in as many threads, which is what any client of that library takes. Each
client has a process of its own; the clients take turns, and ratios of their medians are what counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from printing import machine, save, show

MODEL = "talker"
PATH = "/v1/chat/completions"
ORDERS = 6
TARGET = 1.2
_ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "(a)"},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 50, "completion_tokens": 4, "total_tokens": 54},
    }
).encode()
_MODELS = json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}).encode()


# ---- the server --------------------------------------------------------------------------------------------


class Server(asyncio.Protocol):
    """HTTP/1.1 as far as these clients speak it: a request is over with the body that its length names."""

    delay = 0.0
    served = 0

    def connection_made(self, transport: Any) -> None:
        self.transport, self.buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, end, body = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return
        _, named, length = head.lower().partition(b"content-length: ")
        needed = int(length.partition(b"\r\n")[0]) if named else 0
        if len(body) < needed:
            return
        self.buffer = body[needed:]
        if head.startswith(b"GET"):
            self._say(_MODELS)
        else:
            Server.served += 1
            asyncio.get_running_loop().call_later(self.delay, self._say, _ANSWER)

    def _say(self, content: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        self.transport.write(head % len(content) + content)


def serve(delay: float, pipe: Connection) -> None:
    """Until the process is ended."""

    async def forever() -> None:
        Server.delay = delay
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


# ---- the clients -------------------------------------------------------------------------------------------


def prompts(sentences: int) -> list[Any]:
    """As many questions as GEST has, of their length."""
    from gest_dataset.models.chat.probes import CHAT_PROBES
    from gest_dataset.probes import choice

    (wording, *_) = CHAT_PROBES["choice"].read_wordings("en", None)
    rows = (
        {"id": f"{n}", "sentence": f"Sentence {n}: I always wanted to lead others."} for n in range(sentences)
    )
    return [prompt for row in rows for prompt in choice.make_prompts(row, wording)]


def bodies(sentences: int) -> list[bytes]:
    """What `gest ask` sends for them."""
    from gest_dataset.models.base import Sampling
    from gest_dataset.models.chat.probes import CHAT_PROBES
    from gest_dataset.models.served.model import chat_body

    sampling = Sampling(top=CHAT_PROBES["choice"].top)
    return [json.dumps(chat_body(MODEL, p, sampling, "max_tokens")).encode() for p in prompts(sentences)]


def floor(port: int, sentences: int, connections: int) -> None:
    """Bytes out, bytes in."""
    head = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    made = [head.encode() + b"Content-Length: %d\r\n\r\n" % len(b) + b for b in bodies(sentences)]

    async def one(waiting: Any) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in waiting:
            writer.write(request)
            await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(len(_ANSWER))
        writer.close()

    async def every() -> None:
        waiting = iter(made)
        await asyncio.gather(*(one(waiting) for _ in range(connections)))

    _timed(lambda: asyncio.run(every()))


def bare(port: int, sentences: int, connections: int) -> None:
    """urllib3 in threads, nothing kept or read."""
    from urllib3 import HTTPConnectionPool

    made = bodies(sentences)
    pool = HTTPConnectionPool("127.0.0.1", port, maxsize=connections, block=True)
    headers = {"Content-Type": "application/json"}

    def every() -> None:
        with ThreadPoolExecutor(connections) as threads:
            sent = threads.map(lambda body: pool.request("POST", PATH, body=body, headers=headers).data, made)
            assert all(answer == _ANSWER for answer in sent)

    _timed(every)


def ours(port: int, sentences: int, connections: int) -> None:
    """What `gest_dataset.ask` does with them: each asked, kept on the disk, counted."""
    from gest_dataset.cache import ResponseCache
    from gest_dataset.models.base import Sampling
    from gest_dataset.models.chat.ask import AskSettings, collect
    from gest_dataset.models.chat.probes import CHAT_PROBES
    from gest_dataset.models.served.model import connect

    asked, sampling = prompts(sentences), Sampling(top=CHAT_PROBES["choice"].top)
    model = connect(f"http://127.0.0.1:{port}", MODEL, connections=connections)
    assert model.chat_format
    with (
        tempfile.TemporaryDirectory() as folder,
        ResponseCache(Path(folder) / "cache.sqlite3") as cache,
    ):
        _timed(lambda: collect(model, asked, sampling, cache, AskSettings()))


CLIENTS: dict[str, Callable[[int, int, int], None]] = {"floor": floor, "urllib3": bare, "gest ask": ours}
_pipe: Any = None


def _timed(work: Callable[[], Any]) -> None:
    """Seconds, seconds of the processor, and megabytes that it took more."""
    before, start, busy = _memory(), time.perf_counter(), time.process_time()
    work()
    _pipe.send((time.perf_counter() - start, time.process_time() - busy, _memory() - before))


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _client(name: str, pipe: Connection, *given: int) -> None:
    global _pipe
    _pipe = pipe
    CLIENTS[name](*given)


def run(name: str, *given: int) -> tuple[float, float, float]:
    """A client in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_client, args=(name, there, *given))
    process.start()
    there.close()
    told: tuple[float, float, float] = here.recv()
    process.join()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=3565)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--milliseconds", type=float, default=5.0)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--report", type=Path, default=Path("build/bench/asking.json"))
    given = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(given.milliseconds / 1000, there), daemon=True)
    server.start()
    port = here.recv()
    number = given.sentences * ORDERS
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in CLIENTS}
    for _ in range(given.times):
        for name in CLIENTS:
            found[name].append(run(name, port, given.sentences, given.connections))
    small = run("gest ask", port, max(1, given.sentences // 10), given.connections)
    server.terminate()
    least = number / given.connections * given.milliseconds / 1000
    medians = {
        name: [statistics.median(each) for each in zip(*own, strict=True)] for name, own in found.items()
    }
    base = medians["floor"][0]
    figures: dict[str, Any] = {"server alone, by arithmetic: seconds": least}
    for name, (seconds, busy, memory) in medians.items():
        figures[f"{name}: seconds"] = seconds
        figures[f"{name}: times the floor"] = seconds / base
        figures[f"{name}: microseconds of the processor a prompt"] = busy / number * 1e6
        figures[f"{name}: MB more"] = memory
    figures["gest ask, a tenth of the prompts: MB more"] = small[2]
    figures["target: times the floor"] = TARGET
    show(f"{number:,} prompts, {given.milliseconds:g} ms, {given.connections} at one time", figures)
    save(given.report, {"machine": machine(), "figures": figures, "runs": found})


if __name__ == "__main__":
    main()
