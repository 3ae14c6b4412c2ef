"""Tasks for lm-evaluation-harness and Inspect, with the probes and statistics of this package."""
