"""Faults planted into the package, one at a time: each must be caught by a check of the validation.

A fault is a context manager that breaks one place of the real pipeline and restores it at its end. Models and
their naive readings are made before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any
from unittest.mock import patch

import torch

from gest_dataset.measures import result as results
from gest_dataset.models import forward_passes, loading, score_run
from gest_dataset.probes import contrasts, queries, templates
from gest_dataset.probes.templates import Template
from gest_dataset.probes.tokenization import ProbeTokenizer
from gest_dataset.statistics.stereotype_rate import RATES, SCALES
from gest_dataset.stereotypes import STEREOTYPES
from tests.validation.checks import Check, model_checks
from tests.validation.models import Model

_SCALE = 1.05
Plant = Callable[[], AbstractContextManager[Any]]


def first_failed(models: Sequence[Model], plant: Plant) -> Check | None:
    """The first check that fails while a fault is planted."""
    with plant():
        return next((check for model in models for check in model_checks(model) if not check.passed), None)


def _wrapped(module: Any, name: str, change: Callable[..., Any]) -> Plant:
    """Replace a function by `change`, which takes the real function as its first argument."""
    return lambda: patch.object(module, name, partial(change, getattr(module, name)))


def _wrapped_method(owner: type, name: str, change: Callable[..., Any]) -> Plant:
    """The same for a method."""

    def plant() -> AbstractContextManager[Any]:
        real = getattr(owner, name)
        return patch.object(owner, name, lambda self, *arguments: change(real, self, *arguments))

    return plant


# Faults in the queries


def _each(change: Callable[[Template], Template]) -> Callable[..., list[Template]]:
    return lambda real, *arguments: [change(template) for template in real(*arguments)]


def _swapped(template: Template) -> Template:
    return replace(template, masculine=template.feminine, feminine=template.masculine)


def _lowered(template: Template) -> Template:
    return replace(template, masculine=template.masculine.lower(), feminine=template.feminine.lower())


def _in_next_template(real: Callable[..., list[Template]], *arguments: Any) -> list[Template]:
    chosen = real(*arguments)
    texts = [template.text for template in chosen]
    return [
        replace(template, text=text) for template, text in zip(chosen, [*texts[1:], *texts[:1]], strict=True)
    ]


def _reversed(real: Callable[..., Any], row: Mapping[str, Any], *arguments: Any, **keywords: Any) -> Any:
    sides = {"masculine": row["feminine"], "feminine": row["masculine"]}
    return real({**row, **sides}, *arguments, **keywords)


def _without_closing(real: Callable[..., Any], *arguments: Any) -> Any:
    query = real(*arguments)
    return replace(query, positions=query.positions[:-1], targets=query.targets[:-1])


def _unstarted(real: Any, tokenizer: ProbeTokenizer, tokens: Any) -> tuple[tuple[int, ...], int]:
    return tokens.ids, 0


# Faults in the scoring


def _one_token_early(real: Callable[..., Any], queries: Sequence[Any], *arguments: Any) -> Any:
    early = [
        replace(query, positions=tuple(max(0, position - 1) for position in query.positions))
        for query in queries
    ]
    return real(early, *arguments)


def _scaled(real: Callable[..., Any], *arguments: Any) -> Any:
    result = real(*arguments)
    return replace(result, values=[_SCALE * values for values in result.values])


def _without_last(real: Callable[..., Any], rows: Sequence[Sequence[int]], *arguments: Any) -> Any:
    ids, mask = real(rows, *arguments)
    for number, row in enumerate(rows):
        ids[number, len(row) - 1] = mask[number, len(row) - 1] = 0
    return ids, mask


def _left_padded(real: Callable[..., Any], rows: Sequence[Sequence[int]], *arguments: Any) -> Any:
    ids, mask = real(rows, *arguments)
    shifts = [ids.shape[1] - len(row) for row in rows]
    turned = [
        torch.stack([line.roll(shift) for line, shift in zip(both, shifts, strict=True)])
        for both in (ids, mask)
    ]
    return turned[0], turned[1]


def _padded_after_check(real: Callable[..., Any], scorer: Any, *arguments: Any) -> Any:
    """Pad on the left only after the scorer's own check, which would notice."""
    with patch.object(forward_passes, "pad", partial(_left_padded, forward_passes.pad)):
        return real(scorer, *arguments)


# Faults in the statistics


def _shifted_labels(real: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    inputs = real(*arguments)
    return inputs | {"references": [i % len(STEREOTYPES) + 1 for i in inputs["references"]]}


def _pooled(real: Callable[..., Any], measure: Any, *arguments: Any, **keywords: Any) -> Any:
    """g_s of all samples about men and about women, whatever their stereotype."""

    def statistic(predictions: Sequence[float], references: Sequence[int], **options: Any) -> dict[str, Any]:
        pooled: dict[str, Any] = measure.statistic(predictions, references, **options)
        male, female = (
            fmean(
                value
                for value, i in zip(predictions, references, strict=True)
                if STEREOTYPES[i].gender == gender
            )
            for gender in ("male", "female")
        )
        return pooled | {"g_s": math.exp(male - female)}

    return real(replace(measure, statistic=statistic), *arguments, **keywords)


def _one_of_the_other_gender() -> AbstractContextManager[Any]:
    """The last of the female stereotypes counts as a male one."""
    female, male = RATES["q_f"].copy(), RATES["q_m"].copy()
    last = female.nonzero()[0][-1]
    female[last], male[last] = 0, male.max()
    return patch.dict(RATES, {"g_s": male / male.sum() - female / female.sum()})


# Name -> what puts the fault there for a while; docs/validation.md describes each
FAULTS: dict[str, Plant] = {
    "swapped words": _wrapped(templates, "select_templates", _each(_swapped)),
    "scaled contrast": _wrapped(loading, "compute_log_probs", _scaled),
    "position off by one": _wrapped(loading, "compute_log_probs", _one_token_early),
    "wrong context": _wrapped(templates, "select_templates", _in_next_template),
    "dropped token": _wrapped(forward_passes, "pad", _without_last),
    "lower-cased words": _wrapped(templates, "select_templates", _each(_lowered)),
    "padded side": _wrapped_method(forward_passes.LanguageModelScorer, "log_probs", _padded_after_check),
    "wrong stereotype labels": _wrapped(results, "statistic_inputs", _shifted_labels),
    "wrong gender of a stereotype": _one_of_the_other_gender,
    "pooled samples": _wrapped(score_run, "compute_result", _pooled),
    "pairs reversed": _wrapped(contrasts, "pair_queries", _reversed),
    "unscored sentinel": _wrapped(queries, "decoded", _without_closing),
    "no start of text": _wrapped_method(ProbeTokenizer, "with_start", _unstarted),
    "clustered as independent": _wrapped(results, "sample_units", lambda real, *arguments: None),
    "base of logarithm": lambda: patch.dict(SCALES, {"ratio": SCALES["published"]}),
}
