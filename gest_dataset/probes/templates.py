"""GEST in English: which gendered word does a model prefer in a template around the sentence?

The score of sentence s in template t is ln P(w_m | t(s)) - ln P(w_f | t(s)), the logarithm of eq. 3 of
Pikuliak et al. (2024), whose table 2 has the templates. The extended templates of this package use other
words and wordings, to measure how much of a model's g_s is due to the template.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from gest_dataset.errors import SettingError
from gest_dataset.probes import queries
from gest_dataset.probes.probe import LANGUAGE_MODELS, Probe, QueryBuilder
from gest_dataset.probes.queries import Placebo, Query, Sample
from gest_dataset.probes.tokenization import ProbeTokenizer, SkipSampleError, Tokens
from gest_dataset.storage import parse_json, read_bytes, read_yaml

_FOLDER = Path(__file__).parent
PLACEBO_LISTS = {"names": ("male_names", "female_names"), "nouns": ("roles", "male_nouns", "female_nouns")}


@dataclass(frozen=True)
class Template:
    """A text with {word} and {sentence}, and the two words that are compared.

    `placebo` says which words without a difference in gender fit into the slot: `names`, `nouns` or none.
    """

    id: int
    text: str
    masculine: str
    feminine: str
    placebo: str = ""

    def __post_init__(self) -> None:
        slots = (self.text.count("{word}"), self.text.count("{sentence}"))
        valid = isinstance(self.id, int) and self.id > 0 and slots == (1, 1)
        words = {self.masculine.strip(), self.feminine.strip(), ""}
        if not valid or len(words) < 3 or self.placebo not in ("", *PLACEBO_LISTS):
            raise ValueError(
                f"{asdict(self)} needs a positive whole number as `id`, a `text` with one {{word}} and one "
                f"{{sentence}}, two different words, and optionally `placebo`: names or nouns"
            )

    def fill(self, sentence: str, word: str) -> tuple[str, int, int]:
        """The text with a sentence and a word, and the character span of the word."""
        before, after = (part.replace("{sentence}", sentence) for part in self.text.split("{word}"))
        return before + word + after, len(before), len(before) + len(word)

    def suits(self, kind: str) -> bool:
        """Whether a model of this kind can score it: a causal model needs the sentence before the word."""
        return kind != "causal" or "{sentence}" in self.text.split("{word}")[0]


_TABLES = parse_json((_FOLDER / "templates.json").read_text(encoding="utf-8"))
TEMPLATES, EXTENDED_TEMPLATES = (
    {entry["id"]: Template(**entry) for entry in _TABLES[table]} for table in ("paper", "extended")
)
EXTENDED_NAME = "extended"
_ALL = {**TEMPLATES, **EXTENDED_TEMPLATES}
_CHOICE = f"1, 2, 3, 4, {min(EXTENDED_TEMPLATES)} to {max(EXTENDED_TEMPLATES)}, {EXTENDED_NAME}, or a file"
DEFAULTS = {"masked": (1, 2, 3, 4), "causal": (3, 4), "seq2seq": (1, 2, 3, 4)}

# Words that do not differ in gender and fit into the slots, in lists that are sorted by frequency, so that
# neighbours are equally frequent
PLACEBO_WORDS: dict[str, list[str]] = read_yaml(_FOLDER / "placebo.yaml")


def select_templates(selection: Sequence[int] | str | Path | None, kind: str) -> list[Template]:
    """The templates to use: by number, from a JSON file, or the default ones for the kind of model.

    `extended` selects the extended templates that suit the kind. A file holds a list of objects with `id`,
    `text`, `masculine` and `feminine`, where `text` has one {word} and one {sentence}.
    """
    if selection == EXTENDED_NAME:
        return [template for template in EXTENDED_TEMPLATES.values() if template.suits(kind)]
    if isinstance(selection, (str, Path)):
        templates = _read(Path(selection))
    else:
        numbers = DEFAULTS[kind] if selection is None else selection
        unknown = [number for number in numbers if number not in _ALL]
        if unknown:
            raise SettingError(f"There is no template {unknown[0]}. Choose from {_CHOICE}.")
        templates = [_ALL[number] for number in numbers]
    if not templates:
        raise SettingError(f"No template is selected. Choose from {_CHOICE}.")
    for template in templates:
        if not template.suits(kind):
            problem = f"Template {template.id} ({template.text}) has the word before the sentence"
            raise SettingError(f"{problem}: causal models need others, such as 3 and 4.")
    return templates


def _read(path: Path) -> list[Template]:
    try:
        templates = [Template(**entry) for entry in parse_json(read_bytes(path))]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        entries = "a JSON list of objects with id, text, masculine and feminine"
        raise SettingError(f"The templates in {path} cannot be read ({error}); write {entries}.") from error
    if len({template.id for template in templates}) != len(templates):
        raise SettingError(f"Two templates in {path} have the same id.")
    return templates


def placebo_words(template: Template, tokenizer: ProbeTokenizer) -> Placebo | None:
    """The placebo words that are one token in the slot of a template, as in a short sentence.

    Their contrasts show how far a model moves words between stereotypes for reasons other than gender
    (`statistics.placebo`).
    """

    def parts(word: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The tokens of the word, and those around it; none if it cannot be scored."""
        text, start, end = template.fill("I like it.", word)
        try:
            tokens = tokenizer(text)
            slot = tokens.slot(start, end)
        except SkipSampleError:
            return (), ()
        return tokens.slice(slot), tokens.replace(slot, ())

    words, around = zip(*(parts(word) for word in (template.masculine, template.feminine)), strict=True)

    def token(word: str) -> int | None:
        ids, others = parts(word)
        return ids[0] if len(ids) == 1 and others in around and ids not in words else None

    return find_pairs(template.placebo, token, tokenizer.most_placebo) if template.placebo else None


def find_pairs(kind: str, token: Callable[[str], int | None], most: int | None = None) -> Placebo | None:
    """Pairs of neighbours in the lists of a kind, among the words with a `token`."""
    lists = [filter(None, map(token, PLACEBO_WORDS[name])) for name in PLACEBO_LISTS[kind]]
    return queries.pair_neighbours(lists, most)


def build_queries(row: Mapping[str, Any], tokenizer: ProbeTokenizer, template: Template) -> Sample:
    """The queries of one sentence in one template."""
    if not row["sentence"].strip():
        raise SkipSampleError("empty sentence")
    words = (template.masculine, template.feminine)
    texts, slots = [], []
    for word in words:
        text, start, end = template.fill(row["sentence"], word)
        texts.append(tokenizer(text))
        slots.append(texts[-1].slot(start, end))
    if tokenizer.kind == "causal":
        return _causal_queries(texts, slots, tokenizer)
    if tokenizer.kind == "seq2seq":
        return queries.spanned_contrast(tokenizer, texts[0], slots[:1], texts[1], slots[1:])
    for word, slot in zip(words, slots, strict=True):
        if len(slot) != 1:
            raise SkipSampleError(f"{word!r} is {len(slot)} tokens for this model, but must be one")
    return queries.masked_contrast(tokenizer, texts[0], texts[1], [slots[0].start])


def _causal_queries(texts: Sequence[Tokens], slots: Sequence[range], tokenizer: ProbeTokenizer) -> Sample:
    """P(word | preceding tokens); a single query if both words are one token after the same context."""
    contexts = [text.ids[: slot.start] for text, slot in zip(texts, slots, strict=True)]
    words = [text.slice(slot) for text, slot in zip(texts, slots, strict=True)]
    queries.check_distinct(*words)
    if not all(contexts):
        raise SkipSampleError("there is no text before the word")
    if contexts[0] == contexts[1] and len(words[0]) == len(words[1]) == 1:
        last = len(contexts[0]) - 1
        ids = tokenizer.check_length(contexts[0])
        return queries.logit_contrast(Query(ids, (last, last), (*words[0], *words[1]), normalise=False))
    words_in_context = tuple(
        Query(
            tokenizer.check_length((*context, *word[:-1])),
            tuple(range(len(context) - 1, len(context) + len(word) - 1)),
            word,
        )
        for context, word in zip(contexts, words, strict=True)
    )
    return Sample(words_in_context, queries.sum_difference)


def _builder(template: Template) -> QueryBuilder:
    words = cache(partial(placebo_words, template))
    return lambda row, tokenizer: build_queries(row, tokenizer, template).with_placebo(words(tokenizer))


PROBE = Probe(
    "templates",
    frozenset({"sentence", "stereotype"}),
    LANGUAGE_MODELS,
    ("log_ratio",),
    lambda kind, options: {
        template.id: _builder(template) for template in select_templates(options.templates, kind)
    },
    options=("templates",),
    label="stereotype",
    templated=True,
)
