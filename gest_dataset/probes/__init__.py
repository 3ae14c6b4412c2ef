"""Probes: a row becomes queries, and their values its scores. One file per probe."""
