"""`gest build`: a folder that plain `datasets` reads, whole or not there at all."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset

from gest_dataset import storage
from gest_dataset.builders import CONFIGS
from gest_dataset.data import build, parquet
from gest_dataset.data.card import write_card
from gest_dataset.errors import OutputError
from gest_dataset.stereotypes import STEREOTYPES

pytestmark = pytest.mark.usefixtures("mirror")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything, built once."""
    from tests.conftest import MIRROR, use

    out = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        use(MIRROR, patch)
        build.claim_folder(out)
        for config in CONFIGS.values():
            build.build_config(config, out)
        write_card(out)
    return out


def test_plain_datasets_reads_every_config(folder: Path, script_environment: Mapping[str, str]) -> None:
    script = (
        "import sys, json\n"
        "from datasets import get_dataset_config_names, load_dataset\n"
        "names = get_dataset_config_names(sys.argv[1])\n"
        "rows = {name: load_dataset(sys.argv[1], name, split='test').num_rows for name in names}\n"
        "assert load_dataset(sys.argv[1])['test'].config_name == 'en'\n"
        "assert not any(name.startswith('gest') for name in sys.modules)\n"
        "print(json.dumps(rows))\n"
    )
    environment = {k: v for k, v in script_environment.items() if not k.startswith("GEST_")}
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    rows = yaml.safe_load(done.stdout)
    assert rows == {name: load_dataset("gest", name)["test"].num_rows for name in CONFIGS}


def test_rows_and_types_are_those_of_the_registered_name(folder: Path, tmp_path: Path) -> None:
    for name in ("sk_pairs", "stereoset_control_race", "annotations", "crows_control_negation"):
        own = load_dataset("gest", name, split="test")
        built = load_dataset(str(folder), name, split="test", cache_dir=str(tmp_path))
        assert built.features == own.features
        assert built.to_list() == own.to_list()


def test_card_has_a_section_per_family_with_counts(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    header, body = text.removeprefix("---\n").split("\n---\n", 1)
    facts = yaml.safe_load(header)
    assert [config["config_name"] for config in facts["configs"]] == list(CONFIGS)
    assert "Content warning" in body
    assert all(config.licence in body for config in CONFIGS.values())
    for family in {config.family for config in CONFIGS.values()}:
        section = body.split(f"## {family.title}\n")[1].split("\n## ")[0]
        assert family.homepage in section
        assert family.citation in section
        assert family.limits in section
    counts = Counter(load_dataset("gest", "sk_pairs", split="test")["stereotype"])
    table = body.split("## GEST, gender-swapped pairs\n")[1]
    for stereotype in STEREOTYPES.values():
        row = next(line for line in table.splitlines() if f"| {stereotype.id} {stereotype.name}" in line)
        assert row.split(" | ")[-1] == f"{counts[stereotype.id]} |"


def test_card_describes_fields_once_for_configs_that_share_them(tmp_path: Path) -> None:
    for name in ("en", "en_1_0", "annotations"):
        build.build_config(CONFIGS[name], tmp_path)
    write_card(tmp_path)
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    sentences, annotations = card.split("Fields of ")[1:]
    assert sentences.startswith("en, en_1_0:")
    assert annotations.startswith("annotations:")
    for name, part in (("en", sentences), ("annotations", annotations)):
        for field, described in CONFIGS[name].fields.items():
            assert f"| `{field}` | {described.meaning} |" in part


def test_repeated_build_changes_no_byte(folder: Path, tmp_path: Path) -> None:
    for _ in range(2):
        for name in ("en", "winobias_type1_dev"):
            build.build_config(CONFIGS[name], tmp_path)
        write_card(tmp_path)
        path = Path("en") / "test-00000-of-00001.parquet"
        assert (tmp_path / path).read_bytes() == (folder / path).read_bytes()


def test_configs_add_up(tmp_path: Path) -> None:
    for name in ("sk_pairs", "en"):
        build.build_config(CONFIGS[name], tmp_path)
        write_card(tmp_path)
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"config_name: (\w+)", card.split("dataset_info")[0]) == ["en", "sk_pairs"]


def test_finished_config_is_not_built_again_but_an_old_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert build.build_config(CONFIGS["en"], tmp_path)[1]
    assert not build.build_config(CONFIGS["en"], tmp_path)[1]
    monkeypatch.setattr("gest_dataset.builders.__version__", "99")
    assert build.build_config(CONFIGS["en"], tmp_path)[1]


def test_left_out_rows_are_kept_with_the_file(folder: Path) -> None:
    found = build.built_before(CONFIGS["sk_pairs"], folder)
    assert found is not None
    assert found.dropped["more than one word differs"] > 0


def test_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(OutputError, match="not part of what `gest build` writes"):
        build.claim_folder(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "README.md").write_text("# Mine")
    with pytest.raises(OutputError, match="not part of what `gest build` writes"):
        build.claim_folder(other)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be used"):
        build.claim_folder(tmp_path / "file")


def test_foreign_parquet_is_not_overwritten(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "en" / "test-00000-of-00001.parquet"
    path.parent.mkdir()
    pq.write_table(pq.read_table(folder / "en").replace_schema_metadata(None), path)
    with pytest.raises(OutputError, match="was not written by"):
        build.build_config(CONFIGS["en"], tmp_path)


def test_full_disk_leaves_nothing_half_written(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    """A real write that fails: the process may not make a file larger than 2 kB."""
    limit = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
    )
    script = (
        "import sys; from pathlib import Path\n"
        "from gest_dataset.data import build; from gest_dataset.builders import CONFIGS\n"
        f"{limit}build.build_config(CONFIGS['sk_pairs'], Path(sys.argv[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], env=script_environment, capture_output=True, text=True
    )
    assert "could not be written" in done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert build.build_config(CONFIGS["sk_pairs"], tmp_path)[1]


def test_killed_build_goes_on(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    """SIGKILL at several moments; what is there is whole, and the same command ends the work."""
    command = [sys.executable, "-m", "gest_dataset", "build", "--out", str(tmp_path / "out")]
    for moment in (0.6, 0.9, 1.2):
        process = subprocess.Popen(command, env=script_environment, stdout=-3, stderr=-3)
        time.sleep(moment)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for path in (tmp_path / "out").rglob("test-*.parquet"):
            assert pq.read_table(path).num_rows > 0
    done = subprocess.run(command, env=script_environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert files == {"README.md", "SHA256SUMS", "croissant.json", "eval.yaml", "test-00000-of-00001.parquet"}


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_build_that_fails_at_its_first_config_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise failure

    build.claim_folder(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(parquet.pq, "write_table", fail)
        with pytest.raises((OutputError, KeyboardInterrupt)):
            build.build_config(CONFIGS["en"], tmp_path)
    (tmp_path / "en" / ".test-00000-of-00001.parquet.abc.gest.part").write_text("left by a kill")
    build.claim_folder(tmp_path)
    assert build.build_config(CONFIGS["en"], tmp_path)[1]
    assert (tmp_path / "en" / "test-00000-of-00001.parquet").exists()


def test_two_builds_in_one_folder(tmp_path: Path) -> None:
    with (
        storage.folder_lock(tmp_path),
        pytest.raises(OutputError, match="Another process"),
        storage.folder_lock(tmp_path),
    ):
        raise AssertionError("both are at work")
    with storage.folder_lock(tmp_path):
        build.claim_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_cut_off_file_is_built_again(tmp_path: Path) -> None:
    built, _ = build.build_config(CONFIGS["en"], tmp_path)
    whole = built.path.read_bytes()
    built.path.write_bytes(b"")
    assert build.build_config(CONFIGS["en"], tmp_path)[1]
    assert built.path.read_bytes() == whole


def test_a_flipped_bit_is_built_again(tmp_path: Path) -> None:
    """Anywhere in the file, its footer, first and last bytes too: what is there is not taken for it."""
    built, _ = build.build_config(CONFIGS["en"], tmp_path)
    whole = built.path.read_bytes()
    places = [0, *range(7, len(whole), len(whole) // 150), *range(len(whole) - 200, len(whole))]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        built.path.write_bytes(damaged)
        with suppress(OutputError):  # it may look like somebody else's file now
            assert build.built_before(CONFIGS["en"], tmp_path) is None, place
    built.path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    build.build_config(CONFIGS["en_1_0"], tmp_path)
    assert build.present(tmp_path) == ["en", "en_1_0"]
    assert [built.config.name for built in write_card(tmp_path)] == ["en_1_0"]
    assert build.build_config(CONFIGS["en"], tmp_path)[1]
    assert built.path.read_bytes() == whole
    assert not build.build_config(CONFIGS["en"], tmp_path)[1]


def test_checksums_are_those_of_sha256sum(folder: Path, tmp_path: Path) -> None:
    """What a user can check without this package."""
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


def test_pages_of_built_files_have_checksums(folder: Path) -> None:
    """For other programs: a changed byte of a page is an error where they look at them."""
    path = folder / "en" / "test-00000-of-00001.parquet"
    whole = path.read_bytes()
    column = pq.read_metadata(path).row_group(0).column(1)
    place = column.dictionary_page_offset + column.total_compressed_size - 5  # in its last page
    damaged = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    with pytest.raises(OSError, match="CRC"):
        pq.read_table(pa.BufferReader(damaged), page_checksum_verification=True)


def test_somebody_s_checksums_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  thesis.tex\n")
    with pytest.raises(OutputError, match="SHA256SUMS, which is not part of what `gest build` writes"):
        build.claim_folder(tmp_path)
    build.build_config(CONFIGS["en"], tmp_path / "built")
    build.claim_folder(tmp_path / "built")


def test_config_of_another_version_is_not_on_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("gest_dataset.builders.__version__", "0.0.1")
        build.build_config(CONFIGS["crows_gender"], tmp_path)
    build.build_config(CONFIGS["en"], tmp_path)
    assert [built.config.name for built in write_card(tmp_path)] == ["en"]


def test_counts_of_every_family_add_up(folder: Path) -> None:
    body = (folder / "README.md").read_text(encoding="utf-8")
    checked = 0
    for section in body.split("\n## ")[1:]:
        rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
        total = next((i for i, row in enumerate(rows) if row[0] == "**all**"), None)
        if total is None:
            continue
        for column in range(1, len(rows[0])):
            cells = [int(row[column].replace(",", "")) for row in rows[2:total]]
            assert sum(cells) == int(rows[total][column].strip("*").replace(",", ""))
            checked += 1
    assert checked == len(CONFIGS)
