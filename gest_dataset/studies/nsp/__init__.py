"""Next-sentence fine-tuning: a language model learns whether a sentence follows another one."""

from gest_dataset.studies.nsp.training import Plan, Trained, train

__all__ = ["Plan", "Trained", "train"]
