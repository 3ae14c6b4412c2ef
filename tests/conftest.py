"""What all tests share: caches of their own, the test mirror, and copies of it to break.

The environment is set before `datasets` is imported, because it reads its paths at import.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MIRROR = ROOT / "tests" / "mirror"

_HOME = tempfile.mkdtemp(prefix="gest-tests-")
MANIFEST = Path(_HOME) / "sources.json"  # the table of sources, with the blob ids of the test mirror
# the processes of xdist inherit what is named here, where GEST_MIRROR is gone already
_GIVEN_MIRROR = os.environ.setdefault("GEST_TESTS_UPSTREAM", os.environ.pop("GEST_MIRROR", ""))
os.environ.pop("GEST_SOURCES", None)
os.environ.pop("GEST_HOME", None)
os.environ.pop("HF_DATASETS_CACHE", None)
# else every process of xdist, and every one that a test starts, compiles the package again
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# before NumPy: on a busy machine, threads of BLAS wait for each other many times as long as they work
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.update(
    HF_HOME=_HOME,
    HF_HUB_DISABLE_TELEMETRY="1",
    HF_UPDATE_DOWNLOAD_COUNTS="0",
    HF_HUB_DISABLE_PROGRESS_BARS="0",
)

import datasets  # noqa: E402

import gest_dataset  # noqa: E402, F401
from gest_dataset import cli  # noqa: E402
from gest_dataset.commands import console  # noqa: E402
from gest_dataset.data.sources import git_blob_id  # noqa: E402
from gest_dataset.statistics import bootstrap  # noqa: E402

datasets.disable_progress_bars()


def _write_manifest() -> None:
    table = json.loads((ROOT / "gest_dataset" / "data" / "sources.json").read_text(encoding="utf-8"))
    for repository, entry in table.items():
        for path, facts in entry["files"].items():
            facts["git_blob"] = git_blob_id((MIRROR / repository / path).read_bytes())
    MANIFEST.write_text(json.dumps(table), encoding="utf-8")


_write_manifest()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first, so that no worker waits for them at the end."""
    items.sort(key=lambda item: item.path.stem not in ("test_pages", "test_released", "test_validation"))


def pytest_collection_finish() -> None:
    """The garbage collector passes over what was imported, which stays, and comes less often."""
    gc.freeze()
    gc.set_threshold(10_000)


def pytest_sessionfinish() -> None:
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's own small mirror, in force."""
    return use(MIRROR, monkeypatch)


@pytest.fixture
def one_thread(mirror: Path) -> Iterator[None]:
    """The test mirror in force, and one thread: the models of the zoo are too small for more."""
    with _threads(1):
        yield


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bootstraps of 200 draws, for tests whose subject is no interval."""
    moments = bootstrap.bootstrap_moments
    monkeypatch.setattr(
        bootstrap, "bootstrap_moments", lambda samples, draws, seed: moments(samples, min(draws, 200), seed)
    )


@contextmanager
def in_one_thread() -> Iterator[None]:
    """The same, for what a whole module shares."""
    with _threads(1), pytest.MonkeyPatch.context() as patch:
        use(MIRROR, patch)
        yield


@contextmanager
def _threads(number: int) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def use(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a mirror and its own table of sources in force."""
    monkeypatch.setenv("GEST_MIRROR", str(directory))
    monkeypatch.setenv("GEST_SOURCES", str(MANIFEST))
    return directory


Gest = Callable[..., "subprocess.CompletedProcess[str]"]


def write_short_report(runs: Sequence[object], path: Path, **_: object) -> None:
    """In place of `write_report`, which draws figures."""
    path.write_text(str(len(runs)))


@pytest.fixture
def gest(
    one_thread: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Gest:
    """Run a command in this process, on the test mirror and in `tmp_path`; keywords are variables.

    The page that a command writes beside runs or evidence has their number only.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")  # in a dumb terminal, rich ignores COLUMNS
    for one in (console.out, console.err):
        monkeypatch.setattr(one, "_width", None)  # else COLUMNS counts only when the module is imported

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        code = 0
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["gest", *map(str, arguments)])
            if {*arguments} & {"score", "masculine-rate", "entity-gender", "--evidence"}:
                patch.setattr("gest_dataset.report.page.write_report", write_short_report)
            try:
                cli.main()
            except SystemExit as ended:
                code = int(ended.code or 0)
        stdout, stderr = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, stdout, stderr)

    return run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for what is added; after the test nothing of it is left in the tables."""
    from gest_dataset import builders, languages

    folder = tmp_path / "home"
    with monkeypatch.context() as patch:
        patch.setenv("GEST_HOME", str(folder))
        yield folder
    languages.refresh()
    builders.refresh()


Edit = Callable[[str, Callable[[bytes], bytes]], Path]


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Edit:
    """A copy of the mirror with one file changed and pinned as changed: for broken content."""
    copy = tmp_path / "edited"

    def edit(key: str, change: Callable[[bytes], bytes]) -> Path:
        if not copy.exists():
            shutil.copytree(MIRROR, copy)
        path = copy / key
        path.write_bytes(change(path.read_bytes()))
        table = json.loads(MANIFEST.read_text(encoding="utf-8"))
        repository = "/".join(key.split("/")[:2])
        entry = table[repository]["files"][key.removeprefix(f"{repository}/")]
        entry["git_blob"] = git_blob_id(path.read_bytes())
        # a name of its own for every edit: tables are read once
        manifest = copy / f"{entry['git_blob']}.json"
        manifest.write_text(json.dumps(table), encoding="utf-8")
        use(copy, monkeypatch)
        monkeypatch.setenv("GEST_SOURCES", str(manifest))
        return path

    return edit


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real files, in force; the test is skipped where they are not at hand."""
    if not _GIVEN_MIRROR:
        pytest.skip("GEST_MIRROR names no mirror of the real files")
    if not Path(_GIVEN_MIRROR).is_dir():
        raise pytest.UsageError(f"GEST_MIRROR names {_GIVEN_MIRROR}, which is no folder.")
    monkeypatch.setenv("GEST_MIRROR", _GIVEN_MIRROR)
    monkeypatch.delenv("GEST_SOURCES", raising=False)
    return Path(_GIVEN_MIRROR)


COMMIT = "0123456789abcdef0123456789abcdef01234567"
Cached = Callable[[Path, str], None]


@pytest.fixture
def cached(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cached]:
    """Puts the folder of a model in the Hub's cache, as its `COMMIT` of an id; there is no network."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    folders = []

    def put(model: Path, hub_id: str) -> None:
        folder = Path(constants.HF_HUB_CACHE) / f"models--{hub_id.replace('/', '--')}"
        folders.append(folder)
        shutil.copytree(model, folder / "snapshots" / COMMIT)
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(COMMIT)

    yield put
    for folder in folders:
        shutil.rmtree(folder)


@pytest.fixture
def script_environment(tmp_path: Path) -> Mapping[str, str]:
    """The environment of a fresh interpreter that reads the test mirror."""
    return {
        **os.environ,
        "HF_HOME": str(tmp_path / "hf"),
        "GEST_MIRROR": str(MIRROR),
        "GEST_SOURCES": str(MANIFEST),
        "COLUMNS": "100",
    }
