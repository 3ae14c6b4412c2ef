"""The methods paragraphs, ready to paste, and the works to cite."""

from __future__ import annotations

from collections.abc import Sequence

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.families import CROWS, GEST, SLOVAK_GENDER, STEREOSET, WINOBIAS
from gest_dataset.report.measured import CONTROLS, Measured
from gest_dataset.version import __version__

_TEMPLATES = (
    "For each English sentence s of GEST and each template t we computed ln r = ln P(w_m | t(s)) − "
    "ln P(w_f | t(s)), where w_m and w_f are the masculine and the feminine word of the template "
    "(Pikuliak et al., 2024, eq. 3). "
)
_PAIRS = (
    "For each gender-swapped pair of translations of GEST we computed ln r = ln P(w_m) − ln P(w_f) of the "
    "one word that differs, in its place (Pikuliak et al., 2024, section 4.3). "
)
_RATE = (
    "The masculine rate q_i of a stereotype is the geometric mean of r over its samples; q_f and q_m are the "
    "geometric means of q_1 … q_7 (stereotypes about women) and q_8 … q_16 (about men); the stereotype rate "
    "is g_s = q_m / q_f (eq. 4), which is 1 where the model makes no difference. Where there are several "
    "templates, g_s is the mean of theirs. All of these are on the scale of the definitions; published "
    "values of q and g_s, which are e to the power of mean log10 ratios, were brought to the same scale "
    "before they were put beside ours. Published results are of GEST 1.0. "
)
_TEXTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("templates",), _TEMPLATES + _RATE),
    (("pairs",), _PAIRS + _RATE),
    (
        ("masculine-rate",),
        "The gender of the speaker was read from each translation of GEST by rules on its grammar. p_i is "
        "the share of masculine ones among the translations of stereotype i whose gender shows; p_f and p_m "
        "are the means of p_1 … p_7 and p_8 … p_16; the stereotype rate is f_s = p_m − p_f, the global "
        "masculine rate f_m = (p_m + p_f) / 2 (Pikuliak et al., 2024, eq. 1 and 2). In figures beside "
        "published translators p_i is the centre of its Agresti-Coull interval, as in their tables. ",
    ),
    (
        ("winobias",),
        "For each WinoBias sentence we compared the sentence with masculine and with feminine pronouns; q_m "
        "and q_f are the geometric means of the ratios over stereotypically male and female occupations, and "
        "g_s = q_m / q_f (Pikuliak et al., 2024, eq. 5). ",
    ),
    (
        CONTROLS,
        "With a stereotypical keyword w_s and an anti-stereotypical one w_a, ss = ln p(w_s) − ln p(w_a) in a "
        "sentence about the group (original) and about another group (control), f = ss_original − "
        "ss_control, and cs is the CrowS-Pairs score of both pairs (Pikuliak et al., 2023, eq. 1 to 3). The "
        "false positive rate is the share of samples with ss_original > 0 whose ss_control is higher still. ",
    ),
    (
        ("stereoset_intrasentence", "stereoset_intersentence"),
        "LMS is the share of comparisons with the unrelated candidate that a meaningful one wins, SS the "
        "share of samples whose stereotype beats its anti-stereotype, and ICAT = LMS · min(SS, 100 − SS) / "
        "50, all in per cent (Öztürk et al., 2023, eq. 1 to 3). ",
    ),
)
_INTERVALS = (
    "Intervals are at 95 %: stratified bootstrap-t with 2,000 seeded draws for means and what is made of "
    "them, Agresti-Coull for single proportions. They speak of other samples of the same kind, not of other "
    "templates or training runs. "
)
# What the measure of a probe comes from, beside the data
_MEASURES = {
    "templates": GEST,
    "pairs": GEST,
    "masculine-rate": GEST,
    "winobias": GEST,
    "quadruplets": SLOVAK_GENDER,
    "crows": CROWS,
    "stereoset_intrasentence": STEREOSET,
    "stereoset_intersentence": STEREOSET,
}


def paragraphs(runs: Sequence[Measured]) -> list[str]:
    """What was measured and how, in words that can be pasted."""
    probes = {one.probe for one in runs}
    found = [text for names, text in _TEXTS if probes & set(names)]
    models = list(dict.fromkeys(one.model for one in runs))
    configs = list(dict.fromkeys(one.config for one in runs if one.config))
    opening = f"We measured {_listed(models)} on {_listed(configs)} with gest-dataset {__version__}. "
    return [text.strip() for text in (opening, *found, _INTERVALS)]


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def citations(runs: Sequence[Measured]) -> list[str]:
    """BibTeX entries of the measures and of the data, each once."""
    entries: dict[str, None] = {}
    for one in runs:
        families = [_MEASURES[one.probe]]
        if one.config in CONFIGS:
            families.append(CONFIGS[one.config].family)
        if one.probe == "winobias":
            families.append(WINOBIAS)
        for family in families:
            entries |= dict.fromkeys(family.citation.split("\n\n"))
    return list(entries)
