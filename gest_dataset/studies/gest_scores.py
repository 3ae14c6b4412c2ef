"""ln r of GEST per sample and template, from runs and from the authors' released files."""

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
from gest_dataset.report.labels import label_runs
from gest_dataset.report.reliability import wide_scores
from gest_dataset.runs.folder import Run
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.stereotypes import STEREOTYPES

AUTHORS_CONFIG = "en_1_0"
_FILE = re.compile(r"(.+)_template-(\d+)\.txt")
# Files count templates from 0; causal models have only the last two
_TEMPLATES = {4: (1, 2, 3, 4), 2: (3, 4)}


@dataclass(frozen=True)
class GestScores:
    """ln r of one model: a row per sample (index: id, again, stereotype), a column per template."""

    name: str
    scores: pd.DataFrame

    @property
    def templates(self) -> list[int]:
        return [int(template) for template in self.scores.columns]

    @property
    def stereotypes(self) -> Ints:
        """The stereotype of each sample, from 0."""
        return np.asarray(self.scores.index.get_level_values("stereotype").to_numpy(dtype=np.int64) - 1)

    def ln_q(self) -> Floats:
        """The mean ln r of each stereotype in each template [16, templates]; nan without samples."""
        means = self.scores.groupby(level="stereotype").mean()
        return np.asarray(means.reindex(list(STEREOTYPES)).to_numpy(dtype=float))


def scores_of_runs(runs: Sequence[Run]) -> list[GestScores]:
    """The scores of runs in templates."""
    return [GestScores(one.label, wide_scores(one.run)) for one in label_runs(runs)]


def read_authors_scores(folder: Path) -> tuple[list[GestScores], dict[str, str]]:
    """The scores in the authors' files MODEL_template-N.txt, and the hash of each file.

    A line is log10 P(w_m) - log10 P(w_f) of a sample, in the order of GEST 1.0.
    """
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if match := _FILE.fullmatch(path.name):
            files.setdefault(match[1], []).append(path)
    if not files:
        raise ConfigError(f"{folder} contains no files MODEL_template-N.txt, such as gpt2_template-0.txt.")
    rows = rows_of(AUTHORS_CONFIG)
    levels = [rows["id"], np.zeros(len(rows), dtype=int), rows["stereotype"]]
    index = pd.MultiIndex.from_arrays(levels, names=["id", "again", "stereotype"])
    found: list[GestScores] = []
    hashes: dict[str, str] = {}
    for model, paths in files.items():
        if [path.name for path in paths] != [f"{model}_template-{n}.txt" for n in range(len(paths))] or (
            len(paths) not in _TEMPLATES
        ):
            raise DataError(
                f"{folder} has {len(paths)} files of {model}. A masked model needs templates 0 to 3, "
                f"a causal one 0 and 1."
            )
        columns = {}
        for template, path in zip(_TEMPLATES[len(paths)], paths, strict=True):
            content = path.read_bytes()
            try:
                values = np.array(content.decode().split(), dtype=float)
            except ValueError as error:
                raise DataError(f"{path} cannot be read: {error}.") from error
            if len(values) != len(rows) or not np.isfinite(values).all():
                raise DataError(f"{path} does not have {len(rows):,} finite numbers ({AUTHORS_CONFIG}).")
            columns[template] = values * LN10
            hashes[path.name] = hashlib.sha256(content).hexdigest()
        found.append(GestScores(model, pd.DataFrame(columns, index=index)))
    return found, hashes
