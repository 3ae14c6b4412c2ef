"""`inspect eval gest_dataset/gest_choice --model PROVIDER/MODEL`: the choices of `gest ask` through Inspect.

Inspect imports this module at every start, so slow imports are inside functions.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError  # shown without a traceback
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate
from inspect_ai.util import EarlyStop

from gest_dataset.errors import GestError
from gest_dataset.probes import choice
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED, REFUSED, Answer, Prompt
from gest_dataset.version import __version__

PROBE = "choice"
_WITH_BOUNDS = ("stereotype_rate", "stereotype_rate_without_15", "position_effect")
_ENDS = {"max_tokens": CUT, "model_length": CUT, "content_filter": FILTERED}


@task
def gest_choice(
    language: str = "en", limit: int | None = None, prompts: str | None = None, stop_early: bool = False
) -> Task:
    """Ask who would say each sentence of GEST, with the options in every order (docs/harness.md).

    Args:
        language: en, or a language with pairs.
        limit: The number of sentences; Inspect's own limit counts prompts.
        prompts: A file with your own prompts.
        stop_early: Stop when the verdict is clear, as `gest ask --stop-early` does.
    """
    from gest_dataset.models.chat.ask import AskSettings, prepare  # imports torch
    from gest_dataset.statistics.sequential import stratified_order  # imports pandas

    try:
        asked = prepare(AskSettings(PROBE, language, limit=limit, prompts=prompts))
    except GestError as error:
        raise PrerequisiteError(str(error)) from error
    ids, sampling = asked.rows["id"], asked.sampling
    stereotypes = dict(zip(ids, asked.rows["stereotype"], strict=True))
    of_row = Counter(prompt.id for prompt in asked.prompts)
    ranks = {ids[index]: rank for rank, index in enumerate(stratified_order(ids, asked.rows["stereotype"]))}
    samples = []
    for order, prompt in enumerate(asked.prompts):
        facts = {"order": order, "row": prompt.id, "variant": prompt.variant}
        facts["stereotype"] = stereotypes[prompt.id]
        if stop_early:
            facts |= {"rank": ranks[prompt.id], "prompts": of_row[prompt.id], "of": len(ids)}
        samples.append(Sample(prompt.text, id=f"{prompt.id} {prompt.variant}", metadata=facts))
    if stop_early:
        samples.sort(key=lambda sample: sample.metadata["rank"])
    return Task(
        dataset=MemoryDataset(samples, name=asked.config),
        solver=generate(),
        scorer=option(),
        config=GenerateConfig(
            temperature=sampling.temperature, top_p=1, seed=sampling.seed, max_tokens=sampling.max_tokens
        ),
        version=__version__,
        early_stopping=StopWhenClear() if stop_early else None,
        metadata={"data_fingerprint": asked.fingerprint, "prompts": asked.wordings, "limit": limit},
    )


def _rows(scores: Sequence[SampleScore]) -> list[dict[str, Any]]:
    facts = ((one.sample_metadata or {}) | (one.score.metadata or {}) for one in scores)
    rows = [fact | {"option": one.score.value} for one, fact in zip(scores, facts, strict=True)]
    return sorted(rows, key=lambda row: row["order"])


def _last_look(rows: Sequence[dict[str, Any]]) -> int:
    """The sentences of the last look at which every prompt about them is answered; 0 before the first one."""
    from gest_dataset.statistics.sequential import looks  # imports pandas

    epochs = max(Counter((row["row"], row["variant"]) for row in rows).values())
    answers = Counter(row["rank"] for row in rows)
    complete = next(rank for rank in count() if answers[rank] < epochs * rows[0]["prompts"])
    return max((size for size in looks(rows[0]["of"]) if size <= complete), default=0)


def _result(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The result of all answers; of a run that stops early, of those until the last look."""
    import pyarrow as pa  # slow

    from gest_dataset.measures import MEASURES  # imports scipy
    from gest_dataset.measures.result import compute_result  # imports scipy
    from gest_dataset.statistics.sequential import stretch  # imports pandas

    size = _last_look(rows) if "rank" in rows[0] else 0
    stops = 0 < size < rows[0].get("of", 0)
    used = [row for row in rows if row["rank"] < size] if stops else [*rows]
    types = {"row": pa.string(), "stereotype": pa.int32(), "option": pa.string(), "position": pa.int32()}
    table = pa.Table.from_pylist(used, pa.schema(types)).rename_columns(["id", *list(types)[1:]])
    # Inspect also shows interim rates, when most stereotypes have no answer
    result = compute_result(MEASURES[PROBE], table, None, stretch=stretch(size) if stops else 1.0)
    return result | {"refused": sum(row["problem"] == REFUSED for row in used) / len(used)}


class StopWhenClear:
    """Inspect's protocol of early stopping: no further sentence is asked about once a look is decided."""

    def __init__(self) -> None:
        self.scores: list[SampleScore] = []
        self.looked = 0
        self.clear = False

    async def start_task(self, task: Any, samples: Sequence[Sample], epochs: int) -> str:
        return "gest-dataset"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        return EarlyStop(id=id, epoch=epoch, reason="the verdict is clear") if self.clear else None

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, SampleScore]) -> None:
        from gest_dataset.measures.result import is_decided  # imports scipy
        from gest_dataset.statistics.sequential import looks  # imports pandas

        self.scores += scores.values()
        facts = self.scores[0].sample_metadata or {}
        following = min((size for size in looks(facts["of"]) if size > self.looked), default=math.inf)
        if self.clear or len(self.scores) < following * facts["prompts"]:
            return
        rows = _rows(self.scores)
        if (size := _last_look(rows)) > self.looked:
            self.looked = size
            self.clear = is_decided(_result(rows), ())

    async def complete_task(self) -> dict[str, Any]:
        return {"sentences": self.looked}


@metric(scores="unreduced")
def choice_rates() -> Metric:
    """Compute the numbers of `gest_choice_rate` on all answers."""

    def rates(scores: Sequence[SampleScore]) -> dict[str, float]:
        from gest_dataset.measures import MEASURES  # imports scipy

        result = _result(_rows(scores))
        bounds = [f"{name}{end}" for name in _WITH_BOUNDS for end in ("_low", "_high")]
        # without a readable answer, there is no `letter_following`
        names = (*MEASURES[PROBE].numbers, *bounds, "refused")
        return {name: float(result.get(name, math.nan)) for name in names}

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
        found = choice.read(prompt, Answer(text, 0, 0, problem))
        facts = {"position": found.position, "problem": found.problem}
        return Score(value=found.value, answer=text, explanation=found.problem or None, metadata=facts)

    return score
