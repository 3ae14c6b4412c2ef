"""Models behind a server that speaks OpenAI's HTTP API: exact log-probabilities and chat completions."""
