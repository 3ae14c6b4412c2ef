"""The scores of GEST in its templates, of runs and of the authors' files alike: a table for each model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.report.measured import measured
from gest_dataset.report.sure import wide_scores
from gest_dataset.runs.folder import Run
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.stereotypes import STEREOTYPES

PAPERS = "en_1_0"  # the version of GEST that the authors' files are about, sample by sample
_FILE = re.compile(r"(.+)_template-(\d+)\.txt")
# The templates of the authors' files, which count from 0: masked models have four, causal ones the last two
_TEMPLATES = {4: (1, 2, 3, 4), 2: (3, 4)}


@dataclass(frozen=True)
class Profiles:
    """ln r of one model: a row a sample (its index: id, again, stereotype), a column a template."""

    name: str
    scores: pd.DataFrame

    @property
    def templates(self) -> list[int]:
        return [int(template) for template in self.scores.columns]

    @property
    def stereotypes(self) -> Ints:
        """Of each sample, from 0."""
        return np.asarray(self.scores.index.get_level_values("stereotype").to_numpy(dtype=np.int64) - 1)

    def ln_q(self) -> Floats:
        """The mean ln r of each stereotype in each template [16, templates]; nan of nothing."""
        means = self.scores.groupby(level="stereotype").mean()
        return np.asarray(means.reindex(list(STEREOTYPES)).to_numpy(dtype=float))


def of_runs(runs: Sequence[Run]) -> list[Profiles]:
    """Those of runs in templates, with names that tell them apart."""
    return [Profiles(one.label, wide_scores(one.run)) for one in measured(runs)]


def of_files(folder: Path) -> tuple[list[Profiles], dict[str, str]]:
    """Those of the authors' files MODEL_template-N.txt, and the hash of each file.

    A line is log10 P(w_m) - log10 P(w_f) of a sample, in the order of GEST 1.0; N counts from 0 over the
    templates that the kind of model has: four files are a masked model's, two a causal one's.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder. Give one that holds files MODEL_template-N.txt.")
    files: dict[str, dict[int, Path]] = {}
    for path in sorted(folder.iterdir()):
        name = _FILE.fullmatch(path.name)
        if name:
            files.setdefault(name[1], {})[int(name[2])] = path
    if not files:
        raise ConfigError(f"{folder} holds no file MODEL_template-N.txt, such as gpt2_template-0.txt.")
    rows = rows_of(PAPERS)
    index = pd.MultiIndex.from_arrays(
        [rows["id"], np.zeros(len(rows), dtype=int), rows["stereotype"]], names=["id", "again", "stereotype"]
    )
    profiles: list[Profiles] = []
    hashes: dict[str, str] = {}
    for model, own in files.items():
        if sorted(own) != list(range(len(own))) or len(own) not in _TEMPLATES:
            raise DataError(
                f"{folder}: {model} has the files {', '.join(path.name for path in own.values())}. A masked "
                f"model has those of templates 0 to 3, a causal one those of 0 and 1."
            )
        columns = {
            template: _read(own[number], len(rows)) * LN10
            for number, template in enumerate(_TEMPLATES[len(own)])
        }
        profiles.append(Profiles(model, pd.DataFrame(columns, index=index)))
        hashes |= {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in own.values()}
    return profiles, hashes


def _read(path: Path, wanted: int) -> Floats:
    try:
        lines = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    values = []
    for place, line in enumerate(lines, start=1):
        try:
            values.append(float(line))
        except ValueError as error:
            raise DataError.at(path, place, f"{line[:40]!r} is no number") from error
    found = np.array(values)
    if len(found) != wanted:
        raise DataError(f"{path} holds {len(found):,} scores, and {PAPERS} has {wanted:,} samples.")
    if not np.isfinite(found).all():
        place = int(np.flatnonzero(~np.isfinite(found))[0]) + 1
        raise DataError.at(path, place, "the score is not finite")
    return found
