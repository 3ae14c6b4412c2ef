"""Models behind a server: exact log-probabilities over HTTP, in the dialects of OpenAI's completions.

client     one server, patiently            tokens     texts as the served model reads them
abilities  what a server can be asked       plan       queries as requests, and back
asking     all requests, each sent once     served     what `score` takes for a model
"""
