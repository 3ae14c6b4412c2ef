"""Hostile files end a command with a message: they never hang it, fill the memory or crash Python."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.errors import ModelError
from tests.conftest import Gest
from tests.support import zoo

pytestmark = pytest.mark.attack
_SECONDS, _MEMORY = 240, 8 << 30  # of one command; what is attacked here takes hours or any memory
# Each level holds nine of the level below: 9 ** 10 values in a kilobyte
_LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 11))
_MERGES = "a0: &a0 {x: y}\n" + "".join(
    f"a{i}: &a{i}\n  <<: [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 11)
)
YAML = {
    "aliases": f"{_LAUGHS}models: *a10\n",
    "merges": f"{_MERGES}models: *a10\n",
    "itself": "models: &a [*a]\n",
    "deep": "models: " + "[" * 100_000,
    "deep mappings": "{a: " * 100_000,
}
VARIANTS = "source,masculine,feminine\nI am.,Esu pats.,Esu pati.\n"


# Runs commands one after the other in one process, and prints their exit codes and messages
_DRIVER = """
import contextlib, io, json, sys
from gest_dataset import cli
from gest_dataset.commands import console
for arguments in json.load(sys.stdin):
    sys.argv = ["gest", *arguments]
    console.err.file = messages = io.StringIO()
    try:
        code = cli.main()
    except SystemExit as end:
        code = end.code
    print(json.dumps([code, messages.getvalue()]), flush=True)
"""
Run = Callable[..., list[str]]


@pytest.fixture
def run(tmp_path: Path, script_environment: Mapping[str, str]) -> Run:
    """Run commands that have to fail with a message, in bounded time and memory; returns the messages."""

    def start(*commands: Sequence[str]) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", _DRIVER],
            input=json.dumps(commands),
            cwd=tmp_path,
            env={**script_environment, "GEST_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY)),
        )
        results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        assert len(results) == len(commands), done.stderr[-2000:]
        for command, (code, message) in zip(commands, results, strict=True):
            assert code in (1, 2), (command, code, done.stderr[-2000:])
            assert message.startswith("error: "), (command, message)
        return [" ".join(message.split()) for _, message in results]

    return start


def endless(path: Path, kind: str) -> Path:
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    return path


def add_rules(name: str, *options: str) -> Sequence[str]:
    return ("add-language", "lt", "--variants", "lt.csv", "--rules", name, *options)


def test_yaml(run: Run, tmp_path: Path) -> None:
    (tmp_path / "lt.csv").write_text(VARIANTS)
    for name, text in YAML.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    for name, message in zip(
        YAML, run(*(("sweep", f"{name}.yaml", "--estimate") for name in YAML)), strict=True
    ):
        assert f"{name}.yaml is not valid YAML" in message
    for name, message in zip(YAML, run(*(add_rules(f"{name}.yaml") for name in YAML)), strict=True):
        assert f"{name}.yaml is not a grammar" in message


@pytest.mark.parametrize("kind", ["fifo", "zero"])
def test_files_without_an_end(kind: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "lt.csv").write_text(VARIANTS)
    (tmp_path / "run").mkdir()
    endless(tmp_path / "run" / "run.json", kind)
    for suffix in ("yaml", "json", "csv", "jsonl", "parquet"):
        endless(tmp_path / f"foreign.{suffix}", kind)
    run(
        ("compare", "run", "run"),
        ("report", "run", "--output", "report.html"),
        ("sweep", "foreign.yaml", "--estimate"),
        add_rules("foreign.yaml"),
        ("add-language", "lt", "--variants", "foreign.csv"),
        ("ask", "model", "--prompts", "foreign.json"),
        ("score", "model", "--templates", "foreign.json"),
        ("score", "model", "--data", "foreign.jsonl"),
        ("score", "model", "--data", "foreign.parquet"),
    )


def test_wide_tables(run: Run, tmp_path: Path) -> None:
    number = 100_000
    (tmp_path / "wide.csv").write_text(",".join(f"c{i}" for i in range(number)) + "\n" + "x\n" * 30_000)
    (tmp_path / "wide.jsonl").write_text("\n".join(json.dumps({f"k{i}": 1}) for i in range(number)))
    for message in run(("score", "model", "--data", "wide.csv"), ("score", "model", "--data", "wide.jsonl")):
        assert "100,000 columns" in message


def test_expressions_that_take_exponential_time(run: Run, tmp_path: Path) -> None:
    (tmp_path / "lt.csv").write_text(VARIANTS)
    expressions = ("(a+)+x", "(a|a)*x", "a*a*a*x", "(a?){30}x", "a?" * 30 + "a" * 30, "(a|a)" * 30 + "x")
    for number, expression in enumerate(expressions):
        rules = {"pronouns": ["aš"], "linking_verbs": [expression]}
        (tmp_path / f"{number}.yaml").write_text(json.dumps(rules))
    for message in run(*(add_rules(f"{number}.yaml") for number in range(len(expressions)))):
        assert "could take too long to match" in message


def test_rules_that_extend_themselves(run: Run, tmp_path: Path) -> None:
    (tmp_path / "lt.csv").write_text(VARIANTS)
    (tmp_path / "home" / "rules").mkdir(parents=True)
    bases = ("lt", "../../lt", "xx")
    for number, base in enumerate(bases):
        (tmp_path / f"{number}.yaml").write_text(json.dumps({"extends": base, "pronouns": ["aš"]}))
    shutil.copy(tmp_path / "0.yaml", tmp_path / "home" / "rules" / "lt.yaml")
    messages = run(*(add_rules(f"{number}.yaml", "--replace") for number in range(len(bases))))
    for base, message in zip(bases, messages, strict=True):
        assert f"extends '{base}'" in message


# Loops, too much memory, wrong code, unknown names; the sandbox of transformers stops what is dangerous
TEMPLATES = {
    "a loop": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "memory": "{{ 'x' * 10 ** 15 }}",
    "syntax": "{% for %}",
    "an error": "{{ raise_exception('no') }}",
    "a type": "{{ messages + 1 }}",
    "an attribute": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
}


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", TEMPLATES)
def test_chat_templates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gest_dataset.models.chat.template._SECONDS", 2.0)
    model, tokenizer = zoo.load("gpt2")
    tokenizer.chat_template = TEMPLATES[name]
    with pytest.raises(ModelError, match=r"chat template of .* does not work"):
        gest_dataset.ask((model, tokenizer), limit=1)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("config.json", {"hidden_size": 10**9}),
        ("config.json", {"num_hidden_layers": -1}),
        ("config.json", {"num_attention_heads": 0}),
        ("config.json", {"vocab_size": "many"}),
        ("config.json", {"max_position_embeddings": "many"}),
        ("config.json", {"max_position_embeddings": -5}),
        ("config.json", {"architectures": 7}),
        ("config.json", {"architectures": [None]}),
        ("config.json", {"model_type": ["bert"]}),
        ("config.json", {"pad_token_id": 10**12}),
        ("tokenizer_config.json", {"model_max_length": "many"}),
        ("tokenizer_config.json", {"mask_token": 7}),
        ("tokenizer_config.json", {"tokenizer_class": 7}),
        ("tokenizer.json", {"model": None}),
        ("tokenizer.json", {"added_tokens": 7}),
    ],
)
def test_settings_of_a_model(file: str, changes: dict[str, Any], gest: Gest, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "model"))
    settings = json.loads((folder / file).read_text(encoding="utf-8"))
    (folder / file).write_text(json.dumps({**settings, **changes}), encoding="utf-8")
    done = gest("score", folder, "--limit", "20", "--templates", "1", "--device", "cpu")
    assert done.returncode in (0, 1, 2), done.stderr[-2000:]
    assert "Traceback" not in done.stderr


def test_names_that_are_paths(gest: Gest, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory("bert"), tmp_path / "model"))
    entries = [{"model": str(folder), "label": label} for label in ("..", "../../out", ".", "a/../b")]
    (tmp_path / "suite.yaml").write_text(json.dumps({"models": entries, "configs": "demo_sk_pairs"}))
    assert gest("sweep", "suite.yaml", "--output", "deep/out").returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "model", "suite.yaml"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]
    assert len(list((tmp_path / "deep" / "out" / "runs").iterdir())) == len(entries)
