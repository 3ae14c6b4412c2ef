"""The engine against the naive reference: every architecture of the zoo x every probe.

Log scores agree to 1e-4 or one part in 10,000 (a span's are sums of up to ten float32 values),
probabilities to one part in 10,000, the same samples are skipped; how
the queries are batched, ordered, padded and deduplicated changes nothing beyond that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset, concatenate_datasets, load_dataset
from tokenizers import processors
from transformers import BertForMaskedLM, BertForNextSentencePrediction, BertForPreTraining

import gest_dataset
from tests.support import naive, zoo
from tests.support.naive import CANDIDATES, SENTENCES, Reader, Score

pytestmark = pytest.mark.usefixtures("one_thread")
TOLERANCE = 1e-4
LOG_RATIO = ("log_ratio",)
QUADRUPLET = (*(f"logp_{name}" for name in SENTENCES), "cs_original", "cs_control")


@dataclass(frozen=True)
class Probe:
    """One probe on one config: the naive function, the engine's options and the columns."""

    name: str
    config: str
    ask: Callable[..., Score]
    columns: tuple[str, ...]
    families: tuple[str, ...]
    rows: int
    options: dict[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


LANGUAGE_MODELS = ("masked", "causal", "seq2seq")
GEST_LABELS = ("template", "stereotype")
PROBES = (
    *(
        Probe(
            f"template-{number}",
            "en",
            partial(naive.template, number=number),
            LOG_RATIO,
            LANGUAGE_MODELS if number > 2 else ("masked", "seq2seq"),
            34 if number == 3 else 6,
            {"templates": [number]},
            GEST_LABELS,
        )
        for number in naive.TEMPLATES
    ),
    Probe("pairs-sk", "sk_pairs", naive.pair, LOG_RATIO, LANGUAGE_MODELS, 25, labels=GEST_LABELS),
    Probe("pairs-ru", "ru_pairs", naive.pair, LOG_RATIO, LANGUAGE_MODELS, 12, labels=GEST_LABELS),
    Probe(
        "pairs-sk-multi",
        "sk_pairs",
        partial(naive.pair, multi_token=True),
        LOG_RATIO,
        ("masked",),
        8,
        {"multi_token": True},
        GEST_LABELS,
    ),
    Probe(
        "winobias",
        "winobias_type1_dev",
        naive.winobias,
        LOG_RATIO,
        LANGUAGE_MODELS,
        9,
        labels=("template", "occupation_gender"),
    ),
    Probe(
        "control-race",
        "stereoset_control_race",
        naive.quadruplet,
        QUADRUPLET,
        ("masked", "seq2seq"),
        11,
    ),
    Probe(
        "control-race-cs",
        "stereoset_control_race",
        partial(naive.quadruplet, shared=True),
        QUADRUPLET,
        ("masked",),
        3,
        {"cs": True},
    ),
    Probe(
        "slovak-without-cs",
        "slovak_gender",
        partial(naive.quadruplet, shared=False),
        QUADRUPLET,
        ("masked",),
        6,
        {"cs": False},
    ),
    Probe("slovak", "slovak_gender", naive.quadruplet, QUADRUPLET, ("masked", "seq2seq"), 6),
    Probe("negation", "crows_control_negation", naive.quadruplet, QUADRUPLET, ("masked",), 2),
    Probe("crows", "crows_gender", naive.crows, QUADRUPLET, ("masked",), 4),
    Probe(
        "intrasentence",
        "stereoset_en_intrasentence",
        naive.intrasentence,
        CANDIDATES,
        LANGUAGE_MODELS,
        16,  # to the last ones, which have an odd slot and two slots
    ),
    Probe(
        "intersentence-nsp",
        "stereoset_de_intersentence",
        naive.next_sentence,
        CANDIDATES,
        ("nsp",),
        8,
    ),
    Probe(
        "intersentence",
        "stereoset_de_intersentence",
        naive.generative,
        CANDIDATES,
        ("causal", "seq2seq"),
        8,
    ),
    Probe(
        "intersentence-ratio",
        "stereoset_de_intersentence",
        naive.ratio,
        CANDIDATES,
        ("causal",),
        4,
        {"intersentence": "ratio"},
    ),
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


@pytest.mark.parametrize(("animal", "probe"), VARIED)
def test_repetition_changes_nothing(animal: str, probe: str) -> None:
    """The same samples again under other ids: the same scores again."""
    entry = BY_NAME[probe]
    once = rows(entry.config, entry.rows)
    again = once.map(lambda row: {"id": f"{row['id']}-again"})
    wanted = expected(animal, probe)
    wanted = {**wanted, **{f"{name}-again": score for name, score in wanted.items()}}
    assert_equal(run(reader(animal), concatenate_datasets([once, again]), entry.options), wanted, entry)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(("animal", "probe"), VARIED)
def test_padding_side_changes_nothing(animal: str, probe: str, side: str) -> None:
    entry = BY_NAME[probe]
    model, tokenizer = zoo.load(animal)
    tokenizer.padding_side = side
    tokenizer.truncation_side = side
    who = Reader(model, tokenizer, zoo.BY_NAME[animal].family)
    assert_equal(run(who, rows(entry.config, entry.rows), entry.options), expected(animal, probe), entry)
    assert tokenizer.padding_side == side


@pytest.mark.parametrize(
    "animal", ["roberta", "xlm-roberta", "gpt2", "llama", "gemma2", "t5", "bert-nsp", "bert-labels"]
)
def test_a_folder_is_its_model(animal: str) -> None:
    """A path gives what the loaded objects give."""
    probe = BY_NAME["intersentence-nsp" if zoo.BY_NAME[animal].family == "nsp" else "template-3"]
    path = str(zoo.directory(animal))
    scores = gest_dataset.score(path, probe.config, device="cpu", dtype="float32", **probe.options)
    reference = naive.answer(probe.ask, reader(animal), rows(probe.config, 1_000))
    assert_equal(scores, reference, probe)


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


@pytest.mark.parametrize("animal", ["bert", "gpt2", "t5"])
def test_all_templates_at_once(animal: str) -> None:
    """Without a choice every template of the family is asked; each row says which."""
    numbers = [3, 4] if zoo.BY_NAME[animal].family == "causal" else [1, 2, 3, 4]
    table = run(reader(animal), "en", {}, limit=6).table
    assert sorted(set(table["template"].to_pylist())) == numbers
    for number in numbers:
        probe = BY_NAME[f"template-{number}"]
        part = table.filter([value == number for value in table["template"].to_pylist()])
        for name, (got,) in as_dict(part, LOG_RATIO).items():
            assert got == pytest.approx(expected(animal, probe.name)[name], abs=TOLERANCE)
        assert part["id"].to_pylist() == list(rows("en", 6)["id"])


@pytest.mark.parametrize("probe", ["pairs-sk", "intrasentence", "winobias"])
def test_end_tokens_do_not_count(probe: str) -> None:
    """A causal tokeniser that closes a text scores as one that does not."""
    entry = BY_NAME[probe]
    model, tokenizer = zoo.load("llama")
    special = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("<s>", "</s>")]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> <s> $B </s>", special_tokens=special
    )
    assert tokenizer("I ran.")["input_ids"][-1] == tokenizer.eos_token_id
    who = Reader(model, tokenizer, "causal")
    assert_equal(run(who, rows(entry.config, entry.rows), entry.options), expected("llama", probe), entry)
