"""The scores that the authors of GEST released, and the quality of sentences, against a naive computation."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from datasets import load_dataset
from scipy import stats

from gest_dataset.builders.released import FAMILIES, FAMILY_OF, classify, find_model, read_ratios
from gest_dataset.errors import DataError
from gest_dataset.published.models import english_models
from tests.conftest import Edit
from tests.support.outside import needs, require

pytestmark = pytest.mark.usefixtures("mirror")


def test_every_published_english_model_has_a_family() -> None:
    """The tables lack one model whose scores were released."""
    assert {one.model for one in english_models()} | {"Mistral-7B-Instruct-v0.1"} == {*FAMILY_OF}
    assert len(FAMILY_OF) == 34
    assert len(FAMILIES) == 9


def test_scores_are_natural_logarithms_in_the_papers_templates(mirror: Path) -> None:
    rows = load_dataset("gest", "gest_scores_en", split="test")
    folder = mirror / "kinit-sk/gest/data/predictions"
    for model, kind, file, template in (
        ("bert-base-uncased", "english_mlm", 0, 1),
        ("gpt2", "english_glm", 1, 4),
    ):
        own = [row["log_ratio"] for row in rows if (row["model"], row["template"]) == (model, template)]
        lines = (folder / kind / f"{model}_template-{file}.txt").read_text().split()
        assert own == pytest.approx([float(line) * np.log(10) for line in lines])
    assert len({*rows["id"]}) == len(rows) == 34 * (11 * 4 + 23 * 2)


def test_winobias_means_are_natural_logarithms(mirror: Path) -> None:
    rows = {row["id"]: row for row in load_dataset("gest", "winobias_scores", split="test")}
    lines = (mirror / "kinit-sk/gest/data/predictions/winobias/winobias.csv").read_text().split()
    assert len(rows) == len(lines) - 1 == 44
    for line in lines[1:]:
        name, kind, part, male, female = line.split(",")
        row = rows[f"{name.removeprefix('google/')}-winobias_type{kind}_{part}"]
        assert [row["male"], row["female"]] == pytest.approx([float(x) * np.log(10) for x in (male, female)])


def _naive_quality(scores: dict[str, list[float]], signs: list[int], numbers: list[int]) -> list[list[float]]:
    """z by family and sentence, written again from the definition."""
    z = defaultdict(list)
    for model, x in scores.items():
        means = {i: np.mean([v for v, n in zip(x, numbers, strict=True) if n == i]) for i in set(numbers)}
        male = np.mean([mean for i, mean in means.items() if i > 7])
        female = np.mean([mean for i, mean in means.items() if i <= 7])
        spreads = []
        for i in set(numbers):
            own = [v for v, n in zip(x, numbers, strict=True) if n == i]
            if len(own) > 1:
                spreads.append(np.var(own, ddof=1))
        s = np.mean(spreads) ** 0.5
        z[FAMILY_OF[model]].append([e * (v - (male + female) / 2) / s for e, v in zip(signs, x, strict=True)])
    return dict(z)


def _naive_classes(z: dict[str, list[list[float]]]) -> list[str]:
    """t-tests over families, and Benjamini and Hochberg's rule."""
    means = [np.mean(own, axis=0) for own in z.values()]
    columns = list(zip(*means, strict=True))
    p_values = []
    for values in columns:
        t = np.mean(values) / (np.std(values, ddof=1) / len(values) ** 0.5)
        p_values.append(2 * stats.t.sf(abs(t), len(values) - 1))
    ordered = sorted(p_values)
    limit = max((p for rank, p in enumerate(ordered, 1) if p <= 0.05 * rank / len(ordered)), default=-1.0)
    return [
        "undetermined" if p > limit else "towards" if np.mean(values) > 0 else "against"
        for p, values in zip(p_values, columns, strict=True)
    ]


def test_quality_equals_a_naive_computation_and_finds_the_planted_sentences() -> None:
    rows = load_dataset("gest", "gest_scores_en", split="test").to_pandas()
    quality = load_dataset("gest", "item_quality", split="test")
    scores = {
        model: own.groupby("sentence_id")["log_ratio"].mean().sort_index().tolist()
        for model, own in rows.groupby("model")
    }
    sentences = rows.drop_duplicates("sentence_id").sort_values("sentence_id")
    numbers = sentences["stereotype"].tolist()
    z = _naive_quality(scores, [1 if number > 7 else -1 for number in numbers], numbers)
    every = np.array([one for own in z.values() for one in own])
    assert quality["sentence_id"][:] == sentences["sentence_id"].tolist()
    assert quality["score"][:] == pytest.approx(every.mean(axis=0), abs=1e-6)
    rest = [np.corrcoef(every[:, k], np.delete(every, k, axis=1).mean(axis=1))[0, 1] for k in range(34)]
    assert quality["item_rest"][:] == pytest.approx(rest, abs=1e-6)
    names = quality.features["quality"].names
    found = [names[label] for label in quality["quality"]]
    assert found == _naive_classes(z)
    planted = ["against" if k % 4 == 3 else "towards" for k in range(34)]
    assert found == [*planted[:3], "undetermined", *planted[4:]]  # the families disagree on this one
    for place, family in enumerate(FAMILIES):
        without = _naive_classes({name: own for name, own in z.items() if name != family})
        assert [names[labels[place]] for labels in quality["quality_without"]] == without


def test_few_sentences_are_classed_by_chance() -> None:
    """Families without an opinion: at most 5 % of such sets have any class (all discoveries are false)."""
    generator = np.random.default_rng(3)
    sets = [classify(generator.standard_normal((9, 200))) for _ in range(200)]
    assert sum({*labels} != {"undetermined"} for labels in sets) <= stats.binom.ppf(0.999, 200, 0.05)


def test_names_of_files() -> None:
    assert find_model("glm_phi-1_5") == "phi-1_5"
    assert find_model("meta-llama_Llama-2-7b-hf") == "Llama-2-7b-hf"
    assert find_model("my_gpt3") is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"0.5\n", "does not have 34 finite numbers"), (b"0.5\nnan\n", "finite"), (b"\n\nx\n", "line 3: 'x'")],
)
def test_a_damaged_file_is_named(edited: Edit, content: bytes, reason: str) -> None:
    path = edited("kinit-sk/gest/data/predictions/english_glm/phi-1_5_template-1.txt", lambda _: content)
    with pytest.raises(DataError, match=reason) as caught:
        load_dataset("gest", "gest_scores_en", data_dir=str(path.parents[5]))
    assert "phi-1_5_template-1.txt" in str(caught.value)


@needs("GEST_PAPER_SCORES")
def test_the_authors_files_are_read() -> None:
    folder = require("GEST_PAPER_SCORES")
    for path in folder.glob("*_template-*.txt"):
        assert len(read_ratios(path, 3565)) == 3565
