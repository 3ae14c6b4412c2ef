"""Next-sentence fine-tuning: a language model learns whether a sentence follows another one."""

from gest_dataset.studies.nsp.training import Plan, train

__all__ = ["Plan", "train"]
