"""Shared prefixes: the same values from fewer tokens, or separate rows for models that cannot be packed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import chain, product
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    GPTNeoConfig,
    GPTNeoForCausalLM,
    MambaConfig,
    MambaForCausalLM,
)

import gest_dataset
from gest_dataset.models import prefix_sharing, scorers
from gest_dataset.models.prefix_sharing import plain_parents, tree_tensors
from gest_dataset.models.scorers import LanguageModelScorer, Pass
from gest_dataset.probes.queries import Input, Lookup, Values
from tests.models.test_exact import BY_NAME, assert_equal, expected, reader, rows, run
from tests.models.test_inference import Echo, compute, queries
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")
LOCAL = {"mistral", "gemma2"}  # whose attention attention window is 8 tokens


@pytest.fixture
def always_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pack texts however little that saves: the test mirror is small."""
    monkeypatch.setattr(prefix_sharing, "is_worthwhile", lambda rows, inputs: True)


def texts(number: int = 200, seed: int = 0) -> dict[int, Input]:
    rng = np.random.default_rng(seed)
    made = {tuple(int(i) for i in rng.integers(1, 4, rng.integers(1, 12))) for _ in range(number)}
    return {i: Input(ids) for i, ids in enumerate(sorted(made, key=lambda ids: rng.random()))}


# ---- the plan ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 30, 10_000])
def test_every_text_stands_in_one_row(budget: int) -> None:
    given = texts()
    planned = prefix_sharing.packed_rows(given, budget)
    assert sorted(number for row in planned for number in row.paths) == sorted(given)
    for row in planned:
        ids, parents = row.sequence.input_ids, row.sequence.parents
        assert len(ids) == len(parents)
        assert all(parent < i for i, parent in enumerate(parents))
        for number, path in row.paths.items():
            assert tuple(ids[place] for place in path) == given[number].input_ids
            assert [parents[place] for place in path] == [-1, *path[:-1]]
        longest = max(given[number].size for number in row.paths)
        assert row.sequence.size <= max(longest, min(budget, prefix_sharing.MAX_TOKENS))
        # a token stands for one beginning, and a beginning for one token
        beginnings = {tuple(path[: n + 1]) for path in row.paths.values() for n in range(len(path))}
        own = {given[i].input_ids[: n + 1] for i in row.paths for n in range(given[i].size)}
        assert len(beginnings) == len(own) == row.sequence.size


def cost_of(rows: list[list[tuple[int, ...]]]) -> float:
    """Counted without a tree: a row has a token for each beginning of its texts."""
    sizes = [len({ids[: n + 1] for ids in row for n in range(len(ids))}) for row in rows]
    return sum(size * (1 + prefix_sharing._ATTENTION_COST * size) for size in sizes)


@pytest.mark.parametrize("look", [0.0, 0.02])
@pytest.mark.parametrize("limit", [9, 13, 17, 21, 1000])
@pytest.mark.parametrize("seed", range(2))
def test_no_other_rows_cost_less(monkeypatch: pytest.MonkeyPatch, look: float, limit: int, seed: int) -> None:
    """All ways to cut ten texts, in lexicographic order, into rows that are not too long."""
    monkeypatch.setattr(prefix_sharing, "_ATTENTION_COST", look)
    given = texts(10, seed)
    ordered = sorted(one.input_ids for one in given.values())
    best = np.inf
    for cuts in product([False, True], repeat=len(ordered) - 1):
        rows = [[ordered[0]]]
        for ids, cut in zip(ordered[1:], cuts, strict=True):
            rows = [*rows, [ids]] if cut else [*rows[:-1], [*rows[-1], ids]]
        sizes = [len({ids[: n + 1] for ids in row for n in range(len(ids))}) for row in rows]
        if all(size <= limit or len(row) == 1 for size, row in zip(sizes, rows, strict=True)):
            best = min(best, cost_of(rows))
    planned = prefix_sharing.packed_rows(given, limit)
    found = cost_of([[given[number].input_ids for number in row.paths] for row in planned])
    assert found == pytest.approx(best)


def test_rows_end_between_texts_that_share_little() -> None:
    families = [[(0, *range(n, n + 40), n, last) for last in range(3)] for n in (100, 200, 300)]
    given = {i: Input(ids) for i, ids in enumerate(chain.from_iterable(families))}
    rows = prefix_sharing.packed_rows(given, 1000)
    assert [sorted(row.paths) for row in rows] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_no_row_is_wider_than_may_be() -> None:
    """Without a limit one row of 429 tokens would cost less."""
    given = {last: Input((*range(1000, 1029), last)) for last in range(400)}
    sizes = [row.sequence.size for row in prefix_sharing.packed_rows(given, 10_000)]
    assert sizes == [pytest.approx(229, abs=27)] * 2


def test_it_pays_where_enough_is_spared() -> None:
    long = [(*range(100, 160), n) for n in range(40)]
    unlike = [tuple(range(n * 60, n * 60 + 60)) for n in range(40)]
    # three tokens of 240 in each of 250 rows
    hardly = [(0, *range(n * 60, n * 60 + 59)) for n in range(1000)]
    for some, pays in ((long, True), (unlike, False), (long[:3], False), (hardly, False)):
        given = {i: Input(ids) for i, ids in enumerate(some)}
        assert prefix_sharing.is_worthwhile(prefix_sharing.packed_rows(given, 512), given.values()) is pays


class Tree(Echo):
    """An echo that follows parents: its value is made of the ids on the way to a place."""

    def __init__(self, agrees: bool = True) -> None:
        super().__init__(causal=True)
        self.agrees, self.asked = agrees, list[tuple[Pass, Sequence[Pass]]]()

    def can_pack(self, row: Pass, texts: Sequence[Pass]) -> bool:
        self.asked.append((row, texts))
        return self.agrees

    def log_probs(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> list[Values]:
        self.batches.append(list(inputs))
        return [
            np.array(
                [
                    self.value(way(one, a.position), len(way(one, a.position)) - 1, a.target, a.normalise)
                    for a in own
                ]
            )
            for one, own in zip(inputs, lookups, strict=True)
        ]


def way(row: Input, place: int) -> list[int]:
    parents, ids = row.parents or plain_parents(row.size), []
    while place >= 0:
        ids.append(row.input_ids[place])
        place = parents[place]
    return ids[::-1]


@pytest.mark.parametrize("budget", [1, 20, 10_000])
@pytest.mark.parametrize("agrees", [True, False])
def test_queries_get_their_answers_from_rows(always_pack: None, agrees: bool, budget: int) -> None:
    asked, tree = queries(), Tree(agrees)
    answer = compute(asked, tree, budget)
    passes = answer.passes
    assert [list(values) for values in answer.values] == tree.expected(asked)
    seen = [one for batch in tree.batches for one in batch]
    assert passes.computed == sum(one.size for one in seen)
    assert passes.way == ("prefix" if agrees else "plain")
    assert (passes.computed < passes.tokens) is (agrees and budget > 1)
    assert any(one.parents for one in seen) is agrees
    for batch in tree.batches:
        assert len(batch) == 1 or len(batch) * max(one.size for one in batch) <= budget
    ((row, in_row), alone) = tree.asked[0]
    ways = [(way(row, lookup.position), lookup.target) for lookup in in_row]
    assert ways == [(list(one.input_ids[: a.position + 1]), a.target) for one, own in alone for a in own]
    assert all(lookup.normalise for lookup in in_row)


# ---- the model -----------------------------------------------------------------------------------------


def test_masks_and_positions_of_a_tree() -> None:
    """a b c, a b d and e in a row, beside a shorter one."""
    tensors = tree_tensors([(-1, 0, 1, 1, -1), plain_parents(2)], 5, torch.float32)
    seen = tensors["attention_mask"][:, 0] == 0
    assert seen[0].int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]
    assert tensors["position_ids"].tolist() == [[0, 1, 2, 2, 0], [0, 1, 0, 0, 0]]
    assert seen[1, :, 2:].int().tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert tensors["attention_mask"].min() == torch.finfo(torch.float32).min


CASES = [
    *((animal, "pairs-sk") for animal in zoo.of_family("causal")),
    *(("llama", name) for name in ("template-3", "winobias", "intrasentence", "intersentence")),
]


@pytest.mark.parametrize(("animal", "probe"), CASES)
def test_equal_to_naive(always_pack: None, animal: str, probe: str) -> None:
    entry = BY_NAME[probe]
    scores = run(reader(animal), entry.config, entry.options, limit=entry.rows)
    assert_equal(scores, expected(animal, probe), entry)
    passes, notes = scores.metadata["passes"], scores.metadata["notes"]
    assert passes["way"] == ("plain" if animal in LOCAL else "prefix")
    assert (passes["computed"] < passes["tokens"]) is (animal not in LOCAL)
    reasons = [note for note in notes if "shared prefixes" in note]
    assert ["attention window is 8 tokens" in note for note in reasons] == [True] * (animal in LOCAL)


@pytest.mark.parametrize("budget", [1, 60, 1_000_000])
def test_batches_change_nothing(always_pack: None, budget: int) -> None:
    """Rows of a budget, padded or alone, as wide as they may be."""
    entry = BY_NAME["intersentence"]
    scores = run(reader("gpt2"), rows(entry.config, entry.rows), entry.options, batch_tokens=budget)
    assert_equal(scores, expected("gpt2", "intersentence"), entry)
    assert scores.metadata["passes"]["way"] == "prefix"


def test_small_runs_take_the_plain_way() -> None:
    scores = run(reader("gpt2"), "en", {}, limit=4)
    assert scores.metadata["passes"]["way"] == "plain"
    assert scores.metadata["passes"]["computed"] == scores.metadata["passes"]["tokens"]


SIZES = {"hidden_size": 32, "num_attention_heads": 4, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0}


def unlike(tokenizer: Any, which: str) -> Any:
    """Causal models that cannot take a tree: for its positions, their states, or a reach no setting tells."""
    torch.manual_seed(0)
    sizes = {**SIZES, "vocab_size": len(tokenizer)}
    if which == "bloom":
        model: Any = BloomForCausalLM(BloomConfig(**sizes, n_layer=2))
    elif which == "mamba":
        model = MambaForCausalLM(MambaConfig(**sizes, num_hidden_layers=2))
    else:
        kinds = [[["global", "local"], 1]]
        model = GPTNeoForCausalLM(
            GPTNeoConfig(**sizes, num_layers=2, attention_types=kinds, window_size=4, num_heads=4)
        )
    zoo._randomise(model, 1)
    return model.eval()


@pytest.mark.parametrize(
    ("which", "why"),
    [("bloom", "takes no position ids"), ("mamba", "takes no position ids"), ("gpt-neo", "get other values")],
)
def test_models_of_another_kind_take_the_plain_way_and_say_so_once(
    always_pack: None, caplog: pytest.LogCaptureFixture, which: str, why: str
) -> None:
    _, tokenizer = zoo.load("gpt2")
    model = unlike(tokenizer, which)
    entry = BY_NAME["pairs-sk"]
    with caplog.at_level(logging.WARNING):
        scores = gest_dataset.score((model, tokenizer), entry.config, limit=entry.rows, device="cpu")
    notes = [note for note in scores.metadata["notes"] if "shared prefixes" in note]
    assert len(notes) == caplog.text.count("shared prefixes are computed") == 1
    assert why in notes[0]
    assert scores.metadata["passes"]["way"] == "plain"


def running_positions(tensors: dict[str, torch.Tensor]) -> None:
    """Positions count the tokens of the row."""
    shape = tensors["position_ids"].shape
    tensors["position_ids"] = torch.arange(shape[1]).clamp(max=zoo.LONGEST - 1).expand(shape)


def other_branches(tensors: dict[str, torch.Tensor]) -> None:
    """A token sees all that stands to its left in the row, other texts too."""
    length = tensors["attention_mask"].shape[-1]
    closed = torch.finfo(tensors["attention_mask"].dtype).min
    tensors["attention_mask"] = (
        torch.full((length, length), closed).triu(1).expand_as(tensors["attention_mask"])
    )


def the_beginning_alone(tensors: dict[str, torch.Tensor]) -> None:
    """A token does not see its text's first token."""
    tensors["attention_mask"][..., 1:, 0] = torch.finfo(tensors["attention_mask"].dtype).min


@pytest.mark.parametrize("fault", [running_positions, other_branches, the_beginning_alone])
@pytest.mark.parametrize("animal", ["gpt2", "llama"])
def test_a_fault_in_rows_is_found_before_the_run(
    always_pack: None, monkeypatch: pytest.MonkeyPatch, animal: str, fault: Any
) -> None:
    """Then the plain way gives the scores, and the run says why."""

    def faulty(*given: Any) -> dict[str, torch.Tensor]:
        tensors = tree_tensors(*given)
        fault(tensors)
        return tensors

    monkeypatch.setattr(scorers, "tree_tensors", faulty)
    entry = BY_NAME["pairs-sk"]
    scores = run(reader(animal), entry.config, {}, limit=entry.rows)
    assert scores.metadata["passes"]["way"] == "plain"
    assert "packed texts get other values" in scores.metadata["notes"][0]
    assert_equal(scores, expected(animal, "pairs-sk"), entry)


def test_padding_that_is_attended_changes_what_a_row_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that rows of one length hide: what pads the shorter row is seen by its tokens."""
    model, _ = zoo.load("llama")
    scorer = LanguageModelScorer(model, "causal", None, owned=False)
    tree = Input((5, 6, 7, 8), parents=(-1, 0, 0, 2))
    lookups = [Lookup(3, 9, True)]
    other = (Input(tuple(range(10, 22))), [Lookup(11, 9, True)])
    (alone,) = scorer.log_probs([tree], [lookups])
    beside, _ = scorer.log_probs([tree, other[0]], [lookups, other[1]])
    np.testing.assert_allclose(beside, alone, atol=1e-5)

    def leaking(*given: Any) -> dict[str, torch.Tensor]:
        tensors = tree_tensors(*given)
        tensors["attention_mask"][0, 0, :, 4:] = 0
        return tensors

    monkeypatch.setattr(scorers, "tree_tensors", leaking)
    assert abs(float(scorer.log_probs([tree, other[0]], [lookups, other[1]])[0][0] - alone[0])) > 1e-3


def test_memory_that_a_row_does_not_fit_into_leaves_the_plain_way(
    always_pack: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def narrow(*given: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    monkeypatch.setattr(scorers, "tree_tensors", narrow)
    entry = BY_NAME["pairs-sk"]
    scores = run(reader("gpt2"), entry.config, {}, limit=entry.rows)
    assert scores.metadata["passes"]["way"] == "plain"
    assert_equal(scores, expected("gpt2", "pairs-sk"), entry)


def test_overflow_in_a_row_goes_over_to_float32(always_pack: None) -> None:
    model, tokenizer = zoo.load("gpt2")
    with torch.no_grad():
        model.transformer.ln_f.weight.mul_(40_000)
    entry = BY_NAME["pairs-sk"]
    scores = gest_dataset.score((model, tokenizer), entry.config, limit=9, device="cpu", dtype="float16")
    assert scores.metadata["dtype"] == "float16+float32"
    assert scores.table.num_rows == 9
