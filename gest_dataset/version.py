"""The package's version: part of every fingerprint, so it stands alone and imports nothing."""

__version__ = "0.1.0"
