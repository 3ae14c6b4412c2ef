"""Next-sentence fine-tuning with transformers' Trainer (section 5.2 of Öztürk et al., 2023).

Pairs and checkpoints are in DIR/.nsp-training; nsp.json has the settings, and the result once the model is
complete. While it trains, curve.csv and curve.svg show the loss and the accuracy on held-out pairs. The same
call resumes from the last checkpoint.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from datasets import Dataset
from huggingface_hub import ModelCardData

from gest_dataset.data.card import fill_card
from gest_dataset.errors import ModelError, SettingError, convert_errors, describe_error
from gest_dataset.models.base import Settings
from gest_dataset.models.device import pick_device, pick_dtype
from gest_dataset.models.loading import LABEL_IDS, NSP, SEQ2SEQ, as_classifier, load_model, name_and_kind
from gest_dataset.models.pretrained import from_pretrained
from gest_dataset.probes.tokenization import PREFIX, accepts_type_ids, make_probe_tokenizer
from gest_dataset.report.figures import Chart, Curve, draw_charts
from gest_dataset.report.panel import file_bytes
from gest_dataset.report.style import LIGHT
from gest_dataset.runs.folder import check_work_folder
from gest_dataset.statistics.proportions import proportion
from gest_dataset.storage import csv_text, folder_lock, read_yaml, write_file, write_json
from gest_dataset.studies.nsp_pairs import NEXT, NOT_NEXT, hash_of_file, load_pairs, read_documents
from gest_dataset.version import __version__

_TABLE: dict[str, dict[str, Any]] = read_yaml(Path(__file__).with_suffix(".yaml"))
LABELS = {NEXT: "is next", NOT_NEXT: "is not next"}  # `gest score` finds the label by its name
WORDS = ("True", "False")  # that a text-to-text model writes for them
RECORD, TRAINING = "nsp.json", ".nsp-training"
MAX_TOKENS = 256  # of a pair, as in the authors' code
_CHECKPOINTS = 20


@dataclass(frozen=True)
class Plan:
    """The settings of a training; the defaults are the paper's.

    `data` are files or datasets as `NAME:CONFIG`, `text` is their column of documents. An update has
    `accumulate` batches of `batch_size` pairs. Training ends after `epochs` or `max_steps` updates: 15,625 of
    64 pairs are the paper's million. A `learning_rate` of None is that of the model's kind.
    `prefix` is put before every pair, such as "binary classification: " of the paper's T5. With
    `text_to_text`, an encoder-decoder learns to write a label, True or False, and has no new head.
    """

    model: str
    data: Sequence[str]
    text: str = "text"
    learning_rate: float | None = None
    head_learning_rate: float = 1e-3
    batch_size: int = 16
    accumulate: int = 4
    epochs: int = 1
    max_steps: int = 15_625
    dtype: str = "auto"
    seed: int = 0
    prefix: str = ""
    text_to_text: bool = False


def train(
    plan: Plan, output: str | Path, *, device: str = "auto", command: Sequence[str] = ()
) -> dict[str, Any]:
    """Fine-tune a model, or resume its training, and write it to a folder that `gest score` takes.

    The result has the `counts` of documents and pairs, the `steps`, the `accuracy` (the share of held-out
    pairs that are right, with 95 % bounds over documents), the shares `is_next` and `is_not_next` for either
    label, and the `losses`.
    """
    out, chosen = Path(output), pick_device(device)
    _, kind = name_and_kind(plan.model)
    if kind == NSP:
        raise ModelError(f"{plan.model!r} already has a classification head. Give its base model.")
    if plan.text_to_text and kind != SEQ2SEQ:
        raise SettingError(f"{plan.model!r} is no encoder-decoder, so it has no text-to-text form.")
    settings = asdict(plan) | {
        "kind": kind,
        "sha256": [hash_of_file(data) for data in plan.data],
        "learning_rate": _TABLE["learning_rates"][kind] if plan.learning_rate is None else plan.learning_rate,
        "dtype": _mixed_precision(plan.dtype, chosen, kind),
    }

    work = out / TRAINING

    def is_ours(path: Path) -> bool:
        return path.name == TRAINING or path.with_name(RECORD).exists()

    record = check_work_folder(out / RECORD, is_ours, settings, "gest study nsp", "a training")
    with folder_lock(out):
        if record is None:
            shutil.rmtree(work, ignore_errors=True)  # pairs of other data
        if record is None or "result" not in record:
            limit = plan.max_steps * plan.batch_size * plan.accumulate
            documents = read_documents(plan.data, plan.text, plan.seed)
            pairs, test = load_pairs(documents, work / "pairs.arrow", limit, plan.seed)
            record = {"command": list(command), "settings": settings, "gest_dataset": __version__}
            write_json(out / RECORD, record)
            loaded = load_classifier(plan.model, plan.seed, plan.text_to_text)
            model, tokenizer, head, record["revision"] = loaded
            setattr(model.config, PREFIX, plan.prefix)
            trainer = _make_trainer(model, tokenizer, head, pairs, test, settings, work, chosen)
            # the Trainer writes the state of a checkpoint last, and a kill can leave one without
            complete = [path.parent for path in work.glob("checkpoint-*/trainer_state.json")]
            newest = max(complete, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
            trainer.train(resume_from_checkpoint=str(newest) if newest else None)
            counts = {"documents": len({*pairs["document"]} | {*test["document"]})}
            counts |= {"train": len(pairs), "test": len(test)}
            record["result"] = {"counts": counts, **_test(trainer, test)}
            _save(model, tokenizer, out, record)
        shutil.rmtree(work, ignore_errors=True)
    return dict(record["result"])


def _mixed_precision(dtype: str, device: torch.device, kind: str) -> str:
    """The number type of the forward passes; weights are always float32.

    `auto` avoids float16 for encoder-decoder models, which overflow, and for devices without loss scaling.
    """
    name = str(pick_dtype(dtype, device)).removeprefix("torch.")
    if name == "float16" and dtype == "auto" and (kind == SEQ2SEQ or device.type != "cuda"):
        return "float32"
    if name == "float16" and device.type != "cuda":
        raise SettingError(f"Training in float16 needs CUDA, not {device.type}. Use float32 or auto.")
    return name


def load_classifier(name: str, seed: int, to_text: bool = False) -> tuple[Any, Any, set[str], str | None]:
    """The model in float32, its tokenizer, the names of its new head's weights, and the revision."""
    language_model = load_model(name, Settings(device="cpu", dtype="float32"))  # checks the files
    tokenizer, revision = language_model.tokenizer, language_model.revision
    del language_model
    transformers.set_seed(seed)
    problem = f"{name} cannot be loaded as a classifier"
    with convert_errors(lambda error: ModelError(f"{problem}: {describe_error(error)}.")):
        model, info = from_pretrained(
            getattr(transformers, f"AutoModelFor{'Seq2SeqLM' if to_text else 'SequenceClassification'}"),
            name,
            revision=revision,
            dtype=torch.float32,
            id2label=LABELS,
            label2id={label: number for number, label in LABELS.items()},
            output_loading_info=True,
        )
    if to_text:
        words = zip(*(tokenizer(word).input_ids for word in WORDS), strict=False)
        tokens = next((pair for pair in words if len({*pair, tokenizer.unk_token_id}) == 3), None)
        if tokens is None:
            raise ModelError(f"The tokenizer of {name!r} has no different tokens for {' and '.join(WORDS)}.")
        setattr(model.config, LABEL_IDS, list(tokens))
        model = as_classifier(model)
    if tokenizer.pad_token_id is None:
        # a token of its own, as in the authors' code: the classifier reads the last token before the padding
        tokenizer.add_special_tokens({"pad_token": "<|padding|>"})
        if len(tokenizer) > model.get_input_embeddings().num_embeddings:
            model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    tokenizer.padding_side = "right"
    return model, tokenizer, set(info["missing_keys"]), revision


def _make_trainer(
    model: Any,
    tokenizer: Any,
    head: set[str],
    pairs: Dataset,
    test: Dataset,
    settings: Mapping[str, Any],
    work: Path,
    device: torch.device,
) -> transformers.Trainer:
    """A trainer whose head and other weights have learning rates of their own."""
    per_update = settings["batch_size"] * settings["accumulate"]
    steps = min(settings["max_steps"], settings["epochs"] * -(-len(pairs) // per_update))
    arguments = transformers.TrainingArguments(
        output_dir=str(work),
        use_cpu=device.type == "cpu",
        max_steps=steps,
        per_device_train_batch_size=settings["batch_size"],
        per_device_eval_batch_size=settings["batch_size"],
        gradient_accumulation_steps=settings["accumulate"],
        learning_rate=settings["learning_rate"],
        warmup_steps=steps // 100 + 1,  # as in the authors' code
        fp16=settings["dtype"] == "float16",
        bf16=settings["dtype"] == "bfloat16",
        seed=settings["seed"],
        save_steps=max(1, steps // _CHECKPOINTS),
        eval_steps=max(1, steps // _CHECKPOINTS),
        logging_steps=max(1, steps // 100),
        dataloader_pin_memory=device.type == "cuda",
        disable_tqdm=not sys.stderr.isatty(),
        **_TABLE["trainer"],
    )
    arguments._n_gpu = min(1, arguments.n_gpu)  # the pairs of a batch stay together
    limit = min(MAX_TOKENS, make_probe_tokenizer(tokenizer, model, NSP).limit or MAX_TOKENS)

    def collate(batch: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The tensors of pairs, tokenized as `gest score` does."""
        encoded = tokenizer(
            [settings["prefix"] + pair["first"] for pair in batch],
            [pair["second"] for pair in batch],
            truncation="longest_first",
            max_length=limit,
            padding=True,
            return_tensors="pt",
            return_token_type_ids=accepts_type_ids(tokenizer, model),
        )
        return {**encoded, "labels": torch.tensor([pair["label"] for pair in batch])}

    model.to(device)
    weights = list(model.named_parameters())
    groups = [
        {"params": [one for name, one in weights if name not in head], "lr": settings["learning_rate"]},
        {"params": [one for name, one in weights if name in head], "lr": settings["head_learning_rate"]},
    ]
    trainer = _Trainer(
        model=model,
        args=arguments,
        data_collator=collate,
        train_dataset=pairs,
        eval_dataset=test,
        compute_metrics=lambda found: {"accuracy": float((found[0].argmax(-1) == found[1]).mean())},
        optimizers=(torch.optim.AdamW(groups, weight_decay=0.0), None),
        # encoder-decoder models return a tuple with further outputs
        preprocess_logits_for_metrics=lambda out, _: out if torch.is_tensor(out) else out[0],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer


class _Trainer(transformers.Trainer):
    """Writes the loss and the accuracy on held-out pairs so far (figures 1 and 2 of the paper)."""

    def evaluate(self, *arguments: Any, **options: Any) -> dict[str, float]:
        with torch.random.fork_rng():  # the weights are those of a training without it
            metrics: dict[str, float] = super().evaluate(*arguments, **options)
        columns = ("loss", "eval_loss", "eval_accuracy")
        steps: dict[float, dict[str, float]] = {}
        for entry in self.state.log_history:
            steps.setdefault(entry["step"], {}).update(entry)
        rows = [(step, *(entry.get(name) for name in columns)) for step, entry in sorted(steps.items())]
        charts, line = [], {"color": LIGHT["ink"], "linewidth": 2}
        for place, name in ((1, "loss"), (3, "accuracy on held-out pairs")):
            x, y = zip(*((row[0], row[place]) for row in rows if row[place] is not None), strict=True)
            charts.append(Chart({"xlabel": "update", "ylabel": name}, curves=[Curve(x, y, line)]))
        out = Path(str(self.args.output_dir)).parent
        write_file(out / "curve.csv", csv_text(("update", *columns), rows))
        write_file(out / "curve.svg", file_bytes(draw_charts(charts, 3)[0], "svg", "Training"))
        return metrics


def _test(trainer: transformers.Trainer, test: Dataset) -> dict[str, Any]:
    """The result on the held-out pairs."""
    logits = np.asarray(trainer.predict(test).predictions)
    if not np.isfinite(logits).all():
        raise ModelError("The training diverged. Use a lower learning rate or float32, in a new folder.")
    labels = np.array(test["label"])
    hits = logits.argmax(axis=-1) == labels
    return {
        "steps": trainer.state.global_step,
        **proportion("accuracy", hits, np.array(test["document"])),
        "is_next": float(hits[labels == NEXT].mean()),
        "is_not_next": float(hits[labels == NOT_NEXT].mean()),
        "losses": [[entry["step"], entry["loss"]] for entry in trainer.state.log_history if "loss" in entry],
    }


def _save(model: Any, tokenizer: Any, out: Path, record: dict[str, Any]) -> None:
    """Write the model, its card, and the record with the result last."""
    tokenizer("")  # resets the truncation and padding of the training
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    name, data = record["settings"]["model"], record["settings"]["data"]
    header = ModelCardData(
        base_model=None if Path(name).exists() else name,
        datasets=[source.partition(":")[0] for source in data if hash_of_file(source) is None] or None,
        library_name="transformers",
        pipeline_tag=None if record["settings"]["text_to_text"] else "text-classification",
        tags=["next-sentence-prediction", "stereoset"],
    )
    values = {"header": str(header), "name": Path(name).name, "labels": LABELS, "record": record}
    fill_card(out, Path(__file__).with_name("nsp.md.jinja"), record["command"], **values)
    write_json(out / RECORD, record)
