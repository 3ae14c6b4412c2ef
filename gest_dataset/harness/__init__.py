"""Harnesses of others that ask our probes: lm-evaluation-harness and Inspect, with our prompts and statistics."""
