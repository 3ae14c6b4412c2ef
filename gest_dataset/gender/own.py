"""Rules of a user's own: the grammar of a language that this package has none of, as a file in the home."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gest_dataset.errors import ConfigError
from gest_dataset.gender.grammars import GRAMMARS
from gest_dataset.gender.grammars.file import as_json, read_grammar
from gest_dataset.gender.grammars.grammar import Grammar
from gest_dataset.gender.rules import TABLE
from gest_dataset.storage import atomic_path
from gest_dataset.user_data import user_data_folder

# What the rules call the kinds of words; the second is asked about by conditions of rules
KINDS = frozenset({*(rule.word for rule in TABLE), "person"})
_FOLDER = "rules"


def languages() -> list[str]:
    """The languages that there are rules for: those of this package, and those that were added."""
    own = sorted(path.stem for path in (user_data_folder() / _FOLDER).glob("*.json"))
    return [*GRAMMARS, *(code for code in own if code not in GRAMMARS)]


def grammar_of(language: str) -> Grammar:
    """The grammar of a language."""
    if language in GRAMMARS:
        return GRAMMARS[language]
    if language not in languages():
        raise ConfigError(
            f"There are no rules for the language {language!r}; choose one of {', '.join(languages())}."
        )
    return read_rules(path_of(language))


def mark_of(language: str) -> str | None:
    """A hash of the rules of a user; those of this package are told by its version."""
    if language in GRAMMARS:
        return None
    return f"sha256:{hashlib.sha256(as_json(grammar_of(language)).encode()).hexdigest()[:16]}"


def path_of(language: str) -> Path:
    """Where the rules of a language are kept."""
    return user_data_folder() / _FOLDER / f"{language}.json"


def read_rules(path: Path) -> Grammar:
    """The grammar of a file (gest_dataset/gender/grammars/file.py says what is in it)."""
    return read_grammar(path, KINDS)


def write_rules(language: str, path: str | Path) -> None:
    """The grammar of a language as a file of rules: to begin those of its kin with."""
    with atomic_path(Path(path)) as partial:
        partial.write_text(as_json(grammar_of(language)), encoding="utf-8")


def keep_rules(language: str, grammar: Grammar, replace: bool = False) -> None:
    """Keep the rules of a language that has none."""
    check_rules(language, grammar, replace)
    with atomic_path(path_of(language)) as partial:
        partial.write_text(as_json(grammar), encoding="utf-8")


def check_rules(language: str, grammar: Grammar, replace: bool = False) -> None:
    """Whether rules can be kept for a language."""
    if language in GRAMMARS:
        raise ConfigError(f"gest-dataset has rules for {language!r}: leave out --rules.")
    if path_of(language).exists() and not replace and read_rules(path_of(language)) != grammar:
        raise ConfigError(f"Other rules for {language!r} were added before: replace them with --replace.")


def forget_rules(language: str) -> None:
    """Take the rules of a language away, if there are any."""
    path_of(language).unlink(missing_ok=True)
