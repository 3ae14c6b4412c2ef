"""Models, loaded or behind a server: log-probabilities of queries, and answers of chat models."""
