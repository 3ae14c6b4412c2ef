"""The gender of first persons by a chat model at a server, if labelled sentences show that it is precise."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import regex

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.data.user_tables import read_user_table
from gest_dataset.errors import ConfigError, DataError, ModelError
from gest_dataset.gender.detect import Detection, GenderDetector
from gest_dataset.gender.grammar import UNKNOWN
from gest_dataset.gender.parsers import LLM
from gest_dataset.gender.parsing import DEFAULT_CACHE, damage
from gest_dataset.languages import LANGUAGES
from gest_dataset.models.base import CHAT_CONNECTIONS, Sampling
from gest_dataset.probes.prompts import Answer, Prompt, without_thoughts
from gest_dataset.statistics.masculine_rate import LABELS, detector_validity
from gest_dataset.storage import read_yaml, sha256

_TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_suffix(".yaml"))
_SAMPLING = Sampling(max_tokens=2048)  # at temperature 0; reasoning models think before they answer
Given: TypeAlias = "str | Path | None"


class ChatDetector:
    """A chat model as a detector; an error unless it is precise on `labelled` (columns text and gender)."""

    def __init__(self, language: str, model: Given, endpoint: str, labelled: Path, cache: Given) -> None:
        from gest_dataset.models.served.model import connect  # imports torch

        table = read_user_table(labelled)
        self.labelled: dict[str, tuple[str, str]] = {}
        for row, (text, gender) in enumerate(zip(table.texts("text"), table.texts("gender"), strict=True), 1):
            if gender not in LABELS or self.labelled.setdefault(_words(text), (text, gender))[1] != gender:
                raise DataError.at(labelled, f"row {row}", _TEXTS["label"].format(gender=gender))
        self.model = connect(endpoint, None if model is None else str(model), connections=CHAT_CONNECTIONS)
        self.name = LANGUAGES[language].name if language in LANGUAGES else language
        self.prompt = _TEXTS["prompt"].replace("{language}", self.name)
        hashes = [sha256(content)[:12] for content in (self.prompt.encode(), labelled.read_bytes())]
        self.signature = " ".join([LLM, self.model.name, *hashes])
        # a file for each model, as the keys of `collect` do not name it
        path, identity = Path(cache or DEFAULT_CACHE), cache_key(self.model.name, self.model.client.address)
        self.cache = path.with_name(f"{path.stem}-{LLM}-{identity[:16]}{path.suffix}")
        self.genders([])

    def genders(self, texts: Sequence[str]) -> list[Detection]:
        """The gender of the first person in each text, in order; if it is labelled too, it is no evidence."""
        own = set(map(_words, texts))
        evidence = [pair for words, pair in self.labelled.items() if words not in own]
        answers = ["" if one.problem else one.gender for one in self._ask([text for text, _ in evidence])]
        self.validity = detector_validity([gender for _, gender in evidence], answers)
        limits = ((label, *limit) for label, least in _TEXTS["limits"].items() for limit in least.items())
        if not all(self.validity[label][name] >= least for label, name, least in limits):  # also if it is nan
            facts = {"model": self.model.name, "language": self.name, "figures": describe(self.validity)}
            raise ModelError(_TEXTS["refused"].format(left_out=len(self.labelled) - len(evidence), **facts))
        return self._ask(texts)

    def _ask(self, texts: Sequence[str]) -> list[Detection]:
        from gest_dataset.models.chat.ask import AskSettings, collect  # imports torch

        valid = [text for text in dict.fromkeys(texts) if not damage(text)]
        prompts = [Prompt("", "", self.prompt.replace("{sentence}", text)) for text in valid]
        with ResponseCache(self.cache) as cache:
            answers = collect(self.model, prompts, _SAMPLING, cache, AskSettings())
        read = dict(zip(valid, map(_read, answers), strict=True))
        return [read.get(text) or Detection(UNKNOWN, problem=damage(text)) for text in texts]


def _words(text: str) -> str:
    """A text without punctuation and capital letters."""
    return " ".join(regex.findall(r"[\p{L}\p{M}\p{N}]+", text.casefold()))


def _read(answer: Answer) -> Detection:
    answer = without_thoughts(answer)
    word = answer.text.strip(" \n*.\"'").lower()
    if answer.problem or word not in LABELS:
        return Detection(UNKNOWN, problem=answer.problem or _TEXTS["unreadable"])
    return Detection(word, rule="" if word == UNKNOWN else LLM)


def describe(validity: Mapping[str, Any]) -> str:
    """The figures of the check, a line for each label."""
    lines = (_TEXTS["figures"].format(label=label, **validity[label]) for label in LABELS)
    return "\n".join(lines).replace("nan% (nan% to nan%)", "undefined")


def open_detector(
    language: str, parser: str, model: Given, cache: Given, labelled: Given, endpoint: str | None
) -> GenderDetector | ChatDetector:
    """The rules of a language with a parser, or a chat model."""
    if parser != LLM and labelled is None:
        return GenderDetector(language, parser, model, cache)
    if parser != LLM or labelled is None or endpoint is None:
        raise ConfigError(_TEXTS["missing"])
    return ChatDetector(language, model, endpoint, Path(labelled), cache)
