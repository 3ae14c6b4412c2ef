"""Beginnings that texts share: the same answers from fewer tokens, and the plain way where that is not so."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import chain, product
from pathlib import Path
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
from gest_dataset.models import prefixes, scorers, shards
from gest_dataset.models.batching import Pass, Values, answer
from gest_dataset.models.scorers import LanguageModel
from gest_dataset.models.trees import in_line, tree_tensors
from gest_dataset.probes.queries import Input, Lookup, Query
from tests.models.test_engine import Echo, queries
from tests.models.test_exact import BY_NAME, assert_equal, expected, reader, rows, run
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")
LOCAL = {"mistral", "gemma2"}  # whose attention reaches 8 tokens back


@pytest.fixture
def at_any_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sharing, however little it spares: the test mirror is small."""
    monkeypatch.setattr(prefixes, "pays", lambda rows, inputs: True)


def texts(number: int = 200, seed: int = 0) -> dict[int, Input]:
    rng = np.random.default_rng(seed)
    made = {tuple(int(i) for i in rng.integers(1, 4, rng.integers(1, 12))) for _ in range(number)}
    return {i: Input(ids) for i, ids in enumerate(sorted(made, key=lambda ids: rng.random()))}


# ---- the plan ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 30, 10_000])
def test_every_text_stands_in_one_row(budget: int) -> None:
    given = texts()
    planned = prefixes.shared(given, budget)
    assert sorted(number for row in planned for number in row.paths) == sorted(given)
    for row in planned:
        ids, parents = row.sequence.input_ids, row.sequence.parents
        assert len(ids) == len(parents)
        assert all(parent < i for i, parent in enumerate(parents))
        for number, path in row.paths.items():
            assert tuple(ids[place] for place in path) == given[number].input_ids
            assert [parents[place] for place in path] == [-1, *path[:-1]]
        longest = max(given[number].size for number in row.paths)
        assert row.sequence.size <= max(longest, min(budget, prefixes.WIDTH))
        # a token stands for one beginning, and a beginning for one token
        beginnings = {tuple(path[: n + 1]) for path in row.paths.values() for n in range(len(path))}
        own = {given[i].input_ids[: n + 1] for i in row.paths for n in range(given[i].size)}
        assert len(beginnings) == len(own) == row.sequence.size


def cost_of(rows: list[list[tuple[int, ...]]]) -> float:
    """Counted without a tree: a row has a token for each beginning of its texts."""
    sizes = [len({ids[: n + 1] for ids in row for n in range(len(ids))}) for row in rows]
    return sum(size * (1 + prefixes._LOOK * size) for size in sizes)


@pytest.mark.parametrize("look", [0.0, 0.02])
@pytest.mark.parametrize("limit", [9, 13, 17, 21, 1000])
@pytest.mark.parametrize("seed", range(2))
def test_no_other_rows_cost_less(monkeypatch: pytest.MonkeyPatch, look: float, limit: int, seed: int) -> None:
    """All ways to cut ten texts, in lexicographic order, into rows that are not too long."""
    monkeypatch.setattr(prefixes, "_LOOK", look)
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
    planned = prefixes.shared(given, limit)
    found = cost_of([[given[number].input_ids for number in row.paths] for row in planned])
    assert found == pytest.approx(best)


def test_rows_end_between_texts_that_share_little() -> None:
    families = [[(0, *range(n, n + 40), n, last) for last in range(3)] for n in (100, 200, 300)]
    given = {i: Input(ids) for i, ids in enumerate(chain.from_iterable(families))}
    rows = prefixes.shared(given, 1000)
    assert [sorted(row.paths) for row in rows] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_no_row_is_wider_than_may_be() -> None:
    """Without a limit one row of 429 tokens would cost less."""
    given = {last: Input((*range(1000, 1029), last)) for last in range(400)}
    assert [row.sequence.size for row in prefixes.shared(given, 10_000)] == [pytest.approx(229, abs=27)] * 2


def test_the_plan_depends_on_the_texts_alone() -> None:
    given = texts()
    other = dict(reversed(given.items()))
    assert [row.sequence for row in prefixes.shared(given, 60)] == [
        row.sequence for row in prefixes.shared(other, 60)
    ]


def test_it_pays_where_enough_is_spared() -> None:
    long = [(*range(100, 160), n) for n in range(40)]
    unlike = [tuple(range(n * 60, n * 60 + 60)) for n in range(40)]
    # three tokens of 240 in each of 250 rows
    hardly = [(0, *range(n * 60, n * 60 + 59)) for n in range(1000)]
    for some, pays in ((long, True), (unlike, False), (long[:3], False), (hardly, False)):
        given = {i: Input(ids) for i, ids in enumerate(some)}
        assert prefixes.pays(prefixes.shared(given, 512), given.values()) is pays


class Tree(Echo):
    """An echo that follows parents: its value is made of the ids on the way to a place."""

    def __init__(self, agrees: bool = True) -> None:
        super().__init__(causal=True)
        self.agrees, self.asked = agrees, list[tuple[Pass, Sequence[Pass]]]()

    def shares(self, row: Pass, texts: Sequence[Pass]) -> bool:
        self.asked.append((row, texts))
        return self.agrees

    def answer(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> list[Values]:
        self.batches.append(list(inputs))
        return [
            np.array(
                [
                    self.value(way(one, a.position), len(way(one, a.position)) - 1, a.target, a.normalise)
                    for a in own
                ]
            )
            for one, own in zip(inputs, asks, strict=True)
        ]


def way(row: Input, place: int) -> list[int]:
    parents, ids = row.parents or in_line(row.size), []
    while place >= 0:
        ids.append(row.input_ids[place])
        place = parents[place]
    return ids[::-1]


@pytest.mark.parametrize("budget", [1, 20, 10_000])
@pytest.mark.parametrize("agrees", [True, False])
def test_queries_get_their_answers_from_rows(at_any_price: None, agrees: bool, budget: int) -> None:
    asked, tree = queries(), Tree(agrees)
    found, passes = answer(asked, tree, budget)
    assert [list(values) for values in found] == tree.expected(asked)
    seen = [one for batch in tree.batches for one in batch]
    assert passes.computed == sum(one.size for one in seen)
    assert passes.way == ("prefix" if agrees else "plain")
    assert (passes.computed < passes.tokens) is (agrees and budget > 1)
    assert any(one.parents for one in seen) is agrees
    for batch in tree.batches:
        assert len(batch) == 1 or len(batch) * max(one.size for one in batch) <= budget
    ((row, in_row), alone) = tree.asked[0]
    ways = [(way(row, ask.position), ask.target) for ask in in_row]
    assert ways == [(list(one.input_ids[: a.position + 1]), a.target) for one, own in alone for a in own]
    assert all(ask.normalise for ask in in_row)


# ---- the model -----------------------------------------------------------------------------------------


def test_masks_and_positions_of_a_tree() -> None:
    """a b c, a b d and e in a row, beside a shorter one."""
    tensors = tree_tensors([(-1, 0, 1, 1, -1), in_line(2)], 5, torch.float32)
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
def test_equal_to_naive(at_any_price: None, animal: str, probe: str) -> None:
    entry = BY_NAME[probe]
    scores = run(reader(animal), entry.config, entry.options, limit=entry.rows)
    assert_equal(scores, expected(animal, probe), entry)
    passes, notes = scores.metadata["passes"], scores.metadata["notes"]
    assert passes["way"] == ("plain" if animal in LOCAL else "prefix")
    assert (passes["computed"] < passes["tokens"]) is (animal not in LOCAL)
    assert ["reaches 8 tokens back" in note for note in notes if "beginnings" in note] == [True] * (
        animal in LOCAL
    )


@pytest.mark.parametrize("budget", [1, 60, 1_000_000])
def test_batches_change_nothing(at_any_price: None, budget: int) -> None:
    """Rows of a budget, padded or alone, as wide as they may be."""
    entry = BY_NAME["intersentence"]
    scores = run(reader("gpt2"), rows(entry.config, entry.rows), entry.options, batch_tokens=budget)
    assert_equal(scores, expected("gpt2", "intersentence"), entry)
    assert scores.metadata["passes"]["way"] == "prefix"


def test_samples_that_come_twice_are_computed_once(at_any_price: None) -> None:
    entry = BY_NAME["pairs-sk"]
    once = rows(entry.config, entry.rows)
    again = once.map(lambda row: {"id": f"{row['id']}-again"})
    from datasets import concatenate_datasets

    both = run(reader("gpt2"), concatenate_datasets([once, again]), {}).metadata["passes"]
    alone = run(reader("gpt2"), once, {}).metadata["passes"]
    assert both == {**alone, "queries": 2 * alone["queries"]}


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
    [("bloom", "takes no positions"), ("mamba", "takes no positions"), ("gpt-neo", "get other values")],
)
def test_models_of_another_kind_take_the_plain_way_and_say_so_once(
    at_any_price: None, caplog: pytest.LogCaptureFixture, which: str, why: str
) -> None:
    _, tokenizer = zoo.load("gpt2")
    model = unlike(tokenizer, which)
    entry = BY_NAME["pairs-sk"]
    with caplog.at_level(logging.WARNING):
        scores = gest_dataset.score((model, tokenizer), entry.config, limit=entry.rows, device="cpu")
    notes = [note for note in scores.metadata["notes"] if "beginnings" in note]
    assert len(notes) == caplog.text.count("beginnings that texts share") == 1
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
    at_any_price: None, monkeypatch: pytest.MonkeyPatch, animal: str, fault: Any
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
    assert "texts in one row get other values" in scores.metadata["notes"][0]
    assert_equal(scores, expected(animal, "pairs-sk"), entry)


def test_padding_that_is_attended_changes_what_a_row_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that rows of one length hide: what pads the shorter row is seen by its tokens."""
    model, _ = zoo.load("llama")
    scorer = LanguageModel(model, "causal", None, owned=False)
    tree = Input((5, 6, 7, 8), parents=(-1, 0, 0, 2))
    asks = [Lookup(3, 9, True)]
    other = (Input(tuple(range(10, 22))), [Lookup(11, 9, True)])
    ((alone,), (beside, _)) = scorer.answer([tree], [asks]), scorer.answer([tree, other[0]], [asks, other[1]])
    np.testing.assert_allclose(beside, alone, atol=1e-5)

    def leaking(*given: Any) -> dict[str, torch.Tensor]:
        tensors = tree_tensors(*given)
        tensors["attention_mask"][0, 0, :, 4:] = 0
        return tensors

    monkeypatch.setattr(scorers, "tree_tensors", leaking)
    assert abs(float(scorer.answer([tree, other[0]], [asks, other[1]])[0][0] - alone[0])) > 1e-3


def test_memory_that_a_row_does_not_fit_into_leaves_the_plain_way(
    at_any_price: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def narrow(*given: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    monkeypatch.setattr(scorers, "tree_tensors", narrow)
    entry = BY_NAME["pairs-sk"]
    scores = run(reader("gpt2"), entry.config, {}, limit=entry.rows)
    assert scores.metadata["passes"]["way"] == "plain"
    assert_equal(scores, expected("gpt2", "pairs-sk"), entry)


def test_overflow_in_a_row_goes_over_to_float32(at_any_price: None) -> None:
    model, tokenizer = zoo.load("gpt2")
    with torch.no_grad():
        model.transformer.ln_f.weight.mul_(40_000)
    entry = BY_NAME["pairs-sk"]
    scores = gest_dataset.score((model, tokenizer), entry.config, limit=9, device="cpu", dtype="float16")
    assert scores.metadata["dtype"] == "float16+float32"
    assert scores.table.num_rows == 9


# ---- stopped and resumed --------------------------------------------------------------------------------


class StoppedError(Exception):
    pass


def test_a_stopped_run_goes_on_with_the_same_bytes(
    at_any_price: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shards, "SECONDS", 0.0)
    entry = BY_NAME["pairs-sk"]
    given: dict[str, Any] = {"limit": entry.rows, "batch_tokens": 80}
    whole = run(reader("gpt2"), entry.config, {}, **given)
    answered, left = LanguageModel.answer, [3]

    def stopping(scorer: Any, *more: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise StoppedError
        return answered(scorer, *more)

    monkeypatch.setattr(LanguageModel, "answer", stopping)
    with pytest.raises(StoppedError):
        run(reader("gpt2"), entry.config, {}, output=tmp_path, **given)
    left[0] = 10**6
    again = run(reader("gpt2"), entry.config, {}, output=tmp_path, **given)
    assert 10**6 - left[0] == whole.metadata["passes"]["batches"] - 3
    assert again.table.equals(whole.table)
    assert again.metadata["passes"] == whole.metadata["passes"]


def test_answers_of_the_other_way_do_not_count(
    at_any_price: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Shards carry the mark of the rows: what was computed in the plain way is computed again."""
    monkeypatch.setattr(shards, "SECONDS", 0.0)
    asked = [Query((1, 2, 3, n), (3,), (5,)) for n in range(9)]
    answer(asked, Tree(agrees=False), 8, store=shards.Shards(tmp_path))
    with caplog.at_level(logging.WARNING):
        tree = Tree()
        found, _ = answer(asked, tree, 8, store=shards.Shards(tmp_path))
    assert "is of other work" in caplog.text
    assert [list(values) for values in found] == tree.expected(asked)
    digests = {
        shards._mark([(Input((1, 2, 3), parents=parents), [])], 8) for parents in ((-1, 0, 0), (-1, 0, 1))
    }
    assert len(digests) == 2
