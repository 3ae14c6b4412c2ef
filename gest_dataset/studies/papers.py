"""`gest study all --papers`: what can be reproduced of every table and figure of the papers, and what agrees.

`papers.json` lists them: content, status, the command that makes them with models, the published tables, the
checks, and what is missing. docs/reproduce.md is made from the same list. `checks.yaml` lists the checks: the
functions here that compute numbers from released data, the printed numbers, and the reasons for differences.
"""

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from gest_dataset import published
from gest_dataset.builders.controls import FIELDS, mark_keywords
from gest_dataset.builders.pairs import YIELDS
from gest_dataset.builders.stereoset import TESTS
from gest_dataset.data import sources
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, GestError
from gest_dataset.languages import SLAVIC
from gest_dataset.measures.formatting import format_number
from gest_dataset.probes.templates import TEMPLATES
from gest_dataset.published.released import Released
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.confounders import FAMILY_WORDS, mentions_any
from gest_dataset.statistics.proportions import agresti_coull
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import read_yaml
from gest_dataset.studies import stereoset, topical, validity
from gest_dataset.studies.heuristics import parse_authors_labels
from gest_dataset.studies.study import TEXTS, Study, Table, make_study

SCORES = "GEST_PAPER_SCORES"  # names the folder of the authors' score files
_NOT_PRINTED_MODEL = "Mistral-7B-Instruct-v0.1"  # is in the released scores only
_EXCLUDED_MODEL = "bert-base-multilingual-cased"  # by section 4.3.3
_CONFIG_WITH_DUPLICATE = "stereoset_control_gender"  # one sample occurs twice, and is counted once in print
_WORD_FILLING_CONFIGS = [config for config in TEXTS["sets"] if config != "crows_gender_revised"]
_COLUMNS = ("check", "label", "computed", "printed", "difference", "why", "agrees")

# The label of a number, the number, and the printed one (empty if checks.yaml has it)
Numbers = Iterator[tuple[str, float, str]]


@cache
def load_papers() -> dict[str, Any]:
    """The `papers` and `checks` by name, the `items` (tables and figures), and the texts of `statuses`."""
    folder = Path(__file__).parent
    content: dict[str, Any] = json.loads((folder / "papers.json").read_text(encoding="utf-8"))
    return content | {"checks": read_yaml(folder / "checks.yaml")}


def agrees(computed: float, printed: str) -> bool:
    """Whether a computed number rounds to the printed one; a half may be rounded either way.

    >>> agrees(0.87281, "0.87"), agrees(0.125, "0.13"), agrees(0.126, "0.12")
    (True, True, False)
    """
    mantissa, _, exponent = printed.lower().partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return abs(computed - float(printed)) <= 0.5 * 10.0**-digits * (1 + 1e-9)


def run_checks(released: Released, names: Sequence[str] = ()) -> tuple[pd.DataFrame, dict[str, str]]:
    """The numbers of all (or the named) checks next to the printed ones; why others cannot be computed."""
    rows: list[tuple[Any, ...]] = []
    unavailable: dict[str, str] = {}
    for name in names or dict.fromkeys(name for item in load_papers()["items"] for name in item["checks"]):
        check = load_papers()["checks"][name]
        printed, reasons = check.get("printed", {}), check.get("why", {})
        try:
            if "released" in check and released.where is None:
                raise ConfigError(f"the released scores are missing (--released FOLDER, or {SCORES})")
            files = {"released": released} if "released" in check else {}
            compute: Callable[..., Numbers] = globals()[check["function"]]  # one of the functions below
            numbers = list(compute(**check.get("arguments", {}), **files))
        except GestError as error:
            unavailable[name] = str(error).splitlines()[0]
            continue
        for label, number, text in numbers:
            text = printed.get(label, text)
            if text:
                why = next((reason for pattern, reason in reasons.items() if fnmatchcase(label, pattern)), "")
                rows.append((name, label, number, text, number - float(text), why, agrees(number, text)))
    return pd.DataFrame(rows, columns=_COLUMNS, dtype=object), unavailable


# ---- what the released data and the printed tables give --------------------------------------------------


def samples() -> Numbers:
    """GEST, table 1 and section 3.3: the collected sentences."""
    table = published.load("gest_samples")
    counts = Counter(rows_of("en_1_0")["stereotype"])
    annotations = rows_of("annotations")
    removed = annotations.features["verdict"].str2int("no")
    for row in table["rows"]:
        yield f"stereotype {row['stereotype']}", counts[row["stereotype"]], str(row["n"])
    yield "all samples", sum(counts.values()), str(table["samples"])
    yield "collected sentences", len(annotations), str(table["collected"])
    yield "removed by the annotators", annotations["verdict"].count(removed), str(table["removed"])


def templates(printed: Mapping[int, Sequence[str]]) -> Numbers:
    """GEST, table 2: how many of our templates are the printed ones."""
    same = [[t.text, t.masculine, t.feminine] == printed[n] for n, t in TEMPLATES.items()]
    yield "templates that match the printed ones", sum(same), ""


def topical_means(logarithm: bool = False) -> Numbers:
    """GEST, table 3: means over results of the rates of male and of female stereotypes.

    The rates of the samples on the family need scores that are not released; their number does not.
    """
    english = {f"English {kind.upper()}s": _english(kind) for kind in ("mlm", "glm")}
    values = {name: np.array([row["mean_log10_ratio"] for row in rows]) for name, rows in english.items()}
    values["Slavic MLMs"] = np.log([row["q"] for row in _rows("gest_slavic_mlm")])
    values["MT systems"] = np.array([row["p"] for row in _rows("gest_mt_masculine_rates")])
    for printed in _rows("gest_topical_bias"):
        system = printed["systems"]
        for label, columns, name in (("male", slice(7, None), "m"), ("female", slice(7), "f")):
            means = values[system][:, columns].mean(axis=1)
            mean = means if logarithm or system == "MT systems" else np.exp(means)
            yield f"{system}, {label}", float(mean.mean()), f"{printed[name]:.2f}"
    data = rows_of("en_1_0").to_pandas()
    is_male = data["gender"] == rows_of("en_1_0").features["gender"].str2int("male")
    on_family = mentions_any(data["sentence"].tolist(), FAMILY_WORDS)
    text = str(published.load("gest_topical_bias")["samples"])
    yield "male samples with a word about the family", int(is_male[on_family].sum()), text


def confusion() -> Numbers:
    """GEST, appendix C.1: shares of the counts of table 4."""
    table = {row["predicted"]: row for row in _rows("gest_heuristics") if row["table"] == 4}
    total = {gender: sum(row[label] for label in "MFN") for gender, row in table.items()}
    right = 100 * sum(table[gender][gender] for gender in "MF") / (total["M"] + total["F"])
    unknown = table["U"]
    with_gender = unknown["M"] + unknown["F"]
    yield "labelled sentences", sum(total.values()), ""
    yield "right if a gender is predicted, in per cent", right, ""
    yield "neutral among the unknown, in per cent", 100 * unknown["N"] / total["U"], ""
    yield "masculine among the unknown with a gender, in per cent", 100 * unknown["M"] / with_gender, ""


def swaps() -> Numbers:
    """GEST, table 5 from the authors' 160 labelled pairs and our first-letter rule."""
    file = sources.fetch("kinit-sk/gest/data/gender-swap-annotations.txt")
    counts = parse_authors_labels(file.content.decode("utf-8").splitlines(), file.path).counts
    rows = [row for row in _rows("gest_heuristics") if row["table"] == 5]
    for row, label in product(rows, "XGC"):
        yield f"{row['predicted']}, {label}", int(counts.loc[row["predicted"], label]), str(row[label])


def published_numbers() -> Numbers:
    """Single numbers in the text of the GEST paper, from its tables and the released means."""
    translators = _rows("gest_mt_masculine_rates")
    p = np.array([row["p"] for row in translators])
    english = [*_english("mlm"), *_english("glm")]
    slavic = [row for row in _rows("gest_slavic_mlm") if row["model"] != _EXCLUDED_MODEL]
    correlations = mean_correlations(english, np.array([row["mean_log10_ratio"] for row in english]))
    of_slavic = mean_correlations(slavic, np.log([row["q"] for row in slavic]))
    winobias = _rows("winobias")[0]
    freedom = winobias["models"] - 2
    above = "results with g_s above 1, of 11 models in 4 templates and 22 in 2"
    t = float(stats.t.isf(winobias["p_value"] / 2, freedom))
    numbers = {
        "mean samples of a system and language": float(np.mean([row["n_predicted"] for row in translators])),
        "mean unique pairs of a language": YIELDS["unique_pairs_all_languages"] / len(SLAVIC),
        "system-language pairs with #7 most feminine": float((p[:, 6] <= p.min(axis=1)).sum()),
        "average correlation between templates": correlations["templates"],
        "average correlation between models": correlations["models"],
        "average correlation between model-language pairs": of_slavic["all"],
        above: sum(row["g_s"] > 1 for row in english),
        "correlation that the printed p-value implies": t / math.sqrt(t**2 + freedom),
    }
    yield from ((label, number, "") for label, number in numbers.items())


def mean_correlations(table: Sequence[Mapping[str, Any]], values: Floats) -> dict[str, float]:
    """Means of r over pairs of results: of one model, of one template (then over templates), of all."""
    first, second = np.triu_indices(len(table), 1)
    r = np.asarray(np.corrcoef(values))[first, second]
    model_of, template_of = (np.array([row.get(name, 0) for row in table]) for name in ("model", "template"))
    same_template = template_of[first] == template_of[second]
    by_template = pd.Series(r[same_template]).groupby(template_of[first][same_template])
    return {
        "templates": float(r[model_of[first] == model_of[second]].mean()),
        "models": float(by_template.mean().mean()),
        "all": float(r.mean()),
    }


def means(kind: str, released: Released) -> Numbers:
    """GEST, tables 9 and 10: mean log10 ratios of the released scores, next to their published copies."""
    for row in _rows(f"gest_english_{kind}"):
        scores = released.gest.get(row["model"], pd.DataFrame())
        if row["template"] in scores:
            computed = scores[row["template"]].groupby(level="stereotype").mean() / LN10
            for number, value in zip(STEREOTYPES, row["mean_log10_ratio"], strict=True):
                label = f"{row['model']}, template {row['template']}, #{number}"
                yield label, float(computed[number]), f"{value:.4f}"


def family_means(released: Released) -> Numbers:
    """GEST, table 3: rates of the samples on the family, if all files of a kind of models can be read."""
    of_authors = [one for one in topical.scores_of_authors(released) if one.name != _NOT_PRINTED_MODEL]
    for row in topical.like_table_3(of_authors, FAMILY_WORDS).rows:
        kind, _, number, _, _, mean, *_, printed = row
        needed = len(_english("mlm" if kind == topical.MLM else "glm"))
        if number == needed and isinstance(mean, float):
            yield f"{kind}, on the family", mean, str(printed)
        else:
            released.notes.append(f"gest-family: {kind} have {number} of {needed} files of scores.")


def winobias(released: Released) -> Numbers:
    """GEST, appendix B.2: the correlation with WinoBias and its p-value, if all eleven models are at hand."""
    printed = _rows("winobias")[0]
    rates = pd.DataFrame(validity.released_rates(released), columns=validity.COLUMNS)
    own = rates[rates["config"] == printed["config"]]
    if len(own) < printed["models"]:
        raise ConfigError(f"{len(own)} of {printed['models']} models have released scores on both tests.")
    winobias_rates = own[validity.MEAN].str[0].to_numpy(dtype=float)
    r, p_value = validity.correlate(own["g_s_published"], winobias_rates ** (1 / LN10))
    yield "correlation with WinoBias", r.value, str(printed["pearson"])
    yield "its p-value", p_value, f"{printed['p_value']:.2e}"


def rates(paper: str, table: int, released: Released) -> Numbers:
    """GEST: q_i and their bounds, from the released scores, on the printed scale."""
    models = released.gest
    for row in _rows("gest_of_released_scores"):
        if (row["paper"], row["table"]) != (paper, table) or row["model"] not in models:
            continue
        log10 = (models[row["model"]][row["template"]] / LN10).groupby(level="stereotype")
        reach = stats.t.ppf((1 + LEVEL) / 2, log10.size() - 1) * log10.sem()
        bounds = pd.DataFrame({"q": log10.mean(), "q_low": -reach, "q_high": reach})
        bounds[["q_low", "q_high"]] = bounds[["q_low", "q_high"]].add(bounds["q"], axis=0)
        computed = np.exp(bounds) if row["scale"] == "published" else bounds
        for (place, number), name in product(enumerate(STEREOTYPES), computed):
            if row[name][place] is not None:
                label = f"{row['model']}, template {row['template']}, #{number}, {name}"
                yield label, float(computed.loc[number, name]), f"{row[name][place]:.2f}"


def stereoset_table(number: int, released: Released) -> Numbers:
    """StereoSet: a table's rows of the models with released scores."""
    for one in stereoset.entries(number, stereoset.scores_of_authors(released)):
        for name in stereoset.TABLES[number]["statistics"] if one.printed else ():
            label = f"{one.printed['model']}, {one.language}, {name}"
            if number == stereoset.EVERY_METHOD:
                label = f"{label}, {one.method}"
            yield label, one.result[name], f"{one.printed[name]:.2f}"


def stereoset_sizes() -> Numbers:
    """StereoSet, section 3.1: counts of the English configs."""
    for test in TESTS:
        rows = rows_of(f"stereoset_en_{test}")
        targets = Counter(rows["target"])
        counts = {
            "samples": len(rows),
            "targets": len(targets),
            "samples of the most common target": max(targets.values()),
            "samples of the least common target": min(targets.values()),
            **Counter(rows.features["bias_type"].int2str(rows["bias_type"])),
        }
        yield from ((f"{test}: {name}", count, "") for name, count in counts.items())


def word_filling_sizes() -> Numbers:
    """Word filling, table 5: StereoSet's samples with one keyword, and the sets with controls."""
    rows = rows_of("stereoset_en_intrasentence")
    types = rows.features["bias_type"].int2str(rows["bias_type"])
    marked = [mark_keywords(*pair) for pair in zip(rows["stereotype"], rows["antistereotype"], strict=True)]
    one_keyword = [pair for pair in zip(types, marked, strict=True) if isinstance(pair[1], tuple)]
    for kind, number in Counter(kind for kind, _ in dict.fromkeys(one_keyword)).items():
        yield f"StereoSet, {kind}", number, ""
    for config in _WORD_FILLING_CONFIGS:
        frame = rows_of(config).to_pandas()
        rows_once = frame.drop_duplicates([*FIELDS]) if config == _CONFIG_WITH_DUPLICATE else frame
        yield config, len(rows_once), ""


def shares(number: int, table: str) -> Numbers:
    """Word filling: the Agresti-Coull ± of each printed share.

    The counts are not printed: of those whose centre rounds to the share, the one with the closest ± is used.
    All 124 English shares agree if they are Agresti-Coull centres, 110 if they were plain shares. The number
    of Slovak samples is not printed.
    """
    sizes = load_papers()["checks"]["word-filling-sizes"]["printed"]
    for row in _rows(table):
        has_size = row["config"] in _WORD_FILLING_CONFIGS and row["config"] != "slovak_gender"
        if number not in row["tables"] or not has_size:
            continue
        size = int(sizes[row["config"]]) + (row["config"] == _CONFIG_WITH_DUPLICATE)
        centre, low, high = agresti_coull(np.arange(size + 1.0), np.full(size + 1, float(size)))
        for name in row:
            if "_plus" in name and not name.endswith("_pm") and row[name] is not None:
                half_widths = ((high - low) / 2)[np.abs(centre - row[name]) <= 0.005 * (1 + 1e-9)]
                printed = row[f"{name}_pm"]
                closest = float(half_widths[np.abs(half_widths - printed).argmin()])
                yield f"{row['model']}, {row['config']}, ± of {name}", closest, f"{printed:g}"


def differences(number: int) -> Numbers:
    """Word filling: f as the difference of the printed ss, and the ± of its shares."""
    ss = {(row["model"], row["config"]): row for row in _rows("word_filling_ss")}
    for row in _rows("word_filling_f"):
        if number in row["tables"]:
            row_of_ss = ss[row["model"], row["config"]]
            f = row_of_ss["ss_mu_original"] - row_of_ss["ss_mu_control"]
            yield f"{row['model']}, {row['config']}, f_mu", f, f"{row['f_mu']:g}"
    yield from shares(number, "word_filling_f")


def _rows(table: str) -> list[dict[str, Any]]:
    return list(published.load(table)["rows"])


def _english(kind: str) -> list[dict[str, Any]]:
    """The printed rows of masked (mlm) or causal (glm) models."""
    return [row for row in _rows(f"gest_english_{kind}") if row["model"] != _NOT_PRINTED_MODEL]


# ---- the study -------------------------------------------------------------------------------------------


def papers_study(released: str | Path | None = None) -> Study:
    """The study of the papers; `released` is the folder of the authors' score files."""
    files = Released(released or os.environ.get(SCORES) or None)
    checks, unavailable = run_checks(files)
    totals = {
        str(name): (len(group), int(group["agrees"].sum()), group["difference"].abs().max())
        for name, group in checks.groupby("check", sort=False)
    }
    wrong = checks[~checks["agrees"].astype(bool)]
    wrong_numbers = wrong[[*_COLUMNS[:-1]]].replace({"why": {"": "not explained"}}).itertuples(False, None)
    items, statuses = load_papers()["items"], load_papers()["statuses"]
    tables = []
    for name, paper in load_papers()["papers"].items():
        rows = []
        for item in (item for item in items if item["paper"] == name):
            computed = [totals[check] for check in item["checks"] if check in totals]
            agreement = "not computed" if item["checks"] else ""
            if computed:
                agreement = f"{sum(row[1] for row in computed):,} of {sum(row[0] for row in computed):,}"
            status = statuses[item["status"]]
            rows.append((item["item"], item["what"], status, agreement, item["command"], item["why"]))
        tables.append(Table.create(name, rows, "papers", **paper))
    tables.append(Table.create("differences", list(wrong_numbers)))
    tables.append(Table.create("checks", [(name, *total) for name, total in totals.items()]))
    counts = Counter(item["status"] for item in items)
    of_status = "; ".join(f"{counts[key]} {text}" for key, text in statuses.items())
    notes = [
        f"{len(items)} tables and figures: {of_status}.",
        f"{len(checks) - len(wrong):,} of {len(checks):,} numbers that can be computed from released data "
        f"agree to the last printed digit; of the other {len(wrong):,}, "
        f"{format_number((wrong['why'] == '').sum())} have no explanation.",
        *(f"{name}: {reason}" for name, reason in unavailable.items()),
        *files.notes,
    ]
    used = {name: f"{agree:,} of {n:,}" for name, (n, agree, _) in totals.items()}
    used |= dict.fromkeys(unavailable, "not computed")
    return make_study("all", tables, sources=used | files.hashes, notes=notes)
