"""`inspect eval gest_dataset/gest_choice --model PROVIDER/MODEL`: the choices of `gest ask` through Inspect.

Inspect imports this module at every start, so slow imports are inside functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError  # shown without a traceback
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate

from gest_dataset.errors import GestError
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED, Answer, Prompt
from gest_dataset.version import __version__

if TYPE_CHECKING:
    from gest_dataset.models.chat.ask import ChatTask

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
    from gest_dataset.models.chat.ask import prepare

    try:
        asked = prepare(PROBE, language, limit=limit, prompts=prompts)
    except GestError as error:
        raise PrerequisiteError(str(error)) from error
    sampling = asked.sampling
    return Task(
        dataset=MemoryDataset(_samples(asked), name=asked.config),
        solver=generate(),
        scorer=option(),
        config=GenerateConfig(
            temperature=sampling.temperature, top_p=1, seed=sampling.seed, max_tokens=sampling.max_tokens
        ),
        version=__version__,
        metadata={"data_fingerprint": asked.fingerprint, "prompts": asked.wordings, "limit": limit},
    )


def _samples(asked: ChatTask) -> list[Sample]:
    topics = dict(zip(asked.rows["id"], asked.rows["stereotype"], strict=True))
    return [
        Sample(
            prompt.text,
            id=f"{prompt.id} {prompt.variant}",
            metadata={
                "place": place,
                "row": prompt.id,
                "variant": prompt.variant,
                "stereotype": topics[prompt.id],
            },
        )
        for place, prompt in enumerate(asked.prompts)
    ]


@metric(scores="unreduced")
def choice_rates() -> Metric:
    """Compute the numbers of `gest_choice_rate` on all answers."""

    def rates(scores: Sequence[SampleScore]) -> dict[str, float]:
        import pyarrow as pa

        from gest_dataset.measures import MEASURES
        from gest_dataset.measures.result import compute_result
        from gest_dataset.probes.prompts import REFUSED
        from gest_dataset.statistics.checks import UndefinedWarning

        known = sorted(scores, key=lambda score: _of_sample(score)["place"])
        samples = [_of_sample(score) for score in known]
        read: list[dict[str, Any]] = [score.score.metadata or {} for score in known]
        table = pa.table(
            {
                "id": [sample["row"] for sample in samples],
                "stereotype": pa.array([sample["stereotype"] for sample in samples], pa.int32()),
                "option": [score.score.value for score in known],
                "position": pa.array([reading["position"] for reading in read], pa.int32()),
            }
        )
        measure = MEASURES[PROBE]
        with warnings.catch_warnings():
            # Inspect also shows interim rates, when most stereotypes have no answer
            warnings.simplefilter("ignore", UndefinedWarning)
            result = compute_result(measure, table, None)
        named = [
            f"{name}{end}"
            for name in measure.numbers
            for end in ("", "_low", "_high")
            if not end or name in _WITH_BOUNDS
        ]
        refused = sum(reading["problem"] == REFUSED for reading in read) / len(read)
        return {**{name: float(result[name]) for name in named}, "refused": refused}

    return rates


def _of_sample(score: SampleScore) -> dict[str, Any]:
    return score.sample_metadata or {}


@scorer(metrics=[choice_rates()])
def option() -> Scorer:
    """Read the option that an answer names, as `gest ask` does; `other` is none."""

    async def score(state: TaskState, target: Target) -> Score:
        from gest_dataset.models.chat.probes import CHAT_PROBES

        prompt = Prompt(state.metadata["row"], state.metadata["variant"], state.input_text)
        (reading,) = CHAT_PROBES[PROBE].read(None, [prompt], [_answer(state.output)])
        return Score(
            value=reading.value,
            answer=state.output.completion,
            explanation=reading.problem or None,
            metadata={"position": reading.position, "problem": reading.problem},
        )

    return score


def _answer(output: ModelOutput) -> Answer:
    """Convert an output as `gest ask` does with a server's answer."""
    text = output.completion
    ended = output.stop_reason if output.choices else "unknown"
    if not text.strip():
        return Answer("", 0, 0, _ENDS.get(ended, EMPTY))
    return Answer(text, 0, 0, FILTERED if ended == "content_filter" else "")
