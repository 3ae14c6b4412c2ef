"""A grammar as a JSON file, which has the fields of `Grammar` and `Forms` by their own names.

    {"pronouns": ["аз"], "auxiliaries": ["съм"], "first": "ам|ям",
     "forms": {"past": {"male": "[аеиоу]л", "female": "ла", "upos": ["VERB", "AUX"]}},
     "words": {"agreeing": {"сам": "male", "сама": "female"}}}

What is not there has its default; `forms` and `words` are by kind of word, which the rules name. Texts of
fields that are no lists are regular expressions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from gest_dataset.errors import ConfigError, DataError
from gest_dataset.gender.grammars.grammar import FEMALE, MALE, Forms, Grammar
from gest_dataset.storage import parse_json

_GENDERS = (MALE, FEMALE)


def read_grammar(path: Path, kinds: Collection[str]) -> Grammar:
    """The grammar of a file; `kinds` are the kinds of words that rules ask about."""
    try:
        content = parse_json(path.read_bytes())
    except FileNotFoundError as error:
        raise ConfigError(f"There is no file of rules {path}.") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise DataError(f"{path} is no JSON ({error}): a file of rules is one object.") from error
    return grammar_from(content, kinds, path)


def grammar_from(content: Any, kinds: Collection[str], path: object) -> Grammar:
    """The grammar of an object of JSON."""

    def broken(where: str, reason: str) -> DataError:
        return DataError(f"{path}: {where} {reason}.")

    def checked(value: Any, where: str, reason: str, fits: Callable[[Any], bool]) -> Any:
        if not fits(value):
            raise broken(where, f"is {value!r}, not {reason}")
        return value

    def record(value: Any, where: str, names: Collection[str]) -> Mapping[str, Any]:
        inner: Mapping[str, Any] = checked(value, where, "an object", lambda one: isinstance(one, dict))
        for name in inner:
            if name not in names:
                raise broken(where, f"has {name!r}, which is none of {', '.join(sorted(names))}")
        return inner

    def value_of(field: Field[Any], value: Any, where: str) -> Any:
        if field.type == "bool":
            return checked(value, where, "true or false", lambda one: isinstance(one, bool))
        if field.type == "frozenset[str]":
            texts = checked(value, where, "a list of texts", _is_texts)
            return frozenset(texts)
        checked(value, where, "a text", lambda one: isinstance(one, str))
        try:
            for expression in (value, f"(?:{value})$"):  # as they are asked
                re.compile(expression)
        except re.error as error:
            raise broken(where, f"is no regular expression ({error})") from error
        return value

    def forms(value: Any, where: str) -> Forms:
        given = record(value, where, _FORMS)
        for name, field in _FORMS.items():
            if name not in given and field.default is MISSING:
                raise broken(where, f"lacks {name!r}")
        return Forms(**{name: value_of(_FORMS[name], one, f"{where}.{name}") for name, one in given.items()})

    def genders(value: Any, where: str) -> dict[str, str]:
        given = checked(value, where, "an object", lambda one: isinstance(one, dict))
        for word, gender in given.items():
            checked(gender, f"{where}.{word}", "male or female", lambda one: one in _GENDERS)
        return dict(given)

    given = record(content, "the file", _GRAMMAR)
    for name in ("forms", "pronouns"):
        if name not in given:
            raise broken("the file", f"lacks {name!r}")
    made: dict[str, Any] = {}
    for name, value in given.items():
        if name == "forms":
            made[name] = {
                kind: forms(one, f"forms.{kind}") for kind, one in record(value, name, kinds).items()
            }
        elif name == "words":
            made[name] = {
                kind: genders(one, f"words.{kind}") for kind, one in record(value, name, kinds).items()
            }
        else:
            made[name] = value_of(_GRAMMAR[name], value, name)
    return Grammar(**made)


def as_json(grammar: Grammar) -> str:
    """A grammar as the text of such a file, without what has its default."""
    content = _told(grammar, _GRAMMAR)
    content["forms"] = {kind: _told(forms, _FORMS) for kind, forms in grammar.forms.items()}
    content["words"] = {kind: dict(genders) for kind, genders in grammar.words.items()}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


_GRAMMAR = {field.name: field for field in fields(Grammar)}
_FORMS = {field.name: field for field in fields(Forms)}


def _told(one: Grammar | Forms, known: Mapping[str, Field[Any]]) -> dict[str, Any]:
    values = {name: getattr(one, name) for name in known if name not in ("forms", "words")}
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in values.items()
        if value != known[name].default
    }


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
