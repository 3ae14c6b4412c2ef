"""Corpora with a known answer: every document speaks of one topic, so what follows is on the same topic."""

from __future__ import annotations

import json
import random
from pathlib import Path

TOPICS = ("he", "she", "man", "woman", "him", "her", "his", "was", "message", "to", "and", "I")
# Of the random sentences, which come from any other document, so many are on the same topic by chance
CHANCE = 1 / len(TOPICS)


def documents(number: int, size: int = 5) -> list[list[str]]:
    """Documents of so many sentences each, in an order that says nothing."""
    made = [[f"{TOPICS[i % len(TOPICS)]} " * 3 + "."] * size for i in range(number)]
    random.Random(1).shuffle(made)
    return made


def write(path: Path, made: list[list[str]]) -> Path:
    """A .jsonl file with lists of sentences, or a .txt file with a sentence a line."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"text": document}) + "\n" for document in made))
    else:
        path.write_text("\n\n".join("\n".join(document) for document in made))
    return path
