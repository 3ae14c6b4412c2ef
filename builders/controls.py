"""CrowS-Pairs about gender, and quadruplets of sentences with control groups.

Pikuliak et al. (2023), appendix A.2. The gender sets of StereoSet are upstream text files, swapped and
checked by hand. The race and profession sets are made here from the English intrasentence test: the group
that a sample names is replaced by ten others, drawn with the sample as the random seed. To reproduce the
authors' sets exactly, words are joined by single spaces before the draw, and only the first occurrence of
the group in a sentence is replaced.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gest_dataset.builders.config import Dropped, File, Files, Row
from gest_dataset.builders.reading import keyword_span, read_cells, read_csv, read_lines
from gest_dataset.builders.stereoset import read_stereoset
from gest_dataset.builders.words import differing_words, split

# The four sentences of a quadruplet
FIELDS = ("original_stereotype", "original_antistereotype", "control_stereotype", "control_antistereotype")
# The order of the four lines of a sample in the files of the gender sets
_LINE_ORDER = (FIELDS[0], FIELDS[2], FIELDS[1], FIELDS[3])
# The Slovak set, about the stereotype that men are more competent: the sentences in the order of FIELDS
_SLOVAK_SENTENCES = ("veta1", "veta2", "veta3", "veta4")
_SLOVAK_CHECKS = {"competence?": "not about competence", "misogynistic?": "not misogynistic"}
REPLACEMENTS = 10
_AFTER_KEYWORD = '.!?,"'  # outside the keyword; any other character (`Poor:`) is part of it
_GROUPS = {"race": ("countries", "adjectives"), "profession": ("professions",)}


def quadruplet(
    name: str, original: str, bias_type: str, marked: Mapping[str, str], file: File, place: int | str
) -> Row:
    """A row made of four sentences (by field) with their keywords in `<>`."""
    plain = {field: keyword_span(marked[field], file, place) for field in FIELDS}
    return {
        "id": name,
        "original": original,
        "bias_type": bias_type,
        **{field: sentence for field, (sentence, _) in plain.items()},
        "keywords": [span for _, span in plain.values()],
    }


def read_gender(name: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the gender quadruplets: four lines per sample."""
    (file,) = files
    lines = list(read_lines(file))
    for number, start in enumerate(range(0, len(lines), len(_LINE_ORDER))):
        sample = lines[start : start + len(_LINE_ORDER)]
        marked = {field: line for field, (_, line) in zip(_LINE_ORDER, sample, strict=True)}
        sample_id = f"{name}-{number:04d}"
        yield quadruplet(sample_id, sample_id, "gender", marked, file, sample[0][0])


def read_slovak(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the samples that passed the authors' validation, whose check columns are both empty."""
    for line, cells in read_csv(files[0]):
        failed = [reason for column, reason in _SLOVAK_CHECKS.items() if cells[column].strip()]
        if failed:
            dropped[failed[0]] += 1
            continue
        marked = {field: cells[column] for field, column in zip(FIELDS, _SLOVAK_SENTENCES, strict=True)}
        sample_id = f"slovak-{int(cells['ID']):03d}"
        yield quadruplet(sample_id, sample_id, "gender", marked, files[0], line)


def mark_keywords(stereotype: str, antistereotype: str) -> tuple[str, str] | str:
    """Both sentences with the one word that differs in `<>`, or the reason why there is no such word."""
    if re.search("[<>]", stereotype + antistereotype):
        return "angle brackets in a sentence"
    differing = differing_words(stereotype, antistereotype)
    if differing is None:
        return "different numbers of words"
    if len(differing) != 1:
        return "not exactly one word differs"

    def mark(sentence: str) -> str:
        words = split(sentence)
        word = words[differing[0]]
        keyword = word.rstrip(_AFTER_KEYWORD)
        words[differing[0]] = f"<{keyword}>{word[len(keyword) :]}"
        return " ".join(words)

    return mark(stereotype), mark(antistereotype)


def read_swaps(bias_type: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield ten quadruplets for each English sample that names one group and has one keyword.

    The group is the longest term that both sentences contain, ignoring case. Its replacements are drawn,
    with repetition, from the list that it is in.
    """
    # the names of groups that StereoSet's authors gave to their annotators
    terms = json.loads(Path(__file__).with_name("group_terms.json").read_text(encoding="utf-8"))
    lists: dict[str, list[str]] = {name: terms[name] for name in _GROUPS[bias_type]}
    for row in read_stereoset("intrasentence", "en", files, dropped):
        if row["bias_type"] != bias_type:
            continue
        marked = mark_keywords(row["stereotype"], row["antistereotype"])
        if isinstance(marked, str):
            dropped[marked] += 1
            continue
        list_of_term = {
            term: name
            for name, members in lists.items()
            for term in members
            if all(term.lower() in sentence.lower() for sentence in marked)
        }
        if not list_of_term:
            dropped["no group term in both sentences"] += 1
            continue
        group = max(list_of_term, key=len)  # the first in the table if several are equally long
        pattern = re.compile(re.escape(group), re.IGNORECASE)
        draw = random.Random(marked[0])
        for number in range(REPLACEMENTS):
            other = draw.choice(lists[list_of_term[group]])
            control = [other.join(pattern.split(sentence, maxsplit=1)) for sentence in marked]
            sentences = dict(zip(FIELDS, (*marked, *control), strict=True))
            place = f"sample {row['id']}"
            yield quadruplet(f"{row['id']}-{number}", row["id"], bias_type, sentences, files[0], place)


def read_crows(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the gender pairs of CrowS-Pairs; upstream calls `stereotyped` more stereotypical."""
    for _, cells in read_csv(files[0]):
        if cells["bias_type"] == "gender":
            yield {
                "id": f"crows-{int(cells['']):04d}",
                "stereotyped": cells["sent_more"],
                "other": cells["sent_less"],
                "direction": cells["stereo_antistereo"],
            }


def read_crows_control(name: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield CrowS-Pairs quadruplets from a transposed table with one column per sample.

    Rows 0 and 1 are the original pair: the group and the other group. Every further pair of rows is an
    alternative control pair in the same order of groups, or empty.
    """
    table = [cells for _, cells in read_cells(files[0])]
    for column, sample in enumerate(zip(*table, strict=True)):
        controls = [sample[row : row + 2] for row in range(2, len(sample), 2)]
        if not any(group or other for group, other in controls):
            dropped["no control pair"] += 1
        for number, (group, other) in enumerate(controls):
            if group or other:
                # the group's two sentences are the stereotype side, the other group's the control side
                texts = (sample[0], group, sample[1], other)
                yield {
                    "id": f"{name}-{column:03d}-{number}",
                    "original": f"{name}-{column:03d}",
                    "bias_type": "gender",
                    **dict(zip(FIELDS, texts, strict=True)),
                    "keywords": None,
                }
