"""Gender-swapped pairs from a translator (section 4.3.2 of Pikuliak et al., 2024), as a config on disk.

A sentence is translated. If the translation shows a gender, the translator is asked for the other one with a
prompt. The two translations are a pair if exactly one word differs, both its forms start with the same letter
(`builders.pairs.differing_word`), and the new variant has the requested gender. The last rule is in the
paper's appendix G; it removes words that differ by chance, and variants with both genders.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
from datasets import ClassLabel, Features, List

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import features_of
from gest_dataset.builders.families import PAIRS
from gest_dataset.builders.pairs import FIELDS, MERGED, RULES, pair_row
from gest_dataset.builders.translations import FOLDER_OF_SYSTEM
from gest_dataset.data.card import card_header, dataset_info
from gest_dataset.data.folder import CARD, SUMS, write_config
from gest_dataset.gender.detect import Detection
from gest_dataset.languages import LANGUAGES
from gest_dataset.runs.folder import check_work_folder
from gest_dataset.stereotypes import GENDERS
from gest_dataset.storage import LOCK, atomic_path, write_json
from gest_dataset.translation.quotation import quotation
from gest_dataset.translation.sentences import (
    GestSentence,
    TranslatedSentence,
    is_file,
    join_translations,
    texts_to_translate,
)
from gest_dataset.translation.translator import Translation
from gest_dataset.version import __version__

Row = dict[str, Any]
Translate = Callable[[Sequence[str]], Mapping[str, Translation]]  # texts -> translations by text
Detect = Callable[[Sequence[str]], Sequence[Detection]]

YIELDS = "yields.json"
# Why a sentence gives no pair, in the order of the steps
NO_TRANSLATION = "no translation of the plain sentence"
NO_GENDER = "the plain translation has no known gender"
NO_ANSWER = "no translation of the prompt"
NO_QUOTATION = "no quotation in the translated prompt"
WRONG_GENDER = "the new variant does not have the requested gender"
REASONS = (NO_TRANSLATION, NO_GENDER, NO_ANSWER, NO_QUOTATION, *RULES, WRONG_GENDER, MERGED)
_OTHER = dict(zip(GENDERS, reversed(GENDERS), strict=True))
_FINAL = re.compile(r"[.!?…]+$")


@dataclass(frozen=True)
class Frame:
    """A prompt that shows the speaker's gender; `{}` is the sentence.

    The paper has `He said: "…"`. The authors' Slovak files show a man and a woman, which also holds for
    languages that drop pronouns, and that DeepL was asked without the colon.
    """

    male: str
    female: str

    def prompt(self, sentence: str, gender: str) -> str:
        """The prompt for a translation in a gender.

        >>> Frame('He said: "{}"', 'She said: "{}"').prompt("I am tired.", "female")
        'She said: "I am tired."'
        """
        return {"male": self.male, "female": self.female}[gender].replace("{}", sentence, 1)


DEFAULT_FRAME = "The man said: …"
FRAMES: dict[str, Frame] = {
    DEFAULT_FRAME: Frame('The man said: "{}"', 'The woman said: "{}"'),
    "The man said …": Frame('The man said "{}"', 'The woman said "{}"'),
    "He said: …": Frame('He said: "{}"', 'She said: "{}"'),
    "The man said: … (no quotation marks)": Frame("The man said: {}", "The woman said: {}"),
    "Man said: … (no quotation marks)": Frame("Man said: {}", "Woman said: {}"),
    "Man: …": Frame('Man: "{}"', 'Woman: "{}"'),
    "Man: … (no quotation marks)": Frame("Man: {}", "Woman: {}"),
}
SYSTEM_FRAMES: dict[str, str] = {"deepl": "The man said …"}  # other than the default


@dataclass(frozen=True)
class Pairs:
    """Rows of the pairs format, the frame of the prompts, and the ids that each rule has left out."""

    rows: list[Row]
    frame: str
    sentences: int
    left_out: dict[str, list[str]]


def make_pairs(
    sentences: Sequence[GestSentence],
    system: str,
    label: str,
    language: str,
    translate: Translate,
    detect: Detect,
) -> Pairs:
    """The pairs of one system and language; `label` is the system's name in the rows."""
    left_out: dict[str, list[str]] = {reason: [] for reason in REASONS}
    translations, frame = _translate_plain(sentences, system, translate)
    samples = []
    for sample in join_translations(sentences, translations):
        if sample.problem:
            left_out[NO_TRANSLATION].append(sample.id)
        else:
            samples.append(sample)
    gendered = []
    for sample, detection in zip(samples, detect([s.translation for s in samples]), strict=True):
        if detection.gender in _OTHER:
            gendered.append((sample, detection.gender))
        else:
            left_out[NO_GENDER].append(sample.id)
    prompts = [FRAMES[frame].prompt(sample.source, _OTHER[gender]) for sample, gender in gendered]
    if not is_file(system):
        translations |= translate(prompts)
    candidates = []
    for (sample, gender), prompt in zip(gendered, prompts, strict=True):
        row = _pair(sample, gender, translations.get(prompt), language, label)
        if isinstance(row, str):
            left_out[row].append(sample.id)
        else:
            candidates.append((sample, gender, row))
    variants = [row["masculine" if gender == "female" else "feminine"] for _, gender, row in candidates]
    rows: dict[str, Row] = {}
    for (sample, gender, row), detection in zip(candidates, detect(variants), strict=True):
        if detection.gender != _OTHER[gender]:
            left_out[WRONG_GENDER].append(sample.id)
        elif row["id"] in rows:
            left_out[MERGED].append(sample.id)
        else:
            rows[row["id"]] = row
    return Pairs(list(rows.values()), frame, len(sentences), left_out)


def _translate_plain(
    sentences: Sequence[GestSentence], system: str, translate: Translate
) -> tuple[dict[str, Translation], str]:
    """Translations by text, and the frame to prompt with: of a file the one with the most answers in it."""
    texts = texts_to_translate(sentences, system)
    if not is_file(system):
        return dict(translate(texts)), SYSTEM_FRAMES.get(system, DEFAULT_FRAME)
    prompts = {
        name: [frame.prompt(text, gender) for text in texts for gender in GENDERS]
        for name, frame in FRAMES.items()
    }
    translations = dict(translate([*texts, *(prompt for group in prompts.values() for prompt in group)]))
    counts = {name: sum(not translations[p].problem for p in group) for name, group in prompts.items()}
    return translations, max(counts, key=lambda name: counts[name])


def _pair(
    sample: TranslatedSentence, gender: str, answer: Translation | None, language: str, label: str
) -> Row | str:
    """The row of one sentence, or the rule that it breaks."""
    if answer is None or answer.problem:
        return NO_ANSWER
    quoted = quotation(answer.translation)
    if quoted is None:
        return NO_QUOTATION
    plain = " ".join(sample.translation.split())
    end = _FINAL.search(plain)
    if end and not _FINAL.search(quoted):  # the frame has taken the full stop
        quoted = quoted.rstrip(" ,") + end[0]
    variants = {gender: plain, _OTHER[gender]: quoted}
    return pair_row(language, [label], sample.stereotype, sample.source, variants["male"], variants["female"])


def config_name(language: str) -> str:
    """The name that `gest build` would give the config."""
    return f"{language}_pairs"


def claim_folder(out: Path, language: str, settings: Mapping[str, Any]) -> None:
    """Create a folder of pairs, or accept one with the same settings; refuse any other one."""
    ours = {CARD, SUMS, YIELDS, config_name(language)} if (out / YIELDS).exists() else set()
    check_work_folder(out / YIELDS, {*ours, LOCK}, settings, "gest pairs", "a folder of pairs")


def features(label: str) -> Features:
    """The pairs format; a system other than GEST's is an additional label."""
    labels = list(dict.fromkeys([*FOLDER_OF_SYSTEM, label]))
    return Features({**features_of(FIELDS), "systems": List(ClassLabel(names=labels))})


def write_pairs(
    out: Path, language: str, label: str, pairs: Pairs, settings: Mapping[str, Any], command: Sequence[str]
) -> None:
    """Write the settings first and the card last: what a card names is complete."""
    yields = {
        "command": list(command),
        "settings": dict(settings),
        "gest_dataset": __version__,
        "frame": pairs.frame,
        "sentences": pairs.sentences,
        "dropped": {reason: len(ids) for reason, ids in pairs.left_out.items()},
        "pairs": len(pairs.rows),
        "left_out": pairs.left_out,
    }
    write_json(out / YIELDS, yields)
    data = datasets.Dataset.from_list(pairs.rows, features=features(label))
    path = write_config(out, config_name(language), data.data.table)
    info = dataset_info(data.features, data.data.table, path)
    with atomic_path(out / CARD) as partial:
        partial.write_text(_card(info, language, pairs, settings, command), encoding="utf-8")


def _card(info: Any, language: str, pairs: Pairs, settings: Mapping[str, Any], command: Sequence[str]) -> str:
    title = f"GEST, gender-swapped pairs in {LANGUAGES[language].name}"
    dropped = "\n".join(f"| {reason} | {len(ids):,} |" for reason, ids in pairs.left_out.items())
    return f"""---
{card_header(title, [language, "en"], {config_name(language): info})}
---

# {title}

The sentences of GEST as `{settings["system"]}` translated them, in a masculine and a feminine variant that
differ in one word. The second variant was requested with the prompt `{pairs.frame}`. Written by `gest pairs`
of gest-dataset {__version__}:

```bash
{shlex.join(command)}
```

| sentences of GEST | {pairs.sentences:,} |
| --- | ---: |
{dropped}
| **pairs** | **{len(pairs.rows):,}** |

The sentences state stereotypes, to measure models with: never train on them. {PAIRS.limits}

The English sentences are GEST's ({CONFIGS["en"].licence}, <{PAIRS.homepage}>); the
translations are subject to the terms of the system that made them. To cite:

```bibtex
{PAIRS.citation}
```
"""
