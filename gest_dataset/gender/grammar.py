"""The grammar of a language: the words and endings that the rules look for, read from a YAML file.

`grammars/LANGUAGE.yaml` holds the grammar of a language of this package, `grammars/shared.yaml` the words
that all languages share. A file that a user adds with `gest add-language --rules` has the same format.
"""

# the reader of a grammar compares the annotations of its fields as texts
from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

from gest_dataset.added_data import gest_home
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.gender.tokens import Token
from gest_dataset.storage import parse_yaml, read_bytes, read_yaml, sha256, write_file

_T = TypeVar("_T")
Words = frozenset[str]
Pattern = re.Pattern[str]
Stems = tuple[str, ...]

MALE, FEMALE, UNKNOWN = "male", "female", "unknown"
NO_WORDS: Words = frozenset()
NEVER = re.compile("(?!)")
NOUNS = frozenset({"NOUN", "PROPN"})
ANY_CASE = frozenset({"", "Nom", "Gen", "Dat", "Acc", "Voc", "Loc", "Ins"})
# An expression that could take exponential time: a repeated group, several repetitions, or many choices
_SLOW, _MOST_CHOICES = re.compile(r"\)[*+{]|[*+{].*[*+{]"), 16
_HERE = Path(__file__).parent
_FOLDER = _HERE / "grammars"
_SHARED = "shared"
RULE_TABLE = read_yaml(_HERE / "rules" / "rules.yaml")
ACCURACY: dict[str, dict[str, int]] = read_yaml(_HERE / "accuracy.yaml")
KINDS = {kind for rules in RULE_TABLE.values() for kind, _ in rules.values()}  # of gendered words
LANGUAGES = tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml") if path.stem != _SHARED))


@dataclass(frozen=True)
class Endings:
    """How the masculine and the feminine singular of one kind of word are written.

    The written form decides, not the tag: weak taggers confuse genders. A word that fits both shows none.
    """

    male: Pattern = NEVER
    female: Pattern = NEVER
    upos: Words = frozenset({"ADJ"})
    cases: Words = frozenset({"", "Nom", "Acc", "Voc"})  # "" is a word without a case
    except_words: Words = NO_WORDS  # words that have the ending and are of another kind
    except_endings: Pattern = NEVER
    follow_tag: Pattern = NEVER  # words that fit neither ending: the tag's gender counts (*мог*)
    participles_only: bool = False  # of verbs only participles are meant
    whole_word: bool = False  # compare the written word: *byłam*, not the part *była*

    def gender(self, token: Token) -> str | None:
        """`male`, `female`, or None if the word is of another kind or shows no gender."""
        if token.upos not in self.upos or token.case not in self.cases:
            return None
        if self.participles_only and token.upos == "VERB" and token.verb_form != "Part":
            return None
        form = token.surface.lower() if self.whole_word else token.form
        if form in self.except_words or self.except_endings.search(form):
            return None
        male, female = self.male.search(form) is not None, self.female.search(form) is not None
        if male != female:
            return MALE if male else FEMALE
        return {"Masc": MALE, "Fem": FEMALE}.get(token.gender) if self.follow_tag.search(form) else None


@dataclass(frozen=True)
class Grammar:
    """The words of one language. The patterns of endings match the end of a word, others the whole word."""

    # words of the first person
    pronouns: Words
    auxiliaries: Words = NO_WORDS
    impersonal_auxiliaries: Words = NO_WORDS  # of all persons: Slovenian *bi*
    dative_pronouns: Words = NO_WORDS
    object_pronouns: Words = NO_WORDS
    speaker_pronouns: Words = NO_WORDS  # *I* in all cases
    first_person_verbs: Words = NO_WORDS  # whatever their tag is
    first_person_endings: Pattern = NEVER
    linking_verbs: Pattern = NEVER  # *I feel*, which an adjective completes
    considering_verbs: Pattern = NEVER  # *I consider (myself)*
    working_verbs: Pattern = NEVER  # *I work (as a waiter)*
    speaking_verbs: Pattern = NEVER  # *I say*
    perceiving_verbs: Pattern = NEVER  # *I hear*
    object_verbs: Words = NO_WORDS  # *I have*: an adjective beside it describes its object
    # words of other persons and of nobody
    other_pronouns: Words = NO_WORDS
    reporting_verbs: Pattern = NEVER  # *said*, whose subject may be left out
    impersonal_copulas: Words = NO_WORDS
    neutral_nouns: Words = NO_WORDS  # *person*, *soul*: said by women and men
    generic_nouns: Words = NO_WORDS
    time_nouns: Words = NO_WORDS  # accusatives that look like nominatives
    # pronouns and particles
    clitics: Words = NO_WORDS  # taggers take them for subjects
    reflexive_pronouns: Words = NO_WORDS  # before *sám*: *sebe sama* is said by anybody
    reflexive_objects: Words = NO_WORDS
    reflexives: Words = NO_WORDS
    demonstratives: Words = NO_WORDS
    degree_prepositions: Words = NO_WORDS  # they also mean *too*: *za stary*
    degree_adverbs: Words = NO_WORDS
    comparison_words: Words = NO_WORDS
    conditional_particles: Words = NO_WORDS
    future_particles: Words = NO_WORDS
    # words that begin or join clauses
    complementizers: Words = NO_WORDS
    relative_conjunctions: Words = NO_WORDS  # relative pronouns that are tagged as conjunctions
    regret_conjunctions: Words = NO_WORDS
    clause_openers: Words = NO_WORDS
    who_stems: Stems = ()
    # infinitives
    copula_infinitives: Words = NO_WORDS  # *to be*, *to become*
    infinitive_endings: Pattern = NEVER
    governing_adjectives: Pattern = NEVER  # an infinitive follows them
    # gendered words by kind: the rules name the kinds
    endings: Mapping[str, Endings] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # form -> gender
    # rule -> gender -> a sentence with its evidence in brackets
    examples: Mapping[str, Mapping[str, str]] = field(default_factory=dict, compare=False)

    def gender(self, token: Token, kind: str) -> str | None:
        """The gender that a word of this kind shows, by a closed list or by its ending."""
        if kind in self.words:
            return self.words[kind].get(token.form)
        return self.endings[kind].gender(token) if kind in self.endings else None

    def is_infinitive(self, form: str) -> bool:
        return self.infinitive_endings.search(form) is not None


def read_grammar(path: Path) -> Grammar:
    """The grammar in a YAML file; `extends: LANGUAGE` takes over the fields of another language."""
    try:
        content, bases = _load(path), set[str]()
        while base := content.pop("extends", None):
            if base in bases or base not in languages():
                raise ValueError(f"it extends {base!r}, which is not another language with rules")
            bases.add(base)
            content = {**_load(_grammar_file(base)), **content}
        return _read(Grammar, {**_load(_FOLDER / f"{_SHARED}.yaml"), **content}, "the file")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except (TypeError, ValueError) as error:
        raise DataError(f"{path} is not a grammar: {error}.") from error


def _load(path: Path) -> dict[str, Any]:
    # every scalar is a text: *on* and *no* are words
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    content: dict[str, Any] = parse_yaml(read_bytes(path), loader)
    if not isinstance(content, dict):
        raise ValueError("it is not a mapping")
    return content


def _read(cls: type[_T], content: Any, where: str) -> _T:
    """A dataclass from a mapping, whose values are converted by the types of the fields."""
    types = {one.name: str(one.type) for one in fields(cls)}  # type: ignore[arg-type]
    values = _mapping(content, where, types)
    return cls(**{name: _value(types[name], value, name) for name, value in values.items()})


def _mapping(content: Any, where: str, names: Collection[str]) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ValueError(f"{where} is not a mapping")
    if unknown := content.keys() - set(names):
        raise ValueError(f"{where} has {min(unknown)!r}, which is not one of {', '.join(sorted(names))}")
    return content


def _value(kind: str, value: Any, where: str) -> Any:
    if where == "endings":
        kinds = _mapping(value, where, KINDS)
        return {kind: _read(Endings, one, f"endings.{kind}") for kind, one in kinds.items()}
    if where == "words":
        return {kind: _genders(one, f"words.{kind}") for kind, one in _mapping(value, where, KINDS).items()}
    if where == "examples":
        return value
    if kind == "bool":
        return value == "true"
    if where == "cases" and value == "any":
        return ANY_CASE
    items = [value] if kind == "Pattern" and isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ValueError(f"{where} is not a list of words")
    if kind != "Pattern":
        return tuple(items) if kind == "Stems" else frozenset(items)
    for item in items:
        if _SLOW.search(item) or len(re.findall(r"[?|(]", item)) > _MOST_CHOICES:
            raise ValueError(f"{where} has {item!r}, which could take too long to match; write it simpler")
    try:
        return re.compile(f"(?:{'|'.join(items)})$")
    except re.error as error:
        raise ValueError(f"{where} is not a regular expression ({error})") from error


def _genders(value: Any, where: str) -> dict[str, str]:
    """Forms and their genders, from a list of `masculine:feminine`."""
    pairs = [pair.partition(":") for pair in _value("Words", value, where)]
    males, females = ({pair[place] for pair in pairs} - {""} for place in (0, 2))
    return dict.fromkeys(males, MALE) | dict.fromkeys(females, FEMALE)


def languages() -> list[str]:
    """The languages that have rules: those of this package and those that users added."""
    added = {path.stem for path in (gest_home() / "rules").glob("*.yaml")}
    return [*LANGUAGES, *sorted(added - set(LANGUAGES))]


def _grammar_file(language: str) -> Path:
    folder = _FOLDER if language in LANGUAGES else gest_home() / "rules"
    return folder / f"{language}.yaml"


def load_grammar(language: str) -> Grammar:
    if language not in languages():
        raise ConfigError(
            f"There are no gender rules for {language!r}; choose one of {', '.join(languages())}, "
            "add your own with gest add-language --rules, or ask a chat model with --parser llm."
        )
    path = _grammar_file(language)
    return _read_cached(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=32)
def _read_cached(path: Path, modified: int) -> Grammar:
    return read_grammar(path)


def rules_hash(language: str) -> str | None:
    """A hash of the rules that a user added; the version identifies those of this package."""
    if language in LANGUAGES:
        return None
    return f"sha256:{sha256(_grammar_file(language).read_bytes())[:16]}"


def write_rules(language: str, path: str | Path) -> None:
    """Copy the grammar file of a language, to start the rules of a related language from it."""
    load_grammar(language)
    write_file(Path(path), _grammar_file(language).read_bytes())


def check_rules(language: str, path: Path, replace: bool = False) -> Grammar:
    """The grammar in a file, if it can be added for the language."""
    grammar = read_grammar(path)
    if language in LANGUAGES:
        raise ConfigError(f"gest-dataset has rules for {language!r}: leave out --rules.")
    if language in languages() and not replace and load_grammar(language) != grammar:
        raise ConfigError(f"{language!r} already has different rules. Use --replace to replace them.")
    return grammar


def add_rules(language: str, path: Path, replace: bool = False) -> None:
    """Store a grammar file as the rules of a language."""
    check_rules(language, path, replace)
    write_file(_grammar_file(language), path.read_bytes())


def delete_rules(language: str) -> None:
    """Delete the rules that a user added for a language, if there are any."""
    if language not in LANGUAGES:
        _grammar_file(language).unlink(missing_ok=True)
