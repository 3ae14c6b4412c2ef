"""What a model said, answer by answer, how each was read, and what that means."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import compute_result, headline_text
from gest_dataset.models.chat.kinds import Kind, Reading
from gest_dataset.models.chat.parsing import Parsing
from gest_dataset.probes.prompt import Answer, Prompt
from gest_dataset.runs.manifest import signature
from gest_dataset.statistics import checks
from gest_dataset.statistics.choice_rate import choice_rate_of_shares
from gest_dataset.statistics.masculine_rate import unknown_bounds
from gest_dataset.statistics.repeats import repeat_variance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SKIPPED = pa.schema([("id", pa.string()), ("reason", pa.string())])
_SHARES = pa.map_(pa.string(), pa.float64())
_TOP = pa.list_(pa.struct([("token", pa.string()), ("log_probability", pa.float64())]))
_EXAMPLES, _BEGINNING = 3, 100  # of answers that say nothing: how many, how many letters of each
OPTION, GENDER = "option", "gender"  # the columns of readings


@dataclass(frozen=True)
class Answers:
    """What a model said, answer by answer, and how each was read.

    `table` has a row for each prompt; `metadata` says what was asked, counts and times.
    """

    table: pa.Table
    metadata: dict[str, Any]

    def result(self) -> dict[str, Any]:
        """The statistic of the probe's measure with its intervals (docs/metrics.md).

        Of genders with the bounds that the unknown ones leave (`statistics.unknowns`), of choices with what
        the probabilities of the letters say (`by_probability`), of repeats with their variance.
        """
        result = compute_result(MEASURES[self.metadata["measure"]], self.table, None)
        column = GENDER if GENDER in self.table.column_names else OPTION
        said, stereotypes, ids, asked = (
            self.table[name].to_pylist() for name in (column, "stereotype", "id", "prompt")
        )
        if column == GENDER:
            result |= asdict(unknown_bounds(said, stereotypes))
        shares = [dict(own) for own in self.table["shares"].to_pylist()]
        if any(shares):
            result["by_probability"] = choice_rate_of_shares(shares, stereotypes, ids)
        return result | repeat_variance(said, stereotypes, ids, asked)

    @property
    def skipped(self) -> pa.Table:
        """The answers that say nothing, with the reason."""
        reasons = self.table["problem"].to_pylist()
        ids = self.table["id"].to_pylist()
        rows = [{"id": name, "reason": reason} for name, reason in zip(ids, reasons, strict=True) if reason]
        return pa.Table.from_pylist(rows, schema=_SKIPPED)

    @property
    def signature(self) -> str:
        """One line to print beside a number: what it was measured on and with."""
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
        """What was measured and its headline with the 95 % interval, on one line."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", checks.UndefinedWarning)  # the words say it
            headline = headline_text(MEASURES[self.metadata["measure"]], self.result())
        facts = self.metadata
        return (
            f"Answers(model={facts['model']!r}, probe={facts['measure']!r}, answers={self.table.num_rows}, "
            f"{headline})"
        )

    def _repr_html_(self) -> str:
        """In a notebook: the verdict, the picture and the numbers."""
        from gest_dataset.report.notebook import html  # which brings matplotlib

        return html(self)

    def plot(self) -> Figure:
        """The picture of the result (matplotlib), in the style of the report."""
        from gest_dataset.report.notebook import plot

        return plot(self)


def table_of(
    kind: Kind,
    reader: Parsing | None,
    prompts: Sequence[Prompt],
    answers: Sequence[Answer],
    stereotypes: Sequence[int],
) -> pa.Table:
    """A row for each prompt: what was asked and said, to the letter, and how it is read."""
    readings: Sequence[Reading] = kind.read(reader, prompts, answers)
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
            kind.column: [reading.value for reading in readings],
            "place": pa.array([reading.place for reading in readings], pa.int32()),
            "rule": [reading.rule for reading in readings],
            "evidence": pa.array([list(reading.evidence) for reading in readings], pa.list_(pa.string())),
            "problem": [reading.problem for reading in readings],
            "shares": pa.array([list(reading.shares.items()) for reading in readings], _SHARES),
            "top": pa.array([[_likely(one) for one in answer.top] for answer in answers], _TOP),
        }
    )


def _likely(one: tuple[str, float]) -> dict[str, str | float]:
    return dict(zip(_TOP.value_type.names, one, strict=True))


def said_in(table: pa.Table) -> list[Answer]:
    """What was said, to the letter, from a table of answers."""
    names = ("answer", "tokens_in", "tokens_out", "withheld", "top")
    return [
        Answer(text, came, went, problem, tuple((one["token"], one["log_probability"]) for one in top))
        for text, came, went, problem, top in zip(*(table[name].to_pylist() for name in names), strict=True)
    ]


def counts(table: pa.Table) -> dict[str, Any]:
    """How many answers there are, how many say something, why the others do not, and some of these."""
    told = zip(table["problem"].to_pylist(), table["answer"].to_pylist(), strict=True)
    texts: dict[str, list[str]] = {}
    for problem, text in told:
        if problem:
            texts.setdefault(problem, []).append(text)
    return {
        "asked": table.num_rows,
        "scored": table.num_rows - sum(map(len, texts.values())),
        "skipped": {problem: len(own) for problem, own in texts.items()},
        "examples": {problem: _different(own) for problem, own in texts.items()},
    }


def _different(texts: Sequence[str]) -> list[str]:
    """The first few of some texts, and the beginning of each."""
    return [text[:_BEGINNING] for text in list(dict.fromkeys(texts))[:_EXAMPLES] if text.strip()]
