"""The validation models: their training data, the data that measure them, and what they must learn."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import datasets

from gest_dataset.models.loading import LoadedModel, load_model
from gest_dataset.models.request import Request, make_request
from gest_dataset.probes.probe import Options
from tests.validation import naive
from tests.validation.corpus import (
    STEMS,
    Gap,
    Question,
    pair_gaps,
    pair_questions,
    pair_rows,
    planted_sentences,
    template_gaps,
    template_questions,
    template_rows,
    unbalanced,
)
from tests.validation.keywords import KEYWORD_SETS, Quadruplet, keyword_corpus, quadruplet_rows
from tests.validation.training import Recipe, train


@dataclass(frozen=True)
class Limits:
    """How closely a model must learn its corpus: sentences, the slope of ln q, and g_s in its interval."""

    sentences: float = 0.9
    slope: tuple[float, float] = (0.85, 1.15)
    g_s: bool = True


@dataclass(frozen=True)
class Plan:
    """A model: its world, name, recipe, templates, and the number of `copies` of each pair (0: no pairs).

    `balanced` data have equally many sentences of each stereotype. Without `limits` the model need not
    learn anything: only the package's reading of it is compared with the naive one.
    """

    world: str
    name: str
    recipe: Recipe
    templates: Sequence[int]
    copies: int = 1
    balanced: bool = True
    limits: Limits | None = Limits()


@dataclass(frozen=True)
class Size:
    """The models of a validation, the verbs per stereotype, and the recipe for the control sets."""

    models: Sequence[Plan]
    words: int
    keywords: Recipe | None = None


@dataclass(frozen=True)
class Data:
    """A dataset to score, the same samples as questions, and the templates (None: no templates)."""

    rows: datasets.Dataset
    questions: Sequence[Question]
    templates: Sequence[int] | None = None
    quadruplets: Sequence[Quadruplet] = ()

    @property
    def request(self) -> Request:
        return make_request(self.rows, None, Options(self.templates), None)


@dataclass(frozen=True)
class Model:
    """A trained model with its data, and the naive readings of each data set."""

    name: str
    loaded: LoadedModel
    data: Mapping[str, Data]
    readings: Mapping[str, Sequence[float]]
    limits: Limits | None


# An encoder-decoder of this size learns its sentences only partly
_PARTIAL = Limits(sentences=0.75, slope=(0.6, 1.15), g_s=False)
_MASKED = Recipe("masked", epochs=20, rate=3e-3, spread=0.1)
_CAUSAL = Recipe("causal", epochs=16, batch=32, spread=0.05)
FULL = Size(
    models=(
        Plan("planted", "masked", _MASKED, (1, 2, 3, 4)),
        Plan("planted", "pieces", replace(_MASKED, epochs=24, pieces=True), (1, 3), copies=0),
        Plan("planted", "causal", _CAUSAL, (3, 4)),
        Plan("planted", "no-start", replace(_CAUSAL, pieces=True, start=False), (3, 4), balanced=False),
        Plan(
            "planted",
            "spans",
            Recipe("seq2seq", epochs=10, batch=32, rate=3e-3, spread=1.0, pieces=True),
            (1, 2, 3, 4),
            limits=_PARTIAL,
        ),
        Plan("null", "masked", _MASKED, (1, 2, 3, 4), STEMS),
        Plan("norm", "masked", _MASKED, (1, 2, 3, 4)),
    ),
    words=8,
    keywords=Recipe("masked", epochs=120, batch=32, spread=0.05),
)
_SMALL = Recipe("masked", width=64, epochs=20, batch=32, rate=3e-3, spread=0.1)
# One model of each kind, and one with nothing planted
QUICK = Size(
    models=(
        Plan("planted", "masked", _SMALL, (1, 2, 3, 4)),
        Plan(
            "planted",
            "no-start",
            Recipe("causal", width=64, epochs=14, batch=32, rate=3e-3, spread=0.05, pieces=True, start=False),
            (3, 4),
            balanced=False,
        ),
        Plan(
            "planted",
            "spans",
            Recipe("seq2seq", width=64, epochs=14, batch=16, rate=3e-3, spread=1.0, pieces=True),
            (3,),
            limits=_PARTIAL,
        ),
        Plan("null", "masked", replace(_SMALL, epochs=36), (3,), STEMS),
    ),
    words=6,
)


def train_world_model(plan: Plan, words: int, seed: int) -> Model:
    """Train the model of a plan."""
    sentences = planted_sentences(plan.world, words, seed)
    learnt = [sentence for sentence in sentences if not sentence.held_out]
    held_out = [sentence for sentence in sentences if sentence.held_out]
    if not plan.balanced:
        held_out = unbalanced(held_out)
    gaps = template_gaps(learnt, plan.templates)
    questions = template_questions(held_out, plan.templates)
    data = {"templates": Data(template_rows(held_out), questions, plan.templates)}
    if plan.copies:
        # a masked model's words are whole tokens, and it must have seen each of them in every context
        gaps += pair_gaps(learnt, seed, one_stem=plan.recipe.kind != "masked")
        pairs = pair_questions(held_out, seed, plan.copies)
        data["pairs"] = Data(pair_rows(pairs), pairs)
    return _train(f"{plan.world}-{plan.name}", gaps, plan.recipe, data, plan.limits, seed)


def train_keyword_model(recipe: Recipe, seed: int) -> Model:
    """Train the model of the control sets."""
    gaps: list[Gap] = []
    data = {}
    for keyword_set in KEYWORD_SETS:
        texts, quadruplets = keyword_corpus(keyword_set, seed)
        gaps += texts
        questions = [question for quad in quadruplets for question in quad.questions]
        rows = quadruplet_rows(quadruplets, keyword_set.name)
        data[keyword_set.name] = Data(rows, questions, quadruplets=quadruplets)
    return _train("keywords-masked", gaps, recipe, data, Limits(), seed)


def _train(
    name: str, gaps: Sequence[Gap], recipe: Recipe, data: dict[str, Data], limits: Limits | None, seed: int
) -> Model:
    """Train a model, and load it again in float32 as the package does."""
    with tempfile.TemporaryDirectory() as folder:
        trained = train(gaps, recipe, seed)
        for part in trained:
            part.save_pretrained(folder)
        loaded = replace(load_model(folder, "cpu", "float32"), name=name)
    readings = {
        where: naive.read(loaded.model, loaded.tokenizer, loaded.kind, part.questions)
        for where, part in data.items()
    }
    return Model(name, loaded, data, readings, limits)
