"""Scorers: queries in, log-probabilities out, one batching layer for all kinds of models."""
