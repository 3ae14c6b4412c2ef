"""The models of a calibration: what each is trained on, and what is measured on it with which truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import datasets

from gest_dataset.calibration.corpus import (
    Gap,
    PlantedSentence,
    pair_gaps,
    pair_rows,
    template_gaps,
    template_rows,
    world_sentences,
)
from gest_dataset.calibration.keywords import KEYWORD_SETS, Quadruplet, keyword_corpus, quadruplet_rows
from gest_dataset.calibration.learning import Recipe
from gest_dataset.calibration.worlds import WORLDS, World
from gest_dataset.probes.templates import DEFAULTS


@dataclass(frozen=True)
class Subject:
    """A model to train and the data to measure on it, with what is planted in them.

    `sentences` are the measured ones; `quadruplets` are by the name of their data.
    """

    name: str
    title: str
    recipe: Recipe
    gaps: Sequence[Gap]
    data: Mapping[str, datasets.Dataset]
    sentences: Sequence[PlantedSentence] = ()
    quadruplets: Mapping[str, Sequence[Quadruplet]] = field(default_factory=dict)
    templates: Sequence[int] = ()


@dataclass(frozen=True)
class Size:
    """How large a calibration is: (world, kind) of its models, verbs of a stereotype, templates, recipes."""

    models: Sequence[tuple[str, str]]
    words: int
    templates: Mapping[str, Sequence[int]]
    recipes: Mapping[str, Recipe]
    keywords: Recipe | None


FULL = Size(
    models=(("planted", "masked"), ("planted", "causal"), ("null", "masked"), ("norm", "masked")),
    words=8,
    templates=DEFAULTS,
    recipes={
        "masked": Recipe("masked", epochs=20, rate=3e-3, spread=0.1),
        "causal": Recipe("causal", epochs=20, spread=0.05),
    },
    keywords=Recipe("masked", epochs=120, batch=32, spread=0.05),
)
# For a look, and for tests: one small masked model, and one with nothing planted
QUICK = Size(
    models=(("planted", "masked"), ("null", "masked")),
    words=6,
    templates={"masked": (3,)},
    recipes={"masked": Recipe("masked", width=64, epochs=30, batch=32, rate=3e-3, spread=0.1)},
    keywords=None,
)


def subjects(size: Size, seed: int) -> list[Subject]:
    """All models of a calibration."""
    of_worlds = [_of_world(WORLDS[world], kind, size, seed) for world, kind in size.models]
    return of_worlds if size.keywords is None else [*of_worlds, _of_keywords(size.keywords, seed)]


def _of_world(world: World, kind: str, size: Size, seed: int) -> Subject:
    every = world_sentences(world, size.words, seed)
    learnt = [sentence for sentence in every if not sentence.measured]
    kept = [sentence for sentence in every if sentence.measured]
    templates = size.templates[kind]
    return Subject(
        f"{world.name}-{kind}",
        f"{world.title}, {kind} model",
        size.recipes[kind],
        [*template_gaps(learnt, templates), *pair_gaps(learnt, seed)],
        {"templates": template_rows(kept), "pairs": pair_rows(kept, seed)},
        sentences=kept,
        templates=templates,
    )


def _of_keywords(recipe: Recipe, seed: int) -> Subject:
    gaps: list[Gap] = []
    quadruplets = {}
    for keyword_set in KEYWORD_SETS:
        own, quadruplets[keyword_set.name] = keyword_corpus(keyword_set, seed)
        gaps += own
    data = {name: quadruplet_rows(members, name) for name, members in quadruplets.items()}
    return Subject(
        "keywords-masked", "Control sets, masked model", recipe, gaps, data, quadruplets=quadruplets
    )
