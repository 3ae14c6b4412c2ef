"""Nothing that the rules say of the kept parses changes unseen: each finding stands in findings/LANGUAGE.tsv.

A change that is meant is written there by `python -m tests.gender.make_findings`; its diff is to be read.
"""

from __future__ import annotations

import difflib

import pytest

from gest_dataset.gender.grammars import GRAMMARS
from tests.gender.make_findings import FINDINGS, lines


@pytest.mark.parametrize("language", GRAMMARS)
def test_the_rules_find_what_they_found(language: str) -> None:
    kept = (FINDINGS / f"{language}.tsv").read_text(encoding="utf-8").splitlines()
    assert len(kept) > 500
    now = list(lines(language))
    if now != kept:  # the diff takes a while
        pytest.fail("\n".join(difflib.unified_diff(kept, now, "kept", "now", n=0, lineterm="")))
