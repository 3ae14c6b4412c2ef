"""Calibration: corpora with planted odds, small models trained on them, and what is measured.

corpus    what is planted: made-up sentences whose odds are known, those to train on and those to measure
keywords  control quadruplets: a word-frequency artefact and a genuine bias
learning  a small real model, trained on a corpus and kept on disk
checks    planted against recovered, with verdicts
study     the models of a calibration, and all of it in one directory
panels    its figures in the report
toy       the tiny model of `gest demo`
"""
