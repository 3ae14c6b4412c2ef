"""The answers of a chat model with their readings, and the result that follows from them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from gest_dataset.gender.detect import GenderDetector
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import compute_result, headline_text
from gest_dataset.models.chat.probes import ChatProbe
from gest_dataset.probes.prompts import Answer, Prompt
from gest_dataset.runs.manifest import signature
from gest_dataset.runs.result import RunResult
from gest_dataset.statistics import checks
from gest_dataset.statistics.choice_rate import choice_rate_of_shares
from gest_dataset.statistics.masculine_rate import unknown_bounds
from gest_dataset.statistics.repeats import repeat_variance

_SKIPPED = pa.schema([("id", pa.string()), ("reason", pa.string())])
_SHARES = pa.map_(pa.string(), pa.float64())
_TOP = pa.list_(pa.struct([("token", pa.string()), ("log_probability", pa.float64())]))
_EXAMPLES, _EXAMPLE_LENGTH = 3, 100  # of unreadable answers


@dataclass(frozen=True)
class Answers(RunResult):
    """The answers to all prompts: `table` has a row for each, `metadata` the settings, counts and times."""

    table: pa.Table
    metadata: dict[str, Any]

    def result(self) -> dict[str, Any]:
        """The statistic of the probe's measure with its intervals (docs/metrics.md).

        For genders it has the bounds that unknown ones leave (`statistics.unknown_bounds`), for choices rates
        by the probabilities of the letters (`by_probability`), for repeats their variance.
        """
        result = compute_result(MEASURES[self.metadata["measure"]], self.table, None)
        has_genders = "gender" in self.table.column_names
        readings = self.table["gender" if has_genders else "option"].to_pylist()
        stereotypes, ids, prompts = (self.table[name].to_pylist() for name in ("stereotype", "id", "prompt"))
        if has_genders:
            result |= asdict(unknown_bounds(readings, stereotypes))
        shares = [dict(entry) for entry in self.table["shares"].to_pylist()]
        if any(shares):
            result["by_probability"] = choice_rate_of_shares(shares, stereotypes, ids)
        return result | repeat_variance(readings, stereotypes, ids, prompts)

    @property
    def skipped(self) -> pa.Table:
        """The ids of unreadable answers, with the reason."""
        columns = zip(self.table["id"].to_pylist(), self.table["problem"].to_pylist(), strict=True)
        rows = [{"id": name, "reason": reason} for name, reason in columns if reason]
        return pa.Table.from_pylist(rows, schema=_SKIPPED)

    @property
    def signature(self) -> str:
        """One line that identifies the measurement, to print next to a number."""
        m = self.metadata
        return signature(
            gest=m["config"],
            data=m["data_fingerprint"],
            measure=m["measure"],
            model=m["model"] + (f"@{m['revision']}" if m["revision"] else ""),
            language=m["language"],
            prompts=m["prompts"],
            parser=m["parser"],
            sampling={name: value for name, value in m["sampling"].items() if value not in ([], 0, 0.0)},
            limit=m["limit"],
            device=m["device"],
            version=m["gest_dataset"],
        )

    def __repr__(self) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", checks.UndefinedWarning)  # the headline shows it
            headline = headline_text(MEASURES[self.metadata["measure"]], self.result())
        return (
            f"Answers(model={self.metadata['model']!r}, probe={self.metadata['measure']!r}, "
            f"answers={self.table.num_rows}, {headline})"
        )


def answer_table(
    probe: ChatProbe,
    detector: GenderDetector | None,
    prompts: Sequence[Prompt],
    answers: Sequence[Answer],
    stereotypes: Sequence[int],
) -> pa.Table:
    """A row for each prompt with the unchanged answer and its reading."""
    readings = probe.read(detector, prompts, answers)
    tops = [[{"token": token, "log_probability": value} for token, value in answer.top] for answer in answers]
    return pa.table(
        {
            "id": [prompt.id for prompt in prompts],
            "variant": [prompt.variant for prompt in prompts],
            "repeat": pa.array([prompt.repeat for prompt in prompts], pa.int32()),
            "stereotype": pa.array(stereotypes, pa.int32()),
            "prompt": [prompt.text for prompt in prompts],
            "answer": [answer.text for answer in answers],
            "withheld": [answer.problem for answer in answers],
            "tokens_in": pa.array([answer.tokens_in for answer in answers], pa.int32()),
            "tokens_out": pa.array([answer.tokens_out for answer in answers], pa.int32()),
            probe.column: [reading.value for reading in readings],
            "position": pa.array([reading.position for reading in readings], pa.int32()),
            "rule": [reading.rule for reading in readings],
            "evidence": pa.array([list(reading.evidence) for reading in readings], pa.list_(pa.string())),
            "problem": [reading.problem for reading in readings],
            "shares": pa.array([list(reading.shares.items()) for reading in readings], _SHARES),
            "top": pa.array(tops, _TOP),
        }
    )


def answers_in(table: pa.Table) -> list[Answer]:
    """The unchanged answers of a table."""
    names = ("answer", "tokens_in", "tokens_out", "withheld", "top")
    return [
        Answer(text, tokens_in, tokens_out, problem, tuple((t["token"], t["log_probability"]) for t in top))
        for text, tokens_in, tokens_out, problem, top in zip(
            *(table[name].to_pylist() for name in names), strict=True
        )
    ]


def count_readings(table: pa.Table) -> dict[str, Any]:
    """How many answers were read, why the others were not, and a few examples of these."""
    texts: dict[str, list[str]] = {}
    for problem, text in zip(table["problem"].to_pylist(), table["answer"].to_pylist(), strict=True):
        if problem:
            texts.setdefault(problem, []).append(text)
    examples = {problem: list(dict.fromkeys(group))[:_EXAMPLES] for problem, group in texts.items()}
    return {
        "asked": table.num_rows,
        "scored": table.num_rows - sum(map(len, texts.values())),
        "skipped": {problem: len(group) for problem, group in texts.items()},
        "examples": {
            problem: [text[:_EXAMPLE_LENGTH] for text in group if text.strip()]
            for problem, group in examples.items()
        },
    }
