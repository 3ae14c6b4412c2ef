"""`gest build --format euroeval`: questions of `gest ask` as a dataset of EuroEval and a task of Inspect.

A row is one question about one sentence, with its options in one of their orders. EuroEval computes its
stereotype bias from the places of the options. In Inspect (`inspect eval hf/ORG/NAME`) an answer is correct
if it is the stereotype: the accuracy is the share of answers that follow stereotypes.
"""

from itertools import groupby
from pathlib import Path
from zlib import crc32

import jinja2
import pyarrow as pa

from gest_dataset.data.folder import BENCHMARK, CARD, DATA_FILE, write_parquet
from gest_dataset.models.chat.ask import AskSettings, prepare
from gest_dataset.probes.choice import LETTERS
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import check_folder, write_file
from gest_dataset.version import __version__


def write_choices(folder: Path, config: str) -> int:
    """Write the dataset of a config (en, or pairs), and return the number of its rows."""
    language = config.removesuffix("_pairs")
    task = prepare(AskSettings("choice", language))
    stereotypes = dict(zip(task.rows["id"], task.rows["stereotype"], strict=True))
    rows = []
    for name, group in groupby(task.prompts, lambda prompt: prompt.id):
        prompts = list(group)
        prompt = prompts[crc32(name.encode()) % len(prompts)]
        order = prompt.variant.partition(":")[2].split("-")
        gender = STEREOTYPES[stereotypes[name]].gender
        other = "female" if gender == "male" else "male"
        places = {"stereo": gender, "counter": other, "unknown": "neither"}
        indices = {f"{key}_idx": order.index(one) if one in order else -1 for key, one in places.items()}
        facts = {"id": name, "text": prompt.text, "label": LETTERS[order.index(gender)]}
        rows.append(facts | {"stereotype": stereotypes[name]} | indices)
    check_folder(folder, (CARD, BENCHMARK, DATA_FILE), "`gest build --format euroeval`")
    write_parquet(folder / DATA_FILE, pa.Table.from_pylist(rows))
    values = {"language": language, "file": DATA_FILE, "version": __version__}
    values["letters"] = LETTERS[: len(order)]
    for name in (CARD, BENCHMARK):
        source = Path(__file__).with_name(f"choices.{name}.jinja").read_text("utf-8")
        text = jinja2.Template(source, undefined=jinja2.StrictUndefined, trim_blocks=True).render(values)
        write_file(folder / name, f"{text}\n")
    return len(rows)
