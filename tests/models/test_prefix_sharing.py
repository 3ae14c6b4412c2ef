"""Shared prefixes: the same values from fewer tokens, or separate rows for models that cannot be packed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gest_dataset.models import forward_passes, prefix_sharing
from gest_dataset.models.prefix_sharing import tree_tensors
from gest_dataset.probes.queries import Input
from tests.models.test_exact import BY_NAME, assert_equal, expected, reader, run
from tests.models.test_inference import Echo, compute, queries, way
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


def test_it_pays_where_enough_is_spared() -> None:
    long = [(*range(100, 160), n) for n in range(40)]
    unlike = [tuple(range(n * 60, n * 60 + 60)) for n in range(40)]
    # three tokens of 240 in each of 250 rows
    hardly = [(0, *range(n * 60, n * 60 + 59)) for n in range(1000)]
    for some, pays in ((long, True), (unlike, False), (long[:3], False), (hardly, False)):
        given = {i: Input(ids) for i, ids in enumerate(some)}
        assert prefix_sharing.is_worthwhile(prefix_sharing.packed_rows(given, 512), given.values()) is pays


@pytest.mark.parametrize("budget", [1, 20, 10_000])
@pytest.mark.parametrize("agrees", [True, False])
def test_queries_get_their_answers_from_rows(always_pack: None, agrees: bool, budget: int) -> None:
    asked, tree = queries(), Echo(causal=True, packs=agrees)
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
    ways = [(way(row, lookup.position), lookup.targets) for lookup in in_row]
    assert ways == [(list(one.input_ids[: a.position + 1]), a.targets) for one, own in alone for a in own]
    assert all(lookup.normalise for lookup in in_row)


# ---- the model -----------------------------------------------------------------------------------------


def test_masks_and_positions_of_a_tree() -> None:
    """a b c, a b d and e in a row, beside a shorter one."""
    tensors = tree_tensors([(-1, 0, 1, 1, -1), (-1, 0)], 5, torch.float32)
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


def out_of_memory(tensors: dict[str, Any]) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory.")


FAULTS = {
    running_positions: "packed texts get values that differ",
    other_branches: "packed texts get values that differ",
    the_beginning_alone: "packed texts get values that differ",
    out_of_memory: "it cannot process packed texts",
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("animal", ["gpt2", "llama"])
def test_a_fault_in_rows_is_found_before_the_run(
    always_pack: None, monkeypatch: pytest.MonkeyPatch, animal: str, fault: Any
) -> None:
    """Then the plain way gives the scores, and the run says why."""

    def faulty(*given: Any) -> dict[str, torch.Tensor]:
        tensors = tree_tensors(*given)
        fault(tensors)
        return tensors

    monkeypatch.setattr(forward_passes, "tree_tensors", faulty)
    entry = BY_NAME["pairs-sk"]
    scores = run(reader(animal), entry.config, {}, limit=entry.rows)
    assert scores.metadata["passes"]["way"] == "plain"
    assert FAULTS[fault] in scores.metadata["notes"][0]
    assert_equal(scores, expected(animal, "pairs-sk"), entry)
