"""The `evaluate` modules of the project, one folder each."""
