"""The name `gest` in `datasets`: in this process and in others, next to the library's own names."""

from __future__ import annotations

import multiprocessing
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import datasets
import evaluate
import pytest
from datasets import get_dataset_config_names, get_dataset_infos, load_dataset, load_dataset_builder

from gest_dataset import register
from gest_dataset.builders import CONFIGS
from gest_dataset.errors import ConfigError, SourceError

pytestmark = pytest.mark.usefixtures("mirror")


def test_every_config_has_one_split_and_its_features() -> None:
    assert get_dataset_config_names("gest") == list(CONFIGS)
    for name, config in CONFIGS.items():
        data = load_dataset("gest", name)
        assert list(data) == ["test"]
        assert data["test"].features == config.features
        ids = data["test"]["id"]
        assert len(set(ids)) == len(ids) > 0
        info = data["test"].info
        assert all((info.citation, info.license, info.homepage, info.description))


def test_the_default_config_is_the_current_english_release() -> None:
    assert load_dataset("gest", split="test").config_name == "en"


def test_streaming_gives_the_same_rows() -> None:
    for name in ("sk_translations", "crows_control_negation"):
        rows = load_dataset("gest", name, split="test").to_list()
        assert list(load_dataset("gest", name, split="test", streaming=True)) == rows


def test_data_dir_replaces_the_environment(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEST_MIRROR")
    assert len(load_dataset("gest", "crows_gender", data_dir=str(mirror), split="test")) > 0


def test_a_pickled_builder(tmp_path: Path) -> None:
    builder = pickle.loads(pickle.dumps(load_dataset_builder("gest", "en", cache_dir=str(tmp_path))))
    builder.download_and_prepare()
    assert builder.as_dataset()["test"].num_rows > 0


def _number_of_rows(name: str) -> int:
    return len(load_dataset("gest", name, split="test"))


def test_a_forked_process() -> None:
    expected = _number_of_rows("crows_gender")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_number_of_rows, ("crows_gender",)) == expected


def test_a_fresh_interpreter(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    """`import gest_dataset` is light and wins over a folder `gest`."""
    (tmp_path / "gest").mkdir()
    script = (
        "import sys, gest_dataset\n"
        "print(sorted({'torch', 'transformers', 'datasets', 'pandas', 'evaluate'} & set(sys.modules)))\n"
        "from datasets import load_dataset\n"
        "print(len(load_dataset('gest', 'winobias_type1_dev')['test']))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=script_environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported, rows = done.stdout.splitlines()
    assert imported == "[]"
    assert int(rows) > 0


def test_other_names_behave_as_before(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    csv = load_dataset("csv", data_files=str(tmp_path / "rows.csv"), split="train")
    assert csv.to_list() == [{"a": 1, "b": 2}]
    module = datasets.load.dataset_module_factory("csv", data_dir=str(tmp_path))
    assert module.module_path == "datasets.packaged_modules.csv.csv"
    assert module.hash == datasets.load._PACKAGED_DATASETS_MODULES["csv"][1]


def test_registering_again_changes_nothing() -> None:
    before, finders = datasets.load.dataset_module_factory, list(sys.meta_path)
    register.register()
    assert datasets.load.dataset_module_factory is before
    assert sys.meta_path == finders


@pytest.mark.parametrize("library", ["datasets.load", "evaluate.loading"])
def test_a_library_without_the_hooks_is_a_warning(library: str) -> None:
    with pytest.warns(UserWarning, match="gest build --output DIR"):
        register.patch(library, ModuleType(library))


def test_infos_have_the_rows_of_the_pinned_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = str(tmp_path)
    for table in (True, False):
        if not table:
            monkeypatch.delenv("GEST_SOURCES")
        for name, info in get_dataset_infos("gest", cache_dir=cache).items():
            config = CONFIGS[name]
            known = config.exact and not (config.sources and table)
            assert info.splits["test"].num_examples == (config.published_rows if known else None)
    builder = load_dataset_builder("gest", "stereotypes", cache_dir=cache)
    builder.download_and_prepare()
    assert builder.info.splits["test"].num_examples == len(builder.as_dataset("test"))


@pytest.mark.parametrize("call", [load_dataset, load_dataset_builder, get_dataset_config_names])
def test_a_revision_is_refused(call: Callable[..., object]) -> None:
    with pytest.raises(ConfigError, match=r"no revision 'main'.*Set GEST_REPO"):
        call("gest", revision="main")
    with pytest.raises(ConfigError, match="gest_stereotype_rate is part of gest-dataset"):
        evaluate.load("gest_stereotype_rate", revision="main")


def test_data_files_are_refused() -> None:
    with pytest.raises(ConfigError, match="data_dir=DIR"):
        load_dataset("gest", "en", data_files="x.csv")


def test_a_changed_mirror_is_an_error_even_with_cached_rows(mirror: Path, tmp_path: Path) -> None:
    key = "kinit-sk/gest/data/gest_1.1.csv"
    copy = shutil.copytree(mirror, tmp_path / "mirror")
    cache = str(tmp_path / "cache")
    load_dataset("gest", "en", data_dir=str(copy), cache_dir=cache)
    (copy / key).write_bytes((copy / key).read_bytes() + b"\n")
    with pytest.raises(SourceError, match="is not the pinned file"):
        load_dataset("gest", "en", data_dir=str(copy), cache_dir=cache)


def test_a_new_version_of_a_config_has_a_new_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_dataset_builder("gest", "en").cache_dir
    monkeypatch.setitem(CONFIGS, "en", replace(CONFIGS["en"], version=2))
    assert load_dataset_builder("gest", "en").cache_dir != before
