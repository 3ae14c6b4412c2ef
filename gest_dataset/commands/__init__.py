"""The commands of `gest`, one file each: `run` is the command, `EXAMPLES` what `--help` ends with.

Heavy imports stay inside `run`, so that `gest --help` is quick.
"""
