"""The package's version: part of every fingerprint, so it stands alone and imports nothing."""

__version__ = "0.2.0"
NAME = "gest"  # as in load_dataset("gest", CONFIG)
