"""Next-sentence fine-tuning: language models learn whether a sentence follows another one."""

from gest_dataset.studies.nsp.training import Plan, Trained, train

__all__ = ["Plan", "Trained", "train"]
