"""Probes: a row becomes queries, and their answers its scores. One probe, one module."""
