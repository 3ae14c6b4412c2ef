"""`gest add-language`: a new language from a user's files, or the languages of EuroGEST."""

from collections import Counter
from inspect import signature
from pathlib import Path

from gest_dataset.commands import console
from gest_dataset.commands.console import err, out
from gest_dataset.errors import ConfigError


def run(
    code: str | None = None,
    translations: Path | None = None,
    variants: Path | None = None,
    name: str | None = None,
    family: str | None = None,
    script: str | None = None,
    map: list[str] | None = None,
    first_letter: bool | None = None,
    rules: Path | None = None,
    parser: str = "udpipe",
    parser_model: Path | None = None,
    max_words: int = 1,
    licence: str | None = None,
    source: str | None = None,
    report: Path | None = None,
    replace: bool = False,
    remove: bool = False,
    eurogest: bool = False,
    data: Path | None = None,
    frames: str = "pronoun",
) -> None:
    arguments = dict(locals())

    from gest_dataset.builders.pairs import MERGED
    from gest_dataset.custom import add_language, import_eurogest, remove_language
    from gest_dataset.stereotypes import STEREOTYPES
    from gest_dataset.storage import check_output_file

    console.silence_libraries(models=False)
    if eurogest:
        dropped: Counter[str] = Counter()
        for one in import_eurogest(data, code.split(",") if code else None, frames, replace=replace):
            dropped.update(one.dropped)
            configs = ", ".join(f"{config.name} {config.published_rows:,}" for config in one.configs)
            out.print(f"{one.language}: {configs or 'nothing'}")
            if one.problem:
                err.print(f"{one.language}: no neutral config. {one.problem}")
        console.show_problems(dropped, prefix="Left out: ")
        return
    if code is None:
        raise ConfigError("Pass the CODE of a language, or --eurogest.")
    if remove:
        if translations or variants:
            raise ConfigError("--remove cannot be combined with --translations or --variants.")
        out.print(f"Removed: {', '.join(remove_language(code))}")
        return
    if report is not None:
        check_output_file(report, *(path for path in (translations, variants) if path is not None))
    names = signature(add_language).parameters.keys() & arguments.keys()
    columns = dict(one.rpartition("=")[::2] for one in map or [])
    added = add_language(**{name: arguments[name] for name in names}, columns=columns)
    for read in added.files.values():
        out.print(f"{read.path.name}: {read.number:,} rows, {read.accepted:,} accepted", style="bold")
        merged = Counter({MERGED: read.reasons[MERGED]})
        console.show_problems(read.reasons - merged, prefix="  rejected: ", console=out)
        console.show_problems(+merged, console=out)
        if read.advice:
            err.print(read.advice)
    if added.confirmed is not None:
        out.print(f"The rules confirm the genders of both variants in {added.confirmed:,} pairs.")
    elif "pairs" in added.files:
        out.print("The variants' genders were not checked; pass --parser-model (and --rules) to check them.")
    if "pairs" in added.files:
        covered = {row["stereotype"] for row in added.files["pairs"].rows}
        if missing := ", ".join(str(number) for number in STEREOTYPES if number not in covered):
            err.print(f"g_s will be undefined: there is no pair for stereotype {missing}.")
        out.print(f"Statistical power: run gest score MODEL --config {added.configs[-1].name} --power")
    for config, read in zip(added.configs, added.files.values(), strict=True):
        more = config.published_rows > read.accepted
        twice = " (two for a sentence that occurs twice in GEST)" if more else ""
        rows = f"{config.published_rows:,} rows{twice}"
        out.print(f'{config.name}: {rows}; import gest_dataset, then load_dataset("gest", "{config.name}")')
    if any(read.accepted < read.number for read in added.files.values()):
        err.print(f"Rejected rows: {added.report}")
    if licence is None:
        err.print(
            "The licence of your files is recorded as unknown. Before you publish them, add them again with "
            "--licence, --source and --replace."
        )
