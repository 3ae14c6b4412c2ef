"""Built folders: their rows, card and checksums, and files that are damaged or not ours."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset

from gest_dataset.builders import CONFIGS
from gest_dataset.data import build
from gest_dataset.data import folder as data_folder
from gest_dataset.data.card import write_card
from gest_dataset.errors import OutputError
from tests.conftest import ROOT
from tests.support import dataset_card

pytestmark = pytest.mark.usefixtures("mirror")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all configs."""
    from tests.conftest import MIRROR, use

    out = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        use(MIRROR, patch)
        build.check_build_folder(out)
        for config in CONFIGS.values():
            build.build_config(config, out)
        write_card(out)
    return out


def test_plain_datasets_reads_the_folder(folder: Path, script_environment: Mapping[str, str]) -> None:
    """In a process that does not import this package."""
    script = (
        "import sys, json\n"
        "from datasets import get_dataset_config_names, load_dataset\n"
        "print(json.dumps(get_dataset_config_names(sys.argv[1])))\n"
        "print(load_dataset(sys.argv[1], 'sk_pairs', split='test').num_rows)\n"
        "print(load_dataset(sys.argv[1])['test'].config_name)\n"
        "assert not any(name.startswith('gest') for name in sys.modules)\n"
    )
    environment = {k: v for k, v in script_environment.items() if not k.startswith("GEST_")}
    command = [sys.executable, "-c", script, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names, rows, default = done.stdout.splitlines()
    assert yaml.safe_load(names) == list(CONFIGS)
    assert int(rows) == load_dataset("gest", "sk_pairs", split="test").num_rows
    assert default == "en"


def test_rows_and_types_are_those_of_the_registered_name(folder: Path, tmp_path: Path) -> None:
    for name in ("sk_pairs", "stereoset_control_race", "annotations", "crows_control_negation"):
        own = load_dataset("gest", name, split="test")
        built = load_dataset(str(folder), name, split="test", cache_dir=str(tmp_path))
        assert built.features == own.features
        assert built.to_list() == own.to_list()


def test_card(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    header, body = text.removeprefix("---\n").split("\n---\n", 1)
    facts = yaml.safe_load(header)
    assert [config["config_name"] for config in facts["configs"]] == list(CONFIGS)
    counts = {info["config_name"]: info["splits"][0]["num_examples"] for info in facts["dataset_info"]}
    assert counts["sk_pairs"] == load_dataset("gest", "sk_pairs", split="test").num_rows
    assert facts["multilinguality"] == ["multilingual"]
    assert {"expert-generated", "crowdsourced", "machine-generated"} <= {*facts["annotations_creators"]}
    assert "extended|other-stereoset" in facts["source_datasets"]
    assert len(body.encode()) < 40_000
    for part in ("Content warning", "**Intended.**", "**Out of scope.**", "gest-dataset/issues>"):
        assert part in body
    for family in {config.family for config in CONFIGS.values()}:
        section = body.split(f"\n## {family.title}\n")[1].split("\n## ")[0]
        assert family.limits in section
        assert section.count("```json") == 1
        assert body.count(f"\n- {family.title}\n") == 1
    for config in CONFIGS.values():
        assert body.count(f"| `{config.name}` | {counts[config.name]:,} |") == 1
        assert config.licence in body
    assert "not stated; not stated" not in body
    for paper in (ROOT / "builders" / "papers.bib").read_text(encoding="utf-8").strip().split("\n\n"):
        assert " ".join(body.split()).count(" ".join(paper.split())) == 1
        assert " url = " in paper
        assert " doi = " in paper or paper.startswith("@software")
    assert "[arXiv](https://arxiv.org/abs/2311.18711)" in body
    assert "[Öztürk et al. (2023)](https://arxiv.org/abs/2307.07331)" in body


def test_the_page_on_github_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make card` writes it."""
    for name in ("GEST_MIRROR", "GEST_SOURCES"):
        monkeypatch.delenv(name, raising=False)
    assert dataset_card.PAGE.read_text(encoding="utf-8") == dataset_card.page()


def test_repeated_build_changes_no_byte(folder: Path, tmp_path: Path) -> None:
    for _ in range(2):
        for name in ("en", "winobias_type1_dev"):
            build.build_config(CONFIGS[name], tmp_path)
        write_card(tmp_path)
        path = Path("en") / "test-00000-of-00001.parquet"
        assert (tmp_path / path).read_bytes() == (folder / path).read_bytes()


def test_other_parquet_files_are_not_overwritten(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "en" / "test-00000-of-00001.parquet"
    path.parent.mkdir()
    pq.write_table(pq.read_table(folder / "en").replace_schema_metadata(None), path)
    with pytest.raises(OutputError, match="was not written by"):
        build.build_config(CONFIGS["en"], tmp_path)


def test_checksums_are_those_of_sha256sum(folder: Path, tmp_path: Path) -> None:
    paths = {f"{name}/test-00000-of-00001.parquet" for name in CONFIGS}
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert lines == [
        f"{hashlib.sha256((folder / path).read_bytes()).hexdigest()}  {path}" for path in sorted(paths)
    ]
    if program := shutil.which("sha256sum"):
        copy = shutil.copytree(folder, tmp_path / "copy")
        check = [program, "--check", "--strict", "SHA256SUMS"]
        assert subprocess.run(check, cwd=copy, capture_output=True).returncode == 0
        file = copy / "en" / "test-00000-of-00001.parquet"
        file.write_bytes(file.read_bytes()[:-1])
        done = subprocess.run(check, cwd=copy, capture_output=True)
        assert done.returncode == 1
        assert b"en/test-00000-of-00001.parquet: FAILED" in done.stdout


def new_version(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the version of a config, as a change of its rows does."""
    monkeypatch.setitem(CONFIGS, name, replace(CONFIGS[name], version=CONFIGS[name].version + 1))


def test_only_new_versions_are_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("en", "crows_gender"):
        assert build.build_config(CONFIGS[name], tmp_path)[1]
        assert not build.build_config(CONFIGS[name], tmp_path)[1]
    new_version("en", monkeypatch)
    assert [built.config.name for built in write_card(tmp_path)] == ["crows_gender"]
    assert build.build_config(CONFIGS["en"], tmp_path)[1]
    assert [built.config.name for built in write_card(tmp_path)] == ["en", "crows_gender"]


@pytest.mark.parametrize("place", [0, 7, 1000, -200, -1])
def test_a_damaged_file_is_built_again(tmp_path: Path, place: int) -> None:
    built, _ = build.build_config(CONFIGS["en"], tmp_path)
    content = built.path.read_bytes()
    damaged = bytearray(content)
    damaged[place] ^= 1
    built.path.write_bytes(damaged)
    assert build.find_built(CONFIGS["en"], tmp_path) is None
    assert build.build_config(CONFIGS["en"], tmp_path)[1]
    assert built.path.read_bytes() == content


def test_folders_with_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(OutputError, match=r"thesis\.tex, which is not part of"):
        build.check_build_folder(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "README.md").write_text("# Mine")
    with pytest.raises(OutputError, match=r"README\.md, which is not part of"):
        build.check_build_folder(other)
    build.build_config(CONFIGS["en"], tmp_path / "built")
    (tmp_path / "built" / "en" / ".test-00000-of-00001.parquet.abc.gest.part").write_text("after a kill")
    build.check_build_folder(tmp_path / "built")


def test_what_a_killed_build_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "en" / ".test-00000-of-00001.parquet.abc.gest.part"
    left.parent.mkdir()
    left.write_text("after a kill")
    build.build_config(CONFIGS["en"], tmp_path)
    assert not left.exists()


def test_a_failed_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(data_folder.pq, "write_table", fail)
        with pytest.raises(OutputError, match="could not be written"):
            build.build_config(CONFIGS["en"], tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert build.build_config(CONFIGS["en"], tmp_path)[1]
