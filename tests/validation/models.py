"""The validation models: their training data, the data that measure them, and what they must learn."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import datasets
import yaml

from gest_dataset.models.base import Settings
from gest_dataset.models.loading import LoadedModel, load_model
from gest_dataset.models.score_run import Request, make_request
from tests.support.naive import Reader
from tests.validation import naive
from tests.validation.corpus import (
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
    """The models of a validation, the verbs per stereotype, and the recipes for the control sets."""

    models: Sequence[Plan]
    words: int
    keywords: Sequence[Recipe] = ()


@dataclass(frozen=True)
class Data:
    """A dataset to score, the same samples as questions, and the templates (None: no templates)."""

    rows: datasets.Dataset
    questions: Sequence[Question]
    templates: Sequence[int] | None = None
    quadruplets: Sequence[Quadruplet] = ()

    @property
    def request(self) -> Request:
        return make_request(self.rows, Settings(self.templates))


@dataclass(frozen=True)
class Model:
    """A trained model with its data, and the naive readings of each dataset."""

    name: str
    loaded: LoadedModel
    data: Mapping[str, Data]
    readings: Mapping[str, Sequence[float]]
    limits: Limits | None


def _read_sizes() -> dict[str, Size]:
    """The models of a validation, in `models.yaml`."""
    told = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    sizes = {}
    for name, size in told["sizes"].items():
        plans = []
        for entry in size["models"]:
            limits = {"limits": Limits(**entry["limits"])} if "limits" in entry else {}
            plans.append(Plan(**{**entry, "recipe": Recipe(**entry["recipe"]), **limits}))
        keywords = [Recipe(**recipe) for recipe in size.get("keywords", ())]
        sizes[name] = Size(plans, size["words"], keywords)
    return sizes


SIZES = _read_sizes()
FULL, QUICK = SIZES["full"], SIZES["quick"]


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
    return _train(f"keywords-{recipe.kind}", gaps, recipe, data, Limits(), seed)


def _train(
    name: str, gaps: Sequence[Gap], recipe: Recipe, data: dict[str, Data], limits: Limits | None, seed: int
) -> Model:
    """Train a model, and load it again in float32 as the package does."""
    with tempfile.TemporaryDirectory() as folder:
        trained = train(gaps, recipe, seed)
        for part in trained:
            part.save_pretrained(folder)
        loaded = replace(load_model(folder, Settings(device="cpu", dtype="float32")), name=name)
    reader = Reader(loaded.model, loaded.tokenizer, loaded.kind)
    readings = {where: naive.read(reader, part.questions) for where, part in data.items()}
    return Model(name, loaded, data, readings, limits)
