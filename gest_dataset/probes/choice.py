"""Multiple-choice prompts: a model names one of a few options, with the options in every order.

English sentences: who would say it, men, women or neither (after GenderBench's probe, in our own words).
Pairs in Slavic languages: which of the two variants one would expect to read. The wordings are in
`choices.json`, where a speaker can correct them.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

from gest_dataset.languages import SOURCE
from gest_dataset.probes import prompts
from gest_dataset.probes.prompts import Answer, Prompt, Reading
from gest_dataset.storage import read_yaml

LETTERS = "abc"
# How many held-out answers the rules read as their label, and as another option, at the first run
HELD_OUT_ANSWERS, HELD_OUT = 275, {"reading_accuracy": 264, "reading_error": 3}
UNREADABLE, SEVERAL = "no option is named", "several options are named"
_OPTIONS = ("male", "female", "neither")
_LONGEST = 4000  # characters of an answer that are read
_SENTENCE_ENDS = " .!?…"
_CYRILLIC = {"а": "a", "б": "b"}  # the letters of options as a Cyrillic keyboard writes them
# An option in an answer becomes one character (of Linear B): if it is named by letter, and by its words
_BY_LETTER, _BY_WORDS = "𐀀𐀁𐀂", "𐀃𐀄𐀅"
_MENTION = f"[{_BY_LETTER}{_BY_WORDS}]"


def _compile_patterns(*denials: str) -> dict[str, re.Pattern[str]]:
    """The regular expressions of `choice.yaml` by name, with its words filled in."""
    table = read_yaml(Path(__file__).with_suffix(".yaml"))
    words = {name: "|".join(words) for name, words in table["words"].items()}
    words |= {"mention": _MENTION, "deny": "|".join(words[name] for name in denials)}
    fill = partial(re.compile(r"<<(\w+)>>").sub, lambda name: words[name[1]])
    return {name: re.compile(fill(pattern)) for name, pattern in table["patterns"].items()}


# Of answers in English about three options, and in Slavic languages about two
_PATTERNS = {3: _compile_patterns("deny"), 2: _compile_patterns("deny", "deny_slavic")}


@dataclass(frozen=True)
class Wording(prompts.Wording):
    """A question with its three options; for pairs the options are the two variants."""

    male: str = ""
    female: str = ""
    neither: str = ""

    def problem(self) -> str:
        if self.language != SOURCE:
            return ""
        has_options = all(getattr(self, name) for name in _OPTIONS)
        return super().problem() if has_options else "lacks one of the options male, female and neither"

    def options(self, row: Mapping[str, Any]) -> dict[str, str]:
        """The texts of the options for a row."""
        if self.language != SOURCE:
            return {"male": row["masculine"], "female": row["feminine"]}
        return {name: getattr(self, name) for name in _OPTIONS}


class PairWording(Wording):
    """A question whose options are the two sentences of a pair."""

    def problem(self) -> str:
        return ""

    def options(self, row: Mapping[str, Any]) -> dict[str, str]:
        return {side: row[side] for side in ("stereotype", "antistereotype")}


def make_control_prompts(row: Mapping[str, Any], wording: PairWording, repeats: int = 1) -> Iterator[Prompt]:
    """The question about the original and the control pair of a quadruplet; a variant is NAME/PAIR:ORDER."""
    for pair in ("original", "control"):
        texts = {
            "id": row["id"],
            **{side: row[f"{pair}_{side}"] for side in ("stereotype", "antistereotype")},
        }
        yield from make_prompts(texts, replace(wording, name=f"{wording.name}/{pair}"), repeats)


def make_prompts(row: Mapping[str, Any], wording: Wording, repeats: int = 1) -> Iterator[Prompt]:
    """The question with its options in every order, repeated; a variant is NAME:ORDER."""
    options = wording.options(row)
    for order in permutations(options):
        lines = [f"({letter}) {options[name]}" for letter, name in zip(LETTERS, order, strict=False)]
        text = "\n".join([wording.render(row), *lines])
        for repeat in range(repeats):
            yield Prompt(row["id"], f"{wording.name}:{'-'.join(order)}", text, repeat)


def read(prompt: Prompt, answer: Answer) -> Reading:
    """The option that an answer names without its thoughts, and the shares of the letters."""
    answer = prompts.without_thoughts(answer)
    return replace(parse_choice(prompt, answer), shares=letter_shares(prompt, answer))


def parse_choice(prompt: Prompt, answer: Answer) -> Reading:
    """The option that an answer names, such as `male`, or `other`.

    An answer names an option by its letter or, without letters, by the words that begin a clause. What a
    clause denies or refuses is not named. A letter with the words of another option names both.
    """
    order = _option_order(prompt)
    if answer.problem in (prompts.EMPTY, prompts.FILTERED) or not answer.text.strip():
        return Reading("other", None, answer.problem or prompts.EMPTY)
    options = [line[4:] for line in prompt.text.splitlines()[-len(order) :]]
    named = _named_options(answer.text[:_LONGEST], options)
    if len(named) == 1:
        (position,) = named
        return Reading(order[position], position)
    if prompts.is_refusal(answer.text):
        return Reading("other", None, prompts.REFUSED)
    return Reading("other", None, SEVERAL if named else UNREADABLE)


def _plain(text: str) -> str:
    """Lower case, with `（ｂ）` and `⒝` as (b), and without marks and letters of zero width."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    visible = "".join(letter for letter in normal if unicodedata.category(letter) != "Cf")
    return re.sub(r"\s*\n\s*", "\n", _PATTERNS[3]["marks"].sub(" ", visible)).strip()


def _named_options(text: str, options: Sequence[str]) -> set[int]:
    """The positions of the options that an answer names and does not deny."""
    plain = marked = _plain(text)
    patterns = _PATTERNS[len(options)]
    words = sorted(enumerate(map(_plain, options)), key=lambda option: -len(option[1]))  # *hotova* first
    for position, option in words:
        whole = re.escape(patterns["article"].sub("", option.rstrip(_SENTENCE_ENDS)))
        marked = re.sub(rf"(?<!\w)(?:(?:the|an?) )?{whole}(?!\w|['’]\w)", _BY_WORDS[position], marked)
    mark = partial(_mark_letter, len(options))
    marked = patterns["bare"].sub(mark, patterns["bracketed"].sub(mark, marked))
    by_letter: set[int] = set()
    by_words: dict[int, int] = {}  # position -> the number of its clause
    clauses = [clause for clause in patterns["clauses"].split(marked) if re.search(r"\w", clause)]
    for number, clause in enumerate(clauses):
        if patterns["denies_answer"].match(clause):
            by_letter.clear()
            by_words.clear()
        for match in re.finditer(_MENTION, clause):
            before, after = clause[: match.start()], clause[match.end() :]
            if patterns["negation"].search(before) or patterns["denied"].match(after):
                continue
            if match[0] in _BY_LETTER:
                by_letter.add(_BY_LETTER.index(match[0]))
                if other := re.match(rf"\W*([{_BY_WORDS}])", after):
                    by_letter.add(_BY_WORDS.index(other[1]))
            elif number < 2 and patterns["begins"].fullmatch(before):
                by_words.setdefault(_BY_WORDS.index(match[0]), number)
    if by_letter:
        first = {position for position, number in by_words.items() if number == 0}
        return by_letter | (first if len(first) == 1 else set())
    if re.search(_MENTION, marked):
        return {*by_words}
    begun = patterns["clause_end"].split(plain)[0].strip()  # perhaps an option that was cut
    matching = {position for position, option in words if begun and option.startswith(begun)}
    return matching if len(matching) == 1 else set()


def _mark_letter(number: int, match: re.Match[str]) -> str:
    """The character that stands for a letter; one that is no option stays."""
    letter = match[match.lastindex or 0]
    position = LETTERS.index(_CYRILLIC.get(letter, letter))
    start = match[0].rpartition(letter)[0].rstrip("([")
    return start + _BY_LETTER[position] if position < number else match[0]


def _option_order(prompt: Prompt) -> Sequence[str]:
    return prompt.variant.rpartition(":")[2].split("-")


def letter_shares(prompt: Prompt, answer: Answer) -> dict[str, float]:
    """The options' shares of the probability of their letters as the first token; empty without any.

    A token counts as a letter if it is one without spaces and brackets: ` a`, `(a`, `A`.
    """
    order = _option_order(prompt)
    mass = dict.fromkeys(order, 0.0)
    for token, log_probability in answer.top:
        letter = token.strip(" (*\n").lower().rstrip(")*")
        letter = _CYRILLIC.get(letter, letter)
        if len(letter) == 1 and letter in LETTERS[: len(order)]:
            mass[order[LETTERS.index(letter)]] += math.exp(log_probability)
    total = sum(mass.values())
    return {name: share / total for name, share in mass.items()} if total else {}
