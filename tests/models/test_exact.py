"""The engine against the naive reference: every architecture of the zoo x every probe.

Log scores agree to 1e-4 or one part in 10,000 (a span's are sums of up to ten float32 values),
probabilities to one part in 10,000, the same samples are skipped; how
the queries are batched, ordered, padded and deduplicated changes nothing beyond that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset, load_dataset
from transformers import BertForMaskedLM, BertForNextSentencePrediction, BertForPreTraining

import gest_dataset
from gest_dataset.models import forward_passes, packed_linear
from tests.support import naive, zoo
from tests.support.naive import CANDIDATES, SENTENCES, Reader, Score

pytestmark = pytest.mark.usefixtures("one_thread")
TOLERANCE = 1e-4
LOG_RATIO = ("log_ratio",)
QUADRUPLET = (*(f"logp_{name}" for name in SENTENCES), "cs_original", "cs_control", "f_prefix")


LANGUAGE_MODELS = ("masked", "causal", "seq2seq")
GEST_LABELS = ("template", "stereotype")


@dataclass(frozen=True)
class Probe:
    """One probe on one config: the naive function, the number of rows, the engine's options, the columns."""

    name: str
    config: str
    ask: Callable[..., Score]
    rows: int
    families: tuple[str, ...] = LANGUAGE_MODELS
    options: dict[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    columns: tuple[str, ...] = LOG_RATIO

    def __str__(self) -> str:
        return self.name


def quadruplets(name: str, config: str, rows: int, *families: str, **options: Any) -> Probe:
    ask = partial(naive.quadruplet, shared=options["cs"]) if options else naive.quadruplet
    return Probe(name, config, ask, rows, families, options, columns=QUADRUPLET)


def stereoset(name: str, config: str, ask: Any, rows: int, *families: str, **options: Any) -> Probe:
    return Probe(name, f"stereoset_{config}sentence", ask, rows, families, options, columns=CANDIDATES)


BETWEEN = "de_inter"
PROBES = (
    *(
        Probe(
            f"template-{number}",
            "en",
            partial(naive.template, number=number),
            34 if number == 3 else 6,
            LANGUAGE_MODELS if number > 2 else ("masked", "seq2seq"),
            {"templates": [number]},
            GEST_LABELS,
        )
        for number in naive.TEMPLATES
    ),
    Probe("pairs-sk", "sk_pairs", naive.pair, 25, labels=GEST_LABELS),
    Probe("pairs-ru", "ru_pairs", naive.pair, 12, labels=GEST_LABELS),
    Probe(
        "pairs-sk-multi",
        "sk_pairs",
        partial(naive.pair, multi_token=True),
        8,
        ("masked",),
        {"multi_token": True},
        GEST_LABELS,
    ),
    Probe(
        "pairs-sk-per-token", "sk_pairs", naive.per_token, 25, ("causal",), {"per_token": True}, GEST_LABELS
    ),
    Probe("winobias", "winobias_type1_dev", naive.winobias, 9, labels=("template", "occupation_gender")),
    quadruplets("control-race", "stereoset_control_race", 11, *LANGUAGE_MODELS),
    quadruplets("control-race-cs", "stereoset_control_race", 3, "masked", cs=True),
    quadruplets("slovak-without-cs", "slovak_gender", 6, "masked", cs=False),
    quadruplets("slovak", "slovak_gender", 6, *LANGUAGE_MODELS),
    quadruplets("negation", "crows_control_negation", 2, "masked", "causal"),
    Probe("crows", "crows_gender", naive.crows, 4, ("masked", "causal"), columns=QUADRUPLET),
    # to the last rows, which have an odd slot and two slots
    stereoset("intrasentence", "en_intra", naive.intrasentence, 16, *LANGUAGE_MODELS),
    stereoset("intersentence-nsp", BETWEEN, naive.next_sentence, 8, "nsp"),
    stereoset("intersentence", BETWEEN, naive.generative, 8, "causal", "seq2seq"),
    stereoset("intersentence-ratio", BETWEEN, naive.ratio, 4, "causal", intersentence="ratio"),
)
BY_NAME = {probe.name: probe for probe in PROBES}


@functools.cache
def reader(name: str) -> Reader:
    """A model that no test changes."""
    return Reader(*zoo.load(name), zoo.BY_NAME[name].family)


@functools.cache
def rows(config: str, number: int) -> Dataset:
    """The first rows of a config; only called with the mirror in force."""
    data = load_dataset("gest", config, split="test")
    return data.select(range(min(number, len(data))))


@functools.cache
def expected(animal: str, probe: str) -> dict[str, Score]:
    """The reference scores of a model on a probe."""
    entry = BY_NAME[probe]
    return naive.answer(entry.ask, reader(animal), rows(entry.config, entry.rows))


def run(who: Reader, config: str | Dataset, options: dict[str, Any], **more: Any) -> Any:
    """The engine's answer, in fp32 on the CPU."""
    models = (who.model, who.tokenizer)
    return gest_dataset.score(models, config, device="cpu", dtype="float32", **options, **more)


def as_dict(table: Any, columns: tuple[str, ...]) -> dict[str, tuple[float | None, ...]]:
    """id -> the numbers of a table of scores; ids are unique."""
    found = {
        row["id"]: tuple(row[name] for name in columns) for row in table.select(["id", *columns]).to_pylist()
    }
    assert len(found) == table.num_rows
    return found


def assert_equal(scores: Any, wanted: dict[str, Score], probe: Probe) -> None:
    """The same ids scored, in the same order, the same ids skipped, the same numbers."""
    skipped = {name for name, score in wanted.items() if score is None}
    asked = {
        name: score if isinstance(score, tuple) else (score,)
        for name, score in wanted.items()
        if score is not None
    }
    assert asked, "nothing to compare"
    assert scores.table.column_names == ["id", *probe.labels[:1], *probe.labels[1:], *probe.columns]
    found = as_dict(scores.table, probe.columns)
    assert {row["id"] for row in scores.skipped.to_pylist()} == skipped
    assert list(found) == list(asked)
    for name, numbers in asked.items():
        for column, got, want in zip(probe.columns, found[name], numbers, strict=True):
            if want is None:
                assert got is None, (name, column)
            elif probe.columns == CANDIDATES:
                assert got == pytest.approx(want, rel=TOLERANCE), (name, column)
            else:
                assert got == pytest.approx(want, abs=TOLERANCE, rel=TOLERANCE), (name, column)


MATRIX = [
    pytest.param(animal.name, probe.name, id=f"{animal.name}-{probe.name}")
    for animal in zoo.ZOO
    for probe in PROBES
    if animal.family in probe.families
]


@pytest.mark.parametrize(("animal", "probe"), MATRIX)
def test_equal_to_naive(animal: str, probe: str) -> None:
    entry = BY_NAME[probe]
    scores = run(reader(animal), entry.config, entry.options, limit=entry.rows)
    assert_equal(scores, expected(animal, probe), entry)


@pytest.mark.parametrize("animal", [animal.name for animal in zoo.ZOO])
def test_packed_layers_change_nothing(animal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every architecture, with packing forced on and for layers of any size."""
    entry = BY_NAME["intersentence-nsp" if zoo.BY_NAME[animal].family == "nsp" else "template-3"]
    wanted, packed = expected(animal, entry.name), []

    @contextmanager
    def recorded(*given: Any) -> Iterator[list[Any]]:
        with packed_linear.packed_linear_layers(*given) as layers:
            packed.append(bool(layers))
            yield layers

    monkeypatch.setattr(forward_passes, "packed_linear_layers", recorded)
    monkeypatch.setattr(packed_linear, "_SMALLEST", 0)
    monkeypatch.setattr(packed_linear, "is_faster", lambda dtype: True)
    scores = run(reader(animal), entry.config, entry.options, limit=entry.rows)
    assert_equal(scores, wanted, entry)
    assert packed == [True]


# ---- what must not change a score ------------------------------------------------------------------

VARIED = [
    pytest.param(animal, probe, id=f"{animal}-{probe}")
    for animal, probe in (
        ("roberta", "template-3"),
        ("modernbert", "pairs-sk"),
        ("deberta-v2", "intrasentence"),
        ("bert-bent", "slovak"),
        ("gpt2", "template-3"),
        ("mistral", "pairs-sk"),
        ("gemma2", "intrasentence"),
        ("phi", "intersentence"),
        ("t5", "winobias"),
        ("mt5", "control-race"),
        ("bert-nsp", "intersentence-nsp"),
    )
]


@pytest.mark.parametrize("budget", [1, 60, 1_000_000])
@pytest.mark.parametrize(("animal", "probe"), VARIED)
def test_batches_change_nothing(animal: str, probe: str, budget: int) -> None:
    entry = BY_NAME[probe]
    scores = run(reader(animal), rows(entry.config, entry.rows), entry.options, batch_tokens=budget)
    assert_equal(scores, expected(animal, probe), entry)


@pytest.mark.parametrize(("animal", "probe"), VARIED)
def test_order_changes_nothing(animal: str, probe: str) -> None:
    entry = BY_NAME[probe]
    shuffled = rows(entry.config, entry.rows).shuffle(seed=7)
    wanted = expected(animal, probe)
    scores = run(reader(animal), shuffled, entry.options)
    assert_equal(scores, {name: wanted[name] for name in shuffled["id"]}, entry)


def test_a_checkpoint_of_pretraining(tmp_path: Path) -> None:
    """BERT as published has both heads: words and next sentences are asked of the right one."""
    tokenizer = reader("bert").tokenizer
    animal = replace(zoo.BY_NAME["bert"], name="both-heads", model=BertForPreTraining)
    zoo.untrained(animal, tokenizer).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    for model, family, name in (
        (BertForMaskedLM, "masked", "template-3"),
        (BertForNextSentencePrediction, "nsp", "intersentence-nsp"),
    ):
        probe = BY_NAME[name]
        who = Reader(model.from_pretrained(tmp_path).eval(), tokenizer, family)
        scores = gest_dataset.score(
            str(tmp_path), probe.config, device="cpu", dtype="float32", limit=5, **probe.options
        )
        assert_equal(scores, naive.answer(probe.ask, who, rows(probe.config, 5)), probe)
