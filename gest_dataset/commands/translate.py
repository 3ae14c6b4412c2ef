"""`gest translate`: translate GEST or other sentences."""

from collections import Counter
from pathlib import Path
from typing import Any

import typer

from gest_dataset.commands import console
from gest_dataset.commands.console import err, out
from gest_dataset.errors import ConfigError
from gest_dataset.storage import STANDARD_OUTPUT, atomic_path, check_output_file

COLUMNS = ["id", "system", "language", "source", "translation", "stereotype", "problem"]


def run(
    system: str,
    language: str,
    output: Path,
    config: str = "en",
    input_file: Path | None = None,
    limit: int | None = None,
    store: Path | None = None,
    source: str = "en",
    **loading: Any,
) -> None:
    import pandas as pd

    from gest_dataset.languages import target_languages
    from gest_dataset.translation import open_translator, translate_all
    from gest_dataset.translation.sentences import is_file, problem_of, read_sentences
    from gest_dataset.translation.translator import TranslationError, TranslationStoppedError

    if source != "en" and input_file is None:
        raise ConfigError("GEST is in English: give your own sentences with --input.")
    languages = target_languages(language, source)
    sentences = read_sentences(input_file or config)[:limit]
    if sentences.empty:
        raise TranslationError(f"{input_file} has no sentences.")
    # all of them first, so that a wrong name is an error before anything is translated
    failed: dict[str, Any] = {}
    opened = console.one_by_one(
        languages, lambda code: open_translator(system, code, source=source, **loading), (), failed
    )
    translators = dict(opened)
    if not translators:
        raise next(iter(failed.values()))
    names = {code: system.replace("{language}", code) for code in translators}
    inputs = [Path(name.removeprefix("file:")).expanduser() for name in names.values() if is_file(name)]
    check_output_file(output, *inputs, *([input_file] if input_file else []))
    texts = sentences["sentence"].to_list()
    tables, rows, problems = [], [], {}
    languages, ending = list(translators), (TranslationStoppedError,)
    translated = console.one_by_one(
        languages, lambda code: translate_all(texts, translators[code], code, store), ending, failed
    )
    for code, done in translated:
        made = pd.DataFrame(done.translations)
        tables.append(sentences.assign(system=translators[code].name, language=code, **made)[COLUMNS])
        rows.append((code, len(texts), len(set(texts)), done.cached, done.new, done.failed))
        problems[code] = Counter(filter(None, (problem_of(one, code) for one in done.translations)))
        if done.stopped:
            failed |= dict.fromkeys(languages[languages.index(code) :], done.stopped)
            break
    columns = ("language", "texts", "unique", "cached", "new", "failed")
    if tables:
        with atomic_path(output) as partial:
            pd.concat(tables).to_csv(partial, index=False, lineterminator="\n")
        to_stdout = output == STANDARD_OUTPUT
        title = f"Written to {'standard output' if to_stdout else output}"
        console.show_table(title, columns, rows, console=err if to_stdout else out)
    console.show_lacking(failed)
    for code, reasons in problems.items():
        console.show_problems(reasons, prefix=f"{code}: ")
    console.show_failed("not translated, or not completely", failed)
    if failed or not tables:
        raise typer.Exit(1)
