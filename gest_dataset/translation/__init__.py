"""Translators: from English sentences to another language, nothing translated or paid for twice."""
