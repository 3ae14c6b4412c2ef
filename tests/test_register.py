"""The name `gest` in `datasets`: everywhere, twice, in other processes, and beside its own names."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace

import datasets
import pytest
from datasets import get_dataset_config_names, load_dataset, load_dataset_builder

import gest_dataset
from gest_dataset import register
from gest_dataset.builders import CONFIGS
from gest_dataset.errors import ConfigError, SourceError

pytestmark = pytest.mark.usefixtures("mirror")


def run(script: str, environment: Mapping[str, str], cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=cwd, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_config_has_one_split_and_its_features() -> None:
    assert get_dataset_config_names("gest") == list(CONFIGS)
    for name, config in CONFIGS.items():
        data = load_dataset("gest", name)
        assert list(data) == ["test"]
        assert data["test"].features == config.features
        ids = data["test"]["id"]
        assert len(set(ids)) == len(ids) > 0


def test_default_config_is_the_current_english_release() -> None:
    assert load_dataset("gest", split="test").config_name == "en"


def test_builder_knows_citation_licence_and_home() -> None:
    for name in CONFIGS:
        info = load_dataset_builder("gest", name).info
        assert all((info.citation, info.license, info.homepage, info.description))


def test_streaming_gives_the_same_rows() -> None:
    for name in ("sk_translations", "stereoset_control_race", "crows_control_negation"):
        rows = load_dataset("gest", name, split="test").to_list()
        assert list(load_dataset("gest", name, split="test", streaming=True)) == rows


def test_data_dir_needs_no_environment(mirror: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GEST_MIRROR")
    monkeypatch.chdir(tmp_path)
    data = load_dataset("gest", "crows_gender", data_dir=str(mirror), split="test")
    assert len(data) > 0


def test_num_proc_and_a_pickled_builder_are_safe(tmp_path: Path) -> None:
    cache = str(tmp_path)
    assert len(load_dataset("gest", "sk_translations", num_proc=2, cache_dir=cache)["test"]) > 0
    builder = pickle.loads(pickle.dumps(load_dataset_builder("gest", "en", cache_dir=cache)))
    builder.download_and_prepare()
    assert builder.as_dataset()["test"].num_rows > 0


def _rows_in_child(name: str) -> int:
    return len(load_dataset("gest", name, split="test"))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_processes_know_the_name(method: str) -> None:
    expected = _rows_in_child("crows_gender")
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(_rows_in_child, ("crows_gender",)) == expected


@pytest.mark.parametrize(
    "imports",
    [
        "import gest_dataset; from datasets import load_dataset",
        "from datasets import load_dataset; import gest_dataset",
        "import gest_dataset; import importlib; importlib.reload(gest_dataset);"
        "from datasets import load_dataset",
    ],
    ids=["first", "last", "twice"],
)
def test_fresh_interpreter_in_any_directory(
    imports: str, script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    (tmp_path / "gest").mkdir()  # not a data set: the registered name comes first
    script = f"{imports}\nprint(len(load_dataset('gest', 'winobias_type1_dev')['test']))"
    assert int(run(script, script_environment, tmp_path)) > 0


def test_import_is_light(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    script = (
        "import sys, gest_dataset\n"
        "heavy = {'torch', 'transformers', 'datasets', 'pandas', 'evaluate'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "import datasets\n"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert run(script, script_environment, tmp_path).splitlines() == ["[]", "[]"]


def test_other_names_behave_as_before(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    csv = load_dataset("csv", data_files=str(tmp_path / "rows.csv"), split="train")
    assert csv.to_list() == [{"a": 1, "b": 2}]
    parquet = tmp_path / "parquet"
    parquet.mkdir()
    csv.to_parquet(str(parquet / "rows.parquet"))
    assert load_dataset("parquet", data_dir=str(parquet), split="train").to_list() == csv.to_list()
    module = datasets.load.dataset_module_factory("csv", data_dir=str(tmp_path))
    assert module.module_path == "datasets.packaged_modules.csv.csv"
    assert module.hash == datasets.load._PACKAGED_DATASETS_MODULES["csv"][1]


def test_registering_again_changes_nothing() -> None:
    before, finders = datasets.load.PackagedDatasetModuleFactory, list(sys.meta_path)
    register.register()
    assert datasets.load.PackagedDatasetModuleFactory is before
    assert sys.meta_path == finders


def test_moved_hook_is_a_warning_that_says_what_to_do() -> None:
    with pytest.warns(UserWarning, match="gest build --output DIR"):
        register.register_dataset(ModuleType("load"))


def test_hook_that_is_there_is_used() -> None:
    class Factory:
        def __init__(self, name: str) -> None:
            self.name = name

        def get_module(self) -> str:
            return f"original {self.name}"

    load = SimpleNamespace(
        _PACKAGED_DATASETS_MODULES={"csv": ("m", "h")},
        PackagedDatasetModuleFactory=Factory,
        DatasetModule=lambda path, hash, kwargs: path,
    )
    register.register_dataset(load)  # type: ignore[arg-type]
    assert load.PackagedDatasetModuleFactory("csv").get_module() == "original csv"
    assert load.PackagedDatasetModuleFactory("gest").get_module() == register.BUILDER_MODULE


def test_unknown_config_names_the_nearest_first() -> None:
    with pytest.raises(ConfigError) as caught:
        load_dataset("gest", "sk_pair")
    first, second = str(caught.value).splitlines()
    assert "Did you mean 'sk_pairs'?" in first
    assert second.startswith("The nearest are sk_pairs, ")
    assert second.endswith("gest list")


def test_data_files_are_refused() -> None:
    with pytest.raises(ConfigError, match="data_dir=DIR"):
        load_dataset("gest", "en", data_files="x.csv")


def test_changed_mirror_is_never_answered_from_the_cache(mirror: Path, tmp_path: Path) -> None:
    import shutil

    key = "kinit-sk/gest/data/gest_1.1.csv"
    copy = shutil.copytree(mirror, tmp_path / "mirror")
    cache = str(tmp_path / "cache")
    load_dataset("gest", "en", data_dir=str(copy), cache_dir=cache)
    (copy / key).write_bytes((copy / key).read_bytes() + b"\n")
    with pytest.raises(SourceError, match="is not the pinned file"):
        load_dataset("gest", "en", data_dir=str(copy), cache_dir=cache)


def test_new_version_never_meets_an_old_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    import gest_dataset.builders as builders

    before = load_dataset_builder("gest", "en").cache_dir
    monkeypatch.setattr(builders, "__version__", gest_dataset.__version__ + ".post1")
    assert load_dataset_builder("gest", "en").cache_dir != before
