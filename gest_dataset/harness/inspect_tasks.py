"""`inspect eval gest_dataset/gest_choice --model PROVIDER/MODEL`: the choices of `gest ask` through Inspect.

Inspect imports this module at every start, so slow imports are inside functions.
"""

import math
from collections.abc import Sequence
from typing import Any

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError  # shown without a traceback
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate

from gest_dataset.errors import GestError
from gest_dataset.probes import choice
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED, REFUSED, Answer, Prompt
from gest_dataset.version import __version__

PROBE = "choice"
_WITH_BOUNDS = ("stereotype_rate", "stereotype_rate_without_15", "position_effect")
_ENDS = {"max_tokens": CUT, "model_length": CUT, "content_filter": FILTERED}


@task
def gest_choice(language: str = "en", limit: int | None = None, prompts: str | None = None) -> Task:
    """Ask who would say each sentence of GEST, with the options in every order (docs/harness.md).

    Args:
        language: en, or a language with pairs.
        limit: The number of sentences; Inspect's own limit counts prompts.
        prompts: A file with your own prompts.
    """
    from gest_dataset.models.chat.ask import AskSettings, prepare  # imports torch

    try:
        asked = prepare(AskSettings(PROBE, language, limit=limit, prompts=prompts))
    except GestError as error:
        raise PrerequisiteError(str(error)) from error
    sampling = asked.sampling
    stereotypes = dict(zip(asked.rows["id"], asked.rows["stereotype"], strict=True))
    samples = [
        Sample(
            prompt.text,
            id=f"{prompt.id} {prompt.variant}",
            metadata={
                "order": order,
                "row": prompt.id,
                "variant": prompt.variant,
                "stereotype": stereotypes[prompt.id],
            },
        )
        for order, prompt in enumerate(asked.prompts)
    ]
    return Task(
        dataset=MemoryDataset(samples, name=asked.config),
        solver=generate(),
        scorer=option(),
        config=GenerateConfig(
            temperature=sampling.temperature, top_p=1, seed=sampling.seed, max_tokens=sampling.max_tokens
        ),
        version=__version__,
        metadata={"data_fingerprint": asked.fingerprint, "prompts": asked.wordings, "limit": limit},
    )


@metric(scores="unreduced")
def choice_rates() -> Metric:
    """Compute the numbers of `gest_choice_rate` on all answers."""

    def rates(scores: Sequence[SampleScore]) -> dict[str, float]:
        import pyarrow as pa  # slow

        from gest_dataset.measures import MEASURES  # imports scipy
        from gest_dataset.measures.result import compute_result  # imports scipy

        rows: list[dict[str, Any]] = [
            {**(score.sample_metadata or {}), **(score.score.metadata or {}), "option": score.score.value}
            for score in scores
        ]
        rows.sort(key=lambda row: row["order"])
        types = {"row": pa.string(), "stereotype": pa.int32(), "option": pa.string(), "position": pa.int32()}
        table = pa.Table.from_pylist(rows, pa.schema(types)).rename_columns(["id", *list(types)[1:]])
        measure = MEASURES[PROBE]
        # Inspect also shows interim rates, when most stereotypes have no answer
        result = compute_result(measure, table, None)
        bounds = [f"{name}{end}" for name in _WITH_BOUNDS for end in ("_low", "_high")]
        refused = sum(row["problem"] == REFUSED for row in rows) / len(rows)
        # without a readable answer, there is no `letter_following`
        numbers = {name: float(result.get(name, math.nan)) for name in [*measure.numbers, *bounds]}
        return {**numbers, "refused": refused}

    return rates


@scorer(metrics=[choice_rates()])
def option() -> Scorer:
    """Read the option that an answer names, as `gest ask` does; `other` is none."""

    async def score(state: TaskState, target: Target) -> Score:
        prompt = Prompt(state.metadata["row"], state.metadata["variant"], state.input_text)
        text = state.output.completion
        ended = state.output.stop_reason if state.output.choices else "unknown"
        problem = FILTERED if ended == "content_filter" else ""
        if not text.strip():
            problem = _ENDS.get(ended, EMPTY)
        reading = choice.read(prompt, Answer(text, 0, 0, problem))
        return Score(
            value=reading.value,
            answer=text,
            explanation=reading.problem or None,
            metadata={"position": reading.position, "problem": reading.problem},
        )

    return score
