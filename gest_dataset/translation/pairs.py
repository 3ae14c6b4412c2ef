"""Gender-swapped pairs from a translator (section 4.3.2 of Pikuliak et al., 2024), as a config on disk.

A sentence is translated. If the translation shows a gender, the translator is asked for the other one with a
prompt. The two translations are a pair if exactly one word differs, both its forms start with the same letter
(`builders.pairs.differing_word`), and the new variant has the requested gender. The last rule is in the
paper's appendix G; it removes words that differ by chance, and variants with both genders.
"""

import html
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import datasets
import regex

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import FAMILIES, KIND_FIELDS, features_of
from gest_dataset.builders.pairs import MERGED, RULES, pair_row
from gest_dataset.data.card import card_header, fill_card, split_info
from gest_dataset.data.folder import CARD, SUMS, write_config
from gest_dataset.gender.detect import Detection
from gest_dataset.gender.grammar import FEMALE, MALE
from gest_dataset.languages import LANGUAGES
from gest_dataset.runs.folder import check_work_folder
from gest_dataset.storage import read_yaml, write_json
from gest_dataset.translation import sentences as gest
from gest_dataset.translation.sentences import GestSentence, TranslatedSentence
from gest_dataset.translation.translator import Translation
from gest_dataset.version import __version__

logger = logging.getLogger(__name__)

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
DEFAULT_FRAME = "The man said: …"
SYSTEM_FRAMES = {"deepl": "The man said …"}  # other than the default
FRAMES: dict[str, list[str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
_OTHER = {MALE: FEMALE, FEMALE: MALE}
_FINAL = re.compile(r"[.!?…]+$")

# Quotations in translated prompts
_MARKS = frozenset("\"'„“”«»‚‘’‹›")
_APOSTROPHES = frozenset("'’‘")
_LOW = frozenset("„‚")
_BEFORE = frozenset("([:—–-")  # like white space: the next mark opens
_AFTER = frozenset(".,;:!?…)]") | _MARKS  # like white space: the mark before it closes
# What other ways of writing a mark are replaced with; `''` and ,, are two characters each
_WRITTEN = {'\\"': '"', "\\'": "'", "``": '"', "''": '"', ",,": "„", "<<": "«", ">>": "»"}

_COLON = re.compile(r"(?P<frame>[^:\"„“”«»‹›]+:)\s*(?=\S)")
_DASHES = re.compile(r"[—–-]\s*(?P<speech>\S.*?)(?:,|(?<=[.!?…]))\s*[—–-]\s+\S.*", re.DOTALL)
_DASH = re.compile(r"[—–-]\s*")
_FRAME_WORDS = 6  # the longest attribution before a sentence: `Tento muž sa ma opýtal:` has five
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_]+")
_END_OF_TEXT = re.compile(r"[\s.!?…]*$")


@dataclass(frozen=True)
class Pairs:
    """Rows of the pairs format, the frame of the prompts, and the ids that each rule has left out."""

    rows: list[Row]
    frame: str
    sentences: int
    left_out: dict[str, list[str]]

    @property
    def prompts(self) -> str:
        """The two prompts, without a sentence."""
        return " / ".join(prompt_for(self.frame, "…", gender) for gender in (MALE, FEMALE))


def prompt_for(frame: str, sentence: str, gender: str) -> str:
    """The prompt for a translation in a gender.

    >>> prompt_for("He said: …", "I am tired.", "female")
    'She said: "I am tired."'
    """
    male, female = FRAMES[frame]
    return (female if gender == FEMALE else male).replace("{}", sentence, 1)


def warn_not_in_gest(system: str, language: str) -> None:
    """Warn of texts in a file of translations that are neither sentences of GEST nor prompts for pairs."""
    path = Path(system.replace("{language}", language).removeprefix("file:")).expanduser()
    sentences = gest.texts_to_translate(gest.gest_sentences(), "file:")
    prompts = (prompt_for(frame, text, one) for frame in FRAMES for text in sentences for one in _OTHER)
    known = {"", *sentences, *prompts}
    sources = dict.fromkeys(gest.read_translations(path, language)["source"])
    unknown = [text for text in sources if text not in known and text.strip() not in known]
    if unknown:
        logger.warning(
            "%s: ignored texts that are not sentences of GEST (%d), such as%s",
            path.name,
            len(unknown),
            "".join(f"\n    {text!r}" for text in unknown[:3]),
        )


def make_pairs(
    sentences: Sequence[GestSentence],
    system: str,
    label: str,
    language: str,
    translate: Translate,
    detect: Detect,
) -> Pairs:
    """The pairs of one system and language; `label` is the system's name in the rows."""
    texts = gest.texts_to_translate(sentences, system)
    frame = SYSTEM_FRAMES.get(system, DEFAULT_FRAME)
    if gest.is_file(system):  # prompted with the frame that most of the file's prompts have
        prompts = [(f, prompt_for(f, text, gender)) for f in FRAMES for text in texts for gender in _OTHER]
        translations = dict(translate([*texts, *(prompt for _, prompt in prompts)]))
        counts = Counter(frame for frame, prompt in prompts if not translations[prompt].problem)
        frame = max(FRAMES, key=lambda name: counts[name])
    else:
        translations = dict(translate(texts))
    samples = gest.join_translations(sentences, translations)
    reasons = {sample.id: NO_TRANSLATION for sample in samples if sample.problem}  # for no pair, by id
    samples = [sample for sample in samples if not sample.problem]
    gendered = []
    for sample, detection in zip(samples, detect([sample.translation for sample in samples]), strict=True):
        if detection.gender in _OTHER:
            gendered.append((sample, detection.gender))
        else:
            reasons[sample.id] = NO_GENDER
    prompt_of = {s.id: prompt_for(frame, s.source, _OTHER[gender]) for s, gender in gendered}
    if not gest.is_file(system):
        translations |= translate(list(prompt_of.values()))
    candidates = []
    for sample, gender in gendered:
        row = _pair(sample, gender, translations.get(prompt_of[sample.id]), language, label)
        if isinstance(row, str):
            reasons[sample.id] = row
        else:
            candidates.append((sample, gender, row))
    variants = [row["masculine" if gender == FEMALE else "feminine"] for _, gender, row in candidates]
    rows: dict[str, Row] = {}
    for (sample, gender, row), detection in zip(candidates, detect(variants), strict=True):
        if detection.gender != _OTHER[gender]:
            reasons[sample.id] = WRONG_GENDER
        elif rows.setdefault(row["id"], row) is not row:
            reasons[sample.id] = MERGED
    left_out = {reason: [name for name in reasons if reasons[name] == reason] for reason in REASONS}
    return Pairs(list(rows.values()), frame, len(sentences), left_out)


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
    variants = (plain, quoted) if gender == MALE else (quoted, plain)
    return pair_row(sample.id, language, [label], sample.stereotype, sample.source, *variants)


def claim_folder(out: Path, language: str, settings: Mapping[str, Any]) -> None:
    """Create a folder of pairs, or accept one with the same settings; refuse any other one."""
    ours = {CARD, SUMS, YIELDS, f"{language}_pairs"} if (out / YIELDS).exists() else set()
    check_work_folder(out / YIELDS, ours, settings, "gest pairs", "a folder of pairs")


def write_pairs(
    out: Path, language: str, pairs: Pairs, settings: Mapping[str, Any], command: Sequence[str]
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
    table = datasets.Dataset.from_list(pairs.rows, features=features_of(KIND_FIELDS["pairs"])).data.table
    name = f"{language}_pairs"
    path = write_config(out, name, table)
    infos = [{"config_name": name, "splits": [split_info(path)]}]
    title = f"GEST, gender-swapped pairs in {LANGUAGES[language].name}"
    fill_card(
        out,
        Path(__file__).with_suffix(".md.jinja"),
        command,
        header=card_header(title, [language, "en"], [name], dataset_info=infos),
        title=title,
        settings=settings,
        pairs=pairs,
        family=FAMILIES["pairs"],
        licence=CONFIGS["en"].licence,
    )


def quotation(answer: str) -> str | None:
    """The sentence that a translated prompt quotes; None if there is none.

    Translators change the marks (`„…“ “…” "…" «…» »…« ‚…‘ '…'`), drop one or both of them, move the
    attribution behind the sentence, or use dashes. Whether a mark opens or closes is read from the characters
    next to it, because `“` opens in English and closes in Slovak.

    >>> quotation('Muž povedal: "Som unavený."')
    'Som unavený.'
    >>> quotation("„Som unavená,“ povedala žena.")
    'Som unavená'
    >>> quotation("Muž povedal, že je unavený.") is None
    True
    """
    text = html.unescape(answer)
    for written, mark in _WRITTEN.items():
        text = text.replace(written, mark)
    text = " ".join(text.split())
    colon = _COLON.match(text)
    if colon and len(_WORD.findall(colon["frame"])) <= _FRAME_WORDS:
        rest = text[colon.end() :]
        while rest.startswith(colon["frame"]):  # `Žena: Žena: …`
            rest = rest.removeprefix(colon["frame"]).lstrip()
        return _unwrapped(_DASH.sub("", rest, count=1) if _DASH.match(rest) else rest) or None
    dashes = _DASHES.fullmatch(text)
    if dashes:
        return dashes["speech"]
    start = next((position for position, opens, _ in _marks(text) if opens), None)
    if start is None or len(_WORD.findall(text[:start])) > _FRAME_WORDS:
        return None
    end = next((position for position, _, depth in _marks(text) if position >= start and not depth), None)
    if end is None or not _WORD.search(text[end:]):
        return _unwrapped(text[start:]) or None
    attribution_follows = start == 0 and not any(opens for _, opens, _ in _marks(text[end + 1 :]))
    return text[1:end].rstrip(" ,") or None if attribution_follows else None


def _marks(text: str) -> Iterator[tuple[int, bool, int]]:
    """The quotation marks of a text: position, whether it opens, and how many are open behind it."""
    depth, opened = 0, -1
    for position, letter in enumerate(text):
        if letter not in _MARKS:
            continue
        before, after = text[position - 1 : position], text[position + 1 : position + 2]
        if letter in _APOSTROPHES and before.isalnum() and after.isalnum():
            continue
        free_before = not before or before.isspace() or before in _BEFORE or opened == position - 1
        free_after = not after or after.isspace() or after in _AFTER
        opens = letter in _LOW or (depth == 0 if free_before == free_after else free_before)
        depth = max(0, depth + (1 if opens else -1))
        opened = position if opens else opened
        yield position, opens, depth


def _unwrapped(text: str) -> str:
    """A quotation without its marks; marks inside of it stay, and one of the two may be missing.

    >>> _unwrapped("„To nedáva zmysel,“ kričal som.“")
    '„To nedáva zmysel,“ kričal som.'
    """
    marks = list(_marks(text))
    if not marks:
        return text.strip()
    (first, opens, _), (last, still_open, _) = marks[0], marks[-1]
    starts = first == 0 and opens
    ends = not still_open and _END_OF_TEXT.match(text, last + 1) is not None
    tail = text[last + 1 :]
    whole = [text[1:last] + tail] if starts and ends and last > 0 else []
    half = [text[:last] + tail] if ends else []
    half += [text[1:]] if starts else []
    for candidate in (*whole, text, *half):
        depths = list(accumulate(1 if opens else -1 for _, opens, _ in _marks(candidate))) or [0]
        if min(depths) >= 0 and depths[-1] == 0:
            return candidate.strip() if candidate == text else _unwrapped(candidate.strip())
    return text.strip()
