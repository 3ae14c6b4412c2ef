"""The rules find the same words as before in 5,000 parses (findings/LANGUAGE.tsv).

`python -m tests.gender.make_findings` writes an intended change; read its diff.
"""

from __future__ import annotations

import difflib

import pytest

from gest_dataset.gender.grammar import ACCURACY
from tests.gender.make_findings import FINDINGS, lines


@pytest.mark.parametrize("language", ACCURACY)
def test_findings(language: str) -> None:
    before = (FINDINGS / f"{language}.tsv").read_text(encoding="utf-8").splitlines()
    assert len(before) > 500
    now = list(lines(language))
    if now != before:  # the diff is slow
        pytest.fail("\n".join(difflib.unified_diff(before, now, "before", "now", n=0, lineterm="")))
