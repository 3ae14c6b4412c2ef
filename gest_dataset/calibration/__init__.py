"""Calibration: corpora with planted odds, small models trained on them, and what is measured."""
