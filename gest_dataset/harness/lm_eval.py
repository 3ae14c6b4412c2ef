"""`gest build --format lm-eval`: tasks of lm-evaluation-harness, and the functions that they name.

These turn rows into documents, answers into scores, and scores into g_s. A score is ln P(masculine) -
ln P(feminine) of two continuations. lm-eval tokenizes context and continuation together, and puts BOS (or
EOS) before a continuation without a context. To get the tokens of `gest score`:

- templates: the context is the text before the word; the space between them belongs to the word;
- other rows: the context is empty, and both texts are continuations.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import jinja2
import pyarrow as pa

from gest_dataset.builders import CONFIGS
from gest_dataset.data.folder import read_config
from gest_dataset.errors import SettingError
from gest_dataset.measures import MEASURES, measure_of
from gest_dataset.measures.result import compute_result
from gest_dataset.models.score import suitable_configs
from gest_dataset.probes.templates import Template, select_templates
from gest_dataset.storage import check_folder, folder_lock, write_file
from gest_dataset.version import __version__

logger = logging.getLogger(__name__)
KIND = "causal"  # the kind of model of lm-eval
LOG_RATIO = "log_ratio"
RATES = ("g_s", "g_s_low", "g_s_high", "d", "d_low", "d_high")
_GROUPS = ("pairs", "neutral")  # measures with one task per language; a group averages their g_s


class TaskScore(NamedTuple):
    """A score with everything that the statistic needs."""

    measure: str
    id: str
    template: int
    about: Any
    unit: Any
    log_ratio: float


def write_tasks(
    folder: Path, configs: Mapping[str, bool], data: Path | None = None
) -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """Write the tasks of configs, and remove tasks that an earlier call has written.

    `configs` tells whether each was named itself: such a config must have a task. The rows are read from
    `data`, a folder of `gest build`, instead of `load_dataset("gest", ...)`. Returns the tasks (name, config,
    and group or an empty text), and why other configs were left out.
    """
    suitable, left_out = suitable_configs(configs, KIND, "lm_eval")
    by_measure: dict[str, list[str]] = {}
    reason = "its score is no difference of two texts"
    for name in suitable:
        measure, probe = measure_of(list(CONFIGS[name].features), name)
        if KIND in probe.kinds and probe.scores == (LOG_RATIO,):
            by_measure.setdefault(measure.name, []).append(name)
        elif configs[name]:
            raise SettingError(f"{name} cannot be a task of lm_eval: {reason}.")
        else:
            left_out[name] = reason
    if not by_measure:
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        raise SettingError(f"None of the configs suits lm_eval: {reasons}.")
    source = "gest" if data is None else str(data.resolve())
    tasks: list[tuple[str, str, str]] = []
    files: dict[str, dict[str, Any]] = {}
    for measured, names in by_measure.items():
        group = f"gest_{measured}" if measured in _GROUPS and names[1:] else ""
        tasks += [(task_name(config), config, group) for config in names]
        if group:
            files[group] = {"members": [task_name(config) for config in names]}
    for name, config, _ in tasks:
        if data is not None:
            read_config(data, config)  # verify it
        files[name] = {"config": config, "data": source}
    text = Path(__file__).with_name("task.yaml.jinja").read_text("utf-8")
    template = jinja2.Template(text, undefined=jinja2.StrictUndefined, trim_blocks=True)
    check_folder(folder, _is_ours, "`gest build --format lm-eval`")
    with folder_lock(folder):
        for name, values in files.items():
            write_file(folder / f"{name}.yaml", template.render(name=name, version=__version__, **values))
        for path in folder.glob("*.yaml"):
            if path.stem not in files:
                path.unlink()
    return tasks, left_out


def task_name(config: str) -> str:
    """
    >>> task_name("en"), task_name("sk_pairs"), task_name("sk_neutral")
    ('gest_en', 'gest_sk_pairs', 'gest_neutral_sk')
    """
    language = config.removesuffix("_neutral")
    return f"gest_{config}" if language == config else f"gest_neutral_{language}"


def _is_ours(path: Path) -> bool:
    """Whether a file was written by this module, by any version of it."""
    return path.suffix == ".yaml" and path.is_file() and path.read_bytes().startswith(b"# Written by `gest ")


def docs(rows: datasets.Dataset) -> datasets.Dataset:
    """Make a document for each row and template: `context` and `choices`, the masculine one first."""
    measure, probe = measure_of(rows.column_names, rows.info.config_name or "the data")
    about = str(probe.label)
    feature = rows.features[about]
    templates = select_templates(None, KIND)
    documents: list[dict[str, Any]] = []
    for row in rows.to_list():
        label = feature.int2str(row[about]) if isinstance(feature, datasets.ClassLabel) else row[about]
        if probe.scores_whole_texts:
            contrasts = [(0, "", [row["masculine"], row["feminine"]])]
        else:
            contrasts = [(one.id, *split_template(row["sentence"], one)) for one in templates]
        unit = row.get(measure.unit.column or "")
        facts = {"measure": measure.name, "id": row["id"], "about": label, "unit": unit}
        for template, context, choices in contrasts:
            documents.append(facts | {"template": template, "context": context, "choices": choices})
    return datasets.Dataset.from_list(documents)


def split_template(sentence: str, template: Template) -> tuple[str, list[str]]:
    """Split a filled template into its context and the two words, each with the space before it.

    >>> from gest_dataset.probes.templates import TEMPLATES
    >>> split_template("I ran.", TEMPLATES[4])
    ('"I ran.", the', [' man', ' woman'])
    """
    filled = [template.fill(sentence, word) for word in (template.masculine, template.feminine)]
    context = filled[0][0][: filled[0][1]].rstrip()
    return context, [text[len(context) : end] for text, _, end in filled]


def process_results(doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """Return the log ratio of a document, and its sample for the rates."""
    (masculine, _), (feminine, _) = results
    score = TaskScore._make([*(doc[name] for name in TaskScore._fields[:-1]), masculine - feminine])
    return {LOG_RATIO: score.log_ratio, **dict.fromkeys(RATES, score)}


def _rate(name: str) -> Callable[[Sequence[TaskScore]], float]:
    """The function that returns the stereotype rate (over several templates their mean), d, or a bound."""
    return lambda samples: _rates(tuple(samples))[name]


g_s, g_s_low, g_s_high, d, d_low, d_high = map(_rate, RATES)


@lru_cache(maxsize=1)  # lm-eval asks for the numbers of a task one after the other
def _rates(samples: tuple[TaskScore, ...]) -> dict[str, float]:
    """Return the numbers of `gest score` for these samples."""
    scored = [sample for sample in samples if math.isfinite(sample.log_ratio)]
    if missing := len(samples) - len(scored):
        logger.warning("%d of %d samples have no finite score; use dtype=float32.", missing, len(samples))
    if not scored:
        return dict.fromkeys(RATES, math.nan)
    measure = MEASURES[scored[0].measure]
    assert measure.probe is not None
    columns = dict(zip(TaskScore._fields, zip(*scored, strict=True), strict=True))
    scores = {name: columns[name] for name in ("id", "template", LOG_RATIO)}
    table = pa.table({**scores, str(measure.probe.label): columns["about"]})
    units = {measure.unit.column: columns["unit"]} if measure.unit.column else {}
    result = compute_result(measure, table, datasets.Dataset.from_dict({"id": columns["id"], **units}))
    return {name: float(result[name]) for name in RATES}
