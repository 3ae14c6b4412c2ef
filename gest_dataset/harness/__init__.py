"""Our probes in the harnesses of others, lm-evaluation-harness and Inspect, with our statistics."""
