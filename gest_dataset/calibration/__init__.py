"""Calibration: corpora with planted odds, small models trained on them, and what is measured.

worlds    what is planted: the log-odds of each stereotype
words     the made-up words of the corpora
corpus    sentences whose odds are known, those to train on and those to measure
keywords  control quadruplets: a word-frequency artefact and a genuine bias
learning  a small real model, trained on a corpus
making    one model on disk, made once
checks    planted against recovered, with verdicts
study     all of it, in one directory
panels    its figures in the report
toy       the tiny model of `gest demo`
"""
