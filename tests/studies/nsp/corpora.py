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


def shuffled(made: list[list[str]]) -> list[list[str]]:
    """The same sentences in other documents: nothing is left to learn."""
    sentences = [sentence for document in made for sentence in document]
    random.Random(2).shuffle(sentences)
    size = len(made[0])
    return [sentences[start : start + size] for start in range(0, len(sentences), size)]


def write(path: Path, made: list[list[str]]) -> Path:
    """A .jsonl file with lists of sentences, or a .txt file with a sentence a line."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"text": document}) + "\n" for document in made))
    else:
        path.write_text("\n\n".join("\n".join(document) for document in made))
    return path
