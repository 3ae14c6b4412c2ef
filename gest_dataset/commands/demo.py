"""`gest demo`: a complete example, from models to a report, without the Hub."""

from dataclasses import replace
from pathlib import Path

from gest_dataset.commands.console import command_line, err, silence_libraries
from gest_dataset.storage import read_yaml

REAL, TOY = "smollm2", "toy"
TOY_NAME = "gest-demo-toy"
_TEXTS = read_yaml(Path(__file__).with_name("commands.yaml"))["demo"]


def run(output: Path = Path("gest-demo")) -> None:
    err.print("Loading the models …")  # importing torch takes seconds

    from gest_dataset.builders.demo import CONTROLS, PAIRS, SENTENCES, TOY_MODEL
    from gest_dataset.commands.result_tables import show_result
    from gest_dataset.errors import ModelError
    from gest_dataset.measures import MEASURES
    from gest_dataset.measures.formatting import TOY_NOTE
    from gest_dataset.models import pretrained
    from gest_dataset.models.base import Settings
    from gest_dataset.models.loading import load_model
    from gest_dataset.models.score_run import make_request, score_as_run
    from gest_dataset.report import write_report
    from gest_dataset.runs.folder import REPORT, check_runs_folder, read_run

    silence_libraries()
    configs = {REAL: [SENTENCES], TOY: [*PAIRS.values(), CONTROLS]}
    check_runs_folder(output, {f"{name}-{config}" for name in configs for config in configs[name]})
    toy = load_model(str(TOY_MODEL), Settings(device="cpu", dtype="float32"))
    models, notes, missing = {TOY: replace(toy, name=TOY_NAME)}, list(_TEXTS["notes"]), ""
    try:
        pretrained.packaged_path(REAL)
        models = {REAL: load_model(REAL), **models}
    except ModelError as error:
        notes.append(_TEXTS["without"])
        missing = f"{_TEXTS['without']}\n{error}"
    runs = []
    for name, model in models.items():
        for config in configs[name]:
            err.print(f"Scoring {model.name} on {config} …")
            path = output / f"{name}-{config}"
            score_as_run(model, make_request(config), path, command_line())
            runs.append(read_run(path))
            title = f"{config}: {model.name}{f' ({TOY_NOTE})' if name == TOY else ''}"
            show_result(MEASURES[runs[-1].manifest.measure], runs[-1].result["result"], title)
    err.print("Writing the report …")
    write_report(runs, output / REPORT, notes=notes)
    if missing:
        err.print(missing)
    err.print(f"Report: {output / REPORT}")
