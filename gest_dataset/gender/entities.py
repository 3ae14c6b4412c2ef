"""The gender that a translation gives to a person of the English sentence (docs/entity-gender.md).

A lexical aligner finds the translation of the person: IBM model 1 with a prior for the diagonal (Dyer et al.,
2013), which learns from all translations at hand, with the nouns of `persons.yaml` as a start. The gender is
that of the noun's form, unless the words that agree with it are feminine.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gest_dataset.gender.detect import GenderDetector
from gest_dataset.gender.grammar import FEMALE, MALE, NOUNS, UNKNOWN, Grammar
from gest_dataset.gender.parsing import parse_texts
from gest_dataset.gender.rules.context import SUBJECTS, VERBS, Context, is_relative
from gest_dataset.gender.tokens import Token, Tree
from gest_dataset.storage import read_yaml

NEUTRAL, EPICENE = "neutral", "epicene"
_MARKS = {"=": EPICENE, "~": UNKNOWN, "*": NEUTRAL}  # of nouns without a pair in persons.yaml
_ITERATIONS, _TENSION, _PRIOR = 5, 4.0, 3.0  # of the aligner: _PRIOR is the count of a noun in persons.yaml
_LEAST_SCORE = 0.01  # of a word that may be the translation
_TABLE = read_yaml(Path(__file__).with_suffix(".yaml"))
_PATTERNS = {name: re.compile(pattern) for name, pattern in _TABLE["patterns"].items()}
_OBJECTS = frozenset({"obj", "iobj", "obl", "nmod"})
_GENDERS = {"Masc": MALE, "Fem": FEMALE}
_ATTRIBUTES = frozenset({"amod", "det", "nummod", "acl"})


@dataclass(frozen=True)
class EntityGender:
    """The gender of a person: `male`, `female`, `neutral` or `unknown`.

    `word` is the translation of the person, `evidence` that and the words that agree with it, `problem` the
    reason why the translation cannot be judged, or the empty string.
    """

    gender: str
    word: str = ""
    evidence: tuple[str, ...] = ()
    problem: str = ""


class Persons:
    """The nouns of persons of a language: which noun a word is a form of, and the gender of the noun."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self.entries = {entity: set[str]() for entity in entries}  # entity -> its nouns
        self.nominatives = set[str]()
        self._stems: dict[str, set[tuple[str, str]]] = defaultdict(set)  # -> (noun, gender)
        for entity, words in entries.items():
            for noun in words.split():
                masculine, _, feminine = noun.partition(":")
                name = (masculine or feminine).rstrip("=~*")
                self.entries[entity].add(name)
                if noun[-1] in _MARKS or masculine == feminine:
                    self._add(name, name, _MARKS.get(noun[-1], EPICENE))
                    continue
                stems = self._add(masculine, name, MALE) if masculine else set()
                if feminine[:-1] in stems and not _PATTERNS["last_vowel"].search(masculine):
                    self._stems[feminine] |= {(name, MALE)}  # *nastolatka*, also a case of *nastolatek*
                if feminine:
                    self._add(feminine, name, FEMALE, stems)
        for nouns in self.entries.values():  # some nouns are names of others
            nouns |= {self.find(noun)[0] for noun in nouns}
        self.women = self.entries.get("woman", set())  # *женщина-водитель*, *pani dyrektor*

    def _add(self, noun: str, name: str, gender: str, others: Collection[str] = ()) -> set[str]:
        self.nominatives.add(noun)
        stem = _PATTERNS["last_vowel"].sub("", noun)
        stems = {noun, stem, _PATTERNS["fleeting"].sub(r"\1", noun), _PATTERNS["fleeting"].sub(r"ь\1", noun)}
        if gender == FEMALE:  # *лікарці*, *sudkyni*
            stems |= {stem[:-1] + _TABLE["palatal"].get(stem[-1], stem[-1])} - {*others}
        for one in stems:
            self._stems[one].add((name, gender))
        return stems

    def find(self, form: str) -> tuple[str, str]:
        """The noun and its gender; an empty gender if both fit, two empty texts if no noun does."""
        for end in range(len(form), max(len(form) - 5, 2), -1):
            found = self._stems.get(form[:end])
            if found and _PATTERNS["ending"].fullmatch(form[end:]):
                genders = {gender for _, gender in found}
                return min(found)[0], genders.pop() if len(genders) == 1 else ""
        parts = [self.find(part) for part in form.split("-")] if "-" in form else []
        return max(parts, key=lambda part: (part[1] == FEMALE, bool(part[0])), default=("", ""))


@lru_cache(maxsize=16)
def load_persons(language: str) -> Persons:
    """The nouns of a language; none of a language that a user added."""
    return Persons(read_yaml(Path(__file__).with_name("persons.yaml")).get(language, {}))


def entity_genders(
    sources: Sequence[str],
    entity_indices: Sequence[int],
    translations: Sequence[str],
    language: str,
    detector: GenderDetector | None = None,
    **settings: Any,
) -> list[EntityGender]:
    """The gender of the person at each index (of the source, split at spaces) in each translation, in order.

    `settings` are arguments of `GenderDetector`. The more translations there are, the better the aligner is.
    """
    detector = detector or GenderDetector(language, **settings)
    persons, genders = load_persons(language), []
    parses = parse_texts(translations, language, detector.parser, detector.cache)
    tokens = [[token for tree in parse.sentences for token in tree.tokens] for parse in parses]
    english = [[_english(word) for word in source.split()] for source in sources]
    found = align(english, entity_indices, tokens, persons)
    for parse, token, words in zip(parses, found, english, strict=True):
        if token is None:
            genders.append(EntityGender(UNKNOWN, problem=parse.problem))
            continue
        tree = next(tree for tree in parse.sentences if any(token is other for other in tree.tokens))
        gender, evidence = read_gender(Context(tree, token, detector.grammar), persons, words)
        texts = [parse.text[slice(*parse.span(word))] for word in (token, *evidence)]
        evidence_texts = () if gender == UNKNOWN else tuple(dict.fromkeys(texts))
        genders.append(EntityGender(gender, texts[0], evidence_texts))
    return genders


def _english(word: str) -> str:
    return re.sub(r"^\W+|(?:['’]s)?\W*$", "", word.lower())


# ---- alignment ---------------------------------------------------------------------------------------------


def align(
    sources: Sequence[Sequence[str]],
    entity_indices: Sequence[int],
    translations: Sequence[Sequence[Token]],
    persons: Persons,
) -> list[Token | None]:
    """The word of each translation that translates the word at the index, if there is one."""
    nouns = {form: persons.find(form)[0] for form in {t.form for tokens in translations for t in tokens}}
    numbers: dict[str, int] = {}  # of English words, and of nouns or beginnings of other words
    columns: list[int] = []
    words, targets, distances = [], [], []
    for source, tokens in zip(sources, translations, strict=True):
        own = [numbers.setdefault(f"en {word}", len(numbers)) for word in source]
        for place, token in enumerate(tokens):
            target = numbers.setdefault(nouns[token.form] or token.form[:5], len(numbers))
            columns += [columns[-1] + 1 if columns else 0] * len(own)
            words += own
            targets += [target] * len(own)
            middle = (place + 0.5) / len(tokens)
            distances += [abs((i + 0.5) / len(own) - middle) for i in range(len(own))]
    prior = np.exp(-_TENSION * np.array(distances))
    listed = [(word, word[3:8]) for word in numbers if word.startswith("en ")]  # not translated
    for entity, nouns_of in persons.entries.items():
        listed += [(f"en {part}", noun) for part in entity.split() for noun in nouns_of]
    known = [numbers[a] * len(numbers) + numbers[b] for a, b in listed if a in numbers and b in numbers]
    pairs = np.array(words, dtype=int) * len(numbers) + np.array(targets, dtype=int)
    column, seeds = np.array(columns, dtype=int), np.array(known, dtype=int)
    probability, share = _train(column, pairs, seeds, prior, len(numbers))
    score = share * np.sqrt(probability) + 0.05 * prior * np.isin(pairs, known)
    found: list[Token | None] = []
    start = 0
    for source, tokens, index in zip(sources, translations, entity_indices, strict=True):
        end = start + len(source) * len(tokens)
        scores = score[start + index : end : len(source)] * [
            1.0 if token.form == source[index] else _is_person(token, nouns[token.form]) for token in tokens
        ]
        found.append(tokens[int(scores.argmax())] if tokens and scores.max() > _LEAST_SCORE else None)
        start = end
    return found


def _train(column: Any, pairs: Any, known: Any, prior: Any, size: int) -> tuple[Any, Any]:
    """P(target | word) of each pair, and the share of the pair in its target word."""
    cells, cell = np.unique(np.concatenate([pairs, known]), return_inverse=True)
    pair, seeds = cell[: len(pairs)], cell[len(pairs) :]
    probability = np.where(np.isin(cells, known), 10.0, 1.0)
    for _ in range(_ITERATIONS):
        share = probability[pair] * prior
        share /= np.bincount(column, share)[column]
        counts = np.bincount(pair, share, len(cells)) + _PRIOR * np.bincount(seeds, minlength=len(cells))
        probability = counts / np.bincount(cells // size, counts)[cells // size]
    return probability[pair], share


def _is_person(token: Token, noun: str) -> float:
    """How well a word can be the translation of a person, by its part of speech."""
    if noun:
        is_attribute = token.relation == "amod" and noun[-1] in "йыýíiy"  # *okoloidúca osoba*
        return 0.1 if is_attribute else 1.0
    if token.upos in NOUNS or token.upos == "X" or token.feats.get("Poss") == "Yes":
        return 0.2 if token.feats.get("Animacy") == "Inan" else 0.5
    return 0.05 if token.upos in {"ADJ", "ADV", "VERB"} else 0.0


# ---- gender ------------------------------------------------------------------------------------------------


def read_gender(noun: Context, persons: Persons, english: Collection[str] = ()) -> tuple[str, list[Token]]:
    """The gender of a noun of a person, and the words that show it; a word of `english` is not translated."""
    token = noun.token
    name, gender = persons.find(token.form)
    if not name and (token.form in english or token.upos in {"X", "PRON"}):
        gender = EPICENE
    if token.upos == "ADJ" and token.feats.get("Poss") == "Yes":  # *tajničin*
        return (FEMALE if _PATTERNS["of_woman"].search(token.form) else MALE), []
    if name.endswith("í") and token.form == name and token.id > 1 and token.relation in _OBJECTS:
        return FEMALE, []  # *s pokladní*, of a man *s pokladním*
    if name and (not gender or name.endswith("í")):  # *рабочий*, *рабочая*
        fitting = [one for one in (MALE, FEMALE) if _PATTERNS[one].search(token.form)]
        gender = fitting[0] if len(fitting) == 1 else gender
    if not name and not gender:
        gender = (
            MALE if _PATTERNS["masculine"].search(token.form) else NEUTRAL if token.gender == "Neut" else ""
        )
    if gender in (NEUTRAL, FEMALE, UNKNOWN):
        return gender, []
    tag = None if gender == EPICENE else _GENDERS.get(token.gender)
    agreeing = _agreeing(noun, persons, gender == MALE)
    shown = [(one, word) for word in agreeing if (one := _shown_gender(word, noun.grammar, persons))]
    if not (gender == MALE or tag or shown):
        shown = _clues(noun, persons)
    first = shown[0][0] if shown else (gender if gender == MALE else tag) or UNKNOWN
    return first, [word for one, word in shown if one == first]


def _shown_gender(token: Token, grammar: Grammar, persons: Persons) -> str | None:
    """The gender that an agreeing word shows."""
    if persons.find(token.form)[0] in persons.women:
        return persons.find(token.form)[1] or None
    if token.number in {"Plur", "Dual"}:
        return None
    past = grammar.gender(token, "past") if token.upos in VERBS else grammar.gender(token, "adjective")
    return past or _GENDERS.get(token.gender)


def _agreeing(noun: Context, persons: Persons, is_masculine: bool) -> Iterator[Token]:
    """The words that agree with a noun; of a masculine one only the nominative has feminine attributes."""
    token, tree = noun.token, noun.sentence
    has_cases = any(other.case for other in noun.tokens if other.upos in NOUNS)
    is_nominative = token.case in {"", "Nom"}
    if has_cases and token.upos != "PRON" and persons.find(token.form)[0]:  # taggers confuse cases
        is_nominative = token.form in persons.nominatives
    near = [other for other in (noun.previous, noun.following) if other is not None]
    yield from (other for other in near if persons.find(other.form)[0] in persons.women)
    is_joined = any(child.relation == "conj" and child.upos in NOUNS for child in noun.children)
    if is_nominative and token.relation == "nsubj" and noun.head is not None and not is_joined:
        subjects = [one for one in tree.children(noun.head) if one.relation == "nsubj"]
        before = [one for one in subjects if one.id < noun.head.id and one.case in {"", "Nom", token.case}]
        if token is (before or subjects)[-1 if before else 0]:
            yield from _predicate(tree, noun.head)
    elif is_nominative:
        verbs = [one for one in noun.after if one.upos in VERBS]
        before_verb = noun.tokens[noun.start : verbs[0].id - 1] if verbs else ()
        others = [one for one in before_verb if one.relation in SUBJECTS and one.upos != "ADJ"]
        if not any(one.case in {"", "Nom"} for one in others):
            yield from verbs
    yield from _relative(noun)
    if is_nominative or not is_masculine:
        for child in noun.children:
            is_attribute = child.relation in _ATTRIBUTES and child.upos in {"ADJ", "DET", "NUM", "VERB"}
            cases = {"", "Nom"} if is_nominative else {"", token.case}
            if is_attribute and child.case in cases and child.verb_form != "Fin":
                yield child


def _relative(noun: Context) -> Iterator[Token]:
    """The relative pronoun after a noun and a comma, and the verb of its clause."""
    if noun.following is None or noun.following.text != ",":
        return
    near = noun.tokens[noun.token.id + 1 : noun.token.id + 3]
    stems = (*noun.grammar.who_stems, "як")
    pronouns = [
        one
        for one in near
        if (one.upos in {"PRON", "DET"} and (is_relative(one) or one.form.startswith(stems)))
        or one.form in noun.grammar.relative_conjunctions
    ]
    yield from (one for one in pronouns if one.gender)
    for child in noun.children:
        subjects = [one for one in noun.sentence.children(child) if one.relation in SUBJECTS]
        is_clause = child.relation == "acl" and child.upos in VERBS
        if pronouns and is_clause and all(one in pronouns for one in subjects):
            yield child


def _predicate(tree: Tree, head: Token) -> Iterator[Token]:
    """The words of a predicate that agree with the subject, and of predicates that are joined with it."""
    if head.upos not in NOUNS:
        yield head
    for child in tree.children(head):
        has_subject = any(other.relation in SUBJECTS for other in tree.children(child))
        is_part = child.relation in {"aux", "cop", "xcomp"} and child.upos not in NOUNS
        if is_part and child.case in {"", "Nom"}:
            yield child
        elif child.relation == "conj" and child.upos in VERBS | {"ADJ"} and not has_subject:
            yield from _predicate(tree, child)


def _clues(noun: Context, persons: Persons) -> list[tuple[str, Token]]:
    """Pronouns and verbs of a gender that no other noun of the sentence has."""
    others = {
        persons.find(one.form)[1] or _GENDERS.get(one.gender)
        for one in noun.tokens
        if one is not noun.token and one.upos in NOUNS
    }
    clues = [
        (_shown_gender(one, noun.grammar, persons), one)
        for one in noun.tokens
        if one.upos in VERBS
        or (one.upos == "PRON" and one.person == "3")
        or (one.upos == "ADJ" and one.relation not in _ATTRIBUTES)
    ]
    return [(gender, one) for gender, one in clues if gender and not {gender, EPICENE} & others]
