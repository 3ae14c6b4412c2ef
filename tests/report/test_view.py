"""`gest view`: the real server, the real browser, and runs that finish while somebody looks on."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import gest_dataset
from gest_dataset.errors import ConfigError
from gest_dataset.models.chat import collect
from gest_dataset.models.chat.speaker import Sampling
from gest_dataset.probes.prompt import Answer, Prompt
from gest_dataset.report import live, serving
from gest_dataset.runs import folder as run_folder
from gest_dataset.runs.manifest import MANIFEST
from gest_dataset.runs.progress import SCRATCH, Telling
from tests.conftest import ROOT, in_one_thread
from tests.support import completions, explored, report_runs, zoo
from tests.support.browser import chromium

SECOND = 1000.0  # milliseconds
NASTY = "evil/<script>document.title='evil'</script>\u202e"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with a planted result; it takes no model."""
    return report_runs.translated(tmp_path_factory.mktemp("one") / "run")


@contextmanager
def served(*paths: Path) -> Iterator[str]:
    """The address of the page of some folders."""
    made, address = serving.server(paths)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    with made:
        yield address
        made.shutdown()
        thread.join()


def unfinished(path: Path, subject: str = "a-model") -> Path:
    """A run that has begun, as every run begins."""
    fresh = run_folder.new_manifest(
        measure="pairs",
        subject=subject,
        config="demo_sk_pairs",
        language="sk",
        data_fingerprint="0" * 32,
        table="scores.parquet",
        settings={},
        command=["gest", "score", subject],
        device=None,
    )
    with run_folder.open_run(path, fresh):
        return path


def asked(address: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """What the server answers, without a client that mends the request."""
    parts = urlsplit(address)
    connection = HTTPConnection("127.0.0.1", parts.port, timeout=60)
    connection.putrequest(method, parts.path, skip_host=True)
    for name, value in {"Host": parts.netloc, **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content


# --- what is there


def test_folders_without_a_run_wait_for_one(tmp_path: Path) -> None:
    now = live.seen([tmp_path])
    assert (now.finished, now.going) == ((), ())
    assert now.lines == ["There is no run here yet. This page shows the first one as soon as it begins."]
    assert live.report_of(now) is None


def test_folders_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no folder"):
        live.check([tmp_path / "typo"])


def test_a_run_that_goes_on_says_how_far_it_is(tmp_path: Path, one: Path) -> None:
    shutil.copytree(one, tmp_path / "done")
    going = unfinished(tmp_path / "going")
    before = live.seen([tmp_path])
    assert before.finished == (tmp_path / "done",)
    assert "no answer is kept yet" in before.going[0]
    Telling(going / SCRATCH, 4000, "inputs").at(1234)
    after = live.seen([tmp_path])
    assert after.lines[0] == "1 run is finished."
    assert after.going == ("a-model on demo_sk_pairs: 1,234 of 4,000 inputs (31 %) are answered.",)
    assert after.mark == before.mark  # no report has to be made anew for that
    report = live.report_of(after)
    assert report is not None
    assert b"1 more had not finished when this page was made" in report
    assert b"planted" in report


def test_each_run_counts_once(tmp_path: Path, one: Path) -> None:
    shutil.copytree(one, tmp_path / "done")
    now = live.seen([tmp_path, tmp_path / "done", tmp_path / "done" / ".." / "done"])
    assert now.finished == (tmp_path / "done",)


def test_another_result_in_the_same_folder_is_another_report(tmp_path: Path, one: Path) -> None:
    shutil.copytree(one, tmp_path / "done")
    before = live.seen([tmp_path]).mark
    told = json.loads((tmp_path / "done" / MANIFEST).read_text(encoding="utf-8"))
    told["files"]["result.json"] = "0" * 64
    (tmp_path / "done" / MANIFEST).write_text(json.dumps(told), encoding="utf-8")
    assert live.seen([tmp_path]).mark != before


def test_damaged_runs_are_said_and_the_others_shown(tmp_path: Path, one: Path) -> None:
    shutil.copytree(one, tmp_path / "good")
    shutil.copytree(one, tmp_path / "bad")
    (tmp_path / "bad" / "result.json").write_text("{}", encoding="utf-8")
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / MANIFEST).write_text("{", encoding="utf-8")
    now = live.seen([tmp_path])
    assert any("cannot be read" in line for line in now.going)
    report = live.report_of(now)
    assert report is not None
    assert b"is not as the run has written it" in report


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"done": 1}', '{"done": "x", "of": 2, "what": "inputs"}']
)
def test_progress_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / SCRATCH).mkdir()
    (tmp_path / SCRATCH / "progress.json").write_text(content, encoding="utf-8")
    assert read_progress(tmp_path) is None


def test_telling_is_rare_but_for_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("gest_dataset.runs.progress.time.monotonic", lambda: now[0])
    telling = Telling(tmp_path / SCRATCH, 10, "prompts")
    counts = []
    for moment, done in ((0.0, 1), (1.0, 2), (2.5, 3), (2.6, 4), (2.7, 10)):
        now[0] = moment
        telling.at(done)
        progress = read_progress(tmp_path)
        assert progress is not None
        counts.append(progress.done)
    assert counts == [1, 1, 3, 3, 10]
    Telling(None, 10, "prompts").at(5)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many answers a run has told of, one after the other; what it kept on the way is gone at its end."""
    counts: list[int] = []
    at = Telling.at

    def told(self: Telling, done: int) -> None:
        at(self, done)
        assert self.folder is not None
        progress = read_progress(self.folder.parent)
        assert progress is not None
        counts.append(progress.done)
        assert 0 <= done <= progress.of

    monkeypatch.setattr(Telling, "at", told)
    monkeypatch.setattr("gest_dataset.runs.progress._SECONDS", 0.0)
    return counts


def goes_up(counts: list[int]) -> bool:
    return counts[0] == 0 < counts[-1] and counts == sorted(counts) and len({*counts}) > 2


def test_a_model_here_tells_how_far_it_is(tmp_path: Path, heard: list[int]) -> None:
    with in_one_thread():
        model = str(zoo.directory("bert"))
        gest_dataset.score(model, "demo_en", device="cpu", batch_tokens=400, output=tmp_path / "run")
    assert goes_up(heard)
    assert read_progress(tmp_path / "run") is None


def test_a_model_behind_a_server_tells_how_far_it_is(tmp_path: Path, heard: list[int]) -> None:
    with in_one_thread(), completions.served("gpt2") as server:
        gest_dataset.score(
            completions.MODEL,
            "demo_en",
            endpoint=server.url,
            tokenizer=str(zoo.directory("gpt2")),
            output=tmp_path / "run",
        )
    assert goes_up(heard)


def test_answers_in_words_tell_how_far_they_are(tmp_path: Path, heard: list[int]) -> None:
    """The speaker says one answer at a time, as one behind a server does."""

    class Speaker:
        name, place = "speaker", "server"

        def settings(self) -> dict[str, Any]:
            return {}

        facts = settings

        def say(
            self, prompts: Iterator[Prompt], sampling: Sampling
        ) -> Generator[list[tuple[Prompt, Answer]]]:
            for prompt in prompts:
                yield [(prompt, Answer("A", 1, 1))]

    prompts = [Prompt(f"gest-{number}", "one", f"text {number}") for number in range(5)]
    (tmp_path / SCRATCH).mkdir()
    with collect.opened(tmp_path / SCRATCH) as shelf:
        collect.collect(prompts[:2], Speaker(), Sampling(), shelf)
        collect.collect(prompts, Speaker(), Sampling(), shelf)
    assert heard == [0, 1, 2, 2, 3, 4, 5]


# --- the server


def test_report_is_the_same_as_on_disk(tmp_path: Path, one: Path) -> None:
    with served(one) as address:
        status, headers, content = asked(f"{address}report")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["cache-control"] == "no-store"
    on_disk = gest_dataset.report([one], tmp_path / "report.html").read_bytes()
    links = rb'<a href="[^"#]*">'  # to the run's files, which lie elsewhere seen from there
    assert re.sub(links, b"", content) == re.sub(links, b"", on_disk)


def test_head_has_no_body(one: Path) -> None:
    with served(one) as address:
        whole = asked(address)
        parts = urlsplit(address)
        line = f"HEAD {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=60) as connection:
            connection.sendall(line.encode())
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b" 200 " in head.split(b"\r\n")[0]
    assert f"Content-Length: {len(whole[2])}".encode() in head
    assert body == b""


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""],
)
def test_other_hosts_are_refused(one: Path, host: str) -> None:
    """A name of another site that leads to 127.0.0.1 (DNS rebinding) gets nothing."""
    with served(one) as address:
        port = urlsplit(address).port
        for place in ("", "report", "state"):
            status, _, content = asked(f"{address}{place}", Host=host.format(port=port))
            assert status == 421
            assert b"planted" not in content
        assert asked(address, Host=f"localhost:{port}")[0] == 200


def test_no_host_or_two_are_refused(one: Path) -> None:
    with served(one) as address:
        parts = urlsplit(address)
        for lines in ("", f"Host: {parts.netloc}\r\nHost: evil.example\r\n"):
            with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=60) as connection:
                connection.sendall(f"GET {parts.path}report HTTP/1.1\r\n{lines}\r\n".encode())
                assert b" 421 " in connection.recv(100)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(one: Path, method: str) -> None:
    with served(one) as address:
        status, headers, content = asked(f"{address}report", method)
    assert status == 405
    assert headers["allow"] == "GET, HEAD"
    assert b"planted" not in content


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/report",
        "/state",
        "/{token}",
        "/{token}x/report",
        "/{token}/run.json",
        "/{token}/result.json",
        "/{token}/../report",
        "/{token}/%2e%2e/%2e%2e/etc/passwd",
        "/{token}/report/../../../../etc/passwd",
        "//etc/passwd",
        "/{token}/\u00e9",
        "/{token}/report%00",
    ],
)
def test_nothing_else_is_served(one: Path, path: str) -> None:
    with served(one) as address:
        parts = urlsplit(address)
        token = parts.path.strip("/")
        line = f"GET {path.format(token=token)} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n"
        with socket.create_connection(("127.0.0.1", parts.port or 0), timeout=60) as connection:
            connection.sendall(line.encode("latin-1"))
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b" 404 " in answer.split(b"\r\n")[0]
    assert b"root:" not in answer
    assert b"planted" not in answer


def test_addresses_cannot_be_guessed_and_are_of_this_machine(one: Path) -> None:
    with served(one) as first, served(one) as second:
        tokens = {urlsplit(address).path.strip("/") for address in (first, second)}
        assert len(tokens) == 2
        assert all(len(token) >= 32 for token in tokens)
        assert {urlsplit(address).hostname for address in (first, second)} == {"127.0.0.1"}
        # the machine's other addresses do not answer
        for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)} - {
            "127.0.0.1"
        }:
            with (
                pytest.raises(ConnectionError),
                socket.create_connection((address, urlsplit(first).port or 0), timeout=5),
            ):
                pass


def test_policy_of_the_frame_lets_its_own_script_and_report_in(one: Path) -> None:
    with served(one) as address:
        _, headers, content = asked(address)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    nonce = policy.partition("script-src 'nonce-")[2].partition("'")[0]
    assert content.count(f'<script nonce="{nonce}">'.encode()) == content.count(b"<script") == 1


# --- in the browser


def test_the_page_loads_itself_again_when_a_run_has_finished(tmp_path: Path, one: Path) -> None:
    with chromium() as browser, served(tmp_path) as address:
        tab = browser.new_page()
        said: list[str] = []
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(address)
        report = tab.frame_locator("#report")
        lines = tab.locator("#runs li")
        lines.filter(has_text="There is no run here yet").wait_for(timeout=60 * SECOND)
        report.locator("main", has_text="No run is finished yet.").wait_for(timeout=60 * SECOND)
        going = unfinished(tmp_path / "going", NASTY)
        Telling(going / SCRATCH, 10, "inputs").at(3)
        lines.filter(has_text="3 of 10 inputs (30 %) are answered.").wait_for(timeout=60 * SECOND)
        assert tab.title() != "evil"
        assert "\u202e" not in tab.locator("#runs").text_content()
        shutil.copytree(one, tmp_path / "other")
        shutil.move(tmp_path / "other", tmp_path / "done")
        report.locator("h1", has_text="planted").wait_for(timeout=60 * SECOND)
        lines.filter(has_text="1 run is finished.").wait_for(timeout=60 * SECOND)
        # a link to a view opens that view, and a new report keeps it
        tab.goto(f"{address}#methods")
        tab.reload()
        report.locator("#methods").wait_for(timeout=60 * SECOND)
        shutil.rmtree(going)
        shutil.copytree(one, tmp_path / "second")
        report.locator("h1", has_text="2 models").or_(report.locator(".lead", has_text="2 runs")).wait_for(
            timeout=60 * SECOND
        )
        assert frame(tab).url.endswith("/report#methods")
        assert said == []


@pytest.fixture(scope="module")
def explored_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    with report_runs.small_world():
        explored.english(folder)
    return folder


def test_a_new_report_keeps_the_view_of_the_reader(tmp_path: Path, explored_runs: Path) -> None:
    """Filters, opened rows, orders, what is open, the place on the page, the focus; the address follows."""
    for name in ("alpha-large", "beta"):
        shutil.copytree(explored_runs / name, tmp_path / "runs" / name)
    with report_runs.small_world(), chromium() as browser, served(tmp_path / "runs") as address:
        tab = browser.new_page(viewport={"width": 1100, "height": 700})
        said: list[str] = []
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(address)
        report = tab.frame_locator("#report")
        report.locator("html[data-ready]").wait_for(state="attached", timeout=60 * SECOND)
        report.locator("#heat-0-tools select[name=rows]").select_option("4")
        report.locator("#board th button", has_text="Value").click()
        report.locator("#runs summary", has_text="beta").click()
        report.locator("#samples-box > summary").click()
        report.locator("#filters select[name=run]").select_option("2")
        report.locator("#filters select[name=sort]").select_option("score")
        report.locator("#rows button.sample").nth(1).click()
        report.locator(".detail").wait_for()
        frame(tab).evaluate("document.getElementById('profiles').scrollIntoView({behavior: 'instant'})")
        frame(tab).evaluate("scrollBy({top: 30, behavior: 'instant'})")

        def view() -> dict[str, Any]:
            found: dict[str, Any] = frame(tab).evaluate(VIEW)
            return found

        before = view()
        assert before["run"] == "beta"
        assert before["open"] == before["focus"]
        assert before["top"] == pytest.approx(-30, abs=2)
        tab.wait_for_function("() => location.hash.includes('open=')")  # so that the view can be sent on
        link = tab.evaluate("location.hash")
        assert link == frame(tab).evaluate("location.hash")
        shutil.copytree(explored_runs / "alpha-base", tmp_path / "new")
        (tmp_path / "new").rename(tmp_path / "runs" / "alpha-base")  # before the others by its name
        report.locator("#board tbody tr").nth(2).wait_for(state="attached", timeout=60 * SECOND)
        tab.wait_for_function("(link) => location.hash === link", arg=link)
        for _ in range(100):
            if view() == before | {"top": pytest.approx(before["top"], abs=2)}:
                break
            tab.wait_for_timeout(100)
        assert view() == before | {"top": pytest.approx(before["top"], abs=2)}
        # another link leads to its view
        tab.evaluate("location.hash = '#samples?q=zzzz'")
        frame(tab).wait_for_function("() => document.documentElement.dataset.rows === '0'")
        assert said == []


VIEW = """() => ({
  run: document.querySelector("#filters select[name=run]").selectedOptions[0].text,
  sort: document.querySelector("#filters select[name=sort]").value,
  open: document.querySelector("#rows button[aria-expanded=true]")?.textContent,
  heat: document.querySelector("#heat-0-tools select[name=rows]").value,
  board: document.querySelector("#board th[aria-sort]")?.textContent,
  details: [...document.querySelectorAll("#runs details, #sureness details, #samples-box")]
    .filter((one) => one.open).map((one) => one.firstElementChild.textContent),
  focus: document.activeElement.textContent,
  top: document.getElementById("profiles").getBoundingClientRect().top,
})"""


def frame(tab: Any) -> Any:
    """The report in the page."""
    return next(one for one in tab.frames if "/report" in one.url)


def test_the_page_says_when_the_command_has_ended(one: Path) -> None:
    with chromium() as browser:
        tab = browser.new_page()
        with served(one) as address:
            tab.goto(address)
            tab.frame_locator("#report").locator("h1").wait_for(timeout=60 * SECOND)
        tab.locator("#runs li", has_text="gest view has ended").wait_for(timeout=60 * SECOND)
        assert tab.frame_locator("#report").locator("h1").is_visible()  # what was shown stays


# --- the command


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_command_prints_the_address_and_ends_with_an_interrupt(one: Path) -> None:
    command = [sys.executable, "-m", "gest_dataset", "view", str(one), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{address}state", timeout=60) as answer:
            assert json.load(answer)["lines"] == ["1 run is finished, which is all that is here."]
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert "no longer live" in said
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=5)


def test_command_refuses_a_folder_that_is_not_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gest_dataset", "view", str(tmp_path / "typo")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert "There is no folder" in done.stderr.replace("\n", " ")
