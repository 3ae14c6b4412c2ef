"""`gest plan`: state what will be measured before it is."""

from pathlib import Path

from gest_dataset.commands import console
from gest_dataset.commands.console import out


def run(
    model: str,
    output: Path,
    config: str | None = None,
    templates: str | None = None,
    limit: int | None = None,
    where: list[str] | None = None,
    dtype: str = "auto",
    quantization: str | None = None,
    revision: str | None = None,
    adapter: str | None = None,
    chat_template: bool = False,
    multi_token: bool = False,
    per_token: bool = False,
    rules: str | None = None,
    short: bool = False,
    stop_early: bool = False,
    null: int = 0,
    fail_above: list[str] | None = None,
    fail_unless_below: list[str] | None = None,
) -> None:
    arguments = {name: value for name, value in locals().items() if name != "output"}

    from gest_dataset.builders import DEFAULT_CONFIG, select_configs
    from gest_dataset.commands import gates
    from gest_dataset.models.pretrained import gguf_path, normalized_name
    from gest_dataset.runs.plan import make_plan
    from gest_dataset.storage import write_json

    console.silence_libraries()
    for option, texts in ((gates.ABOVE, fail_above), (gates.UNLESS_BELOW, fail_unless_below)):
        gates.parse_limits(option, texts)
    file = gguf_path(model)
    name = normalized_name(model) if file is None else file.name
    plan = make_plan(name, list(select_configs(config or DEFAULT_CONFIG)), arguments)
    write_json(output, plan)
    for config_name, facts in plan["configs"].items():
        out.print(f"{config_name}: {' or '.join(facts['headlines'])}")
    out.print(f"{output}: {plan['sha256']}")
