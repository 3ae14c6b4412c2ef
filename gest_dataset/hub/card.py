"""The dataset card on the Hub: a header for machines and sections for people, merged with what is there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from gest_dataset.data.build import Built
from gest_dataset.data.card import Section, block, config_section
from gest_dataset.errors import HubError
from gest_dataset.hub.header import Header, by_config, default_of, merged, read_header
from gest_dataset.hub.sections import Block, with_blocks
from gest_dataset.languages import LANGUAGES
from gest_dataset.version import __version__

# As the Hub and `datasets` find it
_HEADER = re.compile(r"^\s*---(?:\r\n|\r|\n)(?P<yaml>[\S\s]*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$)")


@dataclass(frozen=True)
class Told:
    """What a card says of one config."""

    name: str
    header: Header
    section: Section


def told(built: Built) -> Told:
    """The part of the card that is about one config."""
    text, section = config_section(built)
    return Told(built.config.name, read_header(text, built.config.name), section)


def merged_card(card: bytes, parts: Sequence[Told], repo: str) -> bytes:
    """A card that is there (or an empty one) with the header and the sections of some configs."""
    before, text, after, body = _split(card, repo)
    newline = "\r\n" if card.partition(b"\n")[0].endswith(b"\r") else "\n"
    header = merged(text.replace(newline, "\n"), [part.header for part in parts], repo)
    body = with_blocks(body, list(_blocks(parts, read_header(header, repo), repo)), newline)
    header = header.replace("\n", newline)
    return f"{before}{header}{after}{body}".encode()


def header_of(card: bytes, repo: str) -> str:
    """The YAML of a card, as it stands there."""
    return _split(card, repo)[1]


def _split(card: bytes, repo: str) -> tuple[str, str, str, str]:
    """The first line, the YAML, the line that ends it, and all that follows."""
    try:
        text = card.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unusable(repo, "is not in UTF-8") from error
    if found := _HEADER.match(text):
        start, end = found.span("yaml")
        return text[:start], found["yaml"], text[end : found.end()], text[found.end() :]
    if text.lstrip("\ufeff \t\r\n").startswith("---"):
        raise _unusable(repo, "begins with --- and has no other line of --- that ends its header")
    return "---\n", "", "\n---\n", text


def _unusable(repo: str, reason: str) -> HubError:
    return HubError(
        f"The card of {repo} {reason}. Nothing is overwritten; mend its README.md on the Hub, and run the "
        f"same command again."
    )


def _blocks(parts: Sequence[Told], header: Header, repo: str) -> Iterator[Block]:
    """Our sections in their order: what this is, each family with its configs, and what it cannot say."""
    codes = header["language"] if isinstance(header["language"], list) else [header["language"]]
    names = [LANGUAGES[code].name if code in LANGUAGES else str(code) for code in codes]
    example = default_of(header) or next(iter(by_config(header)))
    about = block("about", version=__version__, example=example, languages=names)
    yield Block("about", about.replace("path/or/repo", repo), optional=True)
    families = dict.fromkeys(part.section.family.name for part in parts)
    for family in families:
        members = [part for part in parts if part.section.family.name == family]
        # of configs that are there already nothing is known here, so each states its own licence
        shared = SimpleNamespace(family=members[0].section.family, licences="stated with each config")
        text = block("family", section=shared) + "\n\n" + block("cite", section=shared)
        yield Block(f"family {family}", text)
        for part in members:
            yield Block(f"config {part.name}", _config(part.section))
    yield Block("limits", block("limits"), optional=True)


def _config(section: Section) -> str:
    """One config: what it is, how many rows it has of each kind, and its fields."""
    (built,) = section.built
    config = built.config
    facts = f"{built.rows:,} rows; languages: {', '.join(config.languages)}; licence: {config.licence}."
    return f"### `{config.name}`\n\n{config.description}. {facts}\n\n{block('rows', section=section)}"
