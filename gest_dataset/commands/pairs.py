"""`gest pairs`: make gender-swapped pairs with a translator, as a config for `load_dataset`."""

from pathlib import Path
from typing import Any

from gest_dataset.commands import console, options
from gest_dataset.commands.console import err, out
from gest_dataset.storage import folder_lock


def run(
    language: str,
    output: Path,
    system: str | None = None,
    translations: Path | None = None,
    parser: str = "udpipe",
    parser_model: Path | None = None,
    limit: int | None = None,
    **loading: Any,
) -> None:
    from gest_dataset.translation.masculine_rates import prepare
    from gest_dataset.translation.pairs import NO_ANSWER, claim_folder, make_pairs, prompt_for, write_pairs
    from gest_dataset.translation.sentences import gest_sentences
    from gest_dataset.translation.translator import TranslationError

    console.silence_libraries(models=False)
    system = options.system_of(system, translations)
    experiment = prepare(system, language, parser=parser, parser_model=parser_model, limit=limit, **loading)
    claim_folder(output, language, experiment.settings)
    label = experiment.settings["system"]
    with folder_lock(output):
        detect = experiment.detector.genders
        pairs = make_pairs(gest_sentences(limit), system, label, language, experiment.translate, detect)
        left = pairs.sentences
        rows: list[tuple[str, int | None, int]] = [("sentences of GEST", None, left)]
        for reason, ids in pairs.left_out.items():
            left -= len(ids)
            rows.append((reason, len(ids), left))
        rows.append(("pairs", None, left))
        columns = ("step", "left out", "left")
        caption = f"prompts: {pairs.prompts}"
        title = f"Pairs of {label}, {language}"
        console.show_table(title, columns, rows, caption, console=out if left else err)
        if not left:
            example = prompt_for(pairs.frame, "I am tired.", "female")
            hint = f" A file must also contain the prompts, such as: {example}"
            raise TranslationError(
                f"No pair could be made; nothing was written.{hint if pairs.left_out[NO_ANSWER] else ''}"
            )
        write_pairs(output, language, pairs, experiment.settings, console.command_line())
    err.print(f'{output}: load_dataset("{output}", "{language}_pairs")')
