"""The models of a calibration, and the data that each of them is asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import datasets

from gest_dataset.calibration.checks import LIMITS, Limits
from gest_dataset.calibration.corpus import (
    STEMS,
    WORLDS,
    Gap,
    Question,
    pair_gaps,
    pair_questions,
    pair_rows,
    template_gaps,
    template_questions,
    template_rows,
    unbalanced,
    world_sentences,
)
from gest_dataset.calibration.keywords import KEYWORD_SETS, Quadruplet, keyword_corpus, quadruplet_rows
from gest_dataset.calibration.learning import Recipe

TEMPLATES, PAIRS = "templates", "pairs"


@dataclass(frozen=True)
class Data:
    """Rows to ask about, the same as questions of the corpus, and the templates (None: no templates)."""

    rows: datasets.Dataset
    questions: Sequence[Question]
    templates: Sequence[int] | None = None
    quadruplets: Sequence[Quadruplet] = ()


@dataclass(frozen=True)
class Subject:
    """A model to train and the data to measure on it, with what is planted in them."""

    name: str
    title: str
    recipe: Recipe
    gaps: Sequence[Gap]
    data: Mapping[str, Data]
    limits: Limits | None = LIMITS


@dataclass(frozen=True)
class Plan:
    """A model to come: its world, what it is called, and what it is asked.

    `copies` is how many pairs there are of each sentence, with other words: 0 where words of the pairs
    are not as many tokens. `balanced` data have as many sentences of each stereotype. `limits` are
    what it has to learn.
    """

    world: str
    name: str
    recipe: Recipe
    templates: Sequence[int]
    copies: int = 1
    balanced: bool = True
    limits: Limits | None = LIMITS


@dataclass(frozen=True)
class Size:
    """How large a calibration is: its models, the verbs of a stereotype, the recipe for the control sets."""

    models: Sequence[Plan]
    words: int
    keywords: Recipe | None


# An encoder-decoder of this size learns its sentences but in part
_IN_PART = Limits(sentences=0.75, slope=(0.6, 1.15), g_s=False)
_MASKED = Recipe("masked", epochs=20, rate=3e-3, spread=0.1)
_CAUSAL = Recipe("causal", epochs=16, batch=32, spread=0.05)
_SPANS = Recipe("seq2seq", epochs=10, batch=32, rate=3e-3, spread=1.0, pieces=True)
FULL = Size(
    models=(
        Plan("planted", "masked", _MASKED, (1, 2, 3, 4)),
        Plan("planted", "pieces", Recipe("masked", epochs=24, rate=3e-3, spread=0.1, pieces=True), (1, 3), 0),
        Plan("planted", "causal", _CAUSAL, (3, 4)),
        Plan(
            "planted",
            "no-start",
            Recipe("causal", epochs=16, batch=32, spread=0.05, pieces=True, start=False),
            (3, 4),
            balanced=False,
        ),
        Plan("planted", "spans", _SPANS, (1, 2, 3, 4), limits=_IN_PART),
        Plan("null", "masked", _MASKED, (1, 2, 3, 4), STEMS),
        Plan("norm", "masked", _MASKED, (1, 2, 3, 4)),
    ),
    words=8,
    keywords=Recipe("masked", epochs=120, batch=32, spread=0.05),
)
_SMALL = Recipe("masked", width=64, epochs=20, batch=32, rate=3e-3, spread=0.1)
# For a look, and to try the instrument with faults: one model of each kind, and one with nothing planted
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
            limits=_IN_PART,
        ),
        Plan("null", "masked", replace(_SMALL, epochs=36), (3,), STEMS),
    ),
    words=6,
    keywords=None,
)


def subjects(size: Size, seed: int) -> list[Subject]:
    """All models of a calibration."""
    of_worlds = [_of_world(plan, size.words, seed) for plan in size.models]
    return of_worlds if size.keywords is None else [*of_worlds, _of_keywords(size.keywords, seed)]


def _of_world(plan: Plan, words: int, seed: int) -> Subject:
    world = WORLDS[plan.world]
    every = world_sentences(world, words, seed)
    learnt = [sentence for sentence in every if not sentence.measured]
    kept = [sentence for sentence in every if sentence.measured]
    if not plan.balanced:
        kept = unbalanced(kept)
    gaps = [*template_gaps(learnt, plan.templates)]
    data = {TEMPLATES: Data(template_rows(kept), template_questions(kept, plan.templates), plan.templates)}
    if plan.copies:
        # a masked model knows a word as one token, and has to have seen each of them everywhere
        gaps += pair_gaps(learnt, seed, own_stem=plan.recipe.kind != "masked")
        pairs = pair_questions(kept, seed, plan.copies)
        data[PAIRS] = Data(pair_rows(pairs), pairs)
    return Subject(
        f"{world.name}-{plan.name}", f"{world.title}: {plan.name}", plan.recipe, gaps, data, plan.limits
    )


def _of_keywords(recipe: Recipe, seed: int) -> Subject:
    gaps: list[Gap] = []
    data = {}
    for keyword_set in KEYWORD_SETS:
        own, quadruplets = keyword_corpus(keyword_set, seed)
        gaps += own
        questions = [asked for quad in quadruplets for asked in quad.questions]
        rows = quadruplet_rows(quadruplets, keyword_set.name)
        data[keyword_set.name] = Data(rows, questions, quadruplets=quadruplets)
    return Subject("keywords-masked", "Control sets, masked model", recipe, gaps, data)
