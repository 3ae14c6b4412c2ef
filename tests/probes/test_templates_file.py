"""A file of templates: what is no template is said, whatever JSON it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from gest_dataset.errors import SettingError
from gest_dataset.probes.templates import select_templates

WHOLE = '[{"id": 5, "text": "{word}: {sentence}", "masculine": "He", "feminine": "She"}]'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[" * 100_000 + "]" * 100_000, r"cannot be read \(it is nested too deeply"),
        (WHOLE.replace("5", "true"), r"has the id True: use a number"),
        (WHOLE.replace("He", "\\ud800"), r"contains half of a surrogate pair"),
        (WHOLE.replace("5", "[5]"), r"has the id \[5\]: use a number"),
    ],
)
def test_json_that_is_no_template(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "templates.json"
    path.write_text(WHOLE, encoding="utf-8")
    assert [template.id for template in select_templates(path, "masked")] == [5]
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SettingError, match=reason):
        select_templates(path, "masked")
