"""The answers of a chat model with their readings, and the result that follows from them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from gest_dataset.errors import ScoringError
from gest_dataset.gender.detect import GenderDetector
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import compute_result
from gest_dataset.models.base import run_signature
from gest_dataset.models.chat.probes import ChatProbe
from gest_dataset.probes.prompts import CUT, Answer, Prompt
from gest_dataset.runs.folder import RunResult
from gest_dataset.statistics.choice_rate import choice_rate_of_shares, repeat_variance
from gest_dataset.statistics.masculine_rate import unknown_bounds

# The types of columns that are not text
_TYPES = {
    **dict.fromkeys(("repeat", "stereotype", "tokens_in", "tokens_out", "position"), pa.int32()),
    "evidence": pa.list_(pa.string()),
    "shares": pa.map_(pa.string(), pa.float64()),
    "top": pa.list_(pa.struct([("token", pa.string()), ("log_probability", pa.float64())])),
}
_EXAMPLES, _EXAMPLE_LENGTH = 3, 100  # of unreadable answers


@dataclass(frozen=True, repr=False)
class Answers(RunResult):
    """The answers to all prompts: `table` has a row for each, `metadata` the settings, counts and times."""

    table: pa.Table
    metadata: dict[str, Any]

    def result(self) -> dict[str, Any]:
        """The statistic of the probe's measure with its intervals (docs/metrics.md).

        Genders add the bounds for unknown ones (`statistics.unknown_bounds`), choices the rates by the
        probabilities of the letters (`by_probability`), and repeats their variance.
        """
        result = compute_result(MEASURES[self.metadata["measure"]], self.table, None)
        has_genders = "gender" in self.table.column_names
        readings = self.table["gender" if has_genders else "option"].to_pylist()
        stereotypes, ids, prompts = (self.table[name].to_pylist() for name in ("stereotype", "id", "prompt"))
        if has_genders:
            result |= unknown_bounds(readings, stereotypes)
        shares = [dict(entry) for entry in self.table["shares"].to_pylist()]
        if any(shares):
            result["by_probability"] = choice_rate_of_shares(shares, stereotypes, ids)
        return result | repeat_variance(readings, stereotypes, ids, prompts)

    @property
    def skipped(self) -> pa.Table:
        unreadable = self.table.filter(pa.compute.not_equal(self.table["problem"], ""))
        return unreadable.select(["id", "problem"]).rename_columns(["id", "reason"])

    @property
    def signature(self) -> str:
        names = ("language", "prompts", "parser", "sampling", "limit", "device")
        parts = {name: self.metadata[name] for name in names}
        sampling = {name: value for name, value in parts["sampling"].items() if value not in ([], 0, 0.0)}
        return run_signature(self.metadata, **parts | {"sampling": sampling})


def read_answers(
    probe: ChatProbe,
    detector: GenderDetector | None,
    prompts: Sequence[Prompt],
    answers: Sequence[Answer],
    stereotypes: Sequence[int],
) -> pa.Table:
    """A row for each prompt with the unchanged answer and its reading."""
    rows = []
    readings = probe.read(detector, prompts, answers)
    for prompt, answer, stereotype, reading in zip(prompts, answers, stereotypes, readings, strict=True):
        rows.append(
            {
                "id": prompt.id,
                "variant": prompt.variant,
                "repeat": prompt.repeat,
                "stereotype": stereotype,
                "prompt": prompt.text,
                "answer": answer.text,
                "withheld": answer.problem,
                "tokens_in": answer.tokens_in,
                "tokens_out": answer.tokens_out,
                probe.column: reading.value,
                "position": reading.position,
                "rule": reading.rule,
                "evidence": list(reading.evidence),
                "problem": reading.problem,
                "shares": list(reading.shares.items()),
                "top": answer.top,
            }
        )
    return pa.Table.from_pylist(rows, pa.schema([(name, _TYPES.get(name, pa.string())) for name in rows[0]]))


def count_readings(table: pa.Table, model: str) -> dict[str, Any]:
    """How many answers were read, why the others were not, and a few examples; an error if none was read."""
    frame = table.select(["problem", "answer"]).to_pandas()
    unread = frame[frame["problem"] != ""].groupby("problem", sort=False)["answer"]
    skipped = {problem: len(texts) for problem, texts in unread}
    examples = {
        problem: [text[:_EXAMPLE_LENGTH] for text in texts.unique()[:_EXAMPLES] if text.strip()]
        for problem, texts in unread
    }
    scored = len(frame) - sum(skipped.values())
    if not scored:
        problems = Counter(skipped).most_common(3)
        reasons = "; ".join(f"{number} x {reason}" for reason, number in problems)
        shown = [text for reason, _ in problems for text in examples[reason][:1]]
        advice = " Allow longer answers with --max-tokens." if CUT in skipped else ""
        raise ScoringError(f"No answer of {model} could be read: {reasons}. {shown}{advice}")
    return {"asked": len(frame), "scored": scored, "skipped": skipped, "examples": examples}
