"""Parsers: from texts to trees in CoNLL-U, one file a parser; `table` lists them, `cache` keeps what they gave."""
