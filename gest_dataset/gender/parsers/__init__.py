"""Parsers: from texts to trees in CoNLL-U; `table` lists them, `cache` keeps what they gave."""
