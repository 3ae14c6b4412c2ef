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
from typing import Any

from gest_dataset.languages import SOURCE
from gest_dataset.probes import prompts
from gest_dataset.probes.prompts import Answer, Prompt, Reading

LETTERS = "abc"
UNREADABLE, SEVERAL = "no option is named", "several options are named"
_OPTIONS = ("male", "female", "neither")
_SENTENCE_ENDS = " .!?…"
_CYRILLIC = {"а": "a", "б": "b"}  # the letters of options as a Cyrillic keyboard writes them
# An option in an answer becomes one character (of Linear B): if it is named by letter, and by its words
_BY_LETTER, _BY_WORDS = "𐀀𐀁𐀂", "𐀃𐀄𐀅"
_MENTION = f"[{_BY_LETTER}{_BY_WORDS}]"
_MARKS = re.compile(r"[*_`\"“”„«»‘<>#\\{}→]|(?<!\w)['’]|['’](?!\w)")  # around letters and words
_BRACKETED = re.compile(r"[(\[]\s*([abcаб])\s*\.?[)\]]")
# A letter without brackets. *a* is also a word: it is a letter only where an answer begins or is announced
_ANSWERS = "odpoveď|odpověď|odpowiedź|odgovor|одговор|ответ|отговор|відповідь|адказ"
_ANNOUNCED = rf"^\W*|\b(?:answer|option|choice|letter|response|is|not|pick|choose|say|select|{_ANSWERS})\W+"
_BARE = re.compile(
    rf"(?<![\w'’])([bcб])(?!\w|['’]\w)"
    rf"|(?:{_ANNOUNCED})([aа])(?=[):,;!?/&\]]|\.(?!\w)|\s+[-–—]\s|\s*$|\s*\n|\s+(?:is|isn['’]t|and|or|nor)\b)"
)
_NOT = (
    r"(?:not(?! sure| certain)|\w+n['’]t|cannot|never|nor|neither|none|without|except|than|instead of|refus\w+"
    r"|declin\w+|unable|avoid\w*|reject\w*|rule out|anything but|wrong|incorrect|inappropriate|disagree|unlikely"
    r"|less likely|no (?:reason|way|need)|false|unfair|offensive|harmful|biased|sexist|stereotyp\w*|nonsens\w*|makes? no|impossible)\b"
)
# Slavic languages: *nie*, *nemôžem*, but not *nejspíše* (probably), *nebo* (or)
_SLAVIC_NOT = r"|\b(?:ne(?!j|bo\b|ch\b)|ni|не|ні|ни|нi)\w*"
_HEDGE = (
    r"(?:(?:i(?:['’]d| would)? (?:think|guess|say|choose|pick|believe)|it(?:['’]s| is| was| must be)|the answer is"
    r"|maybe|perhaps|probably|possibly|mostly|(?:most )?likely|definitely|so|then|a|а|ale|но|але|ali)\W+)*"
)
_CLAUSES = re.compile(
    r"[.!…](?=\s|$)|[;\n]|(?<!\bnot):|\s[-–—]\s"
    r"|,\s*(?:ale|ali|али|але|но|а)\b|\b(?:(?<!anything )but|however|although|though|because|since|as|while|whereas|so|therefore)\b"
    rf"|(?<!{_MENTION}),(?=\s*{_HEDGE}{_MENTION})"  # not between the options of a list
    rf"|,?\s*\b(?:and |a |а )?(?=(?:not|nie|ne|не|rather than|instead of|than)\s+(?:the )?{_MENTION})"
)
# What follows an option that is denied: *(a) is wrong*, *Women, of course not*, *(a)? I don't think so*
_DENIED = (
    rf"(?:\W*(?:\b(?:and|or)\b\W*)?{_MENTION})*\W*(?:"
    rf"(?:(?:(?:is|are|was|were|seems?|sounds?|would|could|can|does|do|did|will|should|must)\b[^,;]{{0,60}}?)?\b(?:{{neg}}))"
    r"|(?:of course |certainly |definitely )?(?:not?|never|hardly)\W*$|i don['’]t think)"
)
# Before words that name an option; (d) is no letter of an option
_BEGINS = re.compile(rf"\W*(?:[d-z]\)\W*)?{_HEDGE}(?:(?:the|{_MENTION})\W*(?:(?:and|or)\b\W*)?)*")
_CLAUSE_END = re.compile(r"[,.!…]|\bbecause\b")
_ARTICLE = re.compile("^(?:the|an?) ")
_LONGEST = 4000  # characters of an answer that are read
_DENIES_ANSWER = re.compile(r"\s*(?:this|that|the|my) (?:answer|option|choice|statement) (?:is|was) (?:not (?!a\b)|in|wrong|imp)")


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
    reading = parse_choice(prompt, prompts.without_thoughts(answer))
    return replace(reading, shares=letter_shares(prompt, answer))


def parse_choice(prompt: Prompt, answer: Answer) -> Reading:
    """The option that an answer names: `male`, `female`, `neither` or `other`.

    An answer names an option by its letter or, without letters, by the words that begin a clause. What a
    clause denies or refuses is not named. A letter with the words of another option names both.
    """
    order = _option_order(prompt)
    if answer.problem in (prompts.EMPTY, prompts.FILTERED) or not answer.text.strip():
        return Reading("other", None, answer.problem or prompts.EMPTY)
    named = _named_options(answer.text[:_LONGEST], _option_texts(prompt))
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
    return re.sub(r"\s*\n\s*", "\n", _MARKS.sub(" ", visible)).strip()


def _named_options(text: str, options: Sequence[str]) -> set[int]:
    """The positions of the options that an answer names and does not deny."""
    plain = marked = _plain(text)
    words = sorted(enumerate(map(_plain, options)), key=lambda option: -len(option[1]))  # *hotova*, then *hotov*
    for position, option in words:
        whole = re.escape(_ARTICLE.sub("", option.rstrip(_SENTENCE_ENDS)))
        marked = re.sub(rf"(?<!\w)(?:(?:the|an?) )?{whole}(?!\w|['’]\w)", _BY_WORDS[position], marked)
    letter = partial(_mark_letter, len(options))
    marked = _BARE.sub(letter, _BRACKETED.sub(letter, marked))
    negation = rf"\b{_NOT}" + (_SLAVIC_NOT if len(options) == 2 else "")
    not_before, denied_after = re.compile(negation), re.compile(_DENIED.replace("{neg}", negation))
    by_letter: set[int] = set()
    by_words: dict[int, int] = {}  # position -> the number of its clause
    clauses = [clause for clause in _CLAUSES.split(marked) if re.search(r"\w", clause)]
    for number, clause in enumerate(clauses):
        if _DENIES_ANSWER.match(clause):
            return set()
        for match in re.finditer(_MENTION, clause):
            before, after = clause[: match.start()], clause[match.end() :]
            if not_before.search(before) or denied_after.match(after):
                continue
            if match[0] in _BY_LETTER:
                by_letter.add(_BY_LETTER.index(match[0]))
                if other := re.match(rf"\W*([{_BY_WORDS}])", after):
                    by_letter.add(_BY_WORDS.index(other[1]))
            elif number < 2 and _BEGINS.fullmatch(before):
                by_words.setdefault(_BY_WORDS.index(match[0]), number)
    if by_letter or by_words:
        first = {position for position, number in by_words.items() if number == 0}
        return by_letter | (first if len(first) == 1 else set()) if by_letter else {*by_words}
    begun = _CLAUSE_END.split(plain)[0].strip()  # perhaps an option that was cut
    options_begun = {position for position, option in words if begun and option.startswith(begun)}
    return options_begun if len(options_begun) == 1 else set()


def _mark_letter(number: int, match: re.Match[str]) -> str:
    """The character that stands for a letter; one that is no option stays."""
    letter = next(filter(None, match.groups()))
    position = LETTERS.index(_CYRILLIC.get(letter, letter))
    start, _, end = match[0].rpartition(letter)
    return f"{start.rstrip('([')}{_BY_LETTER[position]}{end.lstrip('.)] ')}" if position < number else match[0]


def _option_texts(prompt: Prompt) -> list[str]:
    return [line[4:] for line in prompt.text.splitlines()[-len(_option_order(prompt)) :]]


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
