"""The authors' files of scores: in a user's folder, or the pinned ones.

Names say what a file is about. A file that cannot be used is named in `notes`, with the reason; it does not
stop the others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import pandas as pd

from gest_dataset.builders import released
from gest_dataset.builders.config import File, Row
from gest_dataset.builders.stereoset_scores import ScoreFile, parse_name, read_candidate_scores
from gest_dataset.data import sources
from gest_dataset.data.rows import rows_of
from gest_dataset.data.votes import is_selected
from gest_dataset.errors import ConfigError, GestError
from gest_dataset.storage import sha256

PINNED = "pinned"  # given in place of a folder
AUTHORS_CONFIG = "en_1_0"
GEST, WINOBIAS, STEREOSET = "gpt2_template-0.txt", "winobias.csv", "gpt2_GPT2LM_GPT2LM_d_en.json"  # examples
_PINNED_FILES = {
    GEST: "kinit-sk/gest/data/predictions/*_template-*.txt",
    WINOBIAS: "kinit-sk/gest/data/predictions/winobias/*.csv",
    STEREOSET: "slds-lmu/stereotypes-multi/results/predictions/*.json",
}
_PAIR_SCORES = "slavic_mlm"  # a folder of the authors
_T = TypeVar("_T")


@dataclass
class Released:
    """The released scores in a folder and below it, or the pinned ones; empty without `where`.

    Of GEST, only the scores of sentences that fulfil all `conditions` on their votes.
    """

    where: str | Path | None
    conditions: Sequence[str] = ()
    hashes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def gest(self) -> dict[str, pd.DataFrame]:
        """The ln ratios by model, as `wide_scores` has them, with the paper's numbers of templates."""
        by_model: dict[str, dict[Path, File]] = {}
        for path, file in self._files(GEST):
            name, _ = released.split_name(path.name) or ("", 0)
            by_model.setdefault(released.find_model(name) or name, {})[path] = file
        if not by_model:
            return {}
        order = {name: place for place, name in enumerate(released.FAMILY_OF)}
        by_model = dict(sorted(by_model.items(), key=lambda item: order.get(item[0], len(order))))
        samples = rows_of(AUTHORS_CONFIG).select_columns(["id", "stereotype"]).to_pandas()
        index = pd.MultiIndex.from_frame(samples.assign(occurrence=0)[["id", "occurrence", "stereotype"]])
        scores = {name: self._read_templates(name, files, len(index)) for name, files in by_model.items()}
        selected = is_selected(samples["id"], self.conditions) if self.conditions else slice(None)
        return {name: pd.DataFrame(one, index=index)[selected] for name, one in scores.items() if one}

    def _read_templates(self, model: str, files: dict[Path, File], size: int) -> dict[int, list[float]]:
        numbers = {path: (released.split_name(path.name) or ("", 0))[1] for path in files}
        # of models that are not in the list, only masked ones have more than two templates
        kind = released.KIND_OF.get(model, "masked" if max(numbers.values()) > 1 else "causal")
        columns: dict[int, list[float]] = {}
        first: dict[int, Path] = {}
        for path in sorted(files, key=lambda path: (numbers[path], path)):
            template = released.FIRST_TEMPLATE[kind] + numbers[path]
            ratios = self._read(path, files[path], lambda file: released.read_ratios(file, size))
            if ratios is not None and columns.setdefault(template, ratios) != ratios:
                self.notes.append(f"{path} is left out: {first[template]} is about the same, and differs.")
            elif ratios is not None:
                first.setdefault(template, path)
        return columns

    @cached_property
    def winobias(self) -> list[Row]:
        """The mean ln ratios of models on WinoBias, as config `winobias_scores` has them."""
        rows: dict[str, Row] = {}
        for path, file in self._files(WINOBIAS):
            read = self._read(path, file, lambda one: [*released.read_winobias_means(one, self.notes)])
            for row in read or ():
                rows.setdefault(row["id"], row)
        return list(rows.values())

    @cached_property
    def stereoset(self) -> list[tuple[Path, ScoreFile, dict[str, dict[str, float]]]]:
        """Of each file: what it is about, and the scores of candidates by test."""
        found = []
        for path, file in self._files(STEREOSET):
            about, scores = parse_name(path.name), self._read(path, file, read_candidate_scores)
            if about is not None and scores is not None:
                found.append((path, about, scores))
        return found

    def _files(self, kind: str) -> list[tuple[Path, File]]:
        """The files of one kind; an error if there are none."""
        if self.where is None:
            return []
        is_pinned = str(self.where) == PINNED
        found = [*self._pinned(kind)] if is_pinned else self._by_kind.get(kind, [])
        if not found:
            if is_pinned:
                raise ConfigError(self.notes[-1])
            advice = f"Give a folder that has them, or the word {PINNED}."
            raise ConfigError(f"{self.where} contains no released scores like {kind}. {advice}")
        return found

    def _pinned(self, kind: str) -> Iterator[tuple[Path, File]]:
        """The pinned files from the mirror, the cache or the network."""
        missing: list[str] = []
        reason = ""
        for key in sources.expand(_PINNED_FILES[kind]):
            try:
                yield Path(key), sources.fetch(key)
            except GestError as error:
                missing.append(Path(key).name)
                reason = reason or str(error).splitlines()[0]
        if missing:
            self.notes.append(f"{reason} Missing: {', '.join(missing)}.")

    @cached_property
    def _by_kind(self) -> dict[str, list[tuple[Path, File]]]:
        """The files of the folder by kind, without hidden ones; the others are named in `notes`."""
        folder = Path(str(self.where))
        found: dict[str, list[tuple[Path, File]]] = {}
        for path in sorted(folder.rglob("*")):
            if any(part.startswith(".") for part in path.relative_to(folder).parts):
                continue
            kind = "Not files of scores, by their names"
            if released.split_name(path.name):
                kind = GEST
            elif parse_name(path.name):
                kind = STEREOSET
            elif path.name == WINOBIAS:
                kind = WINOBIAS
            elif path.parent.name == _PAIR_SCORES:
                kind = "Not used, since the rows of scores of pairs depend on each model's tokenizer"
            if kind in _PINNED_FILES or not path.is_dir():
                found.setdefault(kind, []).append((path, path))
        for kind in found.keys() - _PINNED_FILES.keys():
            self.notes.append(
                f"{kind}: {', '.join(str(path.relative_to(folder)) for path, _ in found[kind])}."
            )
        return found

    def _read(self, path: Path, file: File, reader: Callable[[File], _T]) -> _T | None:
        """What a reader makes of a file; None and a note if it cannot be read."""
        try:
            content = reader(file)
        except (GestError, OSError) as error:
            self.notes.append(f"{path.name} is left out: {str(error).splitlines()[0]}")
            return None
        self.hashes[path.name] = sha256(file.read_bytes())
        return content
