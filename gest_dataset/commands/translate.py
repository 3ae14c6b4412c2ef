"""`gest translate`: translate GEST or other sentences from English."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gest_dataset.commands.console import (
    err,
    new_table,
    one_by_one,
    open_each,
    out,
    show_failed,
    show_json,
    show_lacking,
    show_not_in_gest,
    show_problems,
    show_table,
)
from gest_dataset.errors import ConfigError, SourceError
from gest_dataset.storage import STANDARD_OUTPUT, atomic_path, check_output_file

if TYPE_CHECKING:
    from gest_dataset.translation.systems import Translated

COLUMNS = ["id", "system", "language", "source", "translation", "stereotype", "problem"]


def run(
    system: str,
    language: str,
    output: Path,
    config: str = "en",
    input_file: Path | None = None,
    limit: int | None = None,
    store: Path | None = None,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    revision: str | None = None,
    endpoint: str | None = None,
    as_json: bool = False,
) -> None:
    """Translate English sentences and write them to a CSV file.

    Every finished batch is cached: no translation is computed or billed twice. Rerun the same command to
    resume. Paid services read their keys from the environment: DEEPL_AUTH_KEY; GOOGLE_API_KEY or
    GOOGLE_APPLICATION_CREDENTIALS; AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION.
    """
    import pandas as pd

    from gest_dataset.languages import target_languages
    from gest_dataset.translation import open_translator, translate_all
    from gest_dataset.translation.pairs import not_in_gest, sources_not_in_gest
    from gest_dataset.translation.sentences import is_file, problem_of, read_sentences
    from gest_dataset.translation.translator import TranslationError, TranslationStoppedError

    languages = target_languages(language)
    sentences = read_sentences(input_file or config)[:limit]
    if sentences.empty:
        raise TranslationError(f"{input_file} has no sentences.")
    # all of them first, so that a wrong name is an error before anything is translated
    loading: dict[str, Any] = {"device": device, "dtype": dtype, "batch_tokens": batch_tokens}
    loading |= {"revision": revision, "endpoint": endpoint}
    failed: dict[str, object] = {}
    translators = open_each(languages, lambda code: open_translator(system, code, **loading), failed)
    languages = list(translators)
    names = [system.replace("{language}", code) for code in languages]
    if as_json and output == STANDARD_OUTPUT:
        raise ConfigError("--json and --output - would both write to the standard output.")
    inputs = [Path(name.removeprefix("file:")).expanduser() for name in names if is_file(name)]
    check_output_file(output, *inputs, *([] if input_file is None else [input_file]))
    texts = sentences["sentence"].to_list()
    tables = []
    rate = f"{translators[languages[0]].unit}/s"
    columns = ("language", "texts", "unique", "cached", "new", "failed", rate, "seconds")
    target = "standard output" if output == STANDARD_OUTPUT else output
    summary = new_table(f"Written to {target}", *columns)
    problems: dict[str, dict[str, str]] = {}
    summaries = []

    def work(code: str) -> Translated:
        return translate_all(texts, translators[code], code, store=store)

    for code, done in one_by_one(languages, work, (TranslationStoppedError,), failed):
        made = pd.DataFrame(done.translations)
        tables.append(sentences.assign(system=translators[code].name, language=code, **made)[COLUMNS])
        counts = (len(texts), len(set(texts)), done.cached, done.new, done.failed)
        summaries.append(dict(zip(columns, (code, *counts), strict=False)))
        speed = f"{done.units / done.seconds:,.0f}" if done.seconds else ""
        summary.add_row(code, *(f"{count:,}" for count in counts), speed, f"{done.seconds:.1f}")
        problems[code] = {one.source: problem_of(one, code) for one in done.translations}
        if done.stopped:
            failed |= dict.fromkeys(languages[languages.index(code) :], done.stopped)
            break
    if tables:
        with atomic_path(output) as partial:
            pd.concat(tables).to_csv(partial, index=False, lineterminator="\n")
        show_table(summary, err if as_json or output == STANDARD_OUTPUT else out)
    lacking = show_lacking(failed)
    unknown = {}
    with suppress(SourceError):  # sentences of a user are translated without GEST at hand
        if input_file:
            unknown[str(input_file)] = not_in_gest(texts)
        elif is_file(system):
            unknown = {
                name: sources_not_in_gest(name, code) for name, code in zip(names, languages, strict=True)
            }
    for name, found in unknown.items():
        show_not_in_gest(name, found)
    if as_json:
        failures = {code: str(error) for code, error in failed.items()}
        contents = {"languages": summaries, "failed": failures, "lacking": lacking, "not_in_gest": unknown}
        show_json(contents)
    for code, reasons in problems.items():
        show_problems([(repr(text), reason) for text, reason in reasons.items() if reason], f"{code}: ")
    show_failed("not translated, or not completely", failed)
    if failed or not tables:
        raise typer.Exit(1)
