"""The commands of `gest`, one file each, with a function `run`; the examples of `--help` are in a YAML file.

Heavy imports stay inside `run`, so that `gest --help` is quick.
"""
