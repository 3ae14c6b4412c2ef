"""The `evaluate` modules: by name and by path, in parts and in processes, and on a model."""

from __future__ import annotations

import doctest
import json
import math
import multiprocessing
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pytest
import torch
from datasets import ClassLabel, Dataset, Value

from gest_dataset import register, statistics
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.metrics.modules import _plain
from gest_dataset.register import METRICS
from tests.conftest import ROOT

FOLDERS = ROOT / "metrics"
rng = np.random.default_rng(0)
STEREOTYPES = [i for i in range(1, 17) for _ in range(6)]

TWO_OF_EACH = [f"unit {i // 2}" for i in range(96)]

Inputs = dict[str, list[Any]]
# inputs of each module, and the function behind it
CASES: dict[str, tuple[Inputs, Any]] = {
    "gender_accuracy": (
        {
            "predictions": rng.choice(["male", "female", "neutral", "unknown"], size=96).tolist(),
            "references": ["male", "female", "neutral"] * 32,
            "stereotypical": ["pro", "anti", None, "anti", "pro", None] * 16,
            "units": TWO_OF_EACH,
            "templates": TWO_OF_EACH,
        },
        statistics.gender_accuracy,
    ),
    "gest_choice_rate": (
        {
            "predictions": rng.choice(["male", "female", "neither", "other"], size=96).tolist(),
            "references": STEREOTYPES,
            "letters": rng.integers(0, 3, size=96).tolist(),
            "units": TWO_OF_EACH,
        },
        statistics.choice_rate,
    ),
    "gest_masculine_rate": (
        {
            "predictions": rng.choice(["male", "female", "unknown"], p=[0.6, 0.3, 0.1], size=96).tolist(),
            "references": STEREOTYPES,
            "units": TWO_OF_EACH,
        },
        statistics.masculine_rate,
    ),
    "gest_stereotype_rate": (
        {"predictions": rng.normal(size=96).tolist(), "references": STEREOTYPES, "units": TWO_OF_EACH},
        statistics.stereotype_rate,
    ),
    "gest_control_bias": (
        {
            "predictions": rng.normal(size=(40, 4)).tolist(),
            "cs": rng.normal(size=(40, 2)).tolist(),
            "units": TWO_OF_EACH[:40],
        },
        statistics.control_bias,
    ),
    "stereoset_icat": (
        {
            "predictions": rng.normal(size=(40, 3)).tolist(),
            "references": [f"target {i % 3}" for i in range(40)],
            "bias_types": [("gender", "race")[i % 2] for i in range(40)],
            "units": TWO_OF_EACH[:40],
        },
        statistics.stereoset_icat,
    ),
    "winobias_rate": (
        {
            "predictions": rng.normal(size=40).tolist(),
            "references": ["male", "female"] * 20,
            "units": TWO_OF_EACH[:40],
        },
        statistics.winobias_rate,
    ),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "gest_masculine_rate": {"convention": "published"},
    "gest_stereotype_rate": {"scale": "log10"},
    "gest_control_bias": {"log_base": 10},
}


def expected(name: str, **options: Any) -> str:
    inputs, function = CASES[name]
    return judged(name, function(**inputs, **options), **options)


# the number that the verdict is on, its null, and how many standard deviations are negligible
BOUNDED = ("gender_accuracy", "gest_choice_rate", "gest_masculine_rate")  # whose zone is absolute
ZONES: dict[str, tuple[str, float, float]] = {
    "gender_accuracy": ("delta_s", 0, 0.05),
    "gest_choice_rate": ("stereotype_rate", 0, 0.05),
    "gest_masculine_rate": ("f_s", 0, 0.05),
    "gest_stereotype_rate": ("g_s", 1, 0.2),
    "gest_control_bias": ("f_mu", 0, 0.15),
    "stereoset_icat": ("ss", 50, 0.08),
    "winobias_rate": ("g_s", 1, 0.25),
}


def judged(name: str, result: dict[str, Any], number: str = "", **options: Any) -> str:
    """The result with its verdict, as text."""
    head, null, deviations = ZONES[name]
    reach = deviations * (result[f"{number or head}_spread"] if name not in BOUNDED else 1)
    low, high = null - reach, null + reach
    if head == "g_s":
        low, high = (
            (-reach, reach) if options.get("scale") == "log10" else (math.exp(-reach), math.exp(reach))
        )
    least, most = (result[f"{number or head}_{end}"] for end in ("low", "high"))
    least, most = result.get(f"{head}_lowest_low", least), result.get(f"{head}_highest_high", most)
    said = "not shown"
    if least > high:
        said = "shown"
    elif most < low:
        said = "reversed"
    elif least >= low and most <= high:
        said = "negligible"
    return rounded(result | {"verdict": said, "zone_low": low, "zone_high": high})


def rounded(result: dict[str, Any] | None) -> str:
    """A result as text, without the last digits of its zone."""
    if result is None:
        return "None"
    result = _plain(result)
    ends = {key: f"{result[key]:.12g}" for key in ("zone_low", "zone_high")}
    return repr(result | ends)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("how", ["name", "folder", "script"])
def test_every_module_gives_the_statistics(name: str, how: str) -> None:
    path = {"name": name, "folder": str(FOLDERS / name), "script": str(FOLDERS / name / f"{name}.py")}[how]
    metric = evaluate.load(path)
    assert metric.name == name
    inputs, _ = CASES[name]
    assert rounded(metric.compute(**inputs)) == expected(name)
    assert rounded(metric.compute(**inputs, **OPTIONS.get(name, {}))) == expected(
        name, **OPTIONS.get(name, {})
    )


@pytest.mark.parametrize("name", METRICS)
def test_samples_and_batches_can_be_added(name: str) -> None:
    inputs, _ = CASES[name]
    metric = evaluate.load(name)
    for part in (slice(7), slice(7, None)):
        metric.add_batch(**{key: values[part] for key, values in inputs.items()})
    assert rounded(metric.compute()) == expected(name)
    singular = {"predictions": "prediction", "references": "reference"}
    for values in zip(*inputs.values(), strict=True):
        metric.add(**{singular.get(key, key): value for key, value in zip(inputs, values, strict=True)})
    assert len(metric) == len(inputs["predictions"])
    assert rounded(metric.compute()) == expected(name)


@pytest.mark.parametrize("name", METRICS)
def test_arrays_are_as_good_as_lists(name: str) -> None:
    inputs, _ = CASES[name]
    metric = evaluate.load(name)
    for kind in (
        np.array,
        lambda values: pd.Series(values),
        lambda values: Dataset.from_dict({"x": values})["x"],
    ):
        assert rounded(metric.compute(**{key: kind(values) for key, values in inputs.items()})) == expected(
            name
        )


def _part(name: str, process: int, cache: str, queue: Any) -> None:
    metric = evaluate.load(name, num_process=2, process_id=process, experiment_id="parts", cache_dir=cache)
    inputs, _ = CASES[name]
    queue.put(rounded(metric.compute(**{key: values[process::2] for key, values in inputs.items()})))


@pytest.mark.parametrize("name", ["gest_control_bias"])
def test_two_processes_equal_one(name: str, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    parts = [context.Process(target=_part, args=(name, i, str(tmp_path), queue)) for i in (0, 1)]
    for part in parts:
        part.start()
    results = {queue.get(timeout=120) for _ in parts}
    for part in parts:
        part.join()
    assert results == {"None", expected(name)}


def test_combined_modules_give_both_results() -> None:
    both = evaluate.combine(["gest_stereotype_rate", evaluate.load("gest_masculine_rate")])
    names = [module.name for module in both.evaluation_modules]
    assert names == ["gest_stereotype_rate", "gest_masculine_rate"]
    twice = evaluate.combine({"one": evaluate.load("winobias_rate"), "two": evaluate.load("winobias_rate")})
    inputs, _ = CASES["winobias_rate"]
    result = twice.compute(**inputs)
    alone = evaluate.load("winobias_rate").compute(**inputs)
    assert {key: result[f"one_{key}"] for key in alone} == alone
    twice.add(inputs["predictions"][0], inputs["references"][0])
    twice.add_batch(**{name: inputs[name][1:] for name in ("predictions", "references")})
    assert twice.compute()["two_g_s"] == pytest.approx(alone["g_s"])
    twice.add_batch(**inputs)
    assert twice.compute()["two_g_s_low"] == alone["g_s_low"]


HEADINGS = (
    *("## Metric Description", "## How to Use", "### Inputs", "### Output Values", "## Values from Papers"),
    *("## Limitations", "## Citation", "## Further References"),
)


@pytest.mark.parametrize("name", METRICS)
def test_cards_document_every_input_and_key(name: str) -> None:
    metric = evaluate.load(name)
    arguments, returned = metric.inputs_description.split("\nReturns:\n")
    assert arguments.startswith("Args:\n")
    documented = set(re.findall(r"\*\*(\w+)\*\*", arguments))
    assert documented - {"model_id", "config"} == {*metric.features, *metric.options}
    bounds = re.compile(r"(_simultaneous)?_(low|high)$")
    keys = {bounds.sub("", key) for key in metric.compute(**CASES[name][0])} - {"zone"}
    assert keys <= set(re.findall(r"`(\w+)", returned))
    assert "`zone_low`" in returned


@pytest.mark.parametrize("name", METRICS)
def test_folder_is_whole_and_its_card_is_true(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = FOLDERS / name
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == {
        "README.md",
        f"{name}.py",
        "requirements.txt",
    }
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\ntitle: ")
    for part in ("sdk: gradio", "app_file: app.py", *HEADINGS, "```bibtex"):
        assert part in card
    places = [card.find(heading) for heading in HEADINGS]
    assert places == sorted(places)
    monkeypatch.chdir(folder)
    found = doctest.testfile(str(folder / "README.md"), module_relative=False)
    assert (found.failed, found.attempted > 3) == (0, True)
    for citation in evaluate.load(name).citation.split("\n\n"):
        assert citation in card


@pytest.mark.parametrize("name", METRICS)
def test_space_page_computes(name: str) -> None:
    pytest.importorskip("gradio")
    from gest_dataset.metrics.widget import EXAMPLES, interface

    example = EXAMPLES[name]
    found = json.loads(interface(name).fn(json.dumps(example)))
    assert repr(found) == repr(json.loads(json.dumps(evaluate.load(name).compute(**example))))


# --- the names


def run(script: str, environment: Mapping[str, str], cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=cwd, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


NO_NETWORK = """
import socket
def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
"""


def test_names_need_no_network(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    script = (
        f"{NO_NETWORK}\nimport evaluate, gest_dataset\n"
        "import sys\n"
        "before = {name.split('.')[0] for name in sys.modules}\n"
        f"print([evaluate.load(name).name for name in {METRICS!r}])\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules} - before))"
    )
    names, brought = run(script, {**script_environment, "HF_HUB_OFFLINE": "1"}, tmp_path).splitlines()
    assert names == str(list(METRICS))
    assert not {"torch", "transformers", "matplotlib", "sklearn", "wordfreq"} & set(brought.split())


def test_other_names_go_to_the_original() -> None:
    asked = []
    loading = SimpleNamespace(
        evaluation_module_factory=lambda path, *args: asked.append((path, *args)),
        ImportableModule=lambda path, *_: path,
    )
    register.register_metrics(loading)  # type: ignore[arg-type]
    loading.evaluation_module_factory("accuracy", revision="main")
    assert asked == [("accuracy", None, "main")]
    found = loading.evaluation_module_factory("winobias_rate", module_type=None)
    assert found == "gest_dataset.metrics.winobias_rate.winobias_rate"
    assert len(asked) == 1


# --- input


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ({"predictions": [0.1, math.nan], "references": [1, 2]}, "predictions, index 1: nan"),
        ({"predictions": [0.1], "references": [1.5]}, r"references, index 0: 1\.5 is not one of"),
        ({"predictions": [0.1], "references": [1, 2]}, "differ in length"),
        ({"predictions": [0.1]}, "needs references"),
        ({"predictions": [0.1], "references": [1], "cs": [1]}, "no input cs, only predictions, references"),
        ({"predictions": [0.1], "references": [1], "units": [" "]}, "units, index 0: ' ' is not a non-empty"),
    ],
)
def test_bad_samples_are_refused_where_they_come_in(samples: dict[str, Any], message: str) -> None:
    metric = evaluate.load("gest_stereotype_rate")
    with pytest.raises((ConfigError, DataError), match=message):
        metric.add_batch(**samples)
    inputs, _ = CASES["gest_stereotype_rate"]
    assert rounded(metric.compute(**inputs)) == expected("gest_stereotype_rate")


def test_an_unknown_argument_is_refused_with_the_known_ones() -> None:
    metric = evaluate.load("gest_stereotype_rate")
    with pytest.raises(ConfigError, match=r"not accept sclae together with samples\. It accepts .*scale"):
        metric.compute(predictions=[0.1], references=[1], sclae="log10")


def test_inputs_that_would_be_ignored_are_refused() -> None:
    inputs, _ = CASES["gest_control_bias"]
    metric = evaluate.load("gest_control_bias")
    for call in (metric.compute, metric.add_batch):
        with pytest.raises(ConfigError, match="no input references, only predictions, cs, units"):
            call(**inputs, references=[1] * 40)


def test_columns_of_the_datasets_are_inputs() -> None:
    """Label numbers, integer units and tensors give what names, texts and lists give."""
    labels = {
        "gender_accuracy": ("references", ClassLabel(names=["male", "female", "neutral"])),
        "winobias_rate": ("references", ClassLabel(names=["female", "male"])),
        "stereoset_icat": ("bias_types", ClassLabel(names=["gender", "profession", "race", "religion"])),
        "gest_stereotype_rate": ("references", Value("int32")),
    }
    for name, (label, feature) in labels.items():
        inputs, _ = CASES[name]
        known = getattr(feature, "names", None)
        columns = inputs | {
            label: [known.index(value) for value in inputs[label]] if known else inputs[label]
        }
        for key in {"units", "templates"} & {*inputs}:
            columns[key] = [int(unit.split()[1]) for unit in inputs[key]]
        data = Dataset.from_dict(columns).cast_column(label, feature)
        metric = evaluate.load(name)
        assert rounded(metric.compute(**{key: data[key] for key in columns})) == expected(name)
        assert rounded(metric.compute(**data[:])) == expected(name)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float64])
def test_tensors_of_any_type(kind: torch.dtype) -> None:
    for name in ("gest_stereotype_rate", "gest_control_bias"):
        inputs, _ = CASES[name]
        tensor = torch.tensor(inputs["predictions"], requires_grad=True).to(kind)
        found = evaluate.load(name).compute(**inputs | {"predictions": tensor})
        assert found == evaluate.load(name).compute(**inputs | {"predictions": tensor.tolist()})


UNDEFINED: dict[str, list[dict[str, Any]]] = {
    "gender_accuracy": [
        {"predictions": ["male"], "references": ["male"]},
        {"predictions": [""], "references": ["a"], "wrong_references": ["b"]},
    ],
    "gest_choice_rate": [
        {"predictions": ["male", "other"], "references": [1, 9]},
        {"predictions": ["other"] * 16, "references": list(range(1, 17))},
    ],
    "gest_masculine_rate": [
        {"predictions": ["unknown"] * 16, "references": list(range(1, 17)), "convention": convention}
        for convention in ("plain", "published")
    ],
    "gest_stereotype_rate": [
        {"predictions": [1.0, 2.0], "references": [1, 9], "scale": scale}
        for scale in ("ratio", "log10", "published", "eurogest", "eurogest_normalised")
    ],
    "gest_control_bias": [{"predictions": [[0.0, 1.0, 2.0, 4.0]]}, {"cs": [[0.5, None]]}],
    "stereoset_icat": [{"predictions": [[0.1, 0.2, 0.3]], "references": ["a"]}],
    "winobias_rate": [{"predictions": [1.0], "references": ["male"]}],
}


@pytest.mark.parametrize("name", METRICS)
def test_every_result_is_json(name: str) -> None:
    metric = evaluate.load(name)
    json.dumps(metric.compute(**CASES[name][0]), allow_nan=False)
    for inputs in UNDEFINED[name]:
        result = metric.compute(**inputs)
        json.dumps(result, allow_nan=False)
        head = ZONES[name][0]
        if name != "stereoset_icat":  # a proportion of one sample has bounds
            assert (result["verdict"], result.get(f"{head}_low")) == ("undefined", None)


def test_two_references_in_place_of_labels() -> None:
    """Columns of mtgeneval_ru, of which contextual sentences have no gender; a translation may be empty."""
    metric = evaluate.load("gender_accuracy")
    inputs = {
        "predictions": ["Она пела.", "Он пел.", "", "он"],
        "references": ["Она пела.", "Она пела.", "Он пел.", "Он."],
        "wrong_references": ["Он пел.", "Он пел.", "Она пела.", "Она."],
    }
    found = metric.compute(**inputs, genders=[0, 0, 1, 1], templates=[1, 2, 1, 2])
    assert [found[key] for key in ("accuracy", "accuracy_female", "accuracy_pairs")] == [0.75, 0.5, 0.5]
    assert metric.compute(**inputs)["accuracy"] == 0.75
    with pytest.raises(DataError, match="predictions, index 0: 3 is not a text"):
        metric.compute(**{**inputs, "predictions": [3, "", "", ""]})


def test_what_a_set_lacks_may_be_left_out() -> None:
    inputs, _ = CASES["gest_control_bias"]
    metric = evaluate.load("gest_control_bias")
    for part in ("predictions", "cs"):
        found = metric.compute(**{part: inputs[part]})
        both = {"predictions": None, "cs": None, part: inputs[part]}
        number = "f_mu" if part == "predictions" else "cs_mu_original"
        assert rounded(found) == judged("gest_control_bias", statistics.control_bias(**both), number)
    icat = evaluate.load("stereoset_icat")
    samples = {key: CASES["stereoset_icat"][0][key] for key in ("predictions", "references")}
    assert rounded(icat.compute(**samples)) == judged("stereoset_icat", statistics.stereoset_icat(**samples))
