"""`gest lm-eval-tasks` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Called


def test_a_folder_of_tasks(gest_here: Called, tmp_path: Path) -> None:
    done = gest_here("lm-eval-tasks", "tasks", "--config", "en,slavic,crows")
    assert done.returncode == 0, done.stderr
    assert "gest_sk_pairs" in done.stdout
    assert "left out: crows_gender, crows_gender_revised: needs a masked" in done.stderr
    assert "--include_path tasks --tasks gest_en,gest_pairs\n" in done.stderr
    files = {path.stem for path in (tmp_path / "tasks").glob("*.yaml")}
    assert files == {"gest_en", "gest_pairs", *(f"gest_{code}_pairs" for code in SLAVIC)}


SLAVIC = ("be", "ru", "uk", "hr", "sl", "sr", "cs", "pl", "sk")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tasks", "--config", "sk_pears"), "Did you mean 'sk_pairs'"),
        (("tasks", "--config", "crows_gender"), "needs a masked"),
        (("tasks", "--config", "en", "--data", "nowhere"), "gest build --config en --output nowhere"),
        ((".", "--config", "en"), "contains notes.yaml"),
        ((), "Missing argument"),
    ],
)
def test_wrong_uses(gest_here: Called, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "notes.yaml").write_text("task: mine\n")
    done = gest_here("lm-eval-tasks", *arguments)
    assert done.returncode == (1 if message.startswith("holds") else 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes.yaml"]
