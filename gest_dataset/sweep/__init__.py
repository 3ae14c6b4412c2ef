"""Sweeps: many models on many configs, and a leaderboard (docs/sweep.md)."""
