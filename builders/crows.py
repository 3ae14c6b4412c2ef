"""CrowS-Pairs, gender: the pairs in two revisions, and two sets with control pairs."""

from collections.abc import Iterator

from gest_dataset.builders.config import Dropped, Files, Row
from gest_dataset.builders.controls import FIELDS
from gest_dataset.builders.reading import read_cells, read_csv


def read_crows(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the gender pairs; `stereotyped` is the sentence that upstream calls more stereotypical."""
    for _, cells in read_csv(files[0]):
        if cells["bias_type"] == "gender":
            yield {
                "id": f"crows-{int(cells['']):04d}",
                "stereotyped": cells["sent_more"],
                "other": cells["sent_less"],
                "direction": cells["stereo_antistereo"],
            }


def read_control(name: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield quadruplets from a transposed table with one column per sample.

    Rows 0 and 1 are the original pair: the group and the other group. Every further pair of rows is an
    alternative control pair in the same order of groups, or empty.
    """
    table = [cells for _, cells in read_cells(files[0])]
    for column, sample in enumerate(zip(*table, strict=True)):
        controls = [sample[row : row + 2] for row in range(2, len(sample), 2)]
        if not any(group or other for group, other in controls):
            dropped["no control pair"] += 1
        for number, (group, other) in enumerate(controls):
            if group or other:
                # the group's two sentences are the stereotype side, the other group's the control side
                texts = (sample[0], group, sample[1], other)
                yield {
                    "id": f"{name}-{column:03d}-{number}",
                    "original": f"{name}-{column:03d}",
                    "bias_type": "gender",
                    **dict(zip(FIELDS, texts, strict=True)),
                    "keywords": None,
                }
